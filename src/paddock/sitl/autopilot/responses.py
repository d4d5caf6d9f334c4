"""What a failsafe or a breach of the fence does: ArduPilot's numbers for its actions, as modes to try in turn."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paddock.sitl.autopilot.crafts import drives
from paddock.sitl.autopilot.notices import Severity

if TYPE_CHECKING:
    from paddock.sitl.autopilot.autopilot import BuiltInAutopilot

RETURN, STOP, HOLD, SMART, ALT_HOLD, DISARM = "return", "stop", "hold", "smart", "alt_hold", "disarm"
Steps = tuple[str, ...]
Table = dict[int, Steps]

FLYING: dict[str, Table] = {
    "FENCE_ACTION": {1: (RETURN, STOP), 2: (STOP,), 3: (SMART, RETURN, STOP), 4: (HOLD, STOP), 5: (SMART, STOP)},
    "FS_GCS_ENABLE": {
        1: (RETURN, STOP),
        2: (RETURN, STOP),
        3: (SMART, RETURN, STOP),
        4: (SMART, STOP),
        5: (STOP,),
        6: (RETURN, STOP),
        7: (HOLD, STOP),
    },
    "FS_THR_ENABLE": {
        1: (RETURN, STOP),
        2: (RETURN, STOP),
        3: (STOP,),
        4: (SMART, RETURN, STOP),
        5: (SMART, STOP),
        6: (RETURN, STOP),
        7: (HOLD, STOP),
    },
    "FS_EKF_ACTION": {1: (STOP,), 2: (ALT_HOLD, STOP), 3: (STOP,)},
    "BATT_FS": {
        1: (STOP,),
        2: (RETURN, STOP),
        3: (SMART, RETURN, STOP),
        4: (SMART, STOP),
        5: (DISARM,),
        6: (RETURN, STOP),
    },
}
"""Of a copter and a plane: parameter -> value -> what to try."""

DRIVING: dict[str, Table] = {
    **FLYING,
    "FENCE_ACTION": {1: (RETURN, STOP), 2: (STOP,), 3: (SMART, RETURN, STOP), 4: (SMART, STOP), 5: (SMART, STOP)},
    "FS_EKF_ACTION": {1: (STOP,), 2: (), 3: (STOP,)},
    "BATT_FS": {
        1: (RETURN, STOP),
        2: (STOP,),
        3: (SMART, RETURN, STOP),
        4: (SMART, STOP),
        5: (DISARM,),
        6: (HOLD, STOP),
    },
}
"""Of a rover."""


def steps(autopilot: BuiltInAutopilot, name: str) -> Steps:
    """What the parameter `name` asks for, to be tried in turn; empty: only report."""
    tables = DRIVING if drives(autopilot.craft.kind) else FLYING
    table = tables["BATT_FS" if name.startswith("BATT_FS") else name]
    return table.get(autopilot.parameters.whole(name), ())


def respond(autopilot: BuiltInAutopilot, wanted: Steps, reason: str) -> bool:
    """Do the first of the steps that can be done; whether one could."""
    for step in wanted:
        if step == DISARM:
            autopilot.say(Severity.EMERGENCY, f"{reason}: motors stop")
            return autopilot.disarm(force=True).accepted
        number = mode_of(autopilot, step)
        if number is not None and autopilot.set_mode(number).accepted:
            autopilot.say(Severity.WARNING, f"{reason}: {autopilot.mode.name}")
            return True
    if wanted:
        autopilot.say(Severity.CRITICAL, f"{reason}: no mode to go to")
    return False


def mode_of(autopilot: BuiltInAutopilot, step: str) -> int | None:
    """The number of the mode that a step means for this craft."""
    craft = autopilot.craft
    if step == SMART:
        return autopilot.mode_number("SMARTRTL")
    if step == ALT_HOLD:
        return autopilot.mode_number("ALT_HOLD")
    return {RETURN: craft.return_mode, STOP: craft.stop_mode, HOLD: craft.hold_mode}[step]
