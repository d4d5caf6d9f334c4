"""Battery and sensor health; failsafes (ground station, RC or position lost, low battery, crash) and their actions.

A failsafe triggers once its condition has lasted long enough and clears after the condition has been gone for 1 s. Of
several active failsafes the one with the highest rank acts; a lower one that triggers later is only reported.
"""

from dataclasses import dataclass, field
from math import hypot, isfinite, isnan, nan, radians, sqrt
from typing import TYPE_CHECKING

from paddock.autopilot.contract import drives
from paddock.autopilot.estimate import GRAVITY
from paddock.autopilot.telemetry import Landed, ModeReason, Severity
from paddock.compute.scalars import exp
from paddock.world.records import Text

if TYPE_CHECKING:
    from paddock.autopilot.autopilot import BuiltInAutopilot


# battery and sensor health: bits of MAV_SYS_STATUS_SENSOR
GYRO, ACCEL, MAG, BARO, AIRSPEED, GPS, RANGE = 0x1, 0x2, 0x4, 0x8, 0x10, 0x20, 0x100
CONTROLS = 0x400 | 0x800 | 0x1000 | 0x2000 | 0x4000  # rates, attitude, yaw, altitude, position
MOTORS, RC, FENCE, AHRS, BATTERY, PREARM = 0x8000, 0x10000, 0x100000, 0x200000, 0x2000000, 0x10000000

LOW, CRITICAL = 1, 2  # battery levels
LEVELS = ((CRITICAL, "CRT"), (LOW, "LOW"))  # and the parts of their parameters' names
SECONDS_PER_HOUR = 3600.0
SMOOTHING_TIME = 0.19  # s, of the mean specific force
RANGE_STALE_US = 1_000_000


@dataclass(eq=False)
class Battery:
    """The battery monitor. A low level latches: the voltage recovers as soon as the load ends."""

    autopilot: "BuiltInAutopilot"
    consumed: float = nan  # mAh; NaN: not measured
    level: int = 0  # 0, LOW or CRITICAL
    reason: Text = ""
    _low_time: list[float] = field(default_factory=lambda: [0.0, 0.0, 0.0])  # s below the voltage limit of each level
    _limits: dict[int, tuple[float, float]] = field(default_factory=dict)  # V and mAh, by level
    _timer: float = 0.0  # s
    _capacity: float = 0.0  # mAh

    def check_saved(self) -> bool:
        """Return whether a restored battery has the levels of all."""
        known = {level for level, _ in LEVELS}
        return len(self._low_time) == 3 and self._limits.keys() <= known and 0 <= self.level <= max(known)

    def __post_init__(self) -> None:
        self.read_parameters()

    @property
    def present(self) -> bool:
        """Whether a voltage is measured."""
        return not isnan(self.autopilot.sensors.battery_voltage)

    @property
    def remaining(self) -> float:
        """Remaining charge, mAh; NaN: unknown."""
        share = self.autopilot.sensors.battery_remaining
        if not isnan(share):
            return share * self._capacity
        return self._capacity - self.consumed if self._capacity > 0.0 else nan

    def read_parameters(self) -> None:
        """Read capacity, and voltage and charge limits of each level."""
        value = self.autopilot.parameters.value
        self._limits = {level: (value(f"BATT_{word}_VOLT"), value(f"BATT_{word}_MAH")) for level, word in LEVELS}
        self._timer, self._capacity = value("BATT_LOW_TIMER"), value("BATT_CAPACITY")

    def update(self, dt: float) -> None:
        """Integrate the current and check the limits."""
        sensors = self.autopilot.sensors
        if not isnan(sensors.battery_remaining):
            self.consumed = (1.0 - sensors.battery_remaining) * self._capacity
        elif not isnan(sensors.battery_current):
            drawn = sensors.battery_current * dt / SECONDS_PER_HOUR * 1000.0
            self.consumed = drawn if isnan(self.consumed) else self.consumed + drawn
        if not isnan(sensors.battery_voltage):
            for level, (volts, charge) in self._limits.items():
                if self.level < level and (volts or charge):
                    self._check(level, volts, charge, dt)

    def _check(self, level: int, volts: float, charge: float, dt: float) -> None:
        """Check the voltage and charge (mAh) limits of a level, `dt` s after the last check."""
        voltage = self.autopilot.sensors.battery_voltage
        self._low_time[level] = self._low_time[level] + dt if voltage < volts else 0.0
        if volts > 0.0 and self._low_time[level] > 0.0 and self._low_time[level] >= self._timer:
            self.level, self.reason = level, f"{voltage:.2f}V"
        elif charge > 0.0 and self.remaining < charge:
            self.level, self.reason = level, f"{self.remaining:.0f}mAh remaining"


