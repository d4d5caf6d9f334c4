"""A fleet with the kernels of its model, parameters, failsafe, behaviour and sensors."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from paddock.compute.kernel import CompiledKernels, kernel
from paddock.compute.threads import DirectCall
from paddock.contact.bodies import CONTACT, CONTACT_NAMES, LastContact
from paddock.engine.behaviours import MEMORY, RADIO, FleetBehaviour, read_only
from paddock.engine.motion import MOTIONS, Alarm
from paddock.errors import InvalidValueError, PaddockError, unknown_name
from paddock.radio.links.table import FIRST_PEER, NO_STATUS, PEERS, STATUS
from paddock.radio.physics.satellites import OPEN_SIGNAL, SIGNAL_ROWS
from paddock.scenario.contact import FleetContact
from paddock.scenario.radio_types import FittedRadio
from paddock.scenario.via import MavlinkViaSection, ViaSection
from paddock.sensing.sensor import Sensor
from paddock.sensing.suite import FleetSensor
from paddock.track.standings import SHOWN
from paddock.vehicles.model import BATTERY_COLUMNS, VehicleModel, find_model, model_names
from paddock.world.columns import Floats, Pose, checked, column_index, columns_of, defaults_of
from paddock.world.fleet import NEVER, Fleet, Ints
from paddock.world.ground import surface_of
from paddock.world.layout import ArrayColumn, FleetLayout

if TYPE_CHECKING:
    from paddock.engine.fmu_motion import FmuMotion
    from paddock.engine.overrides import FleetOverrides

POSE_COLUMNS = tuple(column_index(Pose))
VARYING = "varying"
GNSS = "gnss"  # the table of satellite signals at each vehicle
UPLINK = "uplink"  # the table of commands that wait to be sent over the radio, and of their counts
UPLINK_ROWS = 8  # of it, beside the inputs of a command
HEARTBEATS = "heartbeats"  # the table of heartbeats of the scenario's ground station: sent, received
TELEMETRY = "telemetry"  # the table of the states that are known at the station
NO_TELEMETRY = np.array([0.0, 0.0, -1.0] + [0.0] * 11)  # states sent and received, time and numbers of the newest
COMMANDS_SHOWN = 1000  # size limit of fleets whose commands and wide reports are in snapshots
WIDE_REPORT = 16  # columns
RADIO_ARRAYS = (
    ArrayColumn("radio.peers", (PEERS,), "float64"),  # ids of the best neighbours, -1: none, -2 - k: station k
    ArrayColumn("radio.peer_sinr", (PEERS,), "float64"),  # dB
)


class ColumnSource(NamedTuple):
    """Where a sensor finds a value of its vehicle."""

    kind: str  # state, report, command, parameter or default
    row: int
    name: str
    default: float = 0.0


DIMENSIONS = (
    *("cg_to_front", "cg_to_rear", "track_front", "track_rear", "wheel_radius"),
    *("length", "width", "height", "balance"),
)
"""Parameters that say what a vehicle looks like."""


class FleetProgram:
    """A fleet with its kernels, behaviour and sensors."""

    def __init__(
        self,
        fleet: Fleet,
        model: VehicleModel,
        parameters: Floats,
        varying: tuple[str, ...],
        device: str = "cpu",
        around: tuple[Floats, ...] = (),
        fmus: "FmuMotion | None" = None,
    ) -> None:
        """`around`: the environment and its tables over uneven ground; empty over flat ground."""
        self.fleet = fleet
        self.ground = around[1:]
        self.model = model
        self.parameter_values = parameters
        self.varying = varying
        self.entry: Mapping[str, Any] = {}  # as the user wrote it, for saving
        self.behaviour: FleetBehaviour | None = None
        self.overrides: FleetOverrides | None = None  # None: no vehicle is overridden
        self.substeps = 1  # of the dynamics in a tick
        self.carried = False  # the mission sets the poses: no dynamics
        self.sensors: dict[str, FleetSensor] = fleet.sensors
        self._sources: dict[str, tuple[ColumnSource, ...]] = {}  # of each kind of sensor
        self.contact: FleetContact | None = None  # None: others cannot touch it
        self.races = False  # whether its vehicles take part in the race of the scenario's rules
        self.race: Floats | None = None  # columns of the race, (columns, n), written when a snapshot is made
        self.radio: tuple[FittedRadio, ...] = ()  # of each vehicle
        self.beacons = False  # whether its vehicles send and hear beacons
        self.via: ViaSection | None = None  # how commands of clients reach its vehicles; None: immediately
        self.heartbeat: MavlinkViaSection | None = None  # of the scenario's ground station; None: no heartbeats
        self.collided_ticks = 1  # for which a vehicle counts as collided after a touch
        self.timeout_ticks: int | None = None
        self.expires_from = NEVER  # no command of the fleet times out before this tick
        self.failsafe = command_values(model, "failsafe")
        self.brake = command_values(model, "brake")
        uneven = surface_of(around[1:]) if around else None
        self.fmus = fmus  # None: the model's own step moves the vehicles
        self._motion = fmus or MOTIONS[device](model.step_spec(varying, uneven=uneven, parameters=parameters))
        self._pose: Callable[..., None] = fmus.pose if fmus else kernel(model.pose_spec(varying, uneven=uneven))
        self._run_pose = DirectCall(self._pose) if isinstance(self._pose, CompiledKernels) else None
        self._seat = around if model.rides else ()
        report = model.report_spec(varying, uneven)
        self._report = kernel(report) if report is not None else None
        capacity = parameters[column_index(model.parameters)[model.battery]] if model.battery else 1.0
        self.has_battery = bool(capacity > 0.0 or model.battery in varying)
        self.telemetry = tuple(name for name in model.telemetry if self.has_battery or name not in BATTERY_COLUMNS)
        self._command_columns = tuple(f"command.{name}" for name in column_index(model.command))
        self._telemetry = [column_index(model.state)[name] for name in self.telemetry]
        self._poses = np.zeros((len(POSE_COLUMNS), 0))
        self._poses_shown = read_only(self._poses)
        self._poses_tick = -1

    @property
    def parameters(self) -> tuple[Floats, ...]:
        """The parameter arguments of this fleet's kernels."""
        if self.varying:
            return self.parameter_values, self.fleet.tables[VARYING]
        return (self.parameter_values,)

    def parameters_of(self, rows: Ints) -> tuple[Floats, ...]:
        """Return the parameter arguments for some of the vehicles."""
        if self.varying:
            return self.parameter_values, np.take(self.fleet.tables[VARYING], rows, axis=1)
        return (self.parameter_values,)

    def parameter_column(self, name: str) -> Floats:
        """Return a parameter of all vehicles, (n,)."""
        if name in self.varying:
            return self.fleet.tables[VARYING][self.varying.index(name), : self.fleet.n].copy()
        return np.full(self.fleet.n, self.parameter_values[column_index(self.model.parameters)[name]])

    def kernels(self) -> Iterator[tuple[CompiledKernels, int]]:
        """Yield the kernels that a run of this fleet calls, each with the number of vehicles it is called for."""
        sensing = (sensor.kernel for sensor in self.sensors.values())
        deciding = self.behaviour.kernels if self.behaviour is not None else ()
        needed = any(source.kind == "report" for used in self._sources.values() for source in used)
        report = self._report if self.report_columns or needed else None
        for kernels in (self._motion.kernel, self._pose, report, *sensing, *deciding):
            if isinstance(kernels, CompiledKernels):
                yield kernels, self.fleet.n

    def move(self, ticks: int, environment: Floats, rate: float) -> list[Alarm]:
        """Advance every vehicle by that many ticks at `rate` Hz; return the alarms."""
        if not self.fleet.n or self.carried:
            return []
        dt = 1.0 / (rate * self.substeps)  # the bits of a clock with this rate
        parameters = self.parameters if self.varying else (self.parameter_values,)
        return self._motion.move(self.fleet, ticks, self.substeps, (*parameters, environment, *self.ground), dt)

    def pose_block(self, tick: int) -> Floats:
        """Return the poses at this tick, read-only, computed once per tick."""
        if self._poses.shape[1] < self.fleet.n:
            self._poses = np.zeros((len(POSE_COLUMNS), self.fleet.capacity))
            self._poses_shown, self._poses_tick = read_only(self._poses), -1
        if self._poses_tick != tick:
            given = self.fleet.n, 1, self.fleet.state, *self.parameters, *self._seat, self._poses
            if self._run_pose is None:
                self._pose(*given)
            else:
                self._run_pose(given)
            self._poses_tick = tick
        return self._poses_shown

    def poses_of(self, rows: Ints, tick: int) -> Floats:
        """Return the poses (13, k) of some of the vehicles."""
        if self._poses_tick == tick or 2 * len(rows) > self.fleet.n:
            return np.take(self.pose_block(tick), rows, axis=1)
        poses = np.zeros((len(POSE_COLUMNS), len(rows)))
        state = np.ascontiguousarray(np.take(self.fleet.state, rows, axis=1))
        self._pose(len(rows), 1, state, *self.parameters_of(rows), poses)
        return poses

    def parameter_tuple(self, rows: Ints | None = None) -> Any:
        """Return the model's parameters: numbers, or arrays of the vehicles that differ."""
        values: list[Any] = self.parameter_values.tolist()
        for k, name in enumerate(self.varying):
            column = self.fleet.tables[VARYING][k, : self.fleet.n]
            values[column_index(self.model.parameters)[name]] = column if rows is None else column[rows]
        return self.model.parameters(*values)

    def forget_poses(self) -> None:
        """Discard cached poses, after a change of the state outside a tick."""
        self._poses_tick = -1

    def sources(self, sensor: Sensor) -> tuple[ColumnSource, ...]:
        """Return where a sensor finds what it reads of its vehicles; InvalidValueError for what they do not have."""
        if sensor.name not in self._sources:
            model = self.model
            tables = {**column_tables(model), GNSS: SIGNAL_ROWS if GNSS in self.fleet.tables else {}}
            found = []
            for column in columns_of(sensor.seen) if sensor.seen is not None else ():
                names = sensor.from_columns[column.name]
                places = [
                    ColumnSource(kind, rows[name], name)
                    for name in names
                    for kind, rows in tables.items()
                    if name in rows
                ]
                if not places and column.name not in sensor.seen._field_defaults:  # type: ignore[union-attr]
                    needs = f"sensor {sensor.name!r} needs the column {' or '.join(map(repr, names))}"
                    having = ", ".join(models_for(sensor))
                    others = f"; models that have it: {having}" if having else ""
                    raise InvalidValueError(f"{needs}, which model {model.name!r} does not have{others}")
                found.append(places[0] if places else ColumnSource("default", 0, "", float(column.default or 0.0)))
            self._sources[sensor.name] = tuple(found)
        return self._sources[sensor.name]

    def seen(self, sensor: FleetSensor, environment: Floats) -> Floats | None:
        """Return what a sensor reads of its vehicles besides the pose, (columns, n); None for most sensors."""
        if sensor.sensor.seen is None:
            return None
        sources, n = self.sources(sensor.sensor), self.fleet.n
        report: Floats | None = None
        values = np.empty((len(sources), n))
        for k, (kind, row, name, default) in enumerate(sources):
            if kind == "report":
                if report is None:
                    report = self._reported(environment)
                values[k] = report[row]
            elif kind == "parameter":
                values[k] = self.parameter_column(name)
            elif kind == "default":
                values[k] = default
            else:
                values[k] = self.fleet.tables[kind][row, :n] if kind in ("command", GNSS) else self.fleet.state[row, :n]
        return values

    def _reported(self, environment: Floats) -> Floats:
        """Return the report of all vehicles, (columns, n)."""
        assert self._report is not None
        report = np.empty((len(self.model.report_columns), self.fleet.n))
        constants = *self.parameters, environment, *self.ground
        self._report(self.fleet.n, 1, self.fleet.state, self.fleet.tables["command"], *constants, report)
        return report

    def write_block(
        self, block: Floats, environment: Floats, tick: int, arrays: Mapping[str, Any] = MappingProxyType({})
    ) -> None:
        """Fill a snapshot's block (columns, n), from pose to radio, and its arrays, in the order of the members."""
        n, state = self.fleet.n, self.fleet.state
        after_pose = len(POSE_COLUMNS)
        after_telemetry = after_pose + len(self._telemetry)
        after_report = after_telemetry + len(self.report_columns)
        after_commands = after_report + len(self.command_columns)
        if n:
            given = n, 1, state, *self.parameters, *self._seat, block
            if self._run_pose is None:
                self._pose(*given)
            else:
                self._run_pose(given)
            for k, row in enumerate(self._telemetry, after_pose):  # column by column: fancy indexing copies twice
                block[k] = state[row, :n]
            if self._report is not None and self.report_columns:
                constants = *self.parameters, environment, *self.ground
                report = block[after_telemetry:after_report]
                self._report(n, 1, state, self.fleet.tables["command"], *constants, report)
            block[after_report:after_commands] = self.fleet.tables["command"][: after_commands - after_report, :n]
            row = after_commands
            if self.contact_columns:
                last = self.fleet.tables[CONTACT][:, :n]
                block[row] = (last[0] >= 0.0) & (tick - last[0] < self.collided_ticks)
                block[row + 1 : row + len(self.contact_columns)] = last[: len(self.contact_columns) - 1]
                row += len(self.contact_columns)
            for name, sensor in self.sensors.items():
                sensor.arrive(tick)
                readings = list(sensor.readings().values())
                for k, values in enumerate(readings):
                    block[row + k] = values
                row += len(readings) + 1
                block[row - 1] = sensor.sample_ticks if sensor.arrays else sensor.sample_tick
                for reading in sensor.arrays:
                    arrays[f"{name}.{reading}"][:] = sensor.array(reading)
            if self.race_columns:
                block[row : row + len(self.race_columns)] = 0.0 if self.race is None else self.race
                row += len(self.race_columns)
            if self.radio:
                status = self.fleet.tables[RADIO][:, :n]
                block[row:] = status[:FIRST_PEER]
                arrays["radio.peers"][:] = status[FIRST_PEER : FIRST_PEER + PEERS].T
                arrays["radio.peer_sinr"][:] = status[FIRST_PEER + PEERS :].T
            if not self.fleet.in_order:
                for table in (block.T, *arrays.values()):
                    table[:] = table[self.fleet.rows]

    def layout(self) -> FleetLayout:
        """Return the layout of this fleet's block in a snapshot."""
        fleet, model = self.fleet, self.model
        readings = *self.contact_columns, *self.reading_columns, *self.race_columns, *self.radio_columns
        columns = (*POSE_COLUMNS, *self.telemetry, *self.report_columns, *self.command_columns, *readings)
        ids, members = (fleet.by_key(fleet.tables[name]) for name in ("ids", "members"))
        given = fleet.name, model.kind, model.name, columns, fleet.n, ids, members, fleet.single
        return FleetLayout(*given, self.array_columns)

    @property
    def report_columns(self) -> tuple[str, ...]:
        """The columns of the model's report; none in large fleets if they would dominate a snapshot."""
        names = self.model.report_columns
        return names if self.fleet.n <= COMMANDS_SHOWN or len(names) <= WIDE_REPORT else ()

    @property
    def command_columns(self) -> tuple[str, ...]:
        """`command.steer`, ...: the commands in force; none in large fleets, because they would dominate a snapshot."""
        return self._command_columns if self.fleet.n <= COMMANDS_SHOWN else ()

    @property
    def contact_columns(self) -> tuple[str, ...]:
        """`contact.collided` and, except in large fleets, the last contact; none where others cannot touch it."""
        if self.contact is None:
            return ()
        return CONTACT_NAMES if self.fleet.n <= COMMANDS_SHOWN else CONTACT_NAMES[:1]

    @property
    def race_columns(self) -> tuple[str, ...]:
        """`race.lap`, ...: of a fleet that takes part in a race."""
        return tuple(f"race.{name}" for name in SHOWN) if self.races else ()

    @property
    def radio_columns(self) -> tuple[str, ...]:
        """`radio.signal`, ...: of a fleet with radios."""
        return tuple(f"radio.{name}" for name in STATUS) if self.radio else ()

    @property
    def reading_columns(self) -> tuple[str, ...]:
        """`imu.ax`, ..., `imu.sample_tick` for every sensor, in the order of a snapshot's block."""
        names = {name: (*column_index(sensor.sensor.reading), "sample_tick") for name, sensor in self.sensors.items()}
        return tuple(f"{sensor}.{reading}" for sensor, readings in names.items() for reading in readings)

    @property
    def array_columns(self) -> tuple[ArrayColumn, ...]:
        """`lidar.ranges`, ...: the arrays of sensors and radios, in the order of a snapshot."""
        sensed = tuple(
            ArrayColumn(f"{name}.{array.name}", array.shape, array.dtype)
            for name, sensor in self.sensors.items()
            for array in sensor.arrays.values()
        )
        return (*sensed, *RADIO_ARRAYS) if self.radio else sensed

    def inspect(self, row: int) -> dict[str, dict[str, Any]]:
        """Return the state, command and parameter values of one vehicle, and the substeps that a tick takes."""
        fleet, model = self.fleet, self.model
        state = {name: float(fleet.state[k, row]) for name, k in column_index(model.state).items()}
        command = {name: float(fleet.command[k, row]) for name, k in column_index(model.command).items()}
        parameters = {name: float(self.parameter_values[k]) for name, k in column_index(model.parameters).items()}
        for k, name in enumerate(self.varying):
            parameters[name] = float(fleet.tables[VARYING][k, row])
        given = {"state": state, "command": command, "parameters": parameters}
        return {**given, "dynamics": {"substeps": self.substeps}}

    def appearance(self) -> dict[str, Any]:
        """Return the preset and the dimensions (m), for viewers."""
        preset = self.entry.get("preset")
        values = dict(zip(column_index(self.model.parameters), self.parameter_values.tolist(), strict=True))
        dimensions = {name: values[name] for name in DIMENSIONS if name in values}
        return {"preset": None if preset is None else str(preset), "dimensions": dimensions}

    @property
    def finite(self) -> bool:
        """Whether the states and the memories of behaviours are finite."""
        n, memories = self.fleet.n, [] if self.overrides is None else self.overrides.memories()
        if self.overrides is None and self.behaviour is not None:
            memories = [self.fleet.tables[MEMORY][:, :n]]
        with np.errstate(over="ignore", invalid="ignore"):
            return all(np.isfinite(table.sum(axis=0)).all() for table in (self.fleet.state[:, :n], *memories))

    @property
    def acts(self) -> bool:
        """Whether any vehicle follows a rule."""
        return self.behaviour is not None or (self.overrides is not None and bool(self.overrides.groups))

    def driven(self, rows: Ints) -> NDArray[np.bool_]:
        """Return which of these vehicles a rule drives; the others take commands."""
        own = self.behaviour is not None
        return np.full(len(rows), own) if self.overrides is None else self.overrides.driven(rows, own)

    def driver(self, row: int) -> tuple[str, str] | None:
        """Return (`behaviour` or `override`, name of the rule) that drives a vehicle; None if commands do."""
        if not self.driven(np.array([row]))[0]:
            return None
        rule = None if self.overrides is None else self.overrides.rule(row)
        if rule is not None:
            return "override", rule
        assert self.behaviour is not None
        return "behaviour", self.behaviour.rule.name

    def admit(self, rows: slice) -> None:
        """Start vehicles that have joined in these rows; they follow the behaviour of the entry."""
        if self.contact is not None:
            self.fleet.tables[CONTACT][:, rows] = defaults_of(LastContact)[:, None]
        if self.radio:
            self.fleet.tables[RADIO][:, rows] = NO_STATUS[:, None]
        if self.via is not None:
            self.fleet.tables[UPLINK][:, rows] = 0.0
        if self.heartbeat is not None:
            self.fleet.tables[HEARTBEATS][:, rows] = 0.0
        if TELEMETRY in self.fleet.tables:
            self.fleet.tables[TELEMETRY][:, rows] = NO_TELEMETRY[:, None]
        if GNSS in self.fleet.tables:
            self.fleet.tables[GNSS][:, rows] = OPEN_SIGNAL[:, None]
        if self.fmus is not None:
            self.fmus.admit(self, range(rows.start, rows.stop))
        if self.behaviour is not None:
            self.behaviour.admit(rows)

    def keep(self, rows: Ints) -> None:
        """Remove all vehicles except these rows."""
        if self.overrides is not None:
            self.overrides.release(np.setdiff1d(self.fleet.rows, rows))
        if self.fmus is not None:
            self.fmus.close(self.fleet, np.setdiff1d(self.fleet.rows, rows))
        self.fleet.keep(rows)
        if self.overrides is not None:
            self.overrides.rows_moved()
            self.drop_empty_overrides()
        if self.behaviour is not None:
            self.behaviour.assign_slots()
        self.forget_poses()

    def drop_empty_overrides(self) -> None:
        """Drop the table of overrides when no vehicle is overridden."""
        if self.overrides is not None and not len(self.overrides.rows):
            self.overrides = self.fleet.overrides = None


