"""A fleet with the kernels of its model, its parameters and settings, what drives it, and what it publishes."""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from paddock.compute.kernel import CompiledKernels, kernel
from paddock.compute.threads import DirectCall
from paddock.engine.behaviours import FleetBehaviour, read_only
from paddock.engine.fleet_control import FleetControl
from paddock.engine.fleet_settings import FleetParameters, FleetSettings
from paddock.engine.motion import MOTIONS, Alarm
from paddock.engine.published import POSE_COLUMNS, PublishedColumns
from paddock.engine.sensor_inputs import SensorInputs
from paddock.sensing.suite import FleetSensor
from paddock.vehicles.model import VehicleModel
from paddock.world.columns import Floats, column_index
from paddock.world.fleet import Fleet, Ints
from paddock.world.ground import surface_of
from paddock.world.wind import VARYING_WIND, WIND_TABLE

if TYPE_CHECKING:
    from paddock.engine.fmu_motion import FmuMotion

DIMENSIONS = (
    *("cg_to_front", "cg_to_rear", "track_front", "track_rear", "wheel_radius"),
    *("length", "width", "height", "balance"),
)
"""Parameters that say what a vehicle looks like."""


class FleetProgram:
    """A fleet and what computes it: motion, poses and report by kernels, behaviour, sensors, public columns."""

    def __init__(
        self,
        fleet: Fleet,
        model: VehicleModel,
        parameters: FleetParameters,
        settings: FleetSettings,
        behaviour: FleetBehaviour | None = None,
        device: str = "cpu",
        around: tuple[Floats, ...] = (),
        fmus: "FmuMotion | None" = None,
    ) -> None:
        """`around`: the environment and its tables over uneven ground; empty over flat ground.

        A fleet with a table of the wind at its vehicles moves in that wind.
        """
        self.fleet = fleet
        self.model = model
        self.parameters = parameters
        self.settings = settings
        self.control = FleetControl(fleet, model, parameters, settings, behaviour)
        self.sensors: dict[str, FleetSensor] = fleet.sensors
        self.sensor_inputs = SensorInputs(fleet, model, parameters, self._reported)
        self.published = PublishedColumns(fleet, model, parameters, settings, self._write_poses, self._write_report)
        self.fmus = fmus  # None: the model's own step moves the vehicles
        varying, uneven = parameters.varying, surface_of(around[1:]) if around else None
        wind = VARYING_WIND if WIND_TABLE in fleet.tables else ()
        spec = model.step_spec(varying, uneven=uneven, parameters=parameters.values, wind=wind)
        self._motion = fmus or MOTIONS[device](spec)
        self._pose: Callable[..., None] = fmus.pose if fmus else kernel(model.pose_spec(varying, uneven=uneven))
        self._run_pose = DirectCall(self._pose) if isinstance(self._pose, CompiledKernels) else None
        self._ground, self._seat = around[1:], around if model.rides else ()
        report = model.report_spec(varying, uneven, wind)
        self._report = kernel(report) if report is not None else None
        self._same = None if varying else (parameters.values,)
        self._poses = np.zeros((len(POSE_COLUMNS), 0))
        self._poses_shown = read_only(self._poses)
        self._poses_tick = -1

    def kernels(self) -> Iterator[tuple[CompiledKernels, int]]:
        """Yield the kernels that a run of this fleet calls, each with the number of vehicles it is called for."""
        sensing = (sensor.kernel for sensor in self.sensors.values())
        report = self._report if self.published.has_report or self.sensor_inputs.need_report else None
        for kernels in (self._motion.kernel, self._pose, report, *sensing, *self.control.kernels()):
            if isinstance(kernels, CompiledKernels):
                yield kernels, self.fleet.n

    def move(self, ticks: int, environment: Floats, rate: float) -> list[Alarm]:
        """Advance every vehicle by that many ticks at `rate` Hz; return the alarms."""
        if not self.fleet.n or self.control.placed_by_mission:
            return []
        substeps = self.settings.substeps
        dt = 1.0 / (rate * substeps)  # the bits of a clock with this rate
        parameters = self._same or self.parameters.arguments
        constants = *parameters, environment, *self.wind, *self._ground
        return self._motion.move(self.fleet, ticks, substeps, constants, dt)

    @property
    def wind(self) -> tuple[Floats, ...]:
        """The table of the wind at the vehicles, if they have one of their own."""
        table = self.fleet.tables.get(WIND_TABLE)
        return () if table is None else (table,)

    # poses and reports ------------------------------------------------------------------------------------------------

    def pose_block(self, tick: int) -> Floats:
        """Return the poses at this tick, read-only, computed once per tick."""
        if self._poses.shape[1] < self.fleet.n:
            self._poses = np.zeros((len(POSE_COLUMNS), self.fleet.capacity))
            self._poses_shown, self._poses_tick = read_only(self._poses), -1
        if self._poses_tick != tick:
            self._write_poses(self._poses)
            self._poses_tick = tick
        return self._poses_shown

    def poses_of(self, rows: Ints, tick: int) -> Floats:
        """Return the poses (13, k) of some of the vehicles."""
        if self._poses_tick == tick or 2 * len(rows) > self.fleet.n:
            return np.take(self.pose_block(tick), rows, axis=1)
        poses = np.zeros((len(POSE_COLUMNS), len(rows)))
        state = np.ascontiguousarray(np.take(self.fleet.state, rows, axis=1))
        self._pose(len(rows), 1, state, *self.parameters.arguments_of(rows), poses)
        return poses

    def forget_poses(self) -> None:
        """Discard cached poses, after a change of the state outside a tick."""
        self._poses_tick = -1

    def _write_poses(self, poses: Floats, _: object = None) -> None:
        """Compute the poses of all vehicles, (13, n or more)."""
        arguments = self.fleet.n, 1, self.fleet.state, *self.parameters.arguments, *self._seat, poses
        if self._run_pose is None:
            self._pose(*arguments)
        else:
            self._run_pose(arguments)

    def _write_report(self, report: Floats, environment: Floats) -> None:
        """Compute the model's report of all vehicles, (columns, n)."""
        assert self._report is not None
        constants = *self.parameters.arguments, environment, *self.wind, *self._ground
        self._report(self.fleet.n, 1, self.fleet.state, self.fleet.tables["command"], *constants, report)

    def _reported(self, environment: Floats) -> Floats:
        report = np.empty((len(self.model.report_columns), self.fleet.n))
        self._write_report(report, environment)
        return report

    # for users --------------------------------------------------------------------------------------------------------

    def inspect(self, row: int) -> dict[str, dict[str, Any]]:
        """Return the state, command and parameter values of one vehicle, and the substeps that a tick takes."""
        fleet, model = self.fleet, self.model
        state = {name: float(fleet.state[k, row]) for name, k in column_index(model.state).items()}
        command = {name: float(fleet.command[k, row]) for name, k in column_index(model.command).items()}
        values = {"state": state, "command": command, "parameters": self.parameters.of(row)}
        return {**values, "dynamics": {"substeps": self.settings.substeps}}

    def appearance(self) -> dict[str, Any]:
        """Return the preset and the dimensions (m), for viewers."""
        preset = self.settings.entry.get("preset")
        values = dict(zip(column_index(self.model.parameters), self.parameters.values.tolist(), strict=True))
        dimensions = {name: values[name] for name in DIMENSIONS if name in values}
        return {"preset": None if preset is None else str(preset), "dimensions": dimensions}

    @property
    def finite(self) -> bool:
        """Whether the states and the memories of behaviours are finite."""
        with np.errstate(over="ignore", invalid="ignore"):
            tables = self.fleet.state[:, : self.fleet.n], *self.control.memories()
            return all(np.isfinite(table.sum(axis=0)).all() for table in tables)

    # vehicles come and go ---------------------------------------------------------------------------------------------

    def admit(self, rows: slice) -> None:
        """Start vehicles that have joined in these rows; they follow the behaviour of the entry."""
        if self.fmus is not None:
            self.fmus.admit(self, range(rows.start, rows.stop))
        if self.control.behaviour is not None:
            self.control.behaviour.assign_slots()
        self.forget_poses()

    def keep(self, rows: Ints) -> None:
        """Remove all vehicles except these rows."""
        removed = np.setdiff1d(self.fleet.rows, rows)
        self.control.release(removed)
        if self.fmus is not None:
            self.fmus.close(self.fleet, removed)
        self.fleet.keep(rows)
        self.control.rows_moved()
        self.forget_poses()