@dataclass(eq=False)
class Health:
    """MAV_SYS_STATUS_SENSOR bits: sensors that have reported, that are enabled, and that are healthy now."""

    autopilot: "BuiltInAutopilot"
    specific_force: float = GRAVITY  # m/s2, mean magnitude
    _present: int = CONTROLS | MOTORS | AHRS | PREARM

    def update(self, dt: float) -> None:
        """Average the specific force and note which sensors report, `dt` s after the last time."""
        s = self.autopilot.sensors
        square = s.accel_x * s.accel_x + s.accel_y * s.accel_y + s.accel_z * s.accel_z
        if isfinite(square):
            self.specific_force += (sqrt(square) - self.specific_force) * (1.0 - exp(-dt / SMOOTHING_TIME))
        _ = self.present

    @property
    def present(self) -> int:
        """The sensors that have reported, even without a fix."""
        autopilot, s = self.autopilot, self.autopilot.sensors
        self._present |= (
            (GYRO | ACCEL if s.imu_time_us >= 0.0 else 0)
            | (MAG if s.compass_time_us >= 0.0 else 0)
            | (BARO if s.baro_time_us >= 0.0 else 0)
            | (GPS if s.gnss_time_us >= 0.0 else 0)
            | (RANGE if s.range_time_us >= 0.0 and not isnan(s.range_1) else 0)
            | (0 if isnan(s.airspeed) else AIRSPEED)
            | (BATTERY if autopilot.battery.present else 0)
            | (RC if autopilot.rc.seen else 0)
            | (FENCE if autopilot.fence.enabled else 0)
        )
        return self._present

    @property
    def enabled(self) -> int:
        """Those in use."""
        off = (0 if self.autopilot.armed else MOTORS) | (0 if self.autopilot.fence.enabled else FENCE)
        return self.present & ~off

    @property
    def healthy(self) -> int:
        """Those that work now."""
        autopilot, s = self.autopilot, self.autopilot.sensors
        gyro, accel, mag, gps, baro = autopilot.estimator.health
        healthy = GYRO * gyro | ACCEL * accel | MAG * mag | GPS * gps | BARO * baro | CONTROLS | MOTORS
        ranging = isfinite(s.range_1) and autopilot.now_us - s.range_time_us < RANGE_STALE_US
        healthy |= (RANGE if ranging else 0) | (AIRSPEED if isfinite(s.airspeed) else 0)
        healthy |= AHRS if autopilot.estimate.attitude_ok else 0
        healthy |= BATTERY if autopilot.battery.present and not autopilot.battery.level else 0
        healthy |= RC if autopilot.rc.fresh else 0
        healthy |= 0 if autopilot.fence.breached else FENCE
        healthy |= PREARM if autopilot.arming.passes else 0
        return healthy & self.present


RETURN, SMART, STOP, HOLD = "return_mode", "smart_mode", "stop_mode", "hold_mode"  # attributes of VehicleControl
ALT_HOLD, GUIDED = "ALT_HOLD", "GUIDED"  # modes by name
DISARM, LAND_START = "disarm", "landing sequence"  # no modes
Steps = tuple[str, ...]
RETURN_FIRST, SMART_RETURN, SMART_STOP = (RETURN, STOP), (SMART, RETURN, STOP), (SMART, STOP)

