"""The copter's parameters, under ArduPilot's names and in its units, and the gains that they make."""

from __future__ import annotations

from math import pi, radians

from paddock.sitl.autopilot.control.copter_columns import GAINS_WIDTH
from paddock.sitl.autopilot.parameters import Parameter, Parameters, ParamKind
from paddock.sitl.sensor_data import Floats

INT8, INT16, INT32 = ParamKind.INT8, ParamKind.INT16, ParamKind.INT32

FRAME = (
    Parameter("FRAME_CLASS", 1, 1, 1, INT8, "1: a quadrotor", fixed=True),
    Parameter("FRAME_TYPE", 1, 1, 1, INT8, "1: X", fixed=True),
)

RATES = (
    Parameter("ATC_RAT_RLL_P", 0.1, 0, 2, summary="roll rate P, output per rad/s"),
    Parameter("ATC_RAT_RLL_I", 0.1, 0, 5, summary="roll rate I"),
    Parameter("ATC_RAT_RLL_D", 0.0028, 0, 0.2, summary="roll rate D"),
    Parameter("ATC_RAT_PIT_P", 0.1, 0, 2, summary="pitch rate P, output per rad/s"),
    Parameter("ATC_RAT_PIT_I", 0.1, 0, 5, summary="pitch rate I"),
    Parameter("ATC_RAT_PIT_D", 0.0028, 0, 0.2, summary="pitch rate D"),
    Parameter("ATC_RAT_YAW_P", 0.35, 0, 3, summary="yaw rate P, output per rad/s"),
    Parameter("ATC_RAT_YAW_I", 0.035, 0, 2, summary="yaw rate I"),
    Parameter("ATC_RAT_YAW_D", 0.0, 0, 0.2, summary="yaw rate D"),
    Parameter("ATC_RAT_RLL_FLTD", 20, 1, 250, summary="Hz: low-pass of the D terms of all rates"),
    Parameter("ATC_RAT_RLL_IMAX", 0.3, 0, 1, summary="largest I output of a rate"),
)

ATTITUDE = (
    Parameter("ATC_ANG_RLL_P", 6.0, 1, 12, summary="roll angle P, 1/s"),
    Parameter("ATC_ANG_PIT_P", 6.0, 1, 12, summary="pitch angle P, 1/s"),
    Parameter("ATC_ANG_YAW_P", 2.0, 1, 12, summary="heading P, 1/s"),
    Parameter("ATC_INPUT_TC", 0.15, 0, 1, summary="s: how soon the copter leans as the pilot wants"),
    Parameter("ATC_RATE_R_MAX", 200, 10, 1080, summary="deg/s: fastest roll and pitch"),
    Parameter("ATC_RATE_Y_MAX", 120, 10, 1080, summary="deg/s: fastest yaw that closes a heading error"),
    Parameter("ATC_SLEW_YAW", 6000, 500, 18000, INT16, "cdeg/s: yaw in modes that navigate"),
    Parameter("ANGLE_MAX", 3000, 1000, 8000, INT16, "cdeg: largest lean"),
)

POSITION = (
    Parameter("PSC_POSXY_P", 1.0, 0.1, 4, summary="position P, 1/s"),
    Parameter("PSC_VELXY_P", 2.5, 0.1, 6, summary="velocity P, 1/s"),
    Parameter("PSC_VELXY_I", 1.25, 0, 2, summary="velocity I, 1/s2"),
    Parameter("PSC_POSZ_P", 1.0, 0.1, 4, summary="height P, 1/s"),
    Parameter("PSC_VELZ_P", 4.0, 0.5, 10, summary="climb P, 1/s"),
    Parameter("PSC_VELZ_I", 1.0, 0, 4, summary="climb I, 1/s2"),
    Parameter("PSC_JERK_XY", 5, 1, 50, summary="m/s3: how soon the copter leans for a new way"),
    Parameter("PSC_JERK_Z", 5, 1, 50, summary="m/s3"),
    Parameter("MOT_THST_HOVER", 0.35, 0.03, 0.9, summary="share of thrust that carries the weight, learnt"),
    Parameter("MOT_HOVER_LEARN", 2, 0, 2, INT8, "0 never keep what was learnt, 2 keep it at disarming"),
)

