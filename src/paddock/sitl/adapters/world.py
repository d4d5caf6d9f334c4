"""The vehicles of a Simulation as a simulator for autopilots. The engine moves them; the adapter reads and commands.

Commands pass through the mailbox and the log, so that a replay needs no autopilot.
"""

from collections.abc import Sequence
from typing import ClassVar, NamedTuple

import numpy as np

from paddock.autopilot.vehicle_data import COLUMN, RANGEFINDERS, TRUTH, Floats, blank_actuators, blank_sensors
from paddock.compute.math import maximum, minimum
from paddock.compute.routine import routine
from paddock.engine.actions import CommandAction
from paddock.engine.engine import Engine
from paddock.engine.program import FleetProgram
from paddock.engine.simulation import Simulation
from paddock.errors import PaddockError
from paddock.scenario.sitl import LAST_SYSID
from paddock.sitl.adapter import AdapterError, BlockAdapter, Capabilities, Placed
from paddock.sitl.airframes import Airframe, Inputs, find_airframe
from paddock.sitl.equipment import QUATERNIONS, TIMES, TRUE_ROWS, TRUE_SIGNS, ReadingWriter, show_truth
from paddock.world.columns import column_index
from paddock.world.fleet import NEVER, Ints
from paddock.world.geodesy import Origin


class FleetFeed:
    """The newest sensor data (n, SENSOR_WIDTH) of a fleet, and the conversion of actuator commands to its inputs."""

    def __init__(self, program: FleetProgram, origin: Origin, tick_us: float, truth: bool) -> None:
        """`tick_us`: us per tick; `truth`: the rows include the ground truth."""
        self.program = program
        self.airframe: Airframe = find_airframe(program.model)(program)
        self.block = blank_sensors(program.fleet.n)
        self.posted_at = -1
        self._received, self._last = np.full(program.fleet.n, -1, np.int64), -1  # ticks; the last of them
        self._actuators = b""  # the last ones
        self._held = b"", b"", b""  # actuators, commands and their expiry when nothing was to be sent
        self._tick_us, self._truth = tick_us, truth
        sensors = program.sensors
        self._writers = [ReadingWriter(kind, sensors[kind], origin, tick_us) for kind in TIMES if kind in sensors]
        self._ranges = [
            (sensor, float(sensor.options[column_index(sensor.sensor.options)["range_max"]]))
            for sensor in sensors.values()
            if sensor.sensor.name == "rangefinder"
        ][:RANGEFINDERS]
        self._range_tick = self._range_taken = -1  # of the shown sample of the first
        self._pitot = sensors.get("airspeed")
        self._tick = -1
        self._all = slice(0, program.fleet.n)
        self._no_power, self._no_poses = np.empty((0, program.fleet.n)), np.empty((0, 0))
        self._no_poses.flags.writeable = False  # as those of a fleet
        self._show_present = show_present.direct()

    @property
    def carried(self) -> frozenset[str]:
        """The sensors of its vehicles, by the names of an adapter's capabilities."""
        names = [writer.kind for writer in self._writers]
        names += ["rangefinder"] * bool(self._ranges) + ["airspeed"] * (self._pitot is not None)
        return frozenset(names + ["battery"] * (self.airframe.battery(self._all) is not None))

    def update(self, tick: int) -> Floats:
        """Return the rows at this tick."""
        if tick != self._tick:
            self._tick = tick
            time_us = float(round(tick * self._tick_us))
            for writer in self._writers:
                writer.publish(tick, self.block)
            if self._ranges:
                self._show_ranges(tick)
            power = self.airframe.battery(self._all)
            if self._pitot is not None:
                self._pitot.arrive(tick)
                self.block[:, COLUMN["airspeed"]] = self._pitot.readings()["airspeed"]
            poses = self.program.pose_block(tick) if self._truth else self._no_poses
            shown = self._no_power if power is None else power
            self._show_present(self.block, time_us, shown, poses, TRUE_ROWS, TRUE_SIGNS, QUATERNIONS)
        return self.block

    def deliver(self, tick: int, rows: Ints | slice, block: Floats, targets: Ints | slice) -> None:
        """Write the rows that have changed since they were last delivered to the `targets`, rows of a block."""
        newest = self.update(tick)
        if tick != self._last:  # none has been delivered at this tick
            block[targets] = newest[rows]
        else:
            block[targets] = np.where((self._received[rows] != tick)[:, None], newest[rows], block[targets])
        self._received[rows] = self._last = tick

    def _show_ranges(self, tick: int) -> None:
        first = self._ranges[0][0]
        if first.taken == first.arrived == self._range_taken:  # no news, and none in transit
            return
        for k, (sensor, farthest) in enumerate(self._ranges):
            sensor.arrive(tick)
            if k == 0:
                self._range_taken = sensor.arrived
                if sensor.sample_tick == self._range_tick:
                    return
            distance, valid = sensor.published()
            seen = (valid > 0.5) | (distance < farthest)  # too near is a measurement, too far is not
            self.block[:, COLUMN["range_1"] + k] = np.where(seen, distance, np.nan)
            self._range_tick = sensor.sample_tick
            self.block[:, COLUMN["range_time_us"]] = round(self._range_tick * self._tick_us)

    def control(self, block: Floats, rows: Ints | slice, tick: int) -> CommandAction | None:
        """Return the command for these rows (ascending); None if it is in force already and never expires."""
        fleet, actuators, first = self.program.fleet, block.tobytes(), self.posted_at != tick
        held = self._held
        if actuators == held[0] and first and held[1:] == self._in_force(rows):  # as at the last None
            return None
        inputs = self.airframe.commanded(block, rows)
        before, self._actuators = self._actuators, actuators
        if first and (before == actuators or not self.airframe.direct) and self._holds(inputs, rows):
            if self.airframe.direct:
                self._held = actuators, *self._in_force(rows)
            return None
        self.posted_at = tick
        return CommandAction(fleet.name if len(block) == fleet.n else fleet.ids[rows].copy(), inputs)

    def _in_force(self, rows: Ints | slice) -> tuple[bytes, bytes]:
        """Return the commands of these rows and their expiry."""
        tables = self.program.fleet.tables
        return tables["command"][:, rows].tobytes(), tables["expires"][rows].tobytes()

    def _holds(self, inputs: Inputs, rows: Ints | slice) -> bool:
        """Return whether these inputs are in force and never expire."""
        tables, known = self.program.fleet.tables, column_index(self.program.model.command)
        if self.program.settings.timeout_ticks is not None or (tables["expires"][rows] != NEVER).any():
            return False
        present = ((tables["command"][known[name], rows], value) for name, value in inputs.items())
        return all(same_values(now, v) if isinstance(v, np.ndarray) else bool((now == v).all()) for now, v in present)