def command_values(model: VehicleModel, policy: str) -> Floats:
    """Return the value of each command under a policy (failsafe or brake); NaN where the last command is held."""
    values = [getattr(column, policy) for column in columns_of(model.command)]
    return np.array([np.nan if value is None else float(value) for value in values])


def checked_inputs(model: VehicleModel, given: Mapping[str, Any], where: Callable[[str], str]) -> dict[str, float]:
    """Return command inputs by name; an error names an input that is unknown, not finite or out of range."""
    rows = column_index(model.command)
    columns = columns_of(model.command)
    result = {}
    for name, value in given.items():
        if name not in rows:
            raise unknown_name(f"input of {model.name}", name, rows, where(name))
        result[name] = checked(columns[rows[name]], value, "input", where(name))
    return result


def column_tables(model: VehicleModel) -> dict[str, dict[str, int]]:
    """Return the rows of the columns of a model that sensors may read, by the table that they are in."""
    return {
        "state": column_index(model.state),
        "report": {} if model.report_type is None else column_index(model.report_type),
        "command": {f"command.{name}": row for name, row in column_index(model.command).items()},
        "parameter": column_index(model.parameters),
    }


def models_for(sensor: Sensor) -> list[str]:
    """Return the names of the installed models that have what a sensor reads."""
    found = []
    for name in model_names():
        with suppress(PaddockError):  # a plug-in that cannot be loaded
            known = {column for rows in column_tables(find_model(name)).values() for column in rows}
            seen: Any = sensor.seen
            needed = [column for column in seen._fields if column not in seen._field_defaults]
            if all(known.intersection(sensor.from_columns[column]) for column in needed):
                found.append(name)
    return found
