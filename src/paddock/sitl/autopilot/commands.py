"""The MAV_CMDs that the autopilot carries out; any other is UNSUPPORTED.

Each handler takes the autopilot, seven parameters (p5 and p6 are latitude and longitude in deg where the command has a
position; any may be NaN) and the altitude frame. Handlers that set a GUIDED target are in `guided.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from math import copysign, inf, isnan, nan, radians
from typing import TYPE_CHECKING

from paddock.sitl.autopilot import guided
from paddock.sitl.autopilot.ack import (
    ACCEPTED,
    Ack,
    CommandResult,
    denied,
    position_error,
    rejected,
    unsupported,
    whole,
)
from paddock.sitl.autopilot.estimate import Ned
from paddock.sitl.autopilot.fence import ALT_MIN
from paddock.sitl.autopilot.guided import MAX_SPEED, GuidedTarget, check_target
from paddock.sitl.autopilot.mission.items import AltitudeFrame, plain_frame
from paddock.sitl.autopilot.modes.copter.circle import CopterCircle
from paddock.sitl.autopilot.telemetry import HomeChanged, Landed, Severity

if TYPE_CHECKING:
    from paddock.sitl.autopilot.autopilot import BuiltInAutopilot

PARAMETERS = 7
FORCE = 21196.0
FORCE_REBOOT = 20190226.0
MAX_HOME_DISTANCE = 50_000.0  # m from the vehicle
MAX_TAKEOFF_ALTITUDE = 1000.0  # m
MIN_ORBIT_RADIUS = 0.5  # m
CUSTOM_MODE = 1  # bit of MAV_MODE_FLAG
ROI_MODES = ("AUTO", "GUIDED")
UNSUPPORTED_ROI = (1.0, 2.0, 4.0)  # MAV_ROI: next waypoint, numbered waypoint, another vehicle
NOSE_INWARDS = (0.0, 2.0, 5.0)  # ORBIT_YAW_BEHAVIOUR: to the centre, uncontrolled, unchanged

# arming, home, fence, system -----------------------------------------------------------------------------------------


def arm(autopilot: BuiltInAutopilot, p: Sequence[float], frame: int) -> Ack:
    """COMPONENT_ARM_DISARM: p1 1 arm, 0 disarm; p2 21196 force."""
    force = p[1] == FORCE
    if p[0] == 1.0:
        return autopilot.arm(force)
    return autopilot.disarm(force) if p[0] == 0.0 else denied(f"Arm: {p[0]:g} is neither 1 (arm) nor 0 (disarm)")


def run_prearm_checks(autopilot: BuiltInAutopilot, p: Sequence[float], frame: int) -> Ack:
    """RUN_PREARM_CHECKS: send each failure as STATUSTEXT."""
    if autopilot.armed:
        return rejected("PreArm: already armed")
    autopilot.arming.report_all()
    return ACCEPTED


def terminate(autopilot: BuiltInAutopilot, p: Sequence[float], frame: int) -> Ack:
    """DO_FLIGHTTERMINATION: p1 1 stops the motors immediately."""
    if not p[0] > 0.5:
        return denied("Flight termination cannot be undone")
    autopilot.send_text(Severity.EMERGENCY, "Flight termination")
    return autopilot.disarm(force=True)


def set_home(autopilot: BuiltInAutopilot, p: Sequence[float], frame: int) -> Ack:
    """DO_SET_HOME: p1 1 current position, 0 position p5, p6 (deg), p7 (m)."""
    home = autopilot.home_position
    if p[0] == 1.0:
        home.locked = home.set_here()
        return ACCEPTED if home.locked else Ack(CommandResult.FAILED, "Home: no position estimate")
    error = position_error(p, frame) or ("no altitude" if isnan(p[6]) else "")
    if error or (p[4] == 0.0 and p[5] == 0.0):
        return denied(f"Home: {error or 'invalid position 0, 0'}")
    place = home.to_ned(p[4], p[5], p[6], frame)
    if place is None or autopilot.frame is None:
        return Ack(CommandResult.FAILED, "Home: no position estimate")
    if home.distance(place) > MAX_HOME_DISTANCE:
        return denied(f"Home: {home.distance(place) / 1000.0:.0f} km away")
    home.locked = True
    home.set((p[4], p[5], p[6] if frame == AltitudeFrame.GLOBAL else autopilot.frame.altitude - place[2]))
    return ACCEPTED


def get_home(autopilot: BuiltInAutopilot, p: Sequence[float], frame: int) -> Ack:
    """GET_HOME_POSITION."""
    if autopilot.home is None:
        return Ack(CommandResult.FAILED, "Home: not set")
    autopilot.outbox.append(HomeChanged())
    return ACCEPTED


def enable_fence(autopilot: BuiltInAutopilot, p: Sequence[float], frame: int) -> Ack:
    """DO_FENCE_ENABLE: p1 0 disable, 1 enable, 2 disable the minimum altitude only."""
    parameters = autopilot.parameters
    if p[0] not in (0.0, 1.0, 2.0):
        return denied(f"Fence: {p[0]:g} is not 0 (disable), 1 (enable) or 2 (disable floor)")
    if p[0] == 2.0:
        parameters.set("FENCE_TYPE", parameters.whole("FENCE_TYPE") & ~ALT_MIN)
        return ACCEPTED
    parameters.set("FENCE_ENABLE", p[0])
    autopilot.send_text(Severity.INFO, "Fence enabled" if p[0] else "Fence disabled")
    return ACCEPTED


def calibrate(autopilot: BuiltInAutopilot, p: Sequence[float], frame: int) -> Ack:
    """PREFLIGHT_CALIBRATION: simulated sensors need none, so it succeeds immediately."""
    if autopilot.armed:
        return rejected("Calibration: disarm first")
    if all(isnan(value) or value == 0.0 for value in p):
        return denied("Calibration: no sensor selected")
    autopilot.send_text(Severity.INFO, "Calibration complete")
    return ACCEPTED


def storage(autopilot: BuiltInAutopilot, p: Sequence[float], frame: int) -> Ack:
    """PREFLIGHT_STORAGE: p1 0 read, 1 write, 2 reset to defaults."""
    if autopilot.armed:
        return rejected("Storage: disarm first")
    parameters = autopilot.parameters
    actions: dict[float, Callable[[], object]] = {0.0: parameters.load, 1.0: parameters.save, 2.0: parameters.reset}
    if p[0] not in actions:
        return denied(f"Storage: {p[0]:g} is not 0 (read), 1 (write) or 2 (defaults)")
    actions[p[0]]()
    return ACCEPTED


def reboot(autopilot: BuiltInAutopilot, p: Sequence[float], frame: int) -> Ack:
    """PREFLIGHT_REBOOT_SHUTDOWN: p1 1 reboots the autopilot, when disarmed or if p6 is the magic number."""
    if p[0] not in (1.0, 3.0):
        return Ack(CommandResult.UNSUPPORTED, "Reboot: only 1 (reboot) is supported")
    if autopilot.armed and p[5] != FORCE_REBOOT:
        return rejected("Reboot: disarm first")
    autopilot.reboot_wanted = True
    return ACCEPTED


# modes, take-off, landing, mission -----------------------------------------------------------------------------------


def set_mode(autopilot: BuiltInAutopilot, p: Sequence[float], frame: int) -> Ack:
    """DO_SET_MODE: p1 MAV_MODE_FLAGs with the custom bit, p2 mode number."""
    flags, number = whole(p[0]), whole(p[1])
    if flags is None or not flags & CUSTOM_MODE:
        return denied("Mode: only custom modes (flag 1)")
    return autopilot.set_mode(number) if number is not None else denied(f"Mode: unknown mode {p[1]:g}")


def take_off(autopilot: BuiltInAutopilot, p: Sequence[float], frame: int) -> Ack:
    """NAV_TAKEOFF: p7 m above home; in GUIDED, armed, on the ground."""
    if autopilot.vehicle.kind != "copter":
        return unsupported(autopilot, "Takeoff")
    if isnan(p[6]) or not 0.0 < p[6] <= MAX_TAKEOFF_ALTITUDE:
        return denied(f"Takeoff: {p[6]:g} m is not in 0 to {MAX_TAKEOFF_ALTITUDE:.0f}")
    if not autopilot.armed:
        return rejected("Takeoff: not armed")
    if autopilot.mode.name != "GUIDED":
        return rejected(f"Takeoff: mode is {autopilot.mode.name}, not GUIDED")
    if autopilot.telemetry.landed == Landed.IN_AIR:
        return rejected("Takeoff: already flying")
    autopilot.guided = GuidedTarget(time_us=autopilot.now_us, takeoff=p[6], speed=autopilot.guided.speed)
    return ACCEPTED


def land(autopilot: BuiltInAutopilot, p: Sequence[float], frame: int) -> Ack:
    """NAV_LAND: at the current position, as ArduPilot does."""
    number = autopilot.mode_number("LAND")
    return autopilot.set_mode(number) if number is not None else unsupported(autopilot, "Land")


def return_to_launch(autopilot: BuiltInAutopilot, p: Sequence[float], frame: int) -> Ack:
    """NAV_RETURN_TO_LAUNCH."""
    return autopilot.set_mode(autopilot.vehicle.return_mode)


def loiter(autopilot: BuiltInAutopilot, p: Sequence[float], frame: int) -> Ack:
    """NAV_LOITER_UNLIM: hold the current position."""
    return autopilot.set_mode(autopilot.vehicle.hold_mode)


def pause(autopilot: BuiltInAutopilot, p: Sequence[float], frame: int) -> Ack:
    """DO_PAUSE_CONTINUE: p1 0 hold the position, 1 continue in the mode that was paused."""
    hold = autopilot.vehicle.hold_mode
    if p[0] == 0.0:
        before = autopilot.mode.number
        ack = autopilot.set_mode(hold)
        if ack.accepted and before != hold:
            autopilot.paused = before
        return ack
    if p[0] != 1.0:
        return denied(f"Pause: {p[0]:g} is neither 0 (pause) nor 1 (continue)")
    if autopilot.paused is None or autopilot.mode.number != hold:
        return rejected("Continue: not paused")
    ack = autopilot.set_mode(autopilot.paused)
    autopilot.paused = None if ack.accepted else autopilot.paused
    return ack


def set_current(autopilot: BuiltInAutopilot, p: Sequence[float], frame: int) -> Ack:
    """DO_SET_MISSION_CURRENT: p1 item (-1: unchanged), p2 1 restarts the mission."""
    number = whole(p[0])
    if number is None:
        return denied(f"Mission: no item {p[0]:g}")
    if number == -1:
        return autopilot.executor.set_current(0 if p[1] == 1.0 else autopilot.executor.current)
    return autopilot.executor.set_current(number)


def start_mission(autopilot: BuiltInAutopilot, p: Sequence[float], frame: int) -> Ack:
    """MISSION_START: AUTO, from item p1 if given."""
    number = autopilot.mode_number("AUTO")
    refusal = autopilot.executor.refusal()
    if number is None or refusal:
        return Ack(CommandResult.FAILED, f"Mission start: {refusal or 'no AUTO mode'}")
    if not autopilot.armed:
        return rejected("Mission start: not armed")
    first = whole(p[0])
    if first is None or first < 0:
        return denied(f"Mission start: no item {p[0]:g}")
    if first > 0:
        ack = autopilot.executor.set_current(first)
        if not ack.accepted:
            return ack
    return autopilot.set_mode(number)


# region of interest, camera, orbit -----------------------------------------------------------------------------------


def set_roi_location(autopilot: BuiltInAutopilot, p: Sequence[float], frame: int) -> Ack:
    """DO_SET_ROI_LOCATION: p5 to p7 the position that a copter faces in AUTO and GUIDED; 0, 0: none."""
    if autopilot.vehicle.kind != "copter":
        return unsupported(autopilot, "ROI")
    error = position_error(p, frame)
    if error:
        return denied(f"ROI: {error}")
    place = autopilot.home_position.to_ned(p[4], p[5], 0.0, frame)
    if place is None:
        return rejected("ROI: no position estimate")
    return _set_roi(autopilot, None if p[4] == 0.0 == p[5] else place)


def set_roi(autopilot: BuiltInAutopilot, p: Sequence[float], frame: int) -> Ack:
    """DO_SET_ROI: p1 0 or 3, p5 to p7 as DO_SET_ROI_LOCATION."""
    if p[0] in UNSUPPORTED_ROI:
        return denied(f"ROI: only locations (3), not {p[0]:g}")
    return set_roi_location(autopilot, p, frame)


def clear_roi(autopilot: BuiltInAutopilot, p: Sequence[float], frame: int) -> Ack:
    """DO_SET_ROI_NONE: a copter faces its direction of travel again."""
    return _set_roi(autopilot, None) if autopilot.vehicle.kind == "copter" else unsupported(autopilot, "ROI")


def _set_roi(autopilot: BuiltInAutopilot, place: Ned | None) -> Ack:
    """Set or clear the region of interest; it replaces a heading commanded before."""
    autopilot.executor.roi.set(place)
    if place is not None:
        autopilot.guided = replace(autopilot.guided, yaw=nan, yaw_rate=nan)
        if autopilot.mode.name not in ROI_MODES:
            autopilot.send_text(Severity.INFO, "ROI: applies in AUTO and GUIDED")
    return ACCEPTED


def control_camera(autopilot: BuiltInAutopilot, p: Sequence[float], frame: int) -> Ack:
    """DO_DIGICAM_CONTROL: accepted and reported; there is no camera on board."""
    autopilot.send_text(Severity.INFO, "Picture: no camera on board")
    return ACCEPTED


def orbit(autopilot: BuiltInAutopilot, p: Sequence[float], frame: int) -> Ack:
    """DO_ORBIT: p1 radius (m, negative counter-clockwise), p2 m/s, p3 0 nose to the centre, p5 to p7 the centre."""
    number = autopilot.mode_number("CIRCLE")
    if autopilot.vehicle.kind != "copter" or number is None:
        return unsupported(autopilot, "Orbit")
    error = _orbit_error(autopilot, p)
    if error:
        return denied(f"Orbit: {error}")
    if not autopilot.armed or autopilot.telemetry.landed != Landed.IN_AIR:
        return rejected("Orbit: not flying")
    centre = _orbit_centre(autopilot, p, frame)
    if isinstance(centre, Ack):
        return centre
    value = autopilot.parameters.value
    rate = radians(value("CIRCLE_RATE"))
    radius = value("CIRCLE_RADIUS") / 100.0 if isnan(p[0]) else abs(p[0])
    speed = abs(rate) if isnan(p[1]) else p[1] / max(radius, MIN_ORBIT_RADIUS)
    ack = autopilot.set_mode(number)
    if ack.accepted and isinstance(autopilot.mode, CopterCircle):
        turn = copysign(speed, rate if isnan(p[0]) else p[0])
        autopilot.mode.go_round(centre, radius, turn, on_map=not isnan(p[4]))
    return ack


def _orbit_error(autopilot: BuiltInAutopilot, p: Sequence[float]) -> str:
    """Return what is wrong with radius, speed or yaw behaviour; NaN selects the parameters' values."""
    largest = autopilot.parameters.known("CIRCLE_RADIUS").high / 100.0
    if not isnan(p[0]) and not MIN_ORBIT_RADIUS <= abs(p[0]) <= largest:
        return f"radius {p[0]:g} m is not in {MIN_ORBIT_RADIUS:g} to {largest:g}"
    if not isnan(p[1]) and not 0.0 < p[1] <= MAX_SPEED:
        return f"speed {p[1]:g} m/s is not in 0 to {MAX_SPEED:g}"
    if not isnan(p[2]) and p[2] not in NOSE_INWARDS:
        return f"unsupported yaw behaviour {p[2]:g}, only 0 (nose to the centre)"
    return "" if isnan(p[3]) or p[3] == 0.0 else "a limited number of orbits is not supported"