def all_same(values: Floats, others: Floats) -> bool:
    """Return whether two arrays of equal length hold the same numbers."""
    same = True
    for k in range(len(values)):
        same = same and bool(values[k] == others[k])
    return same


def write_present(
    block: Floats, time_us: float, power: Floats, poses: Floats, rows: Ints, signs: Floats, turn: Floats
) -> None:
    """Write the time, the battery's voltage, current and share left (3, n; or none) and the truth of poses (or none).

    `rows`, `signs` and `turn` as in `show_truth`.
    """
    for k in range(len(block)):
        block[k, 0] = time_us
        for j in range(len(power)):
            block[k, FIRST_BATTERY + j] = power[j, k]
    if len(poses):
        show_truth(poses, rows, signs, turn, FIRST_TRUTH, block)


def limit_rows(block: Floats, limited: Floats) -> bool:
    """Write the actuator commands (n, ACTUATOR_WIDTH) within -1 to 1; return whether one is NaN."""
    unknown = False
    for k in range(block.shape[0]):
        for j in range(block.shape[1]):
            value = block[k, j]
            unknown = unknown or value != value
            limited[k, j] = minimum(maximum(value, -1.0), 1.0)
    return unknown


FIRST_BATTERY, FIRST_TRUTH = COLUMN["battery_voltage"], TRUTH.start
same_values, limit_actuators, show_present = routine(all_same), routine(limit_rows), routine(write_present)


class FleetPart(NamedTuple):
    """The vehicles of one fleet in a block of several."""

    feed: FleetFeed
    rows: Ints | slice  # of the fleet, in the order of its members
    targets: Ints | slice  # rows of the block


def _straight(numbers: Ints) -> Ints | slice:
    """Return consecutive numbers as a slice, which copies faster."""
    first, count = int(numbers[0]), len(numbers)
    return slice(first, first + count) if np.array_equal(numbers, np.arange(first, first + count)) else numbers


