"""The built-in autopilot of one vehicle: sensors in, actuator commands out, the operator's commands, and home.

Each exchange runs the estimator and the vehicle's control, for many vehicles at once in their `group`. `decide` runs
the mode every 20 ms of simulated time, and battery, sensors, arming, failsafes and fence every 100 ms. The only input
are the sensors, so it runs on every simulator.
"""

from collections import deque
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil, isinf
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from paddock.autopilot.commands import COMMANDS
from paddock.autopilot.contract import Autopilot, Mode, VehicleControl, find_vehicle
from paddock.autopilot.estimate import ESTIMATE_WIDTH, Estimate, LocalFrame, Ned, on_earth
from paddock.autopilot.estimator import Estimator, FilterArrays
from paddock.autopilot.failsafe import Battery, Failsafes, Health
from paddock.autopilot.fence import RETURN_POINT, Fence, check_fence_item, check_polygons
from paddock.autopilot.group import (
    ARMED,
    CONTROLLED,
    DECIDED,
    LONGEST_STEP,
    NO_GNSS,
    NOW,
    SLOW_PERIOD_US,
    VOLTAGE,
    BuiltInGroup,
    ControlArrays,
    control_arrays,
    run_autopilots,
)
from paddock.autopilot.guided import GuidedTarget, require_guided, require_target, set_target
from paddock.autopilot.log import OnboardLog
from paddock.autopilot.mission import MissionExecutor
from paddock.autopilot.mission_items import (
    AltitudeFrame,
    MissionItem,
    MissionResult,
    PlanKind,
    check_mission,
    check_mission_item,
    check_position,
    plain_frame,
)
from paddock.autopilot.parameter_tables import make_parameters
from paddock.autopilot.payload import Camera, ServoOutputs
from paddock.autopilot.preflight import Arming, Calibration, MotorTest
from paddock.autopilot.rc import RcInput
from paddock.autopilot.state import AutopilotState
from paddock.autopilot.telemetry import (
    ACCEPTED,
    Ack,
    CommandResult,
    HomeChanged,
    Landed,
    ModeReason,
    Notice,
    RefusedError,
    Severity,
    StatusText,
    Telemetry,
    denied,
    rejected,
)
from paddock.autopilot.vehicle_data import COLUMN, ActuatorCommands, SensorColumns, SensorData, blank_sensors
from paddock.errors import printable

CHECK_PERIOD = 0.1  # s
AIRSPEED = COLUMN["airspeed"]
WARNING_PERIOD_US = 5_000_000  # between two throttled warnings
UNKNOWN = Estimate(-1.0, *([0.0] * (ESTIMATE_WIDTH - 1)))  # before the first sensor data
TOTALS = {PlanKind.MISSION: "MIS_TOTAL", PlanKind.FENCE: "FENCE_TOTAL", PlanKind.RALLY: "RALLY_TOTAL"}


