"""The parameters of aeroplanes, under ArduPilot's names, and what the loops make of them."""

from __future__ import annotations

from math import radians

from paddock.sitl.autopilot.control.plane import Gains
from paddock.sitl.autopilot.parameters import Parameter, Parameters, ParamKind

INT8, INT16 = ParamKind.INT8, ParamKind.INT16

SPEED = (
    Parameter("AIRSPEED_CRUISE", 17.5, 3, 300, summary="m/s"),
    Parameter("AIRSPEED_MIN", 12, 2, 300, summary="m/s; slower it does not climb"),
    Parameter("AIRSPEED_MAX", 25, 4, 400, summary="m/s"),
    Parameter("TRIM_THROTTLE", 45, 0, 100, INT8, "% of throttle at AIRSPEED_CRUISE; learnt further while flying"),
    Parameter("TECS_CLMB_MAX", 5, 0.1, 50, summary="m/s"),
    Parameter("TECS_SINK_MAX", 5, 0.1, 50, summary="m/s"),
)

ATTITUDE = (
    Parameter("ROLL_LIMIT_DEG", 45, 5, 80, summary="deg"),
    Parameter("PTCH_LIM_MAX_DEG", 20, 1, 80, summary="deg"),
    Parameter("PTCH_LIM_MIN_DEG", -25, -80, -1, summary="deg"),
    Parameter("RLL_ANG_P", 1.5, 0, 10, summary="aileron for each rad"),
    Parameter("RLL_ANG_I", 3, 0, 10, summary="aileron per s for each rad"),
    Parameter("RLL_ANG_D", 0.4, 0, 10, summary="aileron against each rad/s"),
    Parameter("PTCH_ANG_P", 4, 0, 10, summary="elevator for each rad"),
    Parameter("PTCH_ANG_I", 2, 0, 10, summary="elevator per s for each rad"),
    Parameter("PTCH_ANG_D", 1, 0, 10, summary="elevator against each rad/s"),
    Parameter("YAW2SRV_SLIP", 0.05, 0, 4, summary="rudder against each m/s2 of sideways force"),
    Parameter("YAW2SRV_DAMP", 0.3, 0, 4, summary="rudder against each rad/s off the coordinated turn"),
)

WAYS = (
    Parameter("WP_RADIUS", 80, 1, 32767, summary="m: so close to a waypoint is there"),
    Parameter("WP_LOITER_RAD", 120, -32767, 32767, INT16, "m, of circles; negative: counter-clockwise"),
    Parameter("RTL_ALTITUDE", 100, -1, 32767, summary="m above home; -1: the present height"),
)

PLANE_PARAMETERS = (*SPEED, *ATTITUDE, *WAYS)

HEADING_GAIN = 0.25  # 1/s
HEIGHT_GAIN = 0.15  # 1/s


def gains(p: Parameters) -> Gains:
    """What the loops need."""
    return Gains(
        roll_p=p.value("RLL_ANG_P"),
        roll_i=p.value("RLL_ANG_I"),
        roll_d=p.value("RLL_ANG_D"),
        pitch_p=p.value("PTCH_ANG_P"),
        pitch_i=p.value("PTCH_ANG_I"),
        pitch_d=p.value("PTCH_ANG_D"),
        rudder_slip=p.value("YAW2SRV_SLIP"),
        rudder_rate=p.value("YAW2SRV_DAMP"),
        roll_limit=radians(p.value("ROLL_LIMIT_DEG")),
        pitch_high=radians(p.value("PTCH_LIM_MAX_DEG")),
        pitch_low=radians(p.value("PTCH_LIM_MIN_DEG")),
        cruise=p.value("AIRSPEED_CRUISE"),
        slowest=p.value("AIRSPEED_MIN"),
        climb=p.value("TECS_CLMB_MAX"),
        sink=p.value("TECS_SINK_MAX"),
        throttle=p.value("TRIM_THROTTLE") / 100.0,
        heading_gain=HEADING_GAIN,
        height_gain=HEIGHT_GAIN,
    )