FLYING_ACTIONS: dict[str, tuple[Steps, ...]] = {
    "FENCE_ACTION": ((), RETURN_FIRST, (STOP,), SMART_RETURN, (HOLD, STOP), SMART_STOP),
    "FS_GCS_ENABLE": ((), RETURN_FIRST, RETURN_FIRST, SMART_RETURN, SMART_STOP, (STOP,), RETURN_FIRST, (HOLD, STOP)),
    "FS_THR_ENABLE": ((), RETURN_FIRST, RETURN_FIRST, (STOP,), SMART_RETURN, SMART_STOP, RETURN_FIRST, (HOLD, STOP)),
    "FS_EKF_ACTION": ((), (STOP,), (ALT_HOLD, STOP), (STOP,)),
    "BATT_FS": ((), (STOP,), RETURN_FIRST, SMART_RETURN, SMART_STOP, (DISARM,), RETURN_FIRST),
}
"""Parameter -> for each of its values, the modes to try in turn (copter)."""

DRIVING_ACTIONS: dict[str, tuple[Steps, ...]] = {  # the same for rovers
    **FLYING_ACTIONS,
    "FENCE_ACTION": ((), RETURN_FIRST, (STOP,), SMART_RETURN, SMART_STOP, SMART_STOP),
    "FS_EKF_ACTION": ((), (STOP,), (), (STOP,)),
    "BATT_FS": ((), RETURN_FIRST, (STOP,), SMART_RETURN, SMART_STOP, (DISARM,), (HOLD, STOP)),
}


PLANE_ACTIONS: dict[str, tuple[Steps, ...]] = {
    **FLYING_ACTIONS,
    "FS_SHORT_ACTN": (("CIRCLE",), ("CIRCLE",), ("FBWA",), (), ("FBWB",)),
    "FS_LONG_ACTN": (RETURN_FIRST, RETURN_FIRST, ("FBWA",), (), ("AUTO", *RETURN_FIRST)),
    "FS_EKF_ACTION": ((), (STOP,)),
    "FENCE_ACTION": ((), RETURN_FIRST, (), (), (), (), (GUIDED, *RETURN_FIRST)),
    "BATT_FS": ((), RETURN_FIRST, (LAND_START, *RETURN_FIRST), (DISARM,)),
}
AUTONOMOUS = ("AUTO", "GUIDED", "LOITER")  # modes that continue with an action of 0
SHORT_IGNORED = ("CIRCLE", "RTL", "TAKEOFF")
LONG_IGNORED = ("RTL", "TAKEOFF")


def steps(autopilot: "BuiltInAutopilot", name: str) -> Steps:
    """Return the actions that the value of a parameter selects, to be tried in turn; empty: report only."""
    plane = autopilot.vehicle.kind == "plane"
    tables = DRIVING_ACTIONS if drives(autopilot.vehicle.kind) else PLANE_ACTIONS if plane else FLYING_ACTIONS
    return tables["BATT_FS" if name.startswith("BATT_FS") else name][autopilot.parameters.whole(name)]


def mode_of(autopilot: "BuiltInAutopilot", action: str) -> int | None:
    """Return the number of the mode of an action; None if the vehicle type has none."""
    owned = action in (RETURN, SMART, STOP, HOLD)
    number: int | None = getattr(autopilot.vehicle, action) if owned else autopilot.mode_number(action)
    return number


def respond(autopilot: "BuiltInAutopilot", actions: Steps, reason: str, by: ModeReason) -> bool:
    """Take the first of the `actions` that is possible, for a `reason`, logged as `by`; return whether one was."""
    for action in actions:
        if action == DISARM:
            autopilot.send_text(Severity.EMERGENCY, f"{reason}: Disarming")
            return autopilot.disarm(force=True).accepted
        if action == LAND_START and autopilot.vehicle.start_landing(reason, by):
            autopilot.send_text(Severity.WARNING, f"{reason}: landing sequence")
            return True
        number = mode_of(autopilot, action)
        if number is not None and autopilot.set_mode(number, by=by).accepted:
            autopilot.send_text(Severity.WARNING, f"{reason}: {autopilot.mode.name}")
            return True
    if actions:
        autopilot.send_text(Severity.CRITICAL, f"{reason}: no mode available")
    return False


