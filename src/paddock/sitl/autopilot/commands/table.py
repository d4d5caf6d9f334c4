"""The table of MAV_CMDs; what is not in it is answered with UNSUPPORTED."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import inf
from typing import TYPE_CHECKING

from paddock.sitl.autopilot.answer import Answer, Result
from paddock.sitl.autopilot.commands import guided, look, moves, orbit, system
from paddock.sitl.autopilot.mission.items import plain_frame

if TYPE_CHECKING:
    from paddock.sitl.autopilot.autopilot import BuiltInAutopilot

PARAMETERS = 7
Command = Callable[["BuiltInAutopilot", Sequence[float], int], Answer]

COMMANDS: Mapping[int, Command] = {
    16: guided.go_to,  # NAV_WAYPOINT
    17: moves.loiter,  # NAV_LOITER_UNLIM
    20: moves.return_to_launch,  # NAV_RETURN_TO_LAUNCH
    21: moves.land,  # NAV_LAND
    22: moves.take_off,  # NAV_TAKEOFF
    34: orbit.orbit,  # DO_ORBIT
    115: guided.yaw,  # CONDITION_YAW
    176: moves.set_mode,  # DO_SET_MODE
    178: guided.change_speed,  # DO_CHANGE_SPEED
    179: system.set_home,  # DO_SET_HOME
    185: system.terminate,  # DO_FLIGHTTERMINATION
    192: guided.reposition,  # DO_REPOSITION
    193: moves.pause,  # DO_PAUSE_CONTINUE
    195: look.look_at,  # DO_SET_ROI_LOCATION
    197: look.look_ahead,  # DO_SET_ROI_NONE
    201: look.look,  # DO_SET_ROI
    203: look.picture,  # DO_DIGICAM_CONTROL
    207: system.enable_fence,  # DO_FENCE_ENABLE
    224: moves.set_current,  # DO_SET_MISSION_CURRENT
    241: system.calibrate,  # PREFLIGHT_CALIBRATION
    245: system.storage,  # PREFLIGHT_STORAGE
    246: system.reboot,  # PREFLIGHT_REBOOT_SHUTDOWN
    300: moves.start_mission,  # MISSION_START
    400: system.arm,  # COMPONENT_ARM_DISARM
    401: system.check_arming,  # RUN_PREARM_CHECKS
    410: system.tell_home,  # GET_HOME_POSITION
    43000: guided.change_speed,  # GUIDED_CHANGE_SPEED: same parameters 1 and 2
    43001: guided.change_altitude,  # GUIDED_CHANGE_ALTITUDE
    43002: guided.change_heading,  # GUIDED_CHANGE_HEADING
}


def carry_out(autopilot: BuiltInAutopilot, command: int, p: Sequence[float], frame: int) -> Answer:
    """Carry out a command; every value may be NaN or infinite, as ground stations may send it."""
    function = COMMANDS.get(command)
    if function is None:
        return Answer(Result.UNSUPPORTED, f"Command {command} is not supported")
    values = [float(value) for value in p][:PARAMETERS]
    values += [0.0] * (PARAMETERS - len(values))
    if inf in values or -inf in values:
        return Answer(Result.DENIED, f"Command {command}: a parameter is infinite")
    return function(autopilot, values, plain_frame(frame))
