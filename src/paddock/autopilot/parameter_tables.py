"""Every parameter of the built-in autopilot with its default and limits, under ArduPilot's names and in its units.

`COMMON` applies to all vehicle types, `LINK_FAILSAFES` to all but planes; `COPTER`, `ROVER` and `PLANE` add to them.
Each row is a `Parameter`: name, default, lowest and highest value, type on the wire (REAL32 unless given), summary.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

from paddock.autopilot.contract import PWM_MAX, PWM_MID, PWM_MIN, VehicleControl, drives
from paddock.autopilot.parameters import AutopilotParameters, Parameter, ParamKind

INT8, INT16, INT32, REAL32 = ParamKind.INT8, ParamKind.INT16, ParamKind.INT32, ParamKind.REAL32

COMMON = (
    Parameter("SYSID_THISMAV", 1, 1, 254, INT16, "MAVLink system id of this vehicle", fixed=True),
    Parameter("SYSID_MYGCS", 255, 1, 255, INT16, "system id of the ground station that may send RC and heartbeats"),
    # arming
    Parameter("ARMING_CHECK", 1, 0, 1048575, INT32, "bitmask of pre-arm checks; 1: all, 0: none"),
    # fence
    Parameter("FENCE_ENABLE", 0, 0, 1, INT8, "1: fence enabled"),
    Parameter("FENCE_TYPE", 7, 0, 15, INT8, "bitmask: 1 max altitude, 2 circle, 4 uploaded polygons, 8 min altitude"),
    Parameter("FENCE_ACTION", 1, 0, 5, INT8, "0 report, 1 RTL, 2 land or hold, 3 SmartRTL or RTL, 4 hold or SmartRTL"),
    Parameter("FENCE_ALT_MAX", 100, 10, 1000, REAL32, "m above home"),
    Parameter("FENCE_ALT_MIN", -10, -100, 100, REAL32, "m above home"),
    Parameter("FENCE_RADIUS", 300, 30, 10000, REAL32, "m around home"),
    Parameter("FENCE_MARGIN", 2, 1, 10, REAL32, "m inside the fence at which a breach is cleared"),
    Parameter("FENCE_TOTAL", 0, 0, 2000, INT16, "items in the uploaded fence", fixed=True),
    # failsafes
    Parameter("FS_EKF_ACTION", 1, 0, 3, INT8, "position lost: 0 report, 1 land or hold, 2 ALT_HOLD, 3 always land"),
    Parameter("RC_OVERRIDE_TIME", 3, -1, 120, REAL32, "s until RC overrides expire; 0: overrides ignored, -1: never"),
    # battery
    Parameter("BATT_CAPACITY", 3300, 0, 1000000, INT32, "mAh; default: that of the vehicle's model"),
    Parameter("BATT_LOW_VOLT", 0, 0, 120, REAL32, "V; 0: disabled"),
    Parameter("BATT_LOW_MAH", 660, 0, 1000000, REAL32, "mAh remaining; 0: disabled; default: 20 % of the model's"),
    Parameter("BATT_CRT_VOLT", 0, 0, 120, REAL32, "V; 0: disabled"),
    Parameter("BATT_CRT_MAH", 330, 0, 1000000, REAL32, "mAh remaining; 0: disabled; default: 10 % of the model's"),
    Parameter("BATT_LOW_TIMER", 10, 0, 120, INT8, "s of low voltage before the failsafe triggers"),
    Parameter("BATT_FS_LOW_ACT", 0, 0, 6, INT8, "copter: 1 land, 2 RTL, 3, 4 SmartRTL; rover: 1 RTL, 2 hold; 5 disarm"),
    Parameter("BATT_FS_CRT_ACT", 0, 0, 6, INT8, "as BATT_FS_LOW_ACT, for a critical battery"),
    Parameter("BATT_ARM_VOLT", 0, 0, 120, REAL32, "minimum V to arm; 0: not checked"),
    Parameter("BATT_ARM_MAH", 0, 0, 1000000, INT32, "minimum mAh to arm; 0: not checked"),
    # rally points and missions
    Parameter("RALLY_TOTAL", 0, 0, 255, INT16, "rally points", fixed=True),
    Parameter("RALLY_LIMIT_KM", 0.3, 0, 100, REAL32, "km; rally points beyond are ignored; 0: no limit"),
    Parameter("RALLY_INCL_HOME", 1, 0, 1, INT8, "1: home counts as a rally point"),
    Parameter("MIS_TOTAL", 0, 0, 32766, INT16, "items in the mission", fixed=True),
    Parameter("MIS_RESTART", 0, 0, 1, INT8, "on entering AUTO: 0 resume, 1 restart the mission"),
    # camera trigger
    Parameter("CAM_TRIGG_DIST", 0, 0, 1000, REAL32, "m between pictures; 0: no pictures by distance"),
    Parameter("CAM_MIN_INTERVAL", 0, 0, 10000, INT16, "ms: shortest time between pictures by distance"),
    # on-board log
    Parameter("LOG_BITMASK", 176126, 0, 2147483647, INT32, "records of the log (--logs), ArduPilot's bits; 0: no log"),
    Parameter("LOG_DISARMED", 0, 0, 1, INT8, "1: log also while disarmed"),
    # simulated faults
    Parameter("SIM_GPS_DISABLE", 0, 0, 1, INT8, "1: GNSS reports no fix"),
    Parameter("SIM_BATT_VOLTAGE", 0, 0, 120, REAL32, "V reported by the battery monitor; 0: as measured"),
    # telemetry rates
    Parameter("SR0_RAW_SENS", 2, 0, 50, INT16, "Hz of RAW_IMU, SCALED_PRESSURE"),
    Parameter("SR0_EXT_STAT", 2, 0, 50, INT16, "Hz of SYS_STATUS, GPS_RAW_INT, MISSION_CURRENT, NAV_CONTROLLER_OUTPUT"),
    Parameter("SR0_RC_CHAN", 2, 0, 50, INT16, "Hz of SERVO_OUTPUT_RAW, RC_CHANNELS"),
    Parameter("SR0_POSITION", 4, 0, 50, INT16, "Hz of GLOBAL_POSITION_INT, LOCAL_POSITION_NED"),
    Parameter("SR0_EXTRA1", 4, 0, 50, INT16, "Hz of ATTITUDE"),
    Parameter("SR0_EXTRA2", 4, 0, 50, INT16, "Hz of VFR_HUD"),
    Parameter("SR0_EXTRA3", 2, 0, 50, INT16, "Hz of SYSTEM_TIME, BATTERY_STATUS, EKF_STATUS_REPORT"),
    Parameter("SR0_PARAMS", 10, 0, 50, INT16, "Hz of PARAM_VALUE batches"),
)

SMART_RETURN = (
    Parameter("SRTL_ACCURACY", 2, 0, 10, REAL32, "m: tolerance of the recorded path"),
    Parameter("SRTL_POINTS", 300, 0, 500, INT16, "maximum points of the recorded path; 0: SmartRTL disabled"),
)

LINK_FAILSAFES = (  # of all but planes, which have their own
    Parameter("FS_GCS_ENABLE", 0, 0, 7, INT8, "ground station lost: 0 nothing, 1 RTL, 3 or 4 SmartRTL, 5 land or hold"),
    Parameter("FS_GCS_TIMEOUT", 5, 2, 120, REAL32, "s without a heartbeat from the ground station"),
    Parameter("FS_THR_ENABLE", 1, 0, 7, INT8, "RC lost: 0 nothing, 1 RTL, 3 land or hold, 4 or 5 SmartRTL"),
    Parameter(
        "FS_OPTIONS", 21, 0, 255, INT16, "bitmask, continue: 1 AUTO/RC, 2 AUTO/GCS, 4 GUIDED/RC, 8 LAND, 16 piloted/GCS"
    ),
    Parameter("FS_CRASH_CHECK", 1, 0, 1, INT8, "1: disarm a copter that lies on its side"),
)

COPTER = (
    Parameter("FRAME_CLASS", 1, 1, 1, INT8, "1: quadrotor", fixed=True),
    Parameter("FRAME_TYPE", 1, 1, 1, INT8, "1: X", fixed=True),
    # body rates
    Parameter("ATC_RAT_RLL_P", 0.1, 0, 2, REAL32, "roll rate P, output per rad/s"),
    Parameter("ATC_RAT_RLL_I", 0.1, 0, 5, REAL32, "roll rate I"),
    Parameter("ATC_RAT_RLL_D", 0.0028, 0, 0.2, REAL32, "roll rate D"),
    Parameter("ATC_RAT_PIT_P", 0.1, 0, 2, REAL32, "pitch rate P, output per rad/s"),
    Parameter("ATC_RAT_PIT_I", 0.1, 0, 5, REAL32, "pitch rate I"),
    Parameter("ATC_RAT_PIT_D", 0.0028, 0, 0.2, REAL32, "pitch rate D"),
    Parameter("ATC_RAT_YAW_P", 0.35, 0, 3, REAL32, "yaw rate P, output per rad/s"),
    Parameter("ATC_RAT_YAW_I", 0.035, 0, 2, REAL32, "yaw rate I"),
    Parameter("ATC_RAT_YAW_D", 0.0, 0, 0.2, REAL32, "yaw rate D"),
    Parameter("ATC_RAT_RLL_FLTD", 20, 1, 250, REAL32, "Hz: D-term low-pass filter of all axes"),
    Parameter("ATC_RAT_RLL_IMAX", 0.3, 0, 1, REAL32, "maximum I output of each axis"),
    # attitude
    Parameter("ATC_ANG_RLL_P", 6.0, 1, 12, REAL32, "roll angle P, 1/s"),
    Parameter("ATC_ANG_PIT_P", 6.0, 1, 12, REAL32, "pitch angle P, 1/s"),
    Parameter("ATC_ANG_YAW_P", 2.0, 1, 12, REAL32, "heading P, 1/s"),
    Parameter("ATC_INPUT_TC", 0.15, 0, 1, REAL32, "s: time constant of the pilot's lean angle"),
    Parameter("ATC_RATE_R_MAX", 200, 10, 1080, REAL32, "deg/s: maximum roll and pitch rate"),
    Parameter("ATC_RATE_Y_MAX", 120, 10, 1080, REAL32, "deg/s: maximum yaw rate to correct a heading error"),
    Parameter("ATC_SLEW_YAW", 6000, 500, 18000, INT16, "cdeg/s: yaw rate in autonomous modes"),
    Parameter("ANGLE_MAX", 3000, 1000, 8000, INT16, "cdeg: maximum lean angle"),
    # position and thrust
    Parameter("PSC_POSXY_P", 1.0, 0.1, 4, REAL32, "position P, 1/s"),
    Parameter("PSC_VELXY_P", 2.5, 0.1, 6, REAL32, "velocity P, 1/s"),
    Parameter("PSC_VELXY_I", 1.25, 0, 2, REAL32, "velocity I, 1/s2"),
    Parameter("PSC_POSZ_P", 1.0, 0.1, 4, REAL32, "altitude P, 1/s"),
    Parameter("PSC_VELZ_P", 4.0, 0.5, 10, REAL32, "climb rate P, 1/s"),
    Parameter("PSC_VELZ_I", 1.0, 0, 4, REAL32, "climb rate I, 1/s2"),
    Parameter("PSC_JERK_XY", 5, 1, 50, REAL32, "m/s3: maximum horizontal jerk"),
    Parameter("PSC_JERK_Z", 5, 1, 50, REAL32, "m/s3: maximum vertical jerk"),
    Parameter("MOT_THST_HOVER", 0.35, 0.03, 0.9, REAL32, "fraction of thrust that hovers, learned"),
    Parameter("MOT_HOVER_LEARN", 2, 0, 2, INT8, "2: save the learned hover thrust on disarming, 0: never"),
    # waypoints
    Parameter("WPNAV_SPEED", 1000, 10, 2000, REAL32, "cm/s horizontal speed"),
    Parameter("WPNAV_SPEED_UP", 250, 10, 1000, REAL32, "cm/s climb rate"),
    Parameter("WPNAV_SPEED_DN", 150, 10, 500, REAL32, "cm/s descent rate"),
    Parameter("WPNAV_ACCEL", 250, 50, 500, REAL32, "cm/s2 horizontal acceleration"),
    Parameter("WPNAV_ACCEL_Z", 100, 50, 500, REAL32, "cm/s2 vertical acceleration"),
    Parameter("WPNAV_ACCEL_C", 0, 0, 500, REAL32, "cm/s2 lateral acceleration of splines; 0: twice WPNAV_ACCEL"),
    Parameter("WPNAV_RADIUS", 200, 5, 1000, REAL32, "cm: acceptance radius, also how far corners may be cut"),
    Parameter("WP_YAW_BEHAVIOR", 2, 0, 3, INT8, "heading: 0 fixed, 1 to the target, 2 except in RTL, 3 of the course"),
    # pilot
    Parameter("PILOT_SPEED_UP", 250, 50, 500, INT16, "cm/s: climb rate at full throttle"),
    Parameter("PILOT_SPEED_DN", 0, 0, 500, INT16, "cm/s: descent rate at zero throttle; 0: PILOT_SPEED_UP"),
    Parameter("PILOT_ACCEL_Z", 250, 50, 500, INT16, "cm/s2"),
    Parameter("PILOT_Y_RATE", 90, 1, 360, REAL32, "deg/s at full stick"),
    Parameter("THR_DZ", 100, 0, 300, INT16, "us: throttle deadzone around mid stick"),
    Parameter("LOIT_SPEED", 1250, 20, 3500, REAL32, "cm/s at full stick"),
    Parameter("LOIT_ACC_MAX", 500, 100, 981, REAL32, "cm/s2"),
    Parameter("LOIT_BRK_ACCEL", 250, 25, 250, REAL32, "cm/s2: braking when the sticks are released"),
    Parameter("PHLD_BRAKE_RATE", 8, 4, 12, INT16, "deg/s: how fast POSHOLD leans to brake"),
    Parameter("PHLD_BRAKE_ANGLE", 3000, 2000, 4500, INT16, "cdeg: maximum lean of POSHOLD while it brakes"),
    # RTL, landing, circle
    *SMART_RETURN,
    Parameter("RTL_ALT", 1500, 30, 300000, INT32, "cm above home: minimum altitude of the return"),
    Parameter("RTL_SPEED", 0, 0, 2000, INT16, "cm/s; 0: WPNAV_SPEED"),
    Parameter("RTL_LOIT_TIME", 5000, 0, 60000, INT32, "ms above home before the descent"),
    Parameter("RTL_ALT_FINAL", 0, 0, 1000, INT16, "cm: final altitude; 0: land"),
    Parameter("LAND_SPEED", 50, 30, 200, INT16, "cm/s: final descent rate"),
    Parameter("LAND_SPEED_HIGH", 0, 0, 500, INT16, "cm/s above LAND_ALT_LOW; 0: WPNAV_SPEED_DN"),
    Parameter("LAND_ALT_LOW", 1000, 100, 10000, INT16, "cm above ground below which LAND_SPEED applies"),
    Parameter("CIRCLE_RADIUS", 1000, 0, 200000, REAL32, "cm"),
    Parameter("CIRCLE_RATE", 20, -90, 90, REAL32, "deg/s, + clockwise"),
    Parameter("DISARM_DELAY", 10, 0, 127, INT8, "s on the ground before disarming; 0: never"),
)

ROVER = (
    Parameter("FRAME_CLASS", 1, 1, 1, INT8, "1: rover", fixed=True),
    # speed
    Parameter("CRUISE_SPEED", 2, 0.1, 100, REAL32, "m/s at CRUISE_THROTTLE; refined while driving"),
    Parameter("CRUISE_THROTTLE", 50, 1, 100, INT8, "% throttle at CRUISE_SPEED"),
    Parameter("ATC_SPEED_P", 0.2, 0, 10, REAL32, "throttle per m/s of speed error"),
    Parameter("ATC_SPEED_I", 0.2, 0, 10, REAL32, "throttle per s per m/s of speed error"),
    Parameter("ATC_ACCEL_MAX", 1, 0.05, 50, REAL32, "m/s2"),
    Parameter("ATC_DECEL_MAX", 0, 0, 50, REAL32, "m/s2; 0: ATC_ACCEL_MAX"),
    Parameter("ATC_BRAKE", 1, 0, 1, INT8, "1: brake with reverse throttle"),
    Parameter("ATC_STOP_SPEED", 0.1, 0, 1, REAL32, "m/s below which the rover counts as stopped"),
    Parameter("MOT_THR_MAX", 100, 5, 100, INT8, "% maximum throttle"),
    Parameter("MOT_SLEWRATE", 200, 0, 1000, INT16, "% throttle per s; 0: no limit"),
    # steering
    Parameter("ATC_STR_RAT_FF", 0.2, 0.001, 100, REAL32, "steering per rad/s; refined while driving"),
    Parameter("ATC_STR_RAT_P", 0.04, 0, 10, REAL32, "steering per rad/s of error"),
    Parameter("ATC_STR_RAT_I", 0.3, 0, 10, REAL32, "steering per s per rad/s of error"),
    Parameter("ATC_STR_RAT_MAX", 120, 1, 1000, REAL32, "deg/s"),
    Parameter("ATC_STR_ACC_MAX", 180, 1, 10000, REAL32, "deg/s2"),
    Parameter("ATC_STR_ANG_P", 2, 0.1, 10, REAL32, "rad/s per rad of heading error"),
    Parameter("ATC_STR_ANG_D", 0.1, 0, 2, REAL32, "rad/s per rad/s of turn rate, damping"),
    Parameter("ATC_TURN_MAX_G", 0.3, 0.05, 10, REAL32, "g lateral acceleration"),
    Parameter("TURN_RADIUS", 0.9, 0.05, 100, REAL32, "m: smallest of an Ackermann rover; refined while driving"),
    Parameter("NAVL1_PERIOD", 4, 1, 60, REAL32, "s: longer tracks the path more gently"),
    Parameter("NAVL1_DAMPING", 0.75, 0.5, 1, REAL32, "damping of the cross-track error"),
    # navigation
    Parameter("WP_SPEED", 2, 0, 100, REAL32, "m/s in AUTO, GUIDED and RTL; 0: CRUISE_SPEED"),
    Parameter("WP_RADIUS", 2, 0.1, 100, REAL32, "m: acceptance radius"),
    Parameter("WP_PIVOT_ANGLE", 60, 0, 180, INT16, "deg of heading error above which it pivots; 0: never"),
    Parameter("WP_PIVOT_RATE", 60, 1, 360, INT16, "deg/s while pivoting"),
    Parameter("CIRC_RADIUS", 20, 0.5, 100, REAL32, "m, in CIRCLE"),
    Parameter("CIRC_SPEED", 0, 0, 10, REAL32, "m/s in CIRCLE; 0: WP_SPEED"),
    Parameter("CIRC_DIR", 0, 0, 1, INT8, "0 clockwise, 1 counter-clockwise"),
    Parameter("LOIT_RADIUS", 2, 0.2, 20, REAL32, "m: drift at which LOITER drives back"),
    Parameter("RTL_SPEED", 0, 0, 100, REAL32, "m/s in RTL and SMARTRTL; 0: WP_SPEED"),
    *SMART_RETURN,
    Parameter("MIS_DONE_BEHAVE", 0, 0, 3, INT8, "after the mission: 0 HOLD, 1 LOITER, 2 ACRO, 3 MANUAL"),
    Parameter("ACRO_TURN_RATE", 180, 1, 360, REAL32, "deg/s at full stick in ACRO"),
)

PLANE = (
    # speed and energy
    Parameter("AIRSPEED_CRUISE", 17.5, 3, 300, REAL32, "m/s"),
    Parameter("AIRSPEED_MIN", 12, 2, 300, REAL32, "m/s; speed has precedence over height near it"),
    Parameter("AIRSPEED_MAX", 25, 4, 400, REAL32, "m/s"),
    Parameter("SCALING_SPEED", 15, 0.1, 100, REAL32, "m/s at which RLL_RATE and PTCH_RATE gains apply"),
    Parameter("TRIM_THROTTLE", 45, 0, 100, INT8, "% throttle at AIRSPEED_CRUISE; refined in flight"),
    Parameter("THR_MAX", 100, 0, 100, INT8, "% throttle in automatic modes"),
    Parameter("THR_SLEWRATE", 100, 0, 500, INT16, "% throttle per s; 0: no limit"),
    Parameter("TECS_CLMB_MAX", 5, 0.1, 50, REAL32, "m/s with full throttle at AIRSPEED_CRUISE"),
    Parameter("TECS_SINK_MIN", 2, 0.1, 50, REAL32, "m/s without throttle at AIRSPEED_CRUISE"),
    Parameter("TECS_SINK_MAX", 5, 0.1, 50, REAL32, "m/s"),
    Parameter("TECS_TIME_CONST", 5, 3, 10, REAL32, "s: response to errors of height and speed"),
    Parameter("TECS_THR_DAMP", 0.5, 0.1, 1, REAL32, "damping of the throttle"),
    Parameter("TECS_PTCH_DAMP", 0.3, 0.1, 1, REAL32, "damping of the pitch"),
    Parameter("TECS_INTEG_GAIN", 0.3, 0, 0.5, REAL32, "integral gain of throttle and pitch"),
    Parameter("TECS_SPDWEIGHT", 1, 0, 2, REAL32, "pitch controls: 0 height, 1 both, 2 speed"),
    Parameter("TECS_RLL2THR", 10, 5, 30, REAL32, "m2/s3 of energy in a turn, times 1 / cos^2(roll) - 1"),
    # attitude
    Parameter("ROLL_LIMIT_DEG", 45, 0, 90, REAL32, "deg"),
    Parameter("PTCH_LIM_MAX_DEG", 20, 0, 90, REAL32, "deg"),
    Parameter("PTCH_LIM_MIN_DEG", -25, -90, 0, REAL32, "deg"),
    Parameter("RLL2SRV_TCONST", 0.5, 0.2, 1, REAL32, "s from a roll error to a roll rate"),
    Parameter("RLL2SRV_RMAX", 75, 0, 180, INT16, "deg/s; 0: no limit"),
    Parameter("RLL_RATE_FF", 0.345, 0, 3, REAL32, "aileron per rad/s, 0.785 at full deflection"),
    Parameter("RLL_RATE_P", 0.08, 0, 2, REAL32, "aileron per rad/s of error"),
    Parameter("RLL_RATE_I", 0.15, 0, 2, REAL32, "aileron per rad of error"),
    Parameter("RLL_RATE_IMAX", 0.666, 0, 1, REAL32, "largest I term, share of the deflection"),
    Parameter("PTCH2SRV_TCONST", 0.5, 0.2, 1, REAL32, "s from a pitch error to a pitch rate"),
    Parameter("PTCH2SRV_RMAX_UP", 75, 0, 100, REAL32, "deg/s; 0: no limit"),
    Parameter("PTCH2SRV_RMAX_DN", 75, 0, 100, REAL32, "deg/s; 0: no limit"),
    Parameter("PTCH2SRV_RLL", 1, 0.7, 1.5, REAL32, "share of the pitch rate of a turn"),
    Parameter("PTCH_RATE_FF", 0.6, 0, 3, REAL32, "elevator per rad/s, 0.785 at full deflection"),
    Parameter("PTCH_RATE_P", 0.3, 0, 2, REAL32, "elevator per rad/s of error"),
    Parameter("PTCH_RATE_I", 0.6, 0, 2, REAL32, "elevator per rad of error"),
    Parameter("PTCH_RATE_IMAX", 0.666, 0, 1, REAL32, "largest I term, share of the deflection"),
    Parameter("YAW2SRV_SLIP", 0.05, 0, 4, REAL32, "rudder per m/s2 of lateral acceleration"),
    Parameter("YAW2SRV_DAMP", 0.3, 0, 4, REAL32, "rudder per rad/s off the coordinated turn rate"),
    Parameter("STEER2SRV_P", 1.8, 0.1, 100, REAL32, "m: diameter of the turning circle on the ground"),
    Parameter("STEER2SRV_TCONST", 0.75, 0.4, 2, REAL32, "s from a heading error to a turn rate on the ground"),
    # navigation
    Parameter("NAVL1_PERIOD", 17, 1, 60, REAL32, "s: shorter turns more sharply"),
    Parameter("NAVL1_DAMPING", 0.75, 0.6, 1, REAL32, "damping of the cross-track error"),
    Parameter("WP_RADIUS", 80, 1, 32767, REAL32, "m: acceptance radius"),
    Parameter("WP_LOITER_RAD", 120, -32767, 32767, INT16, "m: radius of circles; negative: counter-clockwise"),
    Parameter("RTL_RADIUS", 0, -32767, 32767, INT16, "m: radius at the end of RTL; 0: WP_LOITER_RAD"),
    Parameter("RTL_ALTITUDE", 100, -1, 32767, REAL32, "m above home; -1: current altitude"),
    Parameter("RTL_AUTOLAND", 0, 0, 3, INT8, "RTL: 1 home, then landing sequence, 2 sequence at once, 0 or 3 neither"),
    Parameter("FBWB_CLIMB_RATE", 2, 1, 10, REAL32, "m/s at full pitch stick in FBWB and CRUISE"),
    # take-off
    Parameter("TKOFF_ALT", 50, 0, 200, REAL32, "m above the start, in TAKEOFF"),
    Parameter("TKOFF_LVL_ALT", 10, 0, 50, REAL32, "m below which the roll is at most LEVEL_ROLL_LIMIT"),
    Parameter("TKOFF_LVL_PITCH", 15, 0, 30, REAL32, "deg of the climb, in TAKEOFF"),
    Parameter("TKOFF_DIST", 200, 0, 500, REAL32, "m ahead of the start at which TAKEOFF loiters"),
    Parameter("TKOFF_GND_PITCH", 5, -5, 10, REAL32, "deg, wanted before TKOFF_ROTATE_SPD"),
    Parameter("TKOFF_ROTATE_SPD", 0, 0, 30, REAL32, "m/s of airspeed at which the nose is raised; 0: immediately"),
    Parameter("TKOFF_THR_MINACC", 0, 0, 30, REAL32, "m/s2 that start the motor of a thrown plane; 0: immediately"),
    Parameter("TKOFF_THR_DELAY", 2, 0, 127, INT8, "0.1 s from TKOFF_THR_MINACC to the motor"),
    Parameter("TKOFF_THR_MINSPD", 0, 0, 30, REAL32, "m/s over the ground before the motor starts; 0: none"),
    Parameter("TKOFF_PLIM_SEC", 2, 0, 10, REAL32, "s before the altitude at which the pitch is lowered"),
    Parameter("LEVEL_ROLL_LIMIT", 5, 0, 45, REAL32, "deg: roll during take-off and flare"),
    # landing
    Parameter("LAND_FLARE_ALT", 3, 0, 30, REAL32, "m above the landing point at which the flare begins"),
    Parameter("LAND_FLARE_SEC", 2, 0, 10, REAL32, "s before touchdown at which the flare begins; 0: by altitude only"),
    Parameter("LAND_PITCH_DEG", 0, -20, 20, REAL32, "deg: least pitch of the flare"),
    Parameter("LAND_PF_ALT", 10, 0, 30, REAL32, "m at which LAND_PF_ARSPD begins"),
    Parameter("LAND_PF_ARSPD", 0, 0, 30, REAL32, "m/s of airspeed before the flare; 0: none"),
    Parameter("LAND_DISARMDELAY", 20, 0, 127, INT8, "s from the landing to disarming; 0: never"),
    Parameter("TECS_LAND_ARSPD", -1, -1, 127, REAL32, "m/s on the approach; -1: AIRSPEED_CRUISE"),
    Parameter("TECS_LAND_SINK", 0.25, 0, 2, REAL32, "m/s at touchdown"),
    # failsafes
    Parameter("THR_FAILSAFE", 1, 0, 2, INT8, "1: loss of RC or of its throttle signal is a failsafe"),
    Parameter("THR_FS_VALUE", 950, 925, 2200, INT16, "us of the throttle channel below which RC counts as lost"),
    Parameter("FS_SHORT_ACTN", 0, 0, 4, INT8, "RC lost: 0 CIRCLE unless autonomous, 1 CIRCLE, 2 FBWA, 3 none, 4 FBWB"),
    Parameter("FS_SHORT_TIMEOUT", 1.5, 1, 100, REAL32, "s from the loss of RC to FS_SHORT_ACTN"),
    Parameter(
        "FS_LONG_ACTN", 0, 0, 4, INT8, "0 RTL unless autonomous, 1 RTL, 2 glide in FBWA, 4 AUTO", only=(0, 1, 2, 4)
    ),
    Parameter("FS_LONG_TIMEOUT", 5, 1, 300, REAL32, "s from the loss of RC or ground station to FS_LONG_ACTN"),
    Parameter(
        "FS_GCS_ENABL", 0, 0, 3, INT8, "ground station lost: 0 nothing, 1 FS_LONG_ACTN, 3 in AUTO only", only=(0, 1, 3)
    ),
    Parameter("FS_EKF_ACTION", 1, 0, 1, INT8, "position lost: 0 report, 1 LOITER, with a gentle bank"),
    Parameter("FENCE_ACTION", 1, 0, 6, INT8, "0 report, 1 RTL, 6 GUIDED: circle the return point", only=(0, 1, 6)),
    Parameter("BATT_FS_LOW_ACT", 0, 0, 3, INT8, "0 report, 1 RTL, 2 landing sequence or RTL, 3 disarm"),
    Parameter("BATT_FS_CRT_ACT", 0, 0, 3, INT8, "as BATT_FS_LOW_ACT, for a critical battery"),
)

SWITCH_MODES = {  # default RC channel of the mode switch and the modes of its six positions
    "copter": (5, (7, 9, 6, 3, 5, 0)),  # CIRCLE, LAND, RTL, AUTO, LOITER, STABILIZE
    "plane": (8, (10, 11, 12, 7, 5, 0)),  # AUTO, RTL, LOITER, CRUISE, FBWA, MANUAL
    "rover": (8, (10, 11, 12, 15, 4, 0)),  # AUTO, RTL, SMARTRTL, GUIDED, HOLD, MANUAL
}


def switch_prefix(kind: str) -> str:
    """Return the prefix of the mode switch parameters of a vehicle type, as ArduPilot names them."""
    return "MODE" if drives(kind) else "FLTMODE"


# read-only parameters that ground stations look for ------------------------------------------------------------------

CHANNELS = 8  # RC channels described
SERVOS = 16  # servo channels
RELAYS = 4
THROTTLE_CHANNEL = 3
STICK_CHANNELS = {"ROLL": 1, "PITCH": 2, "THROTTLE": 3, "YAW": 4}


def _fixed(name: str, value: float, kind: ParamKind = INT16, summary: str = "") -> Parameter:
    return Parameter(name, value, value, value, kind, summary, fixed=True)


SENSORS = (
    _fixed("AHRS_ORIENTATION", 0, INT8, "0: no rotation"),
    _fixed("BATT_MONITOR", 4, INT8, "4: voltage and current"),
    _fixed("GPS_TYPE", 1, INT8, "1: auto"),
    _fixed("COMPASS_USE", 1, INT8, "1: the compass is used for the heading"),
    *(_fixed(f"COMPASS_OFS_{axis}", 0, REAL32, "no calibration needed") for axis in "XYZ"),
    *(Parameter(f"INS_ACCOFFS_{axis}", 0, -5, 5, REAL32, "m/s2, calibrated", fixed=True) for axis in "XYZ"),
    *(_fixed(f"INS_ACCSCAL_{axis}", 1, REAL32, "no calibration needed") for axis in "XYZ"),
    *(Parameter(f"INS_GYROFFS_{axis}", 0, -1, 1, REAL32, "rad/s, calibrated", fixed=True) for axis in "XYZ"),
    Parameter("BARO1_GND_PRESS", 0, 0, 200000, REAL32, "Pa, calibrated; 0: not yet", fixed=True),
)


def ground_station_parameters(vehicle: type[VehicleControl]) -> Iterator[Parameter]:
    """Yield the mode switch parameters and the read-only ones that ground stations expect."""
    kind, name = vehicle.kind, switch_prefix(vehicle.kind)
    channel, modes = SWITCH_MODES["rover" if drives(kind) else kind]
    yield Parameter(f"{name}_CH", channel, 0, 16, INT8, "RC channel of the mode switch; 0: none")
    for k, mode in enumerate(modes, start=1):
        yield Parameter(f"{name}{k}", mode, 0, 127, INT8, f"mode number for switch position {k}")
    yield from SENSORS
    yield _fixed("SCHED_LOOP_RATE", round(1e6 / vehicle.control_period_us), INT16, "Hz of the control loops")
    for stick, channel in STICK_CHANNELS.items():
        yield _fixed(f"RCMAP_{stick}", channel, INT8, "RC channel")
    for k in range(1, CHANNELS + 1):
        yield from _pwm_range(f"RC{k}", PWM_MIN if k == THROTTLE_CHANNEL and not drives(kind) else PWM_MID)
    outputs = {channel: (function, rest) for channel, function, _, rest in vehicle.channels}
    for k in range(1, SERVOS + 1):
        function, rest = outputs.get(k, (0, PWM_MID))
        yield _fixed(f"SERVO{k}_FUNCTION", function, summary="ArduPilot's number of the output function; 0: disabled")
        yield from _pwm_range(f"SERVO{k}", rest)
    for k in range(1, RELAYS + 1):
        yield Parameter(f"RELAY{k}_FUNCTION", 1, 0, 1, INT8, f"1: relay {k - 1} exists, 0: it does not")
        yield Parameter(f"RELAY{k}_DEFAULT", 0, 0, 1, INT8, f"state of relay {k - 1} after boot: 0 off, 1 on")
    if kind == "copter":
        yield _fixed("MOT_PWM_MIN", PWM_MIN, summary="us: motor stopped")
        yield _fixed("MOT_PWM_MAX", PWM_MAX, summary="us: full thrust")


def _pwm_range(name: str, trim: int) -> Iterator[Parameter]:
    yield _fixed(f"{name}_MIN", PWM_MIN, summary="us")
    yield _fixed(f"{name}_MAX", PWM_MAX, summary="us")
    yield _fixed(f"{name}_TRIM", trim, summary="us at rest")
    yield _fixed(f"{name}_REVERSED", 0, INT8, "0: normal")


BATTERY_SHARES = {"BATT_CAPACITY": 1.0, "BATT_LOW_MAH": 0.2, "BATT_CRT_MAH": 0.1}
"""Parameters whose defaults are a share of the capacity of the vehicle's battery."""


def make_parameters(
    vehicle: type[VehicleControl],
    sysid: int,
    folder: Path | None,
    report: Callable[[str], None],
    capacity: float | None = None,
) -> AutopilotParameters:
    """Return all parameters of one vehicle, saved in `folder`; `report` receives failures to save.

    `capacity` of the vehicle's battery (mAh), where it is known, changes the defaults that depend on it.
    """
    path = folder / f"{vehicle.kind}_{sysid}.json" if folder is not None else None
    links = () if vehicle.kind == "plane" else LINK_FAILSAFES
    known = (*COMMON, *links, *ground_station_parameters(vehicle), *vehicle.parameters)
    if capacity is not None:
        known = tuple(
            replace(each, default=min(round(capacity * BATTERY_SHARES[each.name]), each.high))
            if each.name in BATTERY_SHARES
            else each
            for each in known
        )
    parameters = AutopilotParameters(known, path, report)
    parameters.make_folder()
    parameters.show("SYSID_THISMAV", sysid)
    return parameters
