"""The MAV_CMDs that the autopilot carries out; any other is UNSUPPORTED.

Each handler takes the autopilot, seven parameters (p5 and p6 are latitude and longitude in deg where the command has a
position; any may be NaN) and the altitude frame. It states its requirements, acts, and returns None or an ack. Handlers
that set a GUIDED target are in `guided.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from math import copysign, isnan, nan, radians
from typing import TYPE_CHECKING

from paddock.autopilot import guided, payload, preflight
from paddock.autopilot.contract import drives
from paddock.autopilot.fence import ALT_MIN
from paddock.autopilot.group import REBOOT
from paddock.autopilot.guided import (
    MAX_SPEED,
    GuidedTarget,
    local_position,
    require_guided,
    require_position,
    require_target,
)
from paddock.autopilot.mission_items import AltitudeFrame
from paddock.autopilot.modes.copter_basic import CopterCircle
from paddock.autopilot.modes.plane_auto import PlaneAuto
from paddock.autopilot.modes.rover import RoverMode
from paddock.autopilot.telemetry import (
    ACCEPTED,
    Ack,
    CommandResult,
    HomeChanged,
    Landed,
    Severity,
    denied,
    rejected,
    require,
    unsupported,
)

if TYPE_CHECKING:
    from paddock.autopilot.autopilot import BuiltInAutopilot

FORCE = 21196.0
FORCE_REBOOT = 20190226.0
MAX_HOME_DISTANCE = 50_000.0  # m from the vehicle
MAX_TAKEOFF_ALTITUDE = 1000.0  # m
MIN_ORBIT_RADIUS = 0.5  # m
CUSTOM_MODE = 1  # bit of MAV_MODE_FLAG
UNSUPPORTED_ROI = (1.0, 2.0, 4.0)  # MAV_ROI: next waypoint, numbered waypoint, another vehicle
NOSE_INWARDS = (0.0, 2.0, 5.0)  # ORBIT_YAW_BEHAVIOUR: to the centre, uncontrolled, unchanged


def whole(value: float) -> int | None:
    """Return an integer that was sent as a float, or None if it is not an integer."""
    return None if isnan(value) or value != int(value) else int(value)


def arm(autopilot: BuiltInAutopilot, p: Sequence[float], frame: int) -> Ack:
    """COMPONENT_ARM_DISARM: p1 1 arm, 0 disarm; p2 21196 force."""
    require(p[0] in (0.0, 1.0), denied(f"Arm: {p[0]:g} is neither 1 (arm) nor 0 (disarm)"))
    return autopilot.arm(p[1] == FORCE) if p[0] else autopilot.disarm(p[1] == FORCE)


def run_prearm_checks(autopilot: BuiltInAutopilot, p: Sequence[float], frame: int) -> None:
    """RUN_PREARM_CHECKS: send each failure as STATUSTEXT."""
    require(not autopilot.armed, rejected("PreArm: already armed"))
    autopilot.arming.report_all()


def terminate(autopilot: BuiltInAutopilot, p: Sequence[float], frame: int) -> Ack:
    """DO_FLIGHTTERMINATION: p1 1 stops the motors immediately."""
    require(p[0] > 0.5, denied("Flight termination cannot be undone"))
    autopilot.send_text(Severity.EMERGENCY, "Flight termination")
    return autopilot.disarm(force=True)


def set_home(autopilot: BuiltInAutopilot, p: Sequence[float], frame: int) -> None:
    """DO_SET_HOME: p1 1 current position, 0 position p5, p6 (deg), p7 (m)."""
    home, unknown = autopilot.home_position, Ack(CommandResult.FAILED, "Home: no position estimate")
    if p[0] == 1.0:
        home.locked = home.set_here()
        require(home.locked, unknown)
        return
    require_position(p, frame, "Home")
    require(not isnan(p[6]), denied("Home: no altitude"))
    require(p[4] != 0.0 or p[5] != 0.0, denied("Home: invalid position 0, 0"))
    local, position = require(autopilot.frame, unknown), require(home.to_ned(p[4], p[5], p[6], frame), unknown)
    far = autopilot.estimate.distance(position)
    require(far <= MAX_HOME_DISTANCE, denied(f"Home: {far / 1000.0:.0f} km away"))
    home.locked = True
    home.set((p[4], p[5], p[6] if frame == AltitudeFrame.GLOBAL else local.altitude - position[2]))


def get_home(autopilot: BuiltInAutopilot, p: Sequence[float], frame: int) -> None:
    """GET_HOME_POSITION."""
    require(autopilot.home, Ack(CommandResult.FAILED, "Home: not set"))
    autopilot.outbox.append(HomeChanged())


def enable_fence(autopilot: BuiltInAutopilot, p: Sequence[float], frame: int) -> None:
    """DO_FENCE_ENABLE: p1 0 disable, 1 enable, 2 disable the minimum altitude only."""
    known = p[0] in (0.0, 1.0, 2.0)
    require(known, denied(f"Fence: {p[0]:g} is not 0 (disable), 1 (enable) or 2 (disable floor)"))
    parameters = autopilot.parameters
    if p[0] == 2.0:
        parameters.set("FENCE_TYPE", parameters.whole("FENCE_TYPE") & ~ALT_MIN)
    else:
        parameters.set("FENCE_ENABLE", p[0])
        autopilot.send_text(Severity.INFO, "Fence enabled" if p[0] else "Fence disabled")


def storage(autopilot: BuiltInAutopilot, p: Sequence[float], frame: int) -> None:
    """PREFLIGHT_STORAGE: p1 0 read, 1 write, 2 reset to defaults."""
    require(not autopilot.armed, rejected("Storage: disarm first"))
    parameters = autopilot.parameters
    actions: dict[float, Callable[[], object]] = {0.0: parameters.load, 1.0: parameters.save, 2.0: parameters.reset}
    require(actions.get(p[0]), denied(f"Storage: {p[0]:g} is not 0 (read), 1 (write) or 2 (defaults)"))()


def reboot(autopilot: BuiltInAutopilot, p: Sequence[float], frame: int) -> None:
    """PREFLIGHT_REBOOT_SHUTDOWN: p1 1 reboots the autopilot, when disarmed or if p6 is the magic number."""
    require(p[0] in (1.0, 3.0), Ack(CommandResult.UNSUPPORTED, "Reboot: only 1 (reboot) is supported"))
    require(not autopilot.armed or p[5] == FORCE_REBOOT, rejected("Reboot: disarm first"))
    autopilot.status_row[REBOOT] = 1.0  # at the next exchange


def set_mode(autopilot: BuiltInAutopilot, p: Sequence[float], frame: int) -> Ack:
    """DO_SET_MODE: p1 MAV_MODE_FLAGs with the custom bit, p2 mode number."""
    custom = denied("Mode: only custom modes (flag 1)")
    require(bool(require(whole(p[0]), custom) & CUSTOM_MODE), custom)
    return autopilot.set_mode(require(whole(p[1]), denied(f"Mode: unknown mode {p[1]:g}")))


def take_off(autopilot: BuiltInAutopilot, p: Sequence[float], frame: int) -> Ack | None:
    """NAV_TAKEOFF: p7 m above home; in GUIDED, armed, on the ground. A plane changes to TAKEOFF."""
    if autopilot.vehicle.kind == "plane":
        require(autopilot.armed, rejected("Takeoff: not armed"))
        return autopilot.set_mode(require(autopilot.mode_number("TAKEOFF"), unsupported(autopilot, "Takeoff")))
    require(autopilot.vehicle.kind == "copter", unsupported(autopilot, "Takeoff"))
    require(
        0.0 < p[6] <= MAX_TAKEOFF_ALTITUDE, denied(f"Takeoff: {p[6]:g} m is not in 0 to {MAX_TAKEOFF_ALTITUDE:.0f}")
    )
    require(autopilot.armed, rejected("Takeoff: not armed"))
    require_guided(autopilot, "Takeoff")
    require(autopilot.telemetry.landed != Landed.IN_AIR, rejected("Takeoff: already flying"))
    autopilot.replace_target(GuidedTarget(autopilot.now_us, takeoff=p[6], speed=autopilot.guided.speed))
    return None


def land(autopilot: BuiltInAutopilot, p: Sequence[float], frame: int) -> Ack:
    """NAV_LAND: at the current position, as ArduPilot does; a plane flies its landing sequence."""
    if autopilot.vehicle.kind == "plane":
        return start_landing(autopilot, p, frame)
    return autopilot.set_mode(require(autopilot.mode_number("LAND"), unsupported(autopilot, "Land")))


def start_landing(autopilot: BuiltInAutopilot, p: Sequence[float], frame: int) -> Ack:
    """DO_LAND_START: a plane or copter continues with the nearest landing sequence of its mission."""
    require(not drives(autopilot.vehicle.kind), unsupported(autopilot, "Landing sequence"))
    require(autopilot.armed, rejected("Land: not armed"))
    missing = Ack(CommandResult.FAILED, "Land: no DO_LAND_START in the mission")
    require(autopilot.vehicle.start_landing("command"), missing)
    return ACCEPTED


def go_around(autopilot: BuiltInAutopilot, p: Sequence[float], frame: int) -> Ack:
    """DO_GO_AROUND: a plane aborts its landing, climbs, and repeats the landing sequence."""
    mode = autopilot.mode
    require(isinstance(mode, PlaneAuto) and mode.go_around(), rejected("Go around: not landing"))
    return ACCEPTED


def return_to_launch(autopilot: BuiltInAutopilot, p: Sequence[float], frame: int) -> Ack:
    """NAV_RETURN_TO_LAUNCH."""
    return autopilot.set_mode(autopilot.vehicle.return_mode)


def loiter(autopilot: BuiltInAutopilot, p: Sequence[float], frame: int) -> Ack:
    """NAV_LOITER_UNLIM: hold the current position."""
    return autopilot.set_mode(autopilot.vehicle.hold_mode)


def set_reverse(autopilot: BuiltInAutopilot, p: Sequence[float], frame: int) -> None:
    """DO_SET_REVERSE: p1 1 a rover drives backwards, 0 forwards, until the mode changes."""
    require(p[0] in (0.0, 1.0), denied(f"Reverse: {p[0]:g} is neither 1 (backwards) nor 0 (forwards)"))
    mode = autopilot.mode
    require(isinstance(mode, RoverMode), unsupported(autopilot, "Reverse"))
    if isinstance(mode, RoverMode):
        mode.driver.reversed = p[0] == 1.0


def pause(autopilot: BuiltInAutopilot, p: Sequence[float], frame: int) -> Ack:
    """DO_PAUSE_CONTINUE: p1 0 hold the position, 1 continue in the mode that was paused."""
    require(p[0] in (0.0, 1.0), denied(f"Pause: {p[0]:g} is neither 0 (pause) nor 1 (continue)"))
    hold, before = autopilot.vehicle.hold_mode, autopilot.mode.number
    if p[0] == 0.0:
        ack = autopilot.set_mode(hold)
        if ack.accepted and before != hold:
            autopilot.paused = before
        return ack
    ack = autopilot.set_mode(require(autopilot.paused if before == hold else None, rejected("Continue: not paused")))
    autopilot.paused = None if ack.accepted else autopilot.paused
    return ack


def set_current(autopilot: BuiltInAutopilot, p: Sequence[float], frame: int) -> Ack:
    """DO_SET_MISSION_CURRENT: p1 item (-1: unchanged), p2 1 restarts the mission."""
    number = require(whole(p[0]), denied(f"Mission: no item {p[0]:g}"))
    if number == -1:
        number = 0 if p[1] == 1.0 else autopilot.executor.current
    return autopilot.executor.set_current(number)


def start_mission(autopilot: BuiltInAutopilot, p: Sequence[float], frame: int) -> Ack:
    """MISSION_START: AUTO, from item p1 if given."""
    refusal = autopilot.executor.refusal()
    failed = Ack(CommandResult.FAILED, f"Mission start: {refusal or 'no AUTO mode'}")
    number = require(None if refusal else autopilot.mode_number("AUTO"), failed)
    require(autopilot.armed, rejected("Mission start: not armed"))
    first = whole(p[0])
    require(first is not None and first >= 0, denied(f"Mission start: no item {p[0]:g}"))
    if first and not (ack := autopilot.executor.set_current(first)).accepted:
        return ack
    return autopilot.set_mode(number)


def set_roi_location(autopilot: BuiltInAutopilot, p: Sequence[float], frame: int) -> None:
    """DO_SET_ROI_LOCATION: p5 to p7 the position that a copter faces in AUTO and GUIDED; 0, 0: none."""
    require(autopilot.vehicle.kind == "copter", unsupported(autopilot, "ROI"))
    position = local_position(autopilot, p, frame, "ROI")
    autopilot.executor.actions.roi = None if p[4] == 0.0 == p[5] else position
    if autopilot.executor.actions.roi is not None:
        autopilot.replace_target(replace(autopilot.guided, yaw=nan, yaw_rate=nan))  # in place of a heading
        if autopilot.mode.name not in ("AUTO", "GUIDED"):
            autopilot.send_text(Severity.INFO, "ROI: applies in AUTO and GUIDED")


def set_roi(autopilot: BuiltInAutopilot, p: Sequence[float], frame: int) -> None:
    """DO_SET_ROI: p1 0 or 3, p5 to p7 as DO_SET_ROI_LOCATION."""
    require(p[0] not in UNSUPPORTED_ROI, denied(f"ROI: only locations (3), not {p[0]:g}"))
    set_roi_location(autopilot, p, frame)


def clear_roi(autopilot: BuiltInAutopilot, p: Sequence[float], frame: int) -> None:
    """DO_SET_ROI_NONE: a copter faces its direction of travel again."""
    require(autopilot.vehicle.kind == "copter", unsupported(autopilot, "ROI"))
    autopilot.executor.actions.roi = None


def orbit(autopilot: BuiltInAutopilot, p: Sequence[float], frame: int) -> Ack:
    """DO_ORBIT: p1 radius (m, negative counter-clockwise), p2 m/s, p3 0 nose to the centre, p5 to p7 the centre."""
    circle = autopilot.mode_number("CIRCLE") if autopilot.vehicle.kind == "copter" else None
    number = require(circle, unsupported(autopilot, "Orbit"))
    now, value = autopilot.estimate, autopilot.parameters.value
    least, most = MIN_ORBIT_RADIUS, autopilot.parameters.known("CIRCLE_RADIUS").high / 100.0
    # NaN selects the parameters' values, and the current position
    size = denied(f"Orbit: radius {p[0]:g} m is not in {least:g} to {most:g}")
    require(isnan(p[0]) or least <= abs(p[0]) <= most, size)
    require(isnan(p[1]) or 0.0 < p[1] <= MAX_SPEED, denied(f"Orbit: speed {p[1]:g} m/s is not in 0 to {MAX_SPEED:g}"))
    nose = denied(f"Orbit: unsupported yaw behaviour {p[2]:g}, only 0 (nose to the centre)")
    require(isnan(p[2]) or p[2] in NOSE_INWARDS, nose)
    require(isnan(p[3]) or p[3] == 0.0, denied("Orbit: a limited number of orbits is not supported"))
    require(autopilot.armed and autopilot.telemetry.landed == Landed.IN_AIR, rejected("Orbit: not flying"))
    centre = now.position
    if not (isnan(p[4]) and isnan(p[5])):
        position = local_position(autopilot, p, frame, "Orbit")
        centre = position[0], position[1], now.down if isnan(p[6]) else position[2]
    require_target(autopilot, GuidedTarget(position=centre))
    rate = radians(value("CIRCLE_RATE"))
    radius = value("CIRCLE_RADIUS") / 100.0 if isnan(p[0]) else abs(p[0])
    speed = abs(rate) if isnan(p[1]) else p[1] / max(radius, MIN_ORBIT_RADIUS)
    ack = autopilot.set_mode(number)
    if ack.accepted and isinstance(autopilot.mode, CopterCircle):
        turn = copysign(speed, rate if isnan(p[0]) else p[0])
        autopilot.mode.set_circle(centre, radius, turn, on_map=not isnan(p[4]))
    return ack


AUX_MODES = {
    **{4: "RTL", 16: "AUTO", 18: "LAND", 33: "BRAKE", 51: "MANUAL", 52: "ACRO", 53: "STEERING", 54: "HOLD"},
    **{55: "GUIDED", 56: "LOITER", 68: "STABILIZE", 69: "POSHOLD", 70: "ALT_HOLD", 72: "CIRCLE", 77: "TAKEOFF"},
    **{92: "FBWA", 150: "CRUISE"},
}
"""ArduPilot's auxiliary functions that select a mode; 42 is SmartRTL."""
AUX_RELAYS = {28: 0.0, 34: 1.0, 35: 2.0, 36: 3.0}
AUX_CAMERA, AUX_FENCE, AUX_MISSION_RESET, AUX_SMART_RTL, AUX_DISARM, AUX_LANDING, AUX_ARM = 9, 11, 24, 42, 81, 99, 153
LOW, MIDDLE, HIGH = 0.0, 1.0, 2.0  # positions of a switch