WAYPOINTS = (
    Parameter("WPNAV_SPEED", 1000, 10, 2000, summary="cm/s over the ground"),
    Parameter("WPNAV_SPEED_UP", 250, 10, 1000, summary="cm/s"),
    Parameter("WPNAV_SPEED_DN", 150, 10, 500, summary="cm/s"),
    Parameter("WPNAV_ACCEL", 250, 50, 500, summary="cm/s2"),
    Parameter("WPNAV_ACCEL_Z", 100, 50, 500, summary="cm/s2"),
    Parameter("WPNAV_RADIUS", 200, 5, 1000, summary="cm: a waypoint is reached, and how far corners may be cut"),
    Parameter("WP_YAW_BEHAVIOR", 2, 0, 3, INT8, "0 heading stays, 1 faces the way, 2 not in RTL, 3 along the course"),
)

PILOT = (
    Parameter("PILOT_SPEED_UP", 250, 50, 500, INT16, "cm/s: full throttle where height is held"),
    Parameter("PILOT_SPEED_DN", 0, 0, 500, INT16, "cm/s: no throttle; 0: as PILOT_SPEED_UP"),
    Parameter("PILOT_ACCEL_Z", 250, 50, 500, INT16, "cm/s2"),
    Parameter("PILOT_Y_RATE", 90, 1, 360, summary="deg/s at full stick"),
    Parameter("THR_DZ", 100, 0, 300, INT16, "us around mid throttle where height is held"),
    Parameter("LOIT_SPEED", 1250, 20, 3500, summary="cm/s at full stick"),
    Parameter("LOIT_ACC_MAX", 500, 100, 981, summary="cm/s2"),
    Parameter("LOIT_BRK_ACCEL", 250, 25, 250, summary="cm/s2: when the sticks are released"),
)

MANOEUVRES = (
    Parameter("RTL_ALT", 1500, 30, 300000, INT32, "cm above home to return at; lower copters climb first"),
    Parameter("RTL_SPEED", 0, 0, 2000, INT16, "cm/s; 0: WPNAV_SPEED"),
    Parameter("RTL_LOIT_TIME", 5000, 0, 60000, INT32, "ms above home before the descent"),
    Parameter("RTL_ALT_FINAL", 0, 0, 1000, INT16, "cm: height to end at; 0: land"),
    Parameter("LAND_SPEED", 50, 30, 200, INT16, "cm/s at the end of a landing"),
    Parameter("LAND_SPEED_HIGH", 0, 0, 500, INT16, "cm/s above LAND_ALT_LOW; 0: WPNAV_SPEED_DN"),
    Parameter("LAND_ALT_LOW", 1000, 100, 10000, INT16, "cm above the ground where LAND_SPEED begins"),
    Parameter("CIRCLE_RADIUS", 1000, 0, 200000, summary="cm"),
    Parameter("CIRCLE_RATE", 20, -90, 90, summary="deg/s, + clockwise"),
    Parameter("DISARM_DELAY", 10, 0, 127, INT8, "s on the ground after which motors stop; 0: never"),
)

COPTER_PARAMETERS = (*FRAME, *RATES, *ATTITUDE, *POSITION, *WAYPOINTS, *PILOT, *MANOEUVRES)

ARM_SHARE = 0.5
"""A full output of a rate loop changes each motor by this share, as ArduPilot's mixer does."""

GAINS = (
    *("PSC_POSXY_P", "PSC_VELXY_P", "PSC_VELXY_I", "PSC_POSZ_P", "PSC_VELZ_P", "PSC_VELZ_I"),
    *("ATC_ANG_RLL_P", "ATC_ANG_PIT_P", "ATC_ANG_YAW_P"),
)
RATE_GAINS = tuple(f"ATC_RAT_{axis}_{term}" for axis in ("RLL", "PIT", "YAW") for term in "PID")


def write_gains(parameters: Parameters, gains: Floats) -> None:
    """The gains (25,) of the compiled control, in the order of `copter_columns`."""
    value = parameters.value
    gains[:GAINS_WIDTH] = (
        *(value(name) for name in GAINS),
        *(ARM_SHARE * value(name) for name in RATE_GAINS),
        1.0 / (2.0 * pi * value("ATC_RAT_RLL_FLTD")),
        value("ATC_INPUT_TC"),
        radians(value("ANGLE_MAX") / 100.0),
        radians(value("ATC_RATE_R_MAX")),
        radians(value("ATC_RATE_Y_MAX")),
        max(value("WPNAV_SPEED") / 100.0, 5.0),
        ARM_SHARE * value("ATC_RAT_RLL_IMAX"),
    )