CARRIED = frozenset({"imu", "gnss", "compass", "barometer"})  # sensors of a vehicle without others
RATE = 1000.0  # Hz, reported before a simulation is connected


class WorldAdapter(BlockAdapter):
    """Vehicles of a simulation, by name."""

    adapter_type: ClassVar[str] = "world"
    hosted: ClassVar[bool] = True

    def __init__(self, name: str = "", *, simulation: Simulation | None = None, truth: bool = False) -> None:
        """`truth`: the sensor data of each vehicle includes the ground truth."""
        super().__init__(name)
        self.truth = truth
        self._host = simulation
        self._limit = limit_actuators.direct()
        self._sim: Simulation | None = None
        self.clear()

    def clear(self) -> None:
        """Forget the sensor data of all fleets."""
        self._roster = (-1, -1, -1)  # run and version of the roster for which the others are valid
        self._feeds: dict[str, FleetFeed] = {}  # by fleet
        self._known: dict[tuple[int, ...], list[FleetPart]] = {}  # by selection of vehicles

    def connect(self) -> None:
        """Attach to the simulation."""
        with self.lock:
            if self._sim is None:
                if self._host is None:
                    raise AdapterError(f"adapter {self.name!r} needs a simulation: WorldAdapter(simulation=sim)")
                self._sim = self._host
                self._sim.engine.listeners.restart.append(self._restarted)

    def disconnect(self) -> None:
        """Forget the vehicles and the simulation."""
        with self.lock:
            sim, self._sim = self._sim, None
            if sim is not None:
                sim.engine.listeners.restart.remove(self._restarted)
            self._placed.clear()
            self.clear()

    @property
    def is_connected(self) -> bool:
        """Whether it is between `connect` and `disconnect`."""
        return self._sim is not None

    @property
    def simulation(self) -> Simulation:
        """The simulation; AdapterError before `connect`."""
        if self._sim is None:
            raise self._not_connected()
        return self._sim

    def _check(self) -> None:
        _ = self.simulation

    def add_vehicle(self, vehicle: Placed) -> None:
        """Bind the vehicle of that name, disarmed and at rest."""
        with self.lock:
            self._check_id(vehicle)
            same = [other.id for other in self._placed.values() if other.name == vehicle.name]
            if same:
                raise AdapterError(f"adapter {self.name!r}: {vehicle.name!r} is vehicle {same[0]} already")
            try:
                _check_vehicle(self.simulation, vehicle)
            except AdapterError as error:
                raise AdapterError(f"adapter {self.name!r}: {error}") from None
            self._placed[vehicle.id] = vehicle
            self.clear()
            self._disarm((vehicle.id,))

    def remove_vehicle(self, vehicle: int) -> None:
        """Unbind a vehicle, at rest."""
        with self.lock:
            if self.simulation.engine.applier.exists(self._find(vehicle).name):
                self._disarm((vehicle,))
            del self._placed[vehicle]
            self.clear()

    def reset(self) -> None:
        """Set all actuators to rest; the owner resets the simulation."""
        self._restarted("reset")

    def _restarted(self, how: str) -> None:
        """Discard sensor data from before a reset or restore."""
        with self.lock:
            exists = self.simulation.engine.applier.exists
            self.clear()
            if how == "reset":
                self._disarm(tuple(v for v, placed in self._placed.items() if exists(placed.name)))

    @property
    def capabilities(self) -> Capabilities:
        """The sensors that all of its vehicles have, at the rate of the clock."""
        with self.lock:
            carried = [part.feed.carried for v in self._placed for part in self._parts(self.simulation.engine, (v,))]
            common = frozenset.intersection(*carried) if carried else CARRIED
            rate = self._sim.engine.world.clock.rate if self._sim is not None else RATE
        return Capabilities(common | {"truth"} if self.truth else common, rate, LAST_SYSID, wind=True)

    @property
    def sim_time_us(self) -> int:
        """The time of the tick."""
        return 0 if self._sim is None else round(self._sim.tick * 1e6 / self._sim.engine.world.clock.rate)

    def step(self, dt_us: int, timeout: float = 1.0) -> bool:
        """Do nothing: the engine steps the simulation."""
        return self.simulation is not None

    def sensor_period_us(self, vehicle: int) -> int:
        """Return the period of its IMU, in whole ticks."""
        with self.lock:
            program, _ = self.simulation.engine.applier.found(self._find(vehicle).name)
            return int(program.sensors["imu"].period * 1e6 / self.simulation.engine.world.clock.rate)

    def receive_block(self, vehicles: Sequence[int], block: Floats) -> None:
        """Write all rows, fleet by fleet."""
        with self.lock:
            engine = self.simulation.engine
            tick = engine.world.clock.tick
            for feed, rows, targets in self._parts(engine, vehicles):
                feed.deliver(tick, rows, block, targets)

    def send_block(self, vehicles: Sequence[int], block: Floats) -> None:
        """Post one command for each fleet."""
        with self.lock:
            engine = self.simulation.engine
            parts, tick = self._parts(engine, vehicles), engine.world.clock.tick
            limited = np.empty(block.shape)
            if self._limit(block, limited):
                self._refuse_nan(vehicles, block)
            for feed, rows, targets in parts:
                control = feed.control(limited[targets], rows, tick)
                if control is not None:
                    checked_at = engine.applier.version if feed.airframe.bounded else ()
                    engine.mailbox.post(control, tick, self.name, checked_at, flown=True)

    def _disarm(self, vehicles: tuple[int, ...]) -> None:
        """Disarm, all outputs 0."""
        self.send_block(vehicles, blank_actuators(len(vehicles)))

    def _parts(self, engine: Engine, numbers: Sequence[int]) -> list[FleetPart]:
        """Return where these vehicles are, fleet by fleet; cached until a vehicle is added or removed."""
        world, vehicles = engine.world, tuple(numbers)
        roster = world.run, *world.version
        if roster == self._roster and (known := self._known.get(vehicles)) is not None:
            return known
        for vehicle in vehicles:
            self._find(vehicle)
        if roster != self._roster:
            self.clear()
            self._roster = roster
        rows_of_fleets: dict[str, list[tuple[int, int]]] = {}
        for index, vehicle in enumerate(vehicles):
            feed, row = self._feed_of(vehicle)
            rows_of_fleets.setdefault(feed.program.fleet.name, []).append((row, index))
        indices = [
            (feed := self._feeds[name], np.array(sorted(pairs, key=lambda pair: feed.program.fleet.ranks[pair[0]])).T)
            for name, pairs in rows_of_fleets.items()
        ]
        self._known[vehicles] = [
            FleetPart(feed, _straight(rows), _straight(targets)) for feed, (rows, targets) in indices
        ]
        return self._known[vehicles]

    def _feed_of(self, vehicle: int) -> tuple[FleetFeed, int]:
        """Return the feed of a vehicle's fleet, and its row."""
        sim = self.simulation
        try:
            fleet, rows = sim.engine.world.find(self._placed[vehicle].name)
        except PaddockError as error:
            raise AdapterError(f"vehicle {vehicle} is no longer in the world: {error}") from None
        if fleet.name not in self._feeds:
            program, origin = sim.engine.programs[fleet.name], Origin(*sim.scenario.world.origin)
            self._feeds[fleet.name] = FleetFeed(program, origin, 1e6 / sim.engine.world.clock.rate, self.truth)
        return self._feeds[fleet.name], int(rows[0])


def _check_vehicle(sim: Simulation, vehicle: Placed) -> None:
    """Refuse anything but one vehicle with an airframe and an IMU, and without a behaviour."""
    try:
        program, rows = sim.engine.applier.found(vehicle.name)
    except PaddockError as error:
        raise AdapterError(f"vehicle {vehicle.id}: {error}") from None
    if len(rows) != 1:
        raise AdapterError(f"{vehicle.name!r} is a fleet of {len(rows)}: name one vehicle, e.g. {vehicle.name}[0]")
    if "imu" not in program.sensors:
        raise AdapterError(f"{vehicle.name!r} has no imu: add one to its sensors, e.g. sensors: [imu]")
    if program.settings.via is not None:
        raise AdapterError(f"commands for {vehicle.name!r} go over the radio: an autopilot is on board; remove its via")
    driver = program.control.driver(int(rows[0]))
    if driver is not None:
        raise AdapterError(f"{vehicle.name!r} is driven by its {driver[0]} {driver[1]!r}")
    find_airframe(program.model)(program)


ADAPTER = WorldAdapter
