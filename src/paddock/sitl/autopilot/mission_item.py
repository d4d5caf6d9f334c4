"""An item of a mission, a fence or a rally plan, as ground stations write it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from math import nan


class PlanKind(IntEnum):
    """MAV_MISSION_TYPE."""

    MISSION = 0
    FENCE = 1
    RALLY = 2


class Frame(IntEnum):
    """The MAV_FRAMEs that items may use; the _INT variants are taken as these."""

    GLOBAL = 0  # altitude above sea level
    MISSION = 2  # no position
    RELATIVE = 3  # altitude above home
    TERRAIN = 10  # altitude above the ground: flat here, so above home


@dataclass(frozen=True)
class MissionItem:
    """One item; `x` and `y` are latitude and longitude in deg (float64), `z` an altitude in m, as the frame says."""

    command: int  # MAV_CMD
    frame: int = Frame.RELATIVE
    p1: float = 0.0
    p2: float = 0.0
    p3: float = 0.0
    p4: float = nan
    x: float = 0.0
    y: float = 0.0
    z: float = 0.0
    autocontinue: bool = True