class BuiltInAutopilot(Autopilot):
    """One vehicle's autopilot. Not thread-safe: only the thread that ticks may use it."""

    kind = "builtin"
    live = True
    unsaved: ClassVar[tuple[str, ...]] = (
        *("status", "sensor_period_us", "sysid", "parameters", "estimator", "state", "_vehicle_type"),
        *("controls", "index", "status_row", "commands", "_actuators", "_row", "_sensors", "_newest", "log"),
    )
    """Attributes that are no part of the state: settings, parts with a state of their own, views of rows."""
    arming: Arming
    battery: Battery
    calibration: Calibration
    camera: Camera
    cruising: bool  # a compiled loop repeats what the mode has asked for
    executor: MissionExecutor
    failsafes: Failsafes
    fence: Fence
    guided: GuidedTarget
    health: Health
    home_position: "HomePosition"
    mode: Mode
    mode_reason: int = ModeReason.INITIALISED.value  # why it was entered
    motor_test: MotorTest | None = None  # in progress
    paused: int | None  # mode to continue after DO_PAUSE_CONTINUE
    plans: dict[PlanKind, tuple[MissionItem, ...]]
    rc: RcInput
    servos: ServoOutputs
    telemetry: Telemetry
    vehicle: VehicleControl
    _armed: bool
    _estimate: Estimate  # at the last decision
    _decided_us: float  # time of the last decision or check
    _since: float  # s since the last checks
    _warned_us: int  # time of the last throttled warning

    def __init__(
        self,
        sysid: int,
        vehicle: str | type[VehicleControl],
        parameters: Mapping[str, float] | None = None,
        folder: Path | None = None,
        use_truth: bool = False,
        capacity: float | None = None,
    ) -> None:
        """Make the autopilot of system `sysid` and of a vehicle type or its name.

        `parameters` override those saved in `folder`; `use_truth` replaces the estimate by the ground truth; `capacity`
        of the battery (mAh), where it is known, changes the defaults of the battery's parameters.
        """
        super().__init__()
        self.on_text: list[Callable[[Severity, str], None]] = []  # called with every status text
        self.log: OnboardLog | None = None
        self.on_event: list[Callable[[str, str], None]] = []  # called with kind and detail of every event of the run
        kind = find_vehicle(vehicle) if isinstance(vehicle, str) else vehicle
        self.sysid = sysid
        report = lambda text: self.send_text(Severity.ERROR, text)  # noqa: E731
        self.parameters = make_parameters(kind, sysid, folder, report, capacity)
        unknown = self.parameters.load()
        self.parameters.override(parameters or {})
        self.estimator = Estimator(use_truth=use_truth, on_jump=lambda offset: self.vehicle.shift(offset))
        self._vehicle_type = kind
        self.state = AutopilotState.of(self)
        self._attach(control_arrays(1, kind.widths), 0)
        self.plans = dict.fromkeys(PlanKind, ())
        self._boot()
        self.parameters.on_change = self._use_parameters
        for name in unknown:
            self.send_text(Severity.WARNING, f"Parameter {name}: saved value ignored")

    def _attach(self, controls: ControlArrays, index: int) -> None:
        self.controls, self.index = controls, index
        self.status_row, self.commands = controls.status[index], controls.commands[index]
        self._actuators = ActuatorCommands(self.commands)
        self._row = self.estimator.sensors
        self.state.show_rows()

    def move(self, filters: FilterArrays, controls: ControlArrays, index: int) -> None:
        """Keep all numbers of estimator and control in a row of a group's arrays from now on."""
        for own, shared in zip(self.controls, controls, strict=True):
            shared[index] = own[self.index]
        self.estimator.move(filters, index)
        self._attach(controls, index)
        self.vehicle.attach()

    def _boot(self) -> None:
        """Reset everything except parameters and plans."""
        for array in self.controls:
            array[self.index] = 0.0
        self.status_row[CONTROLLED] = self.status_row[DECIDED] = -1.0
        self.cruising, self._decided_us = False, -1.0
        self._estimate = self._newest = UNKNOWN
        self._row[:] = blank_sensors(1)[0]
        self._sensors = SensorColumns._make(self._row.tolist())
        self._since = CHECK_PERIOD
        self.armed = False
        self.guided = GuidedTarget()
        self.outbox.clear()
        self.telemetry = Telemetry(self)
        self._warned_us = -WARNING_PERIOD_US
        self.paused = None
        self.battery, self.health, self.rc = Battery(self), Health(self), RcInput(self)
        self.servos, self.camera, self.calibration = ServoOutputs(self), Camera(self), Calibration(self)
        self.motor_test = None
        self.home_position, self.arming = HomePosition(self), Arming(self)
        self.fence, self.failsafes = Fence(self), Failsafes(self)
        self.vehicle = self._vehicle_type(self)
        self._use_parameters()
        self.executor = MissionExecutor(self)
        self.mode, self.mode_reason = self.vehicle.modes[self.vehicle.first_mode](self), int(ModeReason.INITIALISED)
        self.mode.enter()

    def _use_parameters(self) -> None:
        self.vehicle.end_steady()
        self._derive()

    def _derive(self) -> None:
        value = self.parameters.value
        self.status_row[NO_GNSS], self.status_row[VOLTAGE] = value("SIM_GPS_DISABLE"), value("SIM_BATT_VOLTAGE")
        self.battery.read_parameters()
        self.camera.read_parameters()
        self.vehicle.read_parameters()

    def resume(self, state: AutopilotState) -> None:
        """Continue from a state that is loaded and checked; the next log begins."""
        if self.log is not None:
            self.log.close()
        self.state = state
        self.vehicle.attach()
        self._derive()
        self._newest = UNKNOWN
        self._sensors = SensorColumns._make(self._row.tolist())
        self.status.mode, self.status.armed, self.status.note = self.mode.name, self.armed, self.arming.note

    @property
    def outbox(self) -> deque[Notice]:
        """Notices for ground stations; the oldest are dropped."""
        return self.state.outbox

    def replace_target(self, target: GuidedTarget) -> None:
        """Set the target of GUIDED; by its number the mode sees that it is new."""
        self.guided = replace(target, number=self.guided.number + 1)

    @property
    def busy(self) -> bool:
        """Whether more than the mode needs the slow loop at 50 Hz: a pilot, a waiting item, camera or servos."""
        waits = self.executor.running and self.executor.actions.waiting
        return bool(self.rc.seen or waits or self.camera.distance or self.camera.left or self.servos.repetitions)

    @property
    def estimate(self) -> Estimate:
        """Position, velocity and attitude at the last decision, or the newest in steady flight."""
        if not self.cruising:
            return self._estimate
        if self._newest.time_us != self.estimator.row.item(0):
            self._newest = self.estimator.estimate()
        return self._newest

    @estimate.setter
    def estimate(self, estimate: Estimate) -> None:
        self._estimate = estimate

    @property
    def now_us(self) -> int:
        """Simulated time of the newest sensor data."""
        return int(self.status_row[NOW])

    @property
    def armed(self) -> bool:
        """Whether the motors may run."""
        return self._armed

    @armed.setter
    def armed(self, armed: bool) -> None:
        self._armed = armed
        self.status_row[ARMED] = armed

    @property
    def period_us(self) -> int:
        """The control period, or a fraction of it short enough to use every sample of a faster IMU."""
        control = self.vehicle.control_period_us
        parts = ceil(control / (self.sensor_period_us or control))
        return ceil(control / parts)

    def open(self) -> None:
        """Mark the autopilot as connected."""
        self.status.connected = True

    def close(self) -> None:
        """Mark the autopilot as disconnected; end its log."""
        self.status.connected = False
        if self.log is not None:
            self.log.close()

    def reset(self) -> None:
        """Reboot: parameters and plans are kept."""
        if self.log is not None:
            self.log.reset()
        self.estimator.reset()
        self._boot()

    @property
    def group_key(self) -> Hashable:
        """Autopilots of the same classes and period run together."""
        return type(self), type(self.estimator), self._vehicle_type, self.period_us

    @classmethod
    def make_group(cls, autopilots: Sequence[Any]) -> BuiltInGroup:
        """Return the group of autopilots with the same key."""
        return BuiltInGroup(autopilots)

    def offer(self, sensors: SensorData) -> None:
        """Run the estimator and the control, and every 20 ms the slow loop."""

        def fail(row: int, error: Exception) -> None:
            raise error

        run_autopilots({self.index: self}, np.array([self.index]), sensors.row[np.newaxis], fail)

    def collect(self, timeout: float) -> ActuatorCommands:
        """Return the actuator commands without waiting."""
        return self._actuators

    def decide(self) -> None:
        """Run the slow loop, at 50 Hz, or less often in steady flight."""
        self.vehicle.end_steady()
        now, before = self.status_row.item(NOW), self.status_row.item(DECIDED)
        dt = min((now - before) * 1e-6, LONGEST_STEP) if before >= 0.0 else SLOW_PERIOD_US * 1e-6
        elapsed, self.status_row[DECIDED] = self._elapsed(now, dt), now
        self._estimate = self.estimator.estimate()
        self.rc.update()
        self.home_position.update()
        self._supervise(elapsed)
        self.mode.update(dt)
        self.vehicle.update_landed(elapsed)
        if self.camera.distance or self.camera.left:
            self.camera.update()
        if self.servos.repetitions:
            self.servos.update()
        if self.calibration.sensors:
            self.calibration.update()
        if self.motor_test is not None:
            self.motor_test.update()
        self.vehicle.end_decision()
        # the estimator may rely on a stationary vehicle; a plane without airspeed sensor may be in the air
        known = self.vehicle.kind != "plane" or self._row.item(AIRSPEED) >= 0.0
        idle = not self._armed and self.motor_test is None
        standing = idle and self.telemetry.landed is Landed.ON_GROUND and known
        if standing is not self.estimator.standing:
            self.estimator.standing = standing
        self.status.mode, self.status.armed = self.mode.name, self.armed

    def check(self) -> None:
        """Check failsafes and landing in steady flight, at 10 Hz."""
        elapsed = self._elapsed(self.status_row.item(NOW), 0.0)
        self._estimate = self.estimate
        self._supervise(elapsed)
        self.vehicle.update_landed(elapsed)
        self.vehicle.record_check()

    def _elapsed(self, now: float, first: float) -> float:
        """Return the s since the last decision or check; `first` for the first."""
        last, self._decided_us = self._decided_us, now
        return min((now - last) * 1e-6, LONGEST_STEP) if last >= 0.0 else first

    def _supervise(self, elapsed: float) -> None:
        """Check battery, sensors, arming, failsafes and fence, at 10 Hz."""
        self._since += elapsed
        if self._since < CHECK_PERIOD - 1e-9:
            return
        dt, self._since = self._since, 0.0
        self.battery.update(dt)
        self.health.update(dt)
        self.arming.update()
        self.failsafes.update(dt)
        self.fence.update()
        self.vehicle.record_path()
        if self.log is not None:
            self.log.update()

    @property
    def sensors(self) -> SensorColumns:
        """The newest sensor data."""
        if self._sensors.time_us != self.status_row.item(NOW) or not self.status_row.item(NOW):
            self._sensors = SensorColumns._make(self._row.tolist())
        return self._sensors

    @property
    def frame(self) -> LocalFrame | None:
        """The estimator's local frame; None before the first good fix."""
        return self.estimator.frame

    @property
    def home(self) -> tuple[float, float, float] | None:
        """Latitude and longitude (deg), altitude (m above sea level); None before the first good fix."""
        return self.home_position.position

    def mode_number(self, name: str) -> int | None:
        """Return the number of a mode; None if this vehicle type does not have it."""
        return next((number for number, kind in self.vehicle.modes.items() if kind.name == name), None)

    def send_text(self, severity: Severity, text: str) -> None:
        """Send a status text to ground stations, control characters escaped: it may contain what a client sent."""
        text = printable(text)
        self.outbox.append(StatusText(severity, text))
        for listener in self.on_text:
            listener(severity, text)

    def report_event(self, kind: str, detail: str) -> None:
        """Report an event of the run."""
        for listener in self.on_event:
            listener(kind, detail)

    def warn_throttled(self, text: str) -> None:
        """Send a warning, at most one every 5 s."""
        if self.now_us - self._warned_us >= WARNING_PERIOD_US:
            self._warned_us = self.now_us
            self.send_text(Severity.WARNING, text)

    def set_mode(self, number: int, reason: str = "", by: ModeReason = ModeReason.GCS_COMMAND) -> Ack:
        """Change the mode, if possible. `reason` is reported with the new mode's name, `by` is logged."""
        kind = self.vehicle.modes.get(number)
        if kind is None:
            return denied(f"Mode {number}: unknown mode of a {self.vehicle.kind}")
        if kind is type(self.mode):
            return ACCEPTED
        mode = kind(self)
        # a disarmed vehicle may wait for its position in any mode
        no_position = self.armed and mode.needs_position and not self.estimate.position_ok
        refusal = "requires position" if no_position else mode.refusal()
        if refusal:
            return rejected(f"Mode {mode.name}: {refusal}")
        self.mode.leave()
        self.mode, self.mode_reason = mode, int(by)
        mode.enter()
        if reason:
            self.send_text(Severity.INFO, f"Mode {mode.name}: {reason}")
        return ACCEPTED

    def arm(self, force: bool = False) -> Ack:
        """Arm if the pre-arm checks pass, or with `force`."""
        return self.arming.arm(force)

    def disarm(self, force: bool = False) -> Ack:
        """Disarm; in the air only with `force`."""
        return self.arming.disarm(force)

    def check_item(self, kind: PlanKind, item: MissionItem) -> int:
        """Return the MAV_MISSION_RESULT of a single item, during an upload."""
        if kind == PlanKind.MISSION:
            return check_mission_item(item, self.vehicle.kind)
        if kind == PlanKind.FENCE:
            return check_fence_item(item)
        if item.command != RALLY_POINT:
            return MissionResult.UNSUPPORTED
        low = -MAX_RALLY_ALTITUDE
        return check_position(item) if low <= item.z <= MAX_RALLY_ALTITUDE else MissionResult.INVALID_PARAM7

    def check_plan(self, kind: PlanKind, items: Sequence[MissionItem]) -> tuple[int, int]:
        """Return the MAV_MISSION_RESULT of a whole plan, and the index of the item at fault."""
        most = int(self.parameters.known(TOTALS[kind]).high)
        if len(items) > most:
            return MissionResult.NO_SPACE, most
        if kind == PlanKind.MISSION:
            return check_mission(items, self.vehicle.kind)
        checked = ((self.check_item(kind, item), k) for k, item in enumerate(items))
        result, index = next((result for result in checked if result[0]), (0, 0))
        return check_polygons(items) if kind == PlanKind.FENCE and not result else (result, index)

    def set_plan(self, kind: PlanKind, items: Sequence[MissionItem]) -> tuple[int, int]:
        """Replace a plan if all of it is valid: MAV_MISSION_RESULT and the index of the item at fault."""
        items = tuple(items)
        result, index = self.check_plan(kind, items)
        if result:
            return result, index
        self.vehicle.end_steady()
        if kind == PlanKind.MISSION and items is not self.plans[kind]:
            self.executor.rewind(items)
        self.plans[kind] = items
        self.parameters.show(TOTALS[kind], len(items))
        unused = kind == PlanKind.FENCE and self.vehicle.kind != "plane"
        if unused and any(item.command == RETURN_POINT for item in items):
            self.send_text(Severity.NOTICE, "Fence: return point ignored, RTL uses home or rally points")
        return MissionResult.ACCEPTED, 0

    def command(self, command: int, p: Sequence[float], frame: int = AltitudeFrame.RELATIVE) -> Ack:
        """Carry out a MAV_CMD with 7 parameters; p[4], p[5] are latitude and longitude in deg where it has them."""
        handler = COMMANDS.get(command)
        if handler is None:
            return Ack(CommandResult.UNSUPPORTED, f"Command {command} is not supported")
        self.vehicle.end_steady()
        values = [*map(float, p), *[0.0] * 7][:7]
        if any(map(isinf, values)):
            return denied(f"Command {command}: infinite parameter")
        try:
            return handler(self, values, plain_frame(frame)) or ACCEPTED
        except RefusedError as refused:
            return refused.ack

    def set_guided_target(self, target: GuidedTarget) -> Ack:
        """Set a target for GUIDED; rejected (with a warning) in other modes or if it is invalid."""
        self.vehicle.end_steady()
        try:
            require_guided(self, "Target rejected")
            require_target(self, target)
        except RefusedError as refused:
            self.warn_throttled(refused.ack.text)
            return refused.ack
        set_target(self, target)
        return ACCEPTED


