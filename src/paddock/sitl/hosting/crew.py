"""From the `sitl` section of a scenario to vehicles on the bridge: adapters and pilots, in the order of system ids."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from inspect import Parameter, signature
from math import pi
from pathlib import Path

from paddock.engine.simulation import Simulation
from paddock.errors import InvalidValueError, PaddockError, unknown_name
from paddock.scenario.sitl import WORLD, AdapterEntry, AutopilotEntry, Sitl, system_ids
from paddock.sitl.adapter import Placed, SimulatorAdapter
from paddock.sitl.bridge.events import problem
from paddock.sitl.hosting.equipping import craft_of
from paddock.sitl.pilot import Pilot
from paddock.sitl.registry import find_adapter
from paddock.world.frames import convert_position
from paddock.world.geodesy import Origin

ARDUPILOT_FRAME = {"copter": "copter", "rover": "rover-skid", "rover_ackermann": "rover", "plane": "plane"}
"""Kind of craft -> the frame of ArduPilot's that it is."""


@dataclass(frozen=True)
class Seat:
    """One vehicle with its pilot, ready for the bridge."""

    placed: Placed
    pilot: Pilot
    adapter: str
    pilots: AutopilotEntry  # the entry it comes from
    instance: int


def listening(sitl: Sitl) -> str:
    """The address that sockets bind: who speaks to stations elsewhere must not be bound to this machine alone."""
    here = sitl.mavlink.host == "localhost" or sitl.mavlink.host.startswith("127.")
    return sitl.listen or ("127.0.0.1" if here else "0.0.0.0")


def build_adapter(entry: AdapterEntry, where: str) -> SimulatorAdapter:
    """A simulator beside the world; options that it does not have are refused by name."""
    kind = find_adapter(entry.type)
    _check_options(kind, entry, where)
    try:
        return kind(entry.name, **entry.options)
    except PaddockError as error:  # names the adapter itself
        raise type(error)(f"{where}: {error}") from None
    except Exception as error:  # whatever somebody's own adapter makes of its options
        raise InvalidValueError(f"{where}: adapter {entry.type!r}: {problem(error)}") from error


def _check_options(kind: type[SimulatorAdapter], entry: AdapterEntry, where: str) -> None:
    """Options that the adapter does not have, or no numbers where it has numbers."""
    known = {key: option for key, option in signature(kind).parameters.items() if key != "name"}
    if any(option.kind is Parameter.VAR_KEYWORD for option in known.values()):
        return
    for key, value in entry.options.items():
        if key not in known:
            raise unknown_name(f"option of adapter {entry.type!r}", key, known, f"{where}.options")
        default = known[key].default
        number = isinstance(default, int | float) and not isinstance(default, bool)
        if number and not isinstance(value, int | float):
            raise InvalidValueError(f"{where}.options.{key} must be a number, not {value!r}")


def build_seats(sim: Simulation, sitl: Sitl) -> Iterator[Seat]:
    """Every vehicle that the section names, by ascending system id."""
    entries = {entry.name: entry for entry in sim.scenario.vehicles}
    numbers = system_ids(sitl, entries)
    for k in sorted(range(len(numbers)), key=lambda k: numbers[k]):
        craft = craft_of(sitl.pilots[k], entries.get(sitl.pilots[k].vehicles or ""))
        for member, sysid in enumerate(numbers[k]):
            try:
                yield _seat(sim, sitl, sitl.pilots[k], craft, sysid, member)
            except PaddockError as error:  # one that does not know its place gets it
                raise type(error)(f"{sim.scenario.at('sitl', 'pilots', k)}: {error}") from None


def _seat(sim: Simulation, sitl: Sitl, pilots: AutopilotEntry, craft: str, sysid: int, member: int) -> Seat:
    instance = sysid - 1 if pilots.instance is None else pilots.instance + member
    placed = _placed(sim, pilots, craft, sysid, member)
    return Seat(placed, _pilot(sim, sitl, pilots, craft, sysid, instance), pilots.adapter, pilots, instance)


def _placed(sim: Simulation, pilots: AutopilotEntry, craft: str, sysid: int, member: int) -> Placed:
    if pilots.adapter == WORLD:
        fleet = sim.world.fleets[pilots.vehicles or ""]
        name = fleet.vehicle_name(member)
        vehicle = sim.snapshot()[name]
        x, y, z = map(float, vehicle.position)
        return Placed(sysid, name, craft, _ned(x, y, z), 0.5 * pi - vehicle.yaw)
    x, y, z = pilots.position
    return Placed(sysid, f"{pilots.adapter}_{sysid}", craft, _ned(x + member * pilots.spacing, y, z))


def _ned(x: float, y: float, z: float) -> tuple[float, float, float]:
    north, east, down = map(float, convert_position((x, y, z), "enu", "ned"))
    return north, east, down


def _pilot(sim: Simulation, sitl: Sitl, pilots: AutopilotEntry, craft: str, sysid: int, instance: int) -> Pilot:
    dt = sim.world.clock.dt
    if pilots.autopilot == "ardupilot":
        from paddock.sitl.ardupilot.pilot import ArduPilotPilot

        frame = pilots.frame or ARDUPILOT_FRAME[craft]
        return ArduPilotPilot(frame, dt, instance=instance, address=listening(sitl), lockstep=pilots.lockstep)
    if pilots.autopilot == "px4":
        from paddock.sitl.px4.pilot import Px4Pilot

        if craft != "copter":
            raise InvalidValueError(f"PX4 flies copters here, not a {craft}")
        origin = Origin(*sim.scenario.world.origin)
        return Px4Pilot(dt, origin, instance=instance, address=listening(sitl))
    from paddock.sitl.autopilot.autopilot import BuiltInAutopilot

    folder = None if sitl.parameters is None else Path(sitl.parameters)
    return BuiltInAutopilot(sysid, craft, pilots.parameters, folder, sitl.truth)
