"""Scenarios that nobody has to write: so many vehicles of a kind in a row, each with its autopilot."""

from __future__ import annotations

from typing import Any

from paddock.errors import InvalidValueError, unknown_name
from paddock.scenario.sitl import LAST_SYSID
from paddock.sitl.equipment.standard_vehicles import VEHICLES

ARDUPILOT_FRAMES = {"copter": "copter", "copter-plus": "copter", "rover": "rover_ackermann", "rover-skid": "rover"}
"""ArduPilot's frames -> the kind of craft."""

RATES = {"builtin": 250.0, "ardupilot": 1200.0, "px4": 250.0}
"""Ticks per second that each autopilot gets along with: ArduPilot asks for 1,200 frames per second by itself."""

SPACING = {"copter": 5.0, "rover": 4.0, "rover_ackermann": 6.0, "plane": 60.0}
"""m between neighbours."""


def quick_scenario(
    craft: str = "rover", count: int = 1, autopilot: str = "builtin", instance: int = 0, **section: Any
) -> dict[str, Any]:
    """A scenario with `count` vehicles in a row from west to east, facing north; `section`: more of `sitl`."""
    if craft not in VEHICLES:
        raise unknown_name("type of vehicle", craft, VEHICLES)
    if not 1 <= count <= LAST_SYSID:
        raise InvalidValueError(f"there are 1 to {LAST_SYSID} vehicles, not {count}")
    height = 100.0 if craft == "plane" else 0.0
    spawn = {"line": {"start": [0.0, 0.0, height], "end": [SPACING[craft] * (count - 1), 0.0, height]}}
    placed = {"pose": [0.0, 0.0, height, NORTH]} if count == 1 else {"count": count, "spawn": _facing_north(spawn)}
    pilots: dict[str, Any] = {"vehicles": craft, "autopilot": autopilot, "craft": craft}
    if autopilot != "builtin":
        pilots |= {"instance": instance, "sysid": instance + 1}
    return {
        "name": f"{count} {craft}{'' if count == 1 else 's'}",
        "description": f"{DESCRIPTIONS[autopilot]} in the loop",
        "clock": {"rate": RATES[autopilot], "pace": 1.0},
        "every": {"snapshot": max(1, round(RATES[autopilot] / 50.0))},
        "vehicles": [{"name": craft, **VEHICLES[craft], **placed}],
        "sitl": {"pilots": [pilots], **section},
    }


DESCRIPTIONS = {"builtin": "the built-in autopilot", "ardupilot": "ArduPilot", "px4": "PX4"}
NORTH = 1.5707963267948966
"""rad, counter-clockwise from east."""


def _facing_north(spawn: dict[str, Any]) -> dict[str, Any]:
    return {"line": {**spawn["line"], "heading": NORTH}}
