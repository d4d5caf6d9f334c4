"""Relay: a fleet places itself as a chain of radios that keeps two ends in contact.

Once per second the places are chosen for the present places of both ends (`engine/radio/relaying.py`): the worst link
of the chain is as good as possible. The first vehicle of the fleet is next to the first end. With `sees: heard`,
vehicles at the ends are where the newest beacon that a relay has heard says; without one, the relays stay in their
places.
"""

from typing import Annotated, NamedTuple

from paddock.behaviour.rule import AvoidOption, Floats, Rule, SeesOption, station
from paddock.compute.math import clamp, maximum, select, sqrt
from paddock.vehicles.model import Desire
from paddock.world.columns import Column, Pose

CLIMB = 20.0  # m below its place at which a vehicle only climbs
NEAR = 30.0  # m from its place within which it descends


class Options(NamedTuple):
    """Height, speed, and when a link is good enough."""

    height: Annotated[float, Column("m", "height above the ground", 1.0, 1e4)] = 60.0
    enough: Annotated[float, Column("dB", "margin with which a link is good enough", 0.0, 100.0)] = 15.0
    ahead: Annotated[float, Column("s", "time that the ends are moved on at their velocity", 0.0, 1e3)] = 10.0
    speed: Annotated[float, Column("m/s", "top speed", 0.0, 1e3)] = 12.0
    gain: Annotated[float, Column("1/s", "correction per metre", 0.0, 100.0)] = 0.5
    sees: SeesOption = 0.0
    avoid: AvoidOption = 0.0


class RelayPlace(NamedTuple):
    """The place of the vehicle in the chain."""

    x: Annotated[float, Column("m", "east")] = 0.0
    y: Annotated[float, Column("m", "north")] = 0.0
    z: Annotated[float, Column("m", "up")] = 0.0
    known: Annotated[float, Column("0/1", "whether it has been chosen now")] = 0.0


def desire(
    me: Pose, m: RelayPlace, o: Options, urge: RelayPlace, target: Pose, path: Floats, dt: float
) -> tuple[Desire, RelayPlace]:
    """Go to the place: climb before the way there, descend after it."""
    fresh = urge.known > 0.0
    x, y, z = select(fresh, urge.x, m.x), select(fresh, urge.y, m.y), select(fresh, urge.z, m.z)
    known = select(fresh, 1.0, m.known)
    dx, dy = x - me.x, y - me.y
    far = sqrt(dx * dx + dy * dy) > NEAR
    ahead = clamp(1.0 - (z - me.z) / CLIMB, 0.1, 1.0)  # ground may rise on the way
    goal_x, goal_y = me.x + ahead * dx, me.y + ahead * dy
    goal_z = select(far, maximum(z, me.z), z)
    still = select(known > 0.0, 1.0, 0.0)
    desire = station(me, goal_x, goal_y, goal_z, 0.0, 0.0, 0.0, o.gain * still, o.speed)
    slow = select(far, ahead, 1.0)
    return Desire(desire.vx * slow, desire.vy * slow, desire.vz, desire.ahead), RelayPlace(x, y, z, known)


RULE = Rule(
    "Keep two ends in radio contact: the fleet is a chain of relays between them",
    Options,
    desire,
    RelayPlace,
    senses=RelayPlace,
    relays=True,
)
