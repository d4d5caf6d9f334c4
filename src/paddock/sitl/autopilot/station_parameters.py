"""Parameters that ground stations look for: what is so in every simulated vehicle, to be read but not changed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from paddock.sitl.autopilot.crafts import drives
from paddock.sitl.autopilot.mode_switch import switch_parameters
from paddock.sitl.autopilot.parameters import Parameter, ParamKind

if TYPE_CHECKING:
    from paddock.sitl.autopilot.craft import Craft

CHANNELS = 8  # of RC and of servos that are described
LEAST, CENTRE, MOST = 1000, 1500, 2000  # us
THROTTLE = 3  # the channel of the stick
FORWARD_ONLY = frozenset({33, 34, 35, 36, 70})  # functions that rest at the least pulse: motors, throttle

FUNCTIONS: Mapping[str, Mapping[int, int]] = {
    "copter": {1: 33, 2: 34, 3: 35, 4: 36},  # motors 1 to 4
    "rover": {1: 73, 3: 74},  # throttle left, throttle right
    "rover_ackermann": {1: 26, 3: 70},  # steering, throttle
    "plane": {1: 4, 2: 19, 3: 70, 4: 21},  # aileron, elevator, throttle, rudder
}
"""The SERVOn_FUNCTION of each channel in use, as the crafts' `outputs` have them."""

STICKS = {"ROLL": 1, "PITCH": 2, "THROTTLE": 3, "YAW": 4}
SENSORS: tuple[tuple[str, float, ParamKind, str], ...] = (
    ("AHRS_ORIENTATION", 0, ParamKind.INT8, "0: the autopilot is mounted straight"),
    ("BATT_MONITOR", 4, ParamKind.INT8, "4: voltage and current"),
    ("GPS_TYPE", 1, ParamKind.INT8, "1: whatever receiver there is"),
    ("COMPASS_USE", 1, ParamKind.INT8, "1: the compass is used for the heading"),
    *((f"COMPASS_OFS_{axis}", 0, ParamKind.REAL32, "no calibration is needed") for axis in "XYZ"),
    *((f"INS_ACCOFFS_{axis}", 0, ParamKind.REAL32, "no calibration is needed") for axis in "XYZ"),
    *((f"INS_ACCSCAL_{axis}", 1, ParamKind.REAL32, "no calibration is needed") for axis in "XYZ"),
    *((f"INS_GYROFFS_{axis}", 0, ParamKind.REAL32, "no calibration is needed") for axis in "XYZ"),
    ("LOG_BITMASK", 0, ParamKind.INT32, "0: no log on board"),
)


def station_parameters(kind: type[Craft]) -> tuple[Parameter, ...]:
    """Those of one kind of craft, with its mode switch, which may be set."""
    rate = round(1e6 / kind.control_period_us)
    return (
        *switch_parameters(kind.kind),
        *(_fixed(*entry) for entry in SENSORS),
        _fixed("SCHED_LOOP_RATE", rate, ParamKind.INT16, "Hz of the control loops"),
        *_sticks(kind.kind),
        *_outputs(kind.kind),
    )


def _fixed(name: str, value: float, kind: ParamKind = ParamKind.INT16, summary: str = "") -> Parameter:
    return Parameter(name, value, value, value, kind, summary, fixed=True)


def _sticks(craft: str) -> Iterator[Parameter]:
    """Which channel is which stick, and its pulses (us)."""
    for stick, channel in STICKS.items():
        yield _fixed(f"RCMAP_{stick}", channel, ParamKind.INT8, "RC channel")
    for k in range(1, CHANNELS + 1):
        low = k == THROTTLE and not drives(craft)
        yield from _pulses(f"RC{k}", LEAST if low else CENTRE)


def _outputs(craft: str) -> Iterator[Parameter]:
    """What goes to which motor or servo, and its pulses (us)."""
    for k in range(1, CHANNELS + 1):
        function = FUNCTIONS[craft].get(k, 0)
        yield _fixed(f"SERVO{k}_FUNCTION", function, summary="ArduPilot's number of what the output moves; 0: nothing")
        yield from _pulses(f"SERVO{k}", LEAST if function in FORWARD_ONLY and not drives(craft) else CENTRE)
    if craft == "copter":
        yield _fixed("MOT_PWM_MIN", LEAST, summary="us: a motor that stands")
        yield _fixed("MOT_PWM_MAX", MOST, summary="us: full thrust")


def _pulses(name: str, rest: int) -> Iterator[Parameter]:
    yield _fixed(f"{name}_MIN", LEAST, summary="us")
    yield _fixed(f"{name}_MAX", MOST, summary="us")
    yield _fixed(f"{name}_TRIM", rest, summary="us at rest")
    yield _fixed(f"{name}_REVERSED", 0, ParamKind.INT8, "0: not reversed")