RADIO_ERROR, BATTERY_ERROR, LINK_ERROR, ESTIMATE_ERROR = 5, 6, 8, 17  # subsystems of the log's ERR
REASONS = {
    RADIO_ERROR: ModeReason.RADIO_FAILSAFE,
    BATTERY_ERROR: ModeReason.BATTERY_FAILSAFE,
    LINK_ERROR: ModeReason.GCS_FAILSAFE,
    ESTIMATE_ERROR: ModeReason.EKF_FAILSAFE,
}
POSITION_LOST = 1.0  # s
GLITCH_TIME = 0.5  # s
CLEARED = 1.0  # s that a condition must be gone
CRASH_TIME = 2.0  # s
CRASH_TILT = radians(30.0)  # attitude error
PILOTED = ("STABILIZE", "ACRO", "ALT_HOLD", "LOITER", "POSHOLD", "MANUAL", "STEERING")

AUTO_RC, AUTO_GCS, GUIDED_RC, LANDING, PILOTED_GCS = 1, 2, 4, 8, 16
"""Bits of FS_OPTIONS: modes that continue in spite of a failsafe."""


@dataclass
class Failsafe:
    """One condition over time."""

    name: Text
    parameter: Text  # selects the action
    rank: int
    subsystem: int  # ArduPilot's number in the log
    after: float = 0.0  # s that the condition must last
    active: bool = False
    acted: bool = False
    chosen: int | None = None  # mode it switched to
    before: int | None = None  # mode to which it returns when it clears
    lasted: float = 0.0  # s since the condition changed

    def changes(self, condition: bool, dt: float) -> bool:
        """Return whether the failsafe triggers or clears now."""
        if condition is self.active:
            self.lasted = 0.0
            return False
        self.lasted += dt
        if self.lasted < (CLEARED if self.active else self.after) - 1e-9:
            return False
        self.active, self.lasted = condition, 0.0
        return True