RALLY_POINT = 5100  # MAV_CMD_NAV_RALLY_POINT
MAX_RALLY_ALTITUDE = 100_000.0  # m


@dataclass(eq=False)
class HomePosition:
    """Set at the first valid position and on every arming, unless DO_SET_HOME has fixed it."""

    autopilot: BuiltInAutopilot
    position: tuple[float, float, float] | None = None  # deg, deg, m above sea level
    locked: bool = False  # by DO_SET_HOME: arming does not move it

    def check_saved(self) -> bool:
        """Return whether a restored position is on the Earth."""
        return self.position is None or on_earth(*self.position)

    def update(self) -> None:
        """Set home at the first valid position."""
        if self.position is None and self.autopilot.estimate.position_ok:
            self.set_here()

    def set_here(self) -> bool:
        """Set home to the current position; return False if that is unknown."""
        estimate, frame = self.autopilot.estimate, self.autopilot.frame
        if frame is None or not estimate.position_ok:
            return False
        self.set(frame.to_geodetic(estimate.north, estimate.east, estimate.down))
        return True

    def set(self, position: tuple[float, float, float]) -> None:
        """Set home: deg, deg, m above sea level."""
        self.position = position
        self.autopilot.outbox.append(HomeChanged())

    def ned(self) -> Ned:
        """Return home in the local frame; the origin while home is unknown."""
        frame = self.autopilot.frame
        return (0.0, 0.0, 0.0) if self.position is None or frame is None else frame.to_ned(*self.position)

    def to_ned(self, latitude: float, longitude: float, altitude: float, frame: int) -> Ned | None:
        """Convert a position (deg, deg, m) whose altitude is relative to `frame`; None without an origin."""
        local = self.autopilot.frame
        if local is None:
            return None
        north, east, down = local.to_ned(latitude, longitude, altitude)
        return north, east, down if frame == AltitudeFrame.GLOBAL else self.ned()[2] - altitude

    def return_point(self) -> Ned:
        """Return the nearest rally point within RALLY_LIMIT_KM, or home."""
        autopilot = self.autopilot
        items = autopilot.plans[PlanKind.RALLY]
        if not items or autopilot.frame is None:
            return self.ned()
        points = [self.to_ned(item.x, item.y, item.z, item.frame) for item in items]
        distance = autopilot.estimate.distance
        limit = autopilot.parameters.value("RALLY_LIMIT_KM") * 1000.0
        usable = [p for p in points if p is not None and (limit <= 0.0 or distance(p) <= limit)]
        if autopilot.parameters.value("RALLY_INCL_HOME") or not usable:
            usable.append(self.ned())
        return min(usable, key=distance)
