"""Commands about the vehicle itself: arming, home, fence, calibration, reboot."""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan
from typing import TYPE_CHECKING

from paddock.sitl.autopilot.answer import ACCEPTED, Answer, Result
from paddock.sitl.autopilot.commands.checks import denied, not_now, place_wrong
from paddock.sitl.autopilot.fence import ALT_MIN
from paddock.sitl.autopilot.mission_item import Frame
from paddock.sitl.autopilot.notices import HomeChanged, Severity

if TYPE_CHECKING:
    from paddock.sitl.autopilot.autopilot import BuiltInAutopilot

FORCE = 21196.0
FORCE_REBOOT = 20190226.0
FURTHEST_HOME = 50_000.0  # m from the vehicle


def arm(autopilot: BuiltInAutopilot, p: Sequence[float], frame: int) -> Answer:
    """COMPONENT_ARM_DISARM: p1 1 arm, 0 disarm; p2 21196 force."""
    force = p[1] == FORCE
    if p[0] == 1.0:
        return autopilot.arm(force)
    return autopilot.disarm(force) if p[0] == 0.0 else denied(f"Arm: {p[0]:g} is neither 1 (arm) nor 0 (disarm)")


def check_arming(autopilot: BuiltInAutopilot, p: Sequence[float], frame: int) -> Answer:
    """RUN_PREARM_CHECKS: every failure becomes a line."""
    if autopilot.armed:
        return not_now("PreArm: already armed")
    autopilot.arming.tell_all()
    return ACCEPTED


def terminate(autopilot: BuiltInAutopilot, p: Sequence[float], frame: int) -> Answer:
    """DO_FLIGHTTERMINATION: p1 1 stops the motors at once."""
    if not p[0] > 0.5:
        return denied("Termination cannot be taken back")
    autopilot.say(Severity.EMERGENCY, "Flight termination")
    return autopilot.disarm(force=True)


def set_home(autopilot: BuiltInAutopilot, p: Sequence[float], frame: int) -> Answer:
    """DO_SET_HOME: p1 1 here, 0 at p5, p6 (deg), p7 (m)."""
    if p[0] == 1.0:
        autopilot.homes.locked = autopilot.homes.set_here()
        return ACCEPTED if autopilot.homes.locked else Answer(Result.FAILED, "Home: no position yet")
    wrong = place_wrong(p, frame) or ("no altitude" if isnan(p[6]) else "")
    if wrong or (p[4] == 0.0 and p[5] == 0.0):
        return denied(f"Home: {wrong or 'no such place: 0, 0'}")
    place = autopilot.homes.to_ned(p[4], p[5], p[6], frame)
    if place is None or autopilot.frame is None:
        return Answer(Result.FAILED, "Home: no position yet")
    if autopilot.homes.distance(place) > FURTHEST_HOME:
        return denied(f"Home: {autopilot.homes.distance(place) / 1000.0:.0f} km away")
    autopilot.homes.locked = True
    autopilot.homes.set((p[4], p[5], p[6] if frame == Frame.GLOBAL else autopilot.frame.altitude - place[2]))
    return ACCEPTED


def tell_home(autopilot: BuiltInAutopilot, p: Sequence[float], frame: int) -> Answer:
    """GET_HOME_POSITION."""
    if autopilot.home is None:
        return Answer(Result.FAILED, "Home: not set yet")
    autopilot.outbox.append(HomeChanged())
    return ACCEPTED


def enable_fence(autopilot: BuiltInAutopilot, p: Sequence[float], frame: int) -> Answer:
    """DO_FENCE_ENABLE: p1 0 off, 1 on, 2 only the least height off."""
    parameters = autopilot.parameters
    if p[0] not in (0.0, 1.0, 2.0):
        return denied(f"Fence: {p[0]:g} is none of 0 (off), 1 (on), 2 (floor off)")
    if p[0] == 2.0:
        parameters.set("FENCE_TYPE", parameters.whole("FENCE_TYPE") & ~ALT_MIN)
        return ACCEPTED
    parameters.set("FENCE_ENABLE", p[0])
    autopilot.say(Severity.INFO, "Fence enabled" if p[0] else "Fence disabled")
    return ACCEPTED


def calibrate(autopilot: BuiltInAutopilot, p: Sequence[float], frame: int) -> Answer:
    """PREFLIGHT_CALIBRATION: the simulated sensors need none, so each simple one is done at once."""
    if autopilot.armed:
        return not_now("Calibration: disarm first")
    asked = [value for value in p if not isnan(value) and value != 0.0]
    if not asked:
        return denied("Calibration: nothing is asked for")
    autopilot.say(Severity.INFO, "Calibration complete")
    return ACCEPTED


def storage(autopilot: BuiltInAutopilot, p: Sequence[float], frame: int) -> Answer:
    """PREFLIGHT_STORAGE: p1 0 read, 1 write, 2 defaults."""
    if autopilot.armed:
        return not_now("Storage: disarm first")
    if p[0] == 0.0:
        autopilot.parameters.load()
    elif p[0] == 1.0:
        autopilot.parameters.save()
    elif p[0] == 2.0:
        autopilot.parameters.reset()
    else:
        return denied(f"Storage: {p[0]:g} is none of 0 (read), 1 (write), 2 (defaults)")
    return ACCEPTED


def reboot(autopilot: BuiltInAutopilot, p: Sequence[float], frame: int) -> Answer:
    """PREFLIGHT_REBOOT_SHUTDOWN: p1 1 reboots the autopilot, when it is disarmed or p6 is the magic number."""
    if p[0] not in (1.0, 3.0):
        return Answer(Result.UNSUPPORTED, "Reboot: only 1 (reboot) is supported")
    if autopilot.armed and p[5] != FORCE_REBOOT:
        return not_now("Reboot: disarm first")
    autopilot.reboot_wanted = True
    return ACCEPTED
