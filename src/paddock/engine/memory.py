"""Memory of vehicles, estimated before anything is allocated, compared with what may be used."""

from collections.abc import Iterable
from contextlib import suppress
from math import prod
from pathlib import Path

import numpy as np

from paddock.engine.build import Place, build_program
from paddock.engine.program import FleetProgram
from paddock.errors import PaddockError
from paddock.scenario import Scenario, VehicleEntry
from paddock.sensing.sensor import ArraySensor, find_sensor
from paddock.world.columns import Pose, column_index, defaults_of
from paddock.world.world import World

GIB = 1 << 30
WORD = 8  # bytes of a value
SNAPSHOTS = 8  # copies of the public columns: the pool of the simulation, and the ring of the hub
SMALL = 1000  # vehicles of an entry for which a rough estimate is enough
ROUGH = 8192  # bytes of a vehicle of such an entry
UNCHECKED = 20_000  # vehicles that fit into any machine
PLACING = 3  # arrays of each state column while vehicles are placed: the result, its parts and their intermediates
LONGEST_DELAY = 10.0  # s, of a sensor
SEARCH = 5  # values of a vehicle in the search for neighbours: cell, order, position


def vehicle_bytes(program: FleetProgram) -> int:
    """Return the bytes of one vehicle of a fleet: tables, sensors, poses, snapshots, and what placing it takes."""
    fleet, sensors = program.fleet, program.sensors.values()
    tables: int = sum(table.itemsize * (table.size // table.shape[-1]) for table in fleet.tables.values())
    sensing = sum(sensor.nbytes // sensor.capacity for sensor in sensors)
    poses = WORD * (len(column_index(Pose)) + SEARCH)
    layout = program.layout()
    public = (WORD * len(layout.columns) + sum(array.nbytes(1) for array in layout.arrays)) * SNAPSHOTS
    placing = WORD * PLACING * len(column_index(program.model.state))
    return tables + sensing + poses + public + placing


def entry_bytes(world: World, scenario: Scenario, entry: VehicleEntry, place: Place) -> int:
    """Estimate the bytes of an entry's vehicles from a fleet of one; PaddockError if it cannot be built."""
    delayed = delayed_bytes(world, entry)
    if entry.count < SMALL or delayed > ROUGH:
        return (ROUGH + delayed) * entry.count
    one = {"count": 1, "spawn": None}
    return entry.count * vehicle_bytes(build_program(world, scenario, entry.model_copy(update=one), place))


def delayed_bytes(world: World, entry: VehicleEntry) -> int:
    """Return the bytes of the samples that are in transit from one vehicle's sensors: many for a long delay."""
    total = 0
    for chosen in entry.sensors:
        with suppress(PaddockError, TypeError, ValueError):  # reported when the fleet is built
            sensor = find_sensor(chosen.name)
            known = dict(zip(column_index(sensor.options), defaults_of(sensor.options).tolist(), strict=True))
            given = {**known, **chosen.options}
            delay, rate = float(np.max(given["delay"])), float(given["rate"])
            samples = min(delay, LONGEST_DELAY) * min(rate, world.clock.rate)
            total += int(WORD * len(column_index(sensor.reading)) * max(samples, 0.0))
            if isinstance(sensor, ArraySensor):
                values = {**known, **{k: float(v) for k, v in chosen.options.items() if k in known and k != "delay"}}
                arrays = sensor.arrays(sensor.options(**values))
                size = sum(WORD * prod(array.shape) for array in arrays)
                total += int(size * (max(samples, 0.0) + 1.0 + SNAPSHOTS))
    return total


def refuse_more_than_fit(needed: int, vehicles: int, most: int, where: str, of: str) -> None:
    """Raise PaddockError if vehicles need more bytes than there are; `of` says whose they are."""
    if needed > most:
        raise PaddockError(
            f"{where}: {vehicles:,} vehicles need about {needed / GIB:.1f} GiB of memory, "
            f"more than the {max(most, 0) / GIB:.1f} GiB {of}"
        )


def refuse_beyond_machine(world: World, scenario: Scenario, entries: Iterable[tuple[VehicleEntry, Place]]) -> None:
    """Raise PaddockError if vehicles of these entries, each with its place, need more memory than is available."""
    listed = list(entries)
    vehicles = sum(entry.count for entry, _ in listed)
    small = vehicles <= UNCHECKED and not any(delayed_bytes(world, entry) > ROUGH for entry, _ in listed)
    if small or (available := available_bytes()) is None:
        return
    needed = sum(entry_bytes(world, scenario, entry, place) for entry, place in listed)
    largest = max(listed, key=lambda one: one[0].count)
    refuse_more_than_fit(needed, vehicles, available, largest[1]("count"), "available on this machine")


def available_bytes() -> int | None:
    """Return the memory that this process may still take, within the machine and its control group; None: unknown."""
    found = []
    try:
        lines = dict(line.split(":", 1) for line in Path("/proc/meminfo").read_text().splitlines())
        found.append(1024 * int(lines["MemAvailable"].split()[0]))
    except (OSError, KeyError, ValueError):
        pass
    try:
        group = Path("/sys/fs/cgroup") / Path("/proc/self/cgroup").read_text().rpartition("::")[2].strip().lstrip("/")
        limit, used = ((group / name).read_text().strip() for name in ("memory.max", "memory.current"))
        if limit != "max":
            found.append(int(limit) - int(used))
    except (OSError, ValueError):
        pass
    return min(found, default=None)