def _orbit_centre(autopilot: BuiltInAutopilot, p: Sequence[float], frame: int) -> Ned | Ack:
    """Return the centre, by default the current position."""
    now = autopilot.estimate
    north, east, down = now.north, now.east, now.down
    if not (isnan(p[4]) and isnan(p[5])):
        error = position_error(p, frame)
        place = None if error else autopilot.home_position.to_ned(p[4], p[5], p[6], frame)
        if place is None:
            return denied(f"Orbit: {error}") if error else rejected("Orbit: no position estimate")
        north, east = place[:2]
        down = now.down if isnan(p[6]) else place[2]
    ack = check_target(autopilot, GuidedTarget(position=(north, east, down)))
    return (north, east, down) if ack.accepted else ack


Handler = Callable[["BuiltInAutopilot", Sequence[float], int], Ack]

COMMANDS: Mapping[int, Handler] = {
    16: guided.go_to,  # NAV_WAYPOINT
    17: loiter,  # NAV_LOITER_UNLIM
    20: return_to_launch,  # NAV_RETURN_TO_LAUNCH
    21: land,  # NAV_LAND
    22: take_off,  # NAV_TAKEOFF
    34: orbit,  # DO_ORBIT
    115: guided.yaw,  # CONDITION_YAW
    176: set_mode,  # DO_SET_MODE
    178: guided.change_speed,  # DO_CHANGE_SPEED
    179: set_home,  # DO_SET_HOME
    185: terminate,  # DO_FLIGHTTERMINATION
    192: guided.reposition,  # DO_REPOSITION
    193: pause,  # DO_PAUSE_CONTINUE
    195: set_roi_location,  # DO_SET_ROI_LOCATION
    197: clear_roi,  # DO_SET_ROI_NONE
    201: set_roi,  # DO_SET_ROI
    203: control_camera,  # DO_DIGICAM_CONTROL
    207: enable_fence,  # DO_FENCE_ENABLE
    224: set_current,  # DO_SET_MISSION_CURRENT
    241: calibrate,  # PREFLIGHT_CALIBRATION
    245: storage,  # PREFLIGHT_STORAGE
    246: reboot,  # PREFLIGHT_REBOOT_SHUTDOWN
    300: start_mission,  # MISSION_START
    400: arm,  # COMPONENT_ARM_DISARM
    401: run_prearm_checks,  # RUN_PREARM_CHECKS
    410: get_home,  # GET_HOME_POSITION
    43000: guided.change_speed,  # GUIDED_CHANGE_SPEED: same parameters 1 and 2
    43001: guided.change_altitude,  # GUIDED_CHANGE_ALTITUDE
    43002: guided.change_heading,  # GUIDED_CHANGE_HEADING
}


def run_command(autopilot: BuiltInAutopilot, command: int, p: Sequence[float], frame: int) -> Ack:
    """Carry out a command."""
    handler = COMMANDS.get(command)
    if handler is None:
        return Ack(CommandResult.UNSUPPORTED, f"Command {command} is not supported")
    values = [float(value) for value in p][:PARAMETERS]
    values += [0.0] * (PARAMETERS - len(values))
    if inf in values or -inf in values:
        return denied(f"Command {command}: infinite parameter")
    return handler(autopilot, values, plain_frame(frame))
