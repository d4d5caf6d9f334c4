"""What runs a fleet: its model's kernels, parameters, failsafe, behaviour and sensors."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paddock.compute.kernel import kernel
from paddock.engine.conduct import Conduct
from paddock.engine.motion import MOTIONS
from paddock.engine.orders import COMMANDED, OWN, FleetOrders
from paddock.errors import unknown_name
from paddock.sensing.suite import FleetSensor
from paddock.vehicles.model import VehicleModel
from paddock.world.columns import Floats, checked, column_index, columns_of
from paddock.world.fleet import NEVER, Fleet, Ints
from paddock.world.layout import FleetLayout
from paddock.world.pose import Pose

POSE_COLUMNS = tuple(column_index(Pose))
VARYING = "varying"
COMMANDS_SHOWN = 1000
"""The most vehicles of a fleet whose commands are in snapshots."""


class FleetProgram:
    """A fleet together with everything that acts on it."""

    def __init__(
        self, fleet: Fleet, model: VehicleModel, parameters: Floats, varying: tuple[str, ...], device: str = "cpu"
    ) -> None:
        self.fleet = fleet
        self.model = model
        self.parameter_values = parameters
        self.varying = varying
        self.entry: Mapping[str, Any] = {}  # what the user wrote, for saving
        self.conduct: Conduct | None = None
        self.orders: FleetOrders | None = None  # those who do something else than their entry says
        self.carried = False  # somebody else places its vehicles: it does not move by itself
        self.sensors: dict[str, FleetSensor] = {}
        self.timeout_ticks: int | None = None
        self.expires_from = NEVER  # no command of the fleet times out before this tick
        self.failsafe = command_values(model, "failsafe")
        self.brake = command_values(model, "brake")
        self._motion = MOTIONS[device](model.step_spec(varying))
        self._pose = kernel(model.pose_spec(varying))
        report = model.report_spec(varying)
        self._report = kernel(report) if report is not None else None
        self._telemetry = [column_index(model.state)[name] for name in model.telemetry]
        self._own_block = np.zeros((len(POSE_COLUMNS), 0))
        self._own_tick = -1

    @property
    def parameters(self) -> tuple[Floats, ...]:
        """The parameter arguments of this fleet's kernels."""
        if self.varying:
            return self.parameter_values, self.fleet.tables[VARYING]
        return (self.parameter_values,)

    def parameters_of(self, rows: Ints) -> tuple[Floats, ...]:
        """The same for some of its vehicles, gathered side by side."""
        if self.varying:
            return self.parameter_values, np.take(self.fleet.tables[VARYING], rows, axis=1)
        return (self.parameter_values,)

    def move(self, ticks: int, environment: Floats, dt: float) -> None:
        """Advance every vehicle by that many ticks."""
        if self.fleet.n and not self.carried:
            self._motion.move(self.fleet, ticks, self.parameters, environment, dt)

    def write_block(self, block: Floats, environment: Floats, tick: int) -> None:
        """Fill a snapshot's block (columns, n): pose, telemetry, report, commands, then what sensors have delivered."""
        n, state = self.fleet.n, self.fleet.state
        after_pose = len(POSE_COLUMNS)
        after_telemetry = after_pose + len(self._telemetry)
        after_report = after_telemetry + len(self.model.report_columns)
        after_commands = after_report + len(self.command_columns)
        if n:
            self._pose(n, 1, state, *self.parameters, block)
            for k, row in enumerate(self._telemetry, after_pose):  # column by column: all at once would copy them twice
                block[k] = state[row, :n]
            if self._report is not None:
                report = block[after_telemetry:after_report]
                self._report(n, 1, state, self.fleet.tables["command"], *self.parameters, environment, report)
            block[after_report:after_commands] = self.fleet.tables["command"][: after_commands - after_report, :n]
            self._write_readings(block[after_commands:], tick)

    def _write_readings(self, block: Floats, tick: int) -> None:
        row = 0
        for sensor in self.sensors.values():
            sensor.arrive(tick)
            readings = list(sensor.readings().values())
            for k, values in enumerate(readings):
                block[row + k] = values
            row += len(readings) + 1
            block[row - 1] = sensor.sample_tick

    def pose_block(self, tick: int) -> Floats:
        """The poses at this tick in a buffer of its own, for stages that run when no snapshot was made."""
        if self._own_block.shape[1] < self.fleet.n:
            self._own_block = np.zeros((len(POSE_COLUMNS), self.fleet.capacity))
            self._own_tick = -1
        if self._own_tick != tick:
            self._pose(self.fleet.n, 1, self.fleet.state, *self.parameters, self._own_block)
            self._own_tick = tick
        return self._own_block

    def forget_poses(self) -> None:
        """The state was changed other than by a tick."""
        self._own_tick = -1

    def layout(self) -> FleetLayout:
        """How this fleet looks in a snapshot now."""
        fleet = self.fleet
        own = (*POSE_COLUMNS, *self.model.telemetry, *self.model.report_columns)
        return FleetLayout(
            name=fleet.name,
            kind=self.model.kind,
            model=self.model.name,
            columns=(*own, *self.command_columns, *self.reading_columns),
            n=fleet.n,
            ids=fleet.ids.copy(),
            members=fleet.members.copy(),
            single=fleet.single,
        )

    @property
    def command_columns(self) -> tuple[str, ...]:
        """`command.steer`, ...: the commands in force; none in large fleets, where they would be most of a snapshot."""
        names = column_index(self.model.command) if self.fleet.n <= COMMANDS_SHOWN else ()
        return tuple(f"command.{name}" for name in names)

    @property
    def reading_columns(self) -> tuple[str, ...]:
        """`imu.ax`, ..., `imu.sample_tick` for every sensor, in the order of a snapshot's block."""
        names = {name: (*column_index(sensor.sensor.reading), "sample_tick") for name, sensor in self.sensors.items()}
        return tuple(f"{sensor}.{reading}" for sensor, readings in names.items() for reading in readings)

    @property
    def acts(self) -> bool:
        """Whether any of its vehicles follows a rule."""
        return self.conduct is not None or (self.orders is not None and self.orders.acting)

    def driven(self, rows: Ints) -> NDArray[np.bool_]:
        """Which of these vehicles a rule drives; the others take commands."""
        own = self.conduct is not None
        if self.orders is None:
            return np.full(len(rows), own)
        marks = self.orders.marks[rows]
        return np.asarray(((marks == OWN) & own) | (marks > OWN), np.bool_)

    def driver(self, row: int) -> tuple[str, str] | None:
        """What drives a vehicle, `behaviour` or `order` with the name of the rule; None if commands do."""
        mark = OWN if self.orders is None else int(self.orders.marks[row])
        if mark == COMMANDED or (mark == OWN and self.conduct is None):
            return None
        if self.orders is not None and mark > OWN:
            return "order", self.orders.squads[mark].plan.rule.name
        assert self.conduct is not None
        return "behaviour", self.conduct.rule.name

    def admit(self, rows: slice) -> None:
        """Vehicles have joined in these rows: they do what the entry says."""
        if self.conduct is not None:
            self.conduct.admit(rows)
        if self.orders is not None:
            self.orders.admit(rows.stop - rows.start)

    def keep(self, rows: Ints) -> None:
        """Vehicles have left; these rows stay."""
        self.fleet.keep(rows)
        if self.orders is not None:
            self.orders.keep(rows)
            self.forget_orders()
        for sensor in self.sensors.values():
            sensor.keep(rows)
        if self.conduct is not None:
            self.conduct.assign_slots()
        self.forget_poses()

    def forget_orders(self) -> None:
        """Have no table of orders where nobody has any."""
        if self.orders is not None and not len(self.orders.rows):
            self.orders = None


def command_values(model: VehicleModel, policy: str) -> Floats:
    """The value of each command under a policy (failsafe or brake); NaN where the last command is held."""
    values = [getattr(column, policy) for column in columns_of(model.command)]
    return np.array([np.nan if value is None else float(value) for value in values])


def checked_inputs(model: VehicleModel, given: Mapping[str, Any], where: Callable[[str], str]) -> dict[str, float]:
    """Command inputs by name, each known, finite and in range."""
    rows = column_index(model.command)
    columns = columns_of(model.command)
    result = {}
    for name, value in given.items():
        if name not in rows:
            raise unknown_name(f"input of {model.name}", name, rows, where(name))
        result[name] = checked(columns[rows[name]], value, "input", where(name))
    return result
