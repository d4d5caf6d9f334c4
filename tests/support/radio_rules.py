"""A behaviour that flies as messages order, for tests of radio."""

from typing import Annotated, Any, NamedTuple

from paddock.behaviour.rule import Nothing, Rule
from paddock.vehicles.model import Desire
from paddock.world.columns import Column, Pose


class Order(NamedTuple):
    """What `obey` hears."""

    vx: Annotated[float, Column("m/s", "velocity, east")] = 0.0
    vy: Annotated[float, Column("m/s", "north")] = 0.0
    age: Annotated[float, Column("s", "since it was sent")] = 0.0


def obey(me: Pose, m: Nothing, o: Nothing, order: Order, target: Pose, path: Any, dt: float) -> Any:
    """Fly as ordered."""
    return Desire(order.vx, order.vy, 0.0, 100.0), m


OBEY = Rule("Fly as ordered over radio", Nothing, obey, senses=Order, hears=True, name="obey")
