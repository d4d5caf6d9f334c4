"""The parameters that every kind of craft has, under ArduPilot's names and with its meanings."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from paddock.sitl.autopilot.craft import Craft
from paddock.sitl.autopilot.mission.parameters import MISSION_PARAMETERS
from paddock.sitl.autopilot.parameters import Parameter, Parameters, ParamKind
from paddock.sitl.autopilot.station_parameters import station_parameters

INT8, INT16, INT32 = ParamKind.INT8, ParamKind.INT16, ParamKind.INT32

IDENTITY = (
    Parameter("SYSID_THISMAV", 1, 1, 254, INT16, "MAVLink system id of this vehicle", fixed=True),
    Parameter("SYSID_MYGCS", 255, 1, 255, INT16, "system id of the ground station whose loss is a failsafe"),
)

ARMING = (Parameter("ARMING_CHECK", 1, 0, 1048575, INT32, "bits of the checks before arming; 1: all, 0: none"),)

FENCE = (
    Parameter("FENCE_ENABLE", 0, 0, 1, INT8, "whether the fence is watched"),
    Parameter("FENCE_TYPE", 7, 0, 15, INT8, "bits: 1 greatest height, 2 circle, 4 uploaded zones, 8 least height"),
    Parameter("FENCE_ACTION", 1, 0, 5, INT8, "0 report, 1 RTL, 2 land or hold, 3 SmartRTL or RTL, 4 hold or SmartRTL"),
    Parameter("FENCE_ALT_MAX", 100, 10, 1000, summary="m above home"),
    Parameter("FENCE_ALT_MIN", -10, -100, 100, summary="m above home"),
    Parameter("FENCE_RADIUS", 300, 30, 10000, summary="m around home"),
    Parameter("FENCE_MARGIN", 2, 1, 10, summary="m inside the fence at which a breach is over"),
    Parameter("FENCE_TOTAL", 0, 0, 2000, INT16, "items of the uploaded fence", fixed=True),
)

FAILSAFE = (
    Parameter("FS_GCS_ENABLE", 0, 0, 7, INT8, "ground station lost: 0 nothing, 1 RTL, 3 or 4 SmartRTL, 5 land or hold"),
    Parameter("FS_GCS_TIMEOUT", 5, 2, 120, summary="s without a heartbeat of the ground station"),
    Parameter("FS_THR_ENABLE", 1, 0, 7, INT8, "RC lost: 0 nothing, 1 RTL, 3 land or hold, 4 or 5 SmartRTL"),
    Parameter(
        "FS_OPTIONS", 21, 0, 255, INT16, "bits: go on 1 AUTO/RC, 2 AUTO/GCS, 4 GUIDED/RC, 8 landing, 16 piloted/GCS"
    ),
    Parameter("FS_EKF_ACTION", 1, 0, 3, INT8, "position lost: 0 report, 1 land or hold, 2 ALT_HOLD, 3 always land"),
    Parameter("FS_CRASH_CHECK", 1, 0, 1, INT8, "whether a copter that lies on its side disarms"),
    Parameter("RC_OVERRIDE_TIME", 3, -1, 120, summary="s until RC overrides are stale; 0 not accepted, -1 never"),
)

BATTERY = (
    Parameter("BATT_CAPACITY", 3300, 0, 1000000, INT32, "mAh"),
    Parameter("BATT_LOW_VOLT", 0, 0, 120, summary="V; 0: not watched"),
    Parameter("BATT_LOW_MAH", 660, 0, 1000000, summary="mAh left; 0: not watched"),
    Parameter("BATT_CRT_VOLT", 0, 0, 120, summary="V; 0: not watched"),
    Parameter("BATT_CRT_MAH", 330, 0, 1000000, summary="mAh left; 0: not watched"),
    Parameter("BATT_LOW_TIMER", 10, 0, 120, INT8, "s that the voltage must be low"),
    Parameter(
        "BATT_FS_LOW_ACT", 0, 0, 6, INT8, "copter: 1 land, 2 RTL, 3 or 4 SmartRTL; rover: 1 RTL, 2 hold; 5 disarm"
    ),
    Parameter("BATT_FS_CRT_ACT", 0, 0, 6, INT8, "as BATT_FS_LOW_ACT, when the battery is critical"),
    Parameter("BATT_ARM_VOLT", 0, 0, 120, summary="V needed to arm; 0: not checked"),
    Parameter("BATT_ARM_MAH", 0, 0, 1000000, INT32, "mAh needed to arm; 0: not checked"),
)

RALLY = (
    Parameter("RALLY_TOTAL", 0, 0, 255, INT16, "rally points", fixed=True),
    Parameter("RALLY_LIMIT_KM", 0.3, 0, 100, summary="km; rally points further off are not used; 0: no limit"),
    Parameter("RALLY_INCL_HOME", 1, 0, 1, INT8, "whether home counts as a rally point"),
    Parameter("MIS_TOTAL", 0, 0, 32766, INT16, "items of the mission", fixed=True),
)

SIMULATION = (
    Parameter("SIM_GPS_DISABLE", 0, 0, 1, INT8, "1: GNSS has no fix, to try its loss"),
    Parameter("SIM_BATT_VOLTAGE", 0, 0, 120, summary="V that the battery seems to have, to try it; 0: as measured"),
)

STREAMS = tuple(
    Parameter(f"SR0_{name}", rate, 0, 50, INT16, f"Hz of {what}")
    for name, rate, what in (
        ("RAW_SENS", 2, "RAW_IMU, SCALED_PRESSURE and their like"),
        ("EXT_STAT", 2, "SYS_STATUS, GPS_RAW_INT, MISSION_CURRENT, NAV_CONTROLLER_OUTPUT"),
        ("RC_CHAN", 2, "SERVO_OUTPUT_RAW, RC_CHANNELS"),
        ("POSITION", 4, "GLOBAL_POSITION_INT, LOCAL_POSITION_NED"),
        ("EXTRA1", 4, "ATTITUDE"),
        ("EXTRA2", 4, "VFR_HUD"),
        ("EXTRA3", 2, "SYSTEM_TIME, BATTERY_STATUS, EKF_STATUS_REPORT and their like"),
        ("PARAMS", 10, "PARAM_VALUE"),
    )
)

COMMON = (*IDENTITY, *ARMING, *FENCE, *FAILSAFE, *BATTERY, *RALLY, *MISSION_PARAMETERS, *SIMULATION, *STREAMS)


def parameters_of(kind: type[Craft], sysid: int, folder: Path | None, complain: Callable[[str], None]) -> Parameters:
    """Those of one vehicle, kept in `folder`; one that cannot be written is an error in one line."""
    path = folder / f"{kind.kind}_{sysid}.json" if folder is not None else None
    parameters = Parameters((*COMMON, *station_parameters(kind), *kind.parameters), path, complain)
    parameters.make_folder()
    parameters.show("SYSID_THISMAV", sysid)
    return parameters
