"""From the `sitl` section of a scenario to vehicles with autopilots; and scenarios made from a few arguments."""

from collections.abc import Iterator
from inspect import Parameter, signature
from math import pi
from pathlib import Path
from typing import Any, NamedTuple

from paddock.autopilot.contract import Autopilot
from paddock.engine.simulation import Simulation
from paddock.errors import InvalidValueError, PaddockError, one_line, unknown_name
from paddock.scenario import Scenario, SensorChoice, VehicleEntry
from paddock.scenario.sitl import LAST_SYSID, MODEL_CRAFTS, WORLD, AdapterEntry, AutopilotEntry, Sitl, system_ids
from paddock.sitl.adapter import Placed, SimulatorAdapter, find_adapter
from paddock.sitl.ardupilot_frames import FRAME_OF_CRAFT
from paddock.sitl.equipment import VEHICLES, standard_sensors
from paddock.world.columns import column_index
from paddock.world.frames import convert_position
from paddock.world.geodesy import Origin

AUTOPILOTS = {"builtin": ("the built-in autopilot", 250.0), "ardupilot": ("ArduPilot", 1200.0), "px4": ("PX4", 250.0)}
"""Autopilot -> its description and tick rate, Hz; ArduPilot asks for 1,200 frames per second by default."""
SPACING = {"copter": 5.0, "rover": 4.0, "rover_ackermann": 6.0, "plane": 60.0}  # m between neighbours
NORTH = 1.5707963267948966  # rad, counter-clockwise from east


class FlownVehicle(NamedTuple):
    """A vehicle with its autopilot, ready for the bridge."""

    placed: Placed
    autopilot: Autopilot
    adapter: str  # name
    entry: AutopilotEntry  # of `sitl.pilots`
    instance: int


def equipped_scenario(scenario: Scenario) -> Scenario:
    """Return the scenario with standard sensors on each vehicle that has an autopilot and no sensors."""
    if scenario.sitl is None:
        return scenario
    flown = {pilots.vehicles: pilots for pilots in scenario.sitl.pilots if pilots.adapter == WORLD}
    ticks = scenario.clock.rate  # a real autopilot expects an IMU sample per tick

    def equipped(entry: VehicleEntry) -> VehicleEntry:
        if entry.name not in flown or entry.sensors:
            return entry
        rate = None if flown[entry.name].autopilot == "builtin" else ticks
        chosen = standard_sensors(_craft(flown[entry.name], entry), rate, ticks)
        sensors = [SensorChoice(name=name, options=options) for choice in chosen for name, options in choice.items()]
        return entry.model_copy(update={"sensors": tuple(sensors)})

    return scenario.with_vehicles(tuple(map(equipped, scenario.vehicles)))


def _craft(pilots: AutopilotEntry, entry: VehicleEntry | None) -> str:
    return pilots.craft or (MODEL_CRAFTS[entry.model] if entry is not None else "")


def build_adapter(entry: AdapterEntry, where: str) -> SimulatorAdapter:
    """Return the simulator of an entry of `sitl.adapters`; `where` begins error messages."""
    kind: type[SimulatorAdapter] = find_adapter(entry.type)
    known = {key: option for key, option in signature(kind).parameters.items() if key != "name"}
    for key, value in entry.options.items():
        if any(option.kind is Parameter.VAR_KEYWORD for option in known.values()):
            break  # the adapter checks them
        if key not in known:
            raise unknown_name(f"option of adapter {entry.type!r}", key, known, f"{where}.options")
        default = known[key].default
        number = isinstance(default, int | float) and not isinstance(default, bool)
        if number and not isinstance(value, int | float):
            raise InvalidValueError(f"{where}.options.{key} must be a number, not {value!r}")
    try:
        return kind(entry.name, **entry.options)
    except PaddockError as error:  # the message names the adapter
        raise type(error)(f"{where}: {error}") from None
    except Exception as error:  # code of a user's own adapter
        raise InvalidValueError(f"{where}: adapter {entry.type!r}: {one_line(error)}") from error