def aux_function(autopilot: BuiltInAutopilot, p: Sequence[float], frame: int) -> Ack | None:
    """DO_AUX_FUNCTION: p1 modes, relays, camera, fence, arming, mission reset, landing; p2 0 low, 1 middle, 2 high."""
    number, position = require(whole(p[0]), denied(f"Aux function: no function {p[0]:g}")), p[1]
    require(position in (LOW, MIDDLE, HIGH), denied(f"Aux function: {position:g} is not 0 (low) to 2 (high)"))
    unknown = Ack(CommandResult.FAILED, f"Aux function {number}: not of a {autopilot.vehicle.kind}")
    smart = autopilot.vehicle.smart_mode if number == AUX_SMART_RTL else None
    mode = autopilot.mode_number(AUX_MODES[number]) if number in AUX_MODES else smart
    if mode is not None:
        if position == HIGH:
            return autopilot.set_mode(mode)
        if autopilot.mode.number == mode:  # back to the mode of the switch, if there is one
            autopilot.rc.reset_switch()
        return ACCEPTED
    high, at_end = float(position == HIGH), position != MIDDLE
    if number in AUX_RELAYS:
        return COMMANDS[181](autopilot, (AUX_RELAYS[number], high), frame) if at_end else ACCEPTED
    if number in (AUX_FENCE, AUX_ARM):
        return COMMANDS[207 if number == AUX_FENCE else 400](autopilot, (high, 0.0), frame) if at_end else ACCEPTED
    actions: dict[int, Callable[[], Ack | None]] = {
        AUX_CAMERA: autopilot.camera.trigger,
        AUX_MISSION_RESET: lambda: autopilot.executor.rewind(autopilot.executor.items),
        AUX_DISARM: autopilot.disarm,
        AUX_LANDING: lambda: start_landing(autopilot, p, frame),
    }
    act = require(actions.get(number), unknown)
    return act() if high else ACCEPTED


