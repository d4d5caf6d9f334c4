"""What happens when something is lost: the ground station, RC, charge, the position, the right way up.

Each failsafe has its condition, which must last, and is over only after it has been gone for a while. Of several at a
time the one of the highest rank decides: a lower one that comes later is only told.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import hypot, radians
from typing import TYPE_CHECKING

from paddock.sitl.autopilot.battery import CRITICAL, LOW
from paddock.sitl.autopilot.notices import Severity
from paddock.sitl.autopilot.responses import respond, steps

if TYPE_CHECKING:
    from paddock.sitl.autopilot.autopilot import BuiltInAutopilot

PERIOD = 0.1  # s between two looks
POSITION_LOST = 1.0  # s
CLEARED = 1.0  # s that a condition must be gone
CRASH_TIME = 2.0  # s
CRASH_TILT = radians(30.0)  # away from what was wanted
PILOTED = ("STABILIZE", "ACRO", "ALT_HOLD", "LOITER", "MANUAL", "STEERING", "FBWA", "CRUISE")

AUTO_RC, AUTO_GCS, GUIDED_RC, LANDING, PILOTED_GCS = 1, 2, 4, 8, 16
"""Bits of FS_OPTIONS: in which modes which failsafe is only told."""


@dataclass
class Watch:
    """One condition over time."""

    name: str
    parameter: str  # says what to do
    rank: int
    after: float = 0.0  # s that the condition must last
    active: bool = False
    acted: bool = False
    chosen: int | None = None  # the mode that it went to
    lasted: float = 0.0  # s that the condition has held, or has been gone

    def turns(self, condition: bool, dt: float) -> bool:
        """Whether it begins or ends now."""
        if condition is self.active:
            self.lasted = 0.0
            return False
        self.lasted += dt
        if self.lasted < (CLEARED if self.active else self.after) - 1e-9:
            return False
        self.active, self.lasted = condition, 0.0
        return True


class Failsafes:
    """All failsafes of a vehicle. Nothing happens to a disarmed one, but conditions are followed."""

    def __init__(self, autopilot: BuiltInAutopilot) -> None:
        self.autopilot = autopilot
        self.gcs_us = -1  # when a ground station was last heard; -1 never
        self.gcs = Watch("GCS failsafe", "FS_GCS_ENABLE", 1)
        self.rc = Watch("Radio failsafe", "FS_THR_ENABLE", 2)
        self.low = Watch("Battery low", "BATT_FS_LOW_ACT", 3)
        self.position = Watch("EKF failsafe", "FS_EKF_ACTION", 4, POSITION_LOST)
        self.critical = Watch("Battery critical", "BATT_FS_CRT_ACT", 5)
        self.watches = (self.critical, self.position, self.low, self.rc, self.gcs)
        self._since = 0.0  # s since the last look
        self._tilted = 0.0  # s

    @property
    def acting(self) -> bool:
        """Whether one decides what the vehicle does."""
        return any(watch.acted for watch in self.watches)

    def outranks(self, rank: int) -> bool:
        """Whether a failsafe of a higher rank decides what the vehicle does; not if somebody has taken it over."""
        mode = self.autopilot.mode.number
        return any(watch.acted and watch.rank > rank and watch.chosen == mode for watch in self.watches)

    def heard_gcs(self, now_us: int) -> None:
        """A ground station's heartbeat."""
        self.gcs_us = max(self.gcs_us, now_us)

    def disarmed(self) -> None:
        """Nothing has to be acted on any more; what still holds acts when the vehicle is armed again."""
        for watch in self.watches:
            watch.acted = False
        self._tilted = 0.0

    def update(self, dt: float) -> None:
        """Look at all of them, ten times a second."""
        self._since += dt
        if self._since < PERIOD - 1e-9:
            return
        dt, self._since = self._since, 0.0
        level = self.autopilot.battery.level
        self._look(self.critical, level >= CRITICAL, dt)
        self._look(self.position, self._no_position(), dt)
        self._look(self.low, level >= LOW, dt)
        self._look(self.rc, self.autopilot.rc.lost, dt)
        self._look(self.gcs, self._no_gcs(), dt)
        self._watch_tilt(dt)

    def _look(self, watch: Watch, condition: bool, dt: float) -> None:
        if watch.turns(condition, dt):
            if watch.active:
                self._begin(watch)
            else:
                self._end(watch)
        if watch.active and not watch.acted and self.autopilot.armed:
            self._act(watch)

    def _no_position(self) -> bool:
        """A vehicle that never knew where it is has not lost it."""
        return self.autopilot.home is not None and not self.autopilot.estimate.position_ok

    def _no_gcs(self) -> bool:
        limit = self.autopilot.parameters.value("FS_GCS_TIMEOUT")
        return self.gcs_us >= 0 and self.autopilot.now_us - self.gcs_us > limit * 1e6

    def _begin(self, watch: Watch) -> None:
        """Batteries and positions are told at once; a lost link only when something is done about it."""
        say = self.autopilot.say
        if watch is self.critical:
            say(Severity.CRITICAL, f"Battery 1 is critical {self.autopilot.battery.reason}")
        elif watch is self.low:
            say(Severity.WARNING, f"Battery 1 is low {self.autopilot.battery.reason}")
        elif watch is self.position:
            say(Severity.CRITICAL, "EKF: position lost")

    def _end(self, watch: Watch) -> None:
        if watch is self.position:
            self.autopilot.say(Severity.NOTICE, "EKF: position recovered")
        elif watch.acted:
            self.autopilot.say(Severity.NOTICE, f"{watch.name} cleared")
        watch.acted = False

    def _act(self, watch: Watch) -> None:
        """Once for each time that it begins, and only if nothing of a higher rank decides."""
        wanted = steps(self.autopilot, watch.parameter)
        if not wanted or (watch is self.position and not self._needs_position()):
            return
        watch.acted, watch.chosen = True, None
        if self._goes_on(watch):
            self.autopilot.say(Severity.WARNING, f"{watch.name}: {self.autopilot.mode.name} goes on")
        elif watch is not self.position and self.outranks(watch.rank):  # without a position no way leads home
            self.autopilot.say(Severity.WARNING, f"{watch.name}: {self.autopilot.mode.name} has precedence")
        elif respond(self.autopilot, wanted, watch.name):
            watch.chosen = self.autopilot.mode.number

    def _needs_position(self) -> bool:
        """The last resort may go on without a position: a copter that lands, a rover that holds."""
        autopilot = self.autopilot
        always = autopilot.parameters.whole("FS_EKF_ACTION") == 3
        return (autopilot.mode.needs_position or always) and autopilot.mode.number != autopilot.craft.stop_mode

    def _goes_on(self, watch: Watch) -> bool:
        options = self.autopilot.parameters.whole("FS_OPTIONS")
        mode = self.autopilot.mode.name
        if watch in (self.rc, self.gcs) and options & LANDING and mode == "LAND":
            return True
        if watch is self.rc:
            return bool((options & AUTO_RC and mode == "AUTO") or (options & GUIDED_RC and mode == "GUIDED"))
        if watch is self.gcs:
            return bool((options & AUTO_GCS and mode == "AUTO") or (options & PILOTED_GCS and mode in PILOTED))
        return False

    def _watch_tilt(self, dt: float) -> None:
        """A copter that lies on its side does not go on turning its propellers."""
        autopilot = self.autopilot
        estimate, telemetry = autopilot.estimate, autopilot.telemetry
        tilt = hypot(estimate.roll - telemetry.nav_roll, estimate.pitch - telemetry.nav_pitch)
        watched = autopilot.armed and autopilot.craft.kind == "copter" and estimate.attitude_ok
        self._tilted = self._tilted + dt if watched and tilt > CRASH_TILT else 0.0
        if self._tilted >= CRASH_TIME and autopilot.parameters.value("FS_CRASH_CHECK"):
            autopilot.say(Severity.EMERGENCY, f"Crash: Disarming: AngErr={tilt * 57.2958:.0f}>30")
            autopilot.disarm(force=True)