def build_vehicles(sim: Simulation, sitl: Sitl) -> Iterator[FlownVehicle]:
    """Yield each vehicle of the section with its autopilot, by ascending system id."""
    entries = {entry.name: entry for entry in sim.scenario.vehicles}
    numbers = system_ids(sitl, entries)
    for k in sorted(range(len(numbers)), key=lambda k: numbers[k]):
        pilots = sitl.pilots[k]
        craft = _craft(pilots, entries.get(pilots.vehicles or ""))
        for index, sysid in enumerate(numbers[k]):
            instance = sysid - 1 if pilots.instance is None else pilots.instance + index
            try:
                placed = _placed(sim, pilots, craft, sysid, index)
                autopilot = _autopilot(sim, sitl, pilots, craft, sysid, instance, _capacity(sim, pilots, index))
            except PaddockError as error:
                raise type(error)(f"{sim.scenario.at('sitl', 'pilots', k)}: {error}") from None
            yield FlownVehicle(placed, autopilot, pilots.adapter, pilots, instance)


def _placed(sim: Simulation, pilots: AutopilotEntry, craft: str, sysid: int, index: int) -> Placed:
    """Return where vehicle `index` of an entry `pilots` starts; its system id is `sysid`."""
    if pilots.adapter == WORLD:
        name = sim.engine.world.fleets[pilots.vehicles or ""].vehicle_name(index)
        vehicle = sim.snapshot()[name]
        x, y, z = map(float, vehicle.position)
        heading = 0.5 * pi - vehicle.yaw
    else:
        name, heading = f"{pilots.adapter}_{sysid}", 0.0
        x, y, z = pilots.position
        x += index * pilots.spacing
    north, east, down = map(float, convert_position((x, y, z), "enu", "ned"))
    return Placed(sysid, name, craft, (north, east, down), heading)


def _capacity(sim: Simulation, pilots: AutopilotEntry, index: int) -> float | None:
    """Return the capacity of a vehicle's battery in the world, mAh; None without one, and in other simulators."""
    program = sim.engine.programs[pilots.vehicles or ""] if pilots.adapter == WORLD else None
    if program is None or "capacity" not in column_index(program.model.parameters):
        return None
    return float(program.parameters.column("capacity")[index]) or None


def _autopilot(
    sim: Simulation,
    sitl: Sitl,
    pilots: AutopilotEntry,
    craft: str,
    sysid: int,
    instance: int,
    capacity: float | None,
) -> Autopilot:
    """Return the autopilot of an entry `pilots` of `sitl`, for a vehicle of a craft; capacity: of its battery, mAh."""
    dt, address = sim.engine.world.clock.dt, sitl.address
    if pilots.autopilot == "ardupilot":
        from paddock.sitl.ardupilot import ArduPilotAutopilot

        frame = pilots.frame or FRAME_OF_CRAFT[craft]
        return ArduPilotAutopilot(frame, dt, instance=instance, address=address, lockstep=pilots.lockstep)
    if pilots.autopilot == "px4":
        from paddock.sitl.px4 import Px4Autopilot

        return Px4Autopilot(craft, dt, Origin(*sim.scenario.world.origin), instance=instance, address=address)
    from paddock.autopilot.autopilot import BuiltInAutopilot

    folder = None if sitl.parameters is None else Path(sitl.parameters)
    return BuiltInAutopilot(sysid, craft, pilots.parameters, folder, sitl.truth, capacity)


def quick_scenario(
    craft: str = "rover", count: int = 1, autopilot: str = "builtin", instance: int = 0, **section: Any
) -> dict[str, Any]:
    """Return a scenario with `count` vehicles of a craft in a row from west to east, facing north.

    autopilot: builtin, ardupilot or px4; instance: number of the first process. section: more of `sitl`.
    """
    if craft not in VEHICLES:
        raise unknown_name("vehicle type", craft, VEHICLES)
    if not 1 <= count <= LAST_SYSID:
        raise InvalidValueError(f"the number of vehicles must be 1 to {LAST_SYSID}, not {count}")
    description, rate = AUTOPILOTS[autopilot]
    line = {"start": [0.0, 0.0, 0.0], "end": [SPACING[craft] * (count - 1), 0.0, 0.0], "heading": NORTH}
    placed = {"pose": [0.0, 0.0, 0.0, NORTH]} if count == 1 else {"count": count, "spawn": {"line": line}}
    pilots: dict[str, Any] = {"vehicles": craft, "autopilot": autopilot, "craft": craft}
    if autopilot != "builtin":
        pilots |= {"instance": instance, "sysid": instance + 1}
    return {
        "name": f"{count} {craft}{'' if count == 1 else 's'}",
        "description": f"{description} in the loop",
        "clock": {"rate": rate, "pace": 1.0},
        "every": {"snapshot": max(1, round(rate / 50.0))},
        "vehicles": [{"name": craft, **VEHICLES[craft], **placed}],
        "sitl": {"pilots": [pilots], **section},
    }