Handler = Callable[["BuiltInAutopilot", Sequence[float], int], Ack | None]

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
    181: payload.set_relay,  # DO_SET_RELAY
    182: payload.repeat_relay,  # DO_REPEAT_RELAY
    183: payload.set_servo,  # DO_SET_SERVO
    184: payload.repeat_servo,  # DO_REPEAT_SERVO
    185: terminate,  # DO_FLIGHTTERMINATION
    189: start_landing,  # DO_LAND_START
    191: go_around,  # DO_GO_AROUND
    192: guided.reposition,  # DO_REPOSITION
    193: pause,  # DO_PAUSE_CONTINUE
    194: set_reverse,  # DO_SET_REVERSE
    195: set_roi_location,  # DO_SET_ROI_LOCATION
    197: clear_roi,  # DO_SET_ROI_NONE
    201: set_roi,  # DO_SET_ROI
    203: payload.control_camera,  # DO_DIGICAM_CONTROL
    206: payload.set_camera_distance,  # DO_SET_CAM_TRIGG_DIST
    207: enable_fence,  # DO_FENCE_ENABLE
    209: preflight.test_motors,  # DO_MOTOR_TEST
    213: guided.turn_and_drive,  # NAV_SET_YAW_SPEED
    218: aux_function,  # DO_AUX_FUNCTION
    224: set_current,  # DO_SET_MISSION_CURRENT
    241: preflight.calibrate,  # PREFLIGHT_CALIBRATION
    245: storage,  # PREFLIGHT_STORAGE
    246: reboot,  # PREFLIGHT_REBOOT_SHUTDOWN
    300: start_mission,  # MISSION_START
    400: arm,  # COMPONENT_ARM_DISARM
    401: run_prearm_checks,  # RUN_PREARM_CHECKS
    410: get_home,  # GET_HOME_POSITION
    2000: payload.start_capture,  # IMAGE_START_CAPTURE
    2001: payload.stop_capture,  # IMAGE_STOP_CAPTURE
    43000: guided.change_speed,  # GUIDED_CHANGE_SPEED: same parameters 1 and 2
    43001: guided.change_altitude,  # GUIDED_CHANGE_ALTITUDE
    43002: guided.change_heading,  # GUIDED_CHANGE_HEADING
}
