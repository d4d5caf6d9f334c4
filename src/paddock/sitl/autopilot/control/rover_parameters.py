"""The parameters of rovers, under ArduPilot's names and with its units, and what the loops make of them."""

from __future__ import annotations

from math import radians

from paddock.sitl.autopilot.control.rover_rates import Gains
from paddock.sitl.autopilot.mission.parameters import MISSION_PARAMETERS
from paddock.sitl.autopilot.parameters import Parameter, Parameters, ParamKind

INT8, INT16 = ParamKind.INT8, ParamKind.INT16

FRAME = (Parameter("FRAME_CLASS", 1, 1, 1, INT8, "1: a rover", fixed=True),)

SPEED = (
    Parameter("CRUISE_SPEED", 2, 0.1, 100, summary="m/s that CRUISE_THROTTLE gives; learnt further while driving"),
    Parameter("CRUISE_THROTTLE", 50, 1, 100, INT8, "% of throttle at CRUISE_SPEED"),
    Parameter("ATC_SPEED_P", 0.2, 0, 10, summary="throttle for each m/s of error"),
    Parameter("ATC_SPEED_I", 0.2, 0, 10, summary="throttle per s for each m/s of error"),
    Parameter("ATC_ACCEL_MAX", 1, 0.05, 50, summary="m/s2"),
    Parameter("ATC_DECEL_MAX", 0, 0, 50, summary="m/s2; 0: as ATC_ACCEL_MAX"),
    Parameter("ATC_BRAKE", 1, 0, 1, INT8, "whether reverse throttle may slow it down"),
    Parameter("ATC_STOP_SPEED", 0.1, 0, 1, summary="m/s; slower counts as standing"),
    Parameter("MOT_THR_MAX", 100, 5, 100, INT8, "% of throttle, at most"),
    Parameter("MOT_SLEWRATE", 200, 0, 1000, INT16, "% of throttle per s; 0: no limit"),
)

STEERING = (
    Parameter("ATC_STR_RAT_FF", 0.2, 0.001, 100, summary="steering for each rad/s; learnt further while driving"),
    Parameter("ATC_STR_RAT_P", 0.04, 0, 10, summary="steering for each rad/s of error"),
    Parameter("ATC_STR_RAT_I", 0.3, 0, 10, summary="steering per s for each rad/s of error"),
    Parameter("ATC_STR_RAT_MAX", 120, 1, 1000, summary="deg/s"),
    Parameter("ATC_STR_ACC_MAX", 180, 1, 10000, summary="deg/s2"),
    Parameter("ATC_STR_ANG_P", 2, 0.1, 10, summary="rad/s for each rad of heading error"),
    Parameter("ATC_STR_ANG_D", 0.1, 0, 2, summary="rad/s for each rad/s of turn rate, against it"),
    Parameter("ATC_TURN_MAX_G", 0.3, 0.05, 10, summary="g of sideways acceleration"),
    Parameter("TURN_RADIUS", 0.9, 0.05, 100, summary="m: an Ackermann rover's smallest circle; learnt while driving"),
    Parameter("NAVL1_PERIOD", 4, 1, 60, summary="s: longer follows the way more gently"),
    Parameter("NAVL1_DAMPING", 0.75, 0.5, 1, summary="of the way back to the line"),
)

WAYS = (
    Parameter("WP_SPEED", 2, 0, 100, summary="m/s in AUTO, GUIDED and RTL; 0: CRUISE_SPEED"),
    Parameter("WP_RADIUS", 2, 0.1, 100, summary="m: so close to a waypoint is there"),
    Parameter("WP_PIVOT_ANGLE", 60, 0, 180, INT16, "deg of heading error beyond which it turns on the spot; 0: never"),
    Parameter("WP_PIVOT_RATE", 60, 1, 360, INT16, "deg/s on the spot"),
    Parameter("CIRC_RADIUS", 20, 0.5, 100, summary="m, of the mode CIRCLE"),
    Parameter("CIRC_SPEED", 0, 0, 10, summary="m/s in CIRCLE; 0: WP_SPEED"),
    Parameter("CIRC_DIR", 0, 0, 1, INT8, "0 clockwise, 1 counter-clockwise"),
    Parameter("LOIT_RADIUS", 2, 0.2, 20, summary="m: LOITER drives back from further off"),
    Parameter("RTL_SPEED", 0, 0, 100, summary="m/s in RTL and SMARTRTL; 0: WP_SPEED"),
    Parameter("SRTL_ACCURACY", 2, 0, 10, summary="m that the remembered way may differ"),
    Parameter("SRTL_POINTS", 300, 0, 500, INT16, "points of the way that SMARTRTL remembers; 0: none"),
    Parameter("MIS_DONE_BEHAVE", 0, 0, 3, INT8, "after the mission: 0 HOLD, 1 LOITER, 2 ACRO, 3 MANUAL"),
    Parameter("ACRO_TURN_RATE", 180, 1, 360, summary="deg/s at full stick in ACRO"),
)

ROVER_PARAMETERS = (*FRAME, *SPEED, *STEERING, *WAYS, *MISSION_PARAMETERS)


def gains(p: Parameters, skid: bool) -> Gains:
    """What the inner loops need; errors are in m/s and rad/s there, so their gains are times the feed-forward's."""
    v = p.value
    speed_gain = v("CRUISE_SPEED") / (v("CRUISE_THROTTLE") * 0.01)
    turn_gain = 1.0 / v("ATC_STR_RAT_FF")
    return Gains(
        skid=float(skid),
        speed_gain=speed_gain,
        speed_p=v("ATC_SPEED_P") * speed_gain,
        speed_i=v("ATC_SPEED_I") * speed_gain,
        turn_gain=turn_gain if skid else 1.0 / v("TURN_RADIUS"),
        turn_p=v("ATC_STR_RAT_P") * turn_gain,
        turn_i=v("ATC_STR_RAT_I") * turn_gain,
        acceleration=v("ATC_ACCEL_MAX"),
        deceleration=v("ATC_DECEL_MAX") or v("ATC_ACCEL_MAX"),
        turn_rate_max=radians(v("ATC_STR_RAT_MAX")),
        turn_acceleration=radians(v("ATC_STR_ACC_MAX")),
        throttle_max=v("MOT_THR_MAX") * 0.01,
        slew=v("MOT_SLEWRATE") * 0.01,
        brake=v("ATC_BRAKE"),
        stop_speed=v("ATC_STOP_SPEED"),
    )