class Failsafes:
    """All failsafes of a vehicle. Conditions are tracked while disarmed, but nothing acts."""

    autopilot: "BuiltInAutopilot"
    gcs_us: int  # last heartbeat of the ground station; -1 never
    gcs: Failsafe
    rc: Failsafe
    low: Failsafe
    position: Failsafe
    glitch: Failsafe  # reported, without an action: dead reckoning continues until the position is lost
    critical: Failsafe
    short: Failsafe | None  # of planes, whose `rc` and `gcs` are the long failsafe
    _tilted: float  # s

    def __init__(self, autopilot: "BuiltInAutopilot") -> None:
        self.autopilot = autopilot
        self.gcs_us = -1
        plane = "FS_SHORT_ACTN" in autopilot.parameters
        radio = ("Long failsafe", "FS_LONG_ACTN") if plane else ("Radio failsafe", "FS_THR_ENABLE")
        self.gcs = Failsafe("GCS failsafe", "FS_LONG_ACTN" if plane else "FS_GCS_ENABLE", 1, LINK_ERROR)
        self.rc = Failsafe(*radio, 2, RADIO_ERROR)
        self.low = Failsafe("Battery low", "BATT_FS_LOW_ACT", 3, BATTERY_ERROR)
        self.position = Failsafe("EKF failsafe", "FS_EKF_ACTION", 4, ESTIMATE_ERROR, POSITION_LOST)
        self.glitch = Failsafe("GPS glitch", "FS_EKF_ACTION", 0, ESTIMATE_ERROR, GLITCH_TIME)
        self.critical = Failsafe("Battery critical", "BATT_FS_CRT_ACT", 5, BATTERY_ERROR)
        self.short = Failsafe("Short failsafe", "FS_SHORT_ACTN", 1, RADIO_ERROR) if plane else None
        self._tilted = 0.0

    @property
    def all(self) -> list[Failsafe]:
        """Those with an action, by descending rank."""
        ranked = [self.critical, self.position, self.low, self.rc, self.gcs]
        return ranked if self.short is None else [*ranked, self.short]

    @property
    def acting(self) -> bool:
        """Whether a failsafe determines what the vehicle does."""
        return any(failsafe.acted for failsafe in self.all)

    def outranks(self, rank: int) -> bool:
        """Return whether a failsafe of a higher rank is in control; not after the operator has changed the mode."""
        mode = self.autopilot.mode.number
        return any(each.acted and each.rank > rank and each.chosen == mode for each in self.all)

    def note_gcs_heartbeat(self, now_us: int) -> None:
        """Record a heartbeat of the ground station."""
        self.gcs_us = max(self.gcs_us, now_us)

    def on_disarm(self) -> None:
        """Rearm the failsafes: conditions that persist act again after the next arming."""
        for failsafe in self.all:
            failsafe.acted = False
        self._tilted = 0.0

    def update(self, dt: float) -> None:
        """Check all of them, `dt` s after the last check."""
        autopilot, level = self.autopilot, self.autopilot.battery.level
        value = autopilot.parameters.value
        gcs_timeout = value("FS_GCS_TIMEOUT" if self.short is None else "FS_LONG_TIMEOUT") * 1e6
        position_lost = autopilot.home is not None and not autopilot.estimate.position_ok  # once it was known
        gcs_lost = self.gcs_us >= 0 and autopilot.now_us - self.gcs_us > gcs_timeout
        conditions = [level >= CRITICAL, position_lost, level >= LOW, autopilot.rc.lost, gcs_lost]
        if self.short is not None:
            enabled, gcs_mode = value("THR_FAILSAFE") == 1, value("FS_GCS_ENABL")
            lost = enabled and (autopilot.rc.lost or autopilot.rc.throttle_low(value("THR_FS_VALUE")))
            watched = gcs_mode in (1, 2) or (gcs_mode == 3 and autopilot.mode.name == "AUTO")
            conditions[3:] = lost, gcs_lost and watched, lost
            self.short.after, self.rc.after = value("FS_SHORT_TIMEOUT"), value("FS_LONG_TIMEOUT")
        for failsafe, condition in zip(self.all, conditions, strict=True):
            if failsafe.changes(condition, dt):
                self._report(failsafe)
                self._restore(failsafe)
                failsafe.acted = failsafe.acted and failsafe.active
            if failsafe.active and not failsafe.acted and autopilot.armed:
                self._act(failsafe)
        refused = autopilot.home is not None and max(autopilot.estimate.position_ratio, 0.0) > 1.0
        if self.glitch.changes(refused and bool(autopilot.estimator.health.gps), dt):
            active = self.glitch.active
            severity, text = (Severity.CRITICAL, "GPS glitch") if active else (Severity.NOTICE, "GPS glitch cleared")
            autopilot.send_text(severity, text)
        self._check_crash(dt)

    def _report(self, failsafe: Failsafe) -> None:
        """Report battery and position when they change; a lost link only when the failsafe acts or clears."""
        send, reason = self.autopilot.send_text, self.autopilot.battery.reason
        if failsafe is self.position:
            severity, what = (Severity.CRITICAL, "lost") if failsafe.active else (Severity.NOTICE, "recovered")
            send(severity, f"EKF: position {what}")
        elif failsafe is self.critical and failsafe.active:
            send(Severity.CRITICAL, f"Battery 1 is critical {reason}")
        elif failsafe is self.low and failsafe.active:
            send(Severity.WARNING, f"Battery 1 is low {reason}")
        elif not failsafe.active and failsafe.acted:
            send(Severity.NOTICE, f"{failsafe.name} cleared")

    def _restore(self, failsafe: Failsafe) -> None:
        """Return to the mode before a short failsafe that has cleared, unless another has been chosen since."""
        if failsafe.active or not failsafe.acted or failsafe.before is None:
            return
        if self.autopilot.mode.number == failsafe.chosen:
            self.autopilot.set_mode(failsafe.before, f"{failsafe.name} cleared", ModeReason.RADIO_FAILSAFE)
        failsafe.before = None

    def _act(self, failsafe: Failsafe) -> None:
        """Act once per trigger, unless a failsafe of a higher rank is in control."""
        actions, autopilot = steps(self.autopilot, failsafe.parameter), self.autopilot
        # the stop mode works without a position: a copter lands, a rover holds
        always = autopilot.parameters.whole("FS_EKF_ACTION") == 3
        located = (autopilot.mode.needs_position or always) and autopilot.mode.number != autopilot.vehicle.stop_mode
        if not actions or (failsafe is self.position and not located) or self._waits(failsafe):
            return
        failsafe.acted, failsafe.chosen = True, None
        mode, before = self.autopilot.mode.name, self.autopilot.mode.number
        if self._continues(failsafe):
            self.autopilot.send_text(Severity.WARNING, f"{failsafe.name}: continuing in {mode}")
        elif failsafe is not self.position and self.outranks(failsafe.rank):  # without a position RTL is impossible
            self.autopilot.send_text(Severity.WARNING, f"{failsafe.name}: {mode} has precedence")
        elif respond(self.autopilot, actions, failsafe.name, REASONS[failsafe.subsystem]):
            failsafe.chosen = self.autopilot.mode.number
            failsafe.before = before if failsafe is self.short else None

    def _waits(self, failsafe: Failsafe) -> bool:
        """Return whether a lost link acts only after the take-off of a plane."""
        links = self.short is not None and failsafe in (self.rc, self.gcs, self.short)
        return links and self.autopilot.mode.stage is Landed.TAKEOFF

    def _plane_continues(self, failsafe: Failsafe) -> bool:
        """Return whether a plane continues in its mode: landing, circling, returning, or with an action of 0."""
        autopilot, mode = self.autopilot, self.autopilot.mode.name
        if failsafe not in (self.rc, self.gcs, self.short):
            return False
        if autopilot.telemetry.landed is Landed.LANDING or autopilot.executor.landing:
            return True
        if mode in (SHORT_IGNORED if failsafe is self.short else LONG_IGNORED):
            return True
        return mode in AUTONOMOUS and autopilot.parameters.whole(failsafe.parameter) == 0

    def _continues(self, failsafe: Failsafe) -> bool:
        if self.short is not None:
            return self._plane_continues(failsafe)
        options = self.autopilot.parameters.whole("FS_OPTIONS")
        mode = self.autopilot.mode.name
        if failsafe in (self.rc, self.gcs) and options & LANDING and mode == "LAND":
            return True
        if failsafe is self.rc:
            return bool((options & AUTO_RC and mode == "AUTO") or (options & GUIDED_RC and mode == "GUIDED"))
        if failsafe is self.gcs:
            return bool((options & AUTO_GCS and mode == "AUTO") or (options & PILOTED_GCS and mode in PILOTED))
        return False

    def _check_crash(self, dt: float) -> None:
        """Disarm a copter that lies on its side."""
        autopilot = self.autopilot
        estimate, telemetry = autopilot.estimate, autopilot.telemetry
        tilt = hypot(estimate.roll - telemetry.nav_roll, estimate.pitch - telemetry.nav_pitch)
        checked = autopilot.armed and autopilot.vehicle.kind == "copter" and estimate.attitude_ok
        self._tilted = self._tilted + dt if checked and tilt > CRASH_TILT else 0.0
        if self._tilted >= CRASH_TIME and autopilot.parameters.value("FS_CRASH_CHECK"):
            autopilot.send_text(Severity.EMERGENCY, f"Crash: Disarming: AngErr={tilt * 57.2958:.0f}>30")
            autopilot.disarm(force=True)
