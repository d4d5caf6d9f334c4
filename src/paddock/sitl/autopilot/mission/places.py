"""Where the items of a mission are, in the autopilot's local frame."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paddock.sitl.autopilot.mission.items import KINDS, Command, plain_frame
from paddock.sitl.autopilot.mission_item import Frame, MissionItem

if TYPE_CHECKING:
    from paddock.sitl.autopilot.autopilot import BuiltInAutopilot

Place = tuple[float, float, float]


def place_of(item: MissionItem, autopilot: BuiltInAutopilot, otherwise: Place) -> Place:
    """Metres north, east and down.

    As in ArduPilot, latitude and longitude 0 mean those of `otherwise`, and so does an altitude of 0 (or NaN). Without
    a local frame everything is `otherwise`.
    """
    if autopilot.frame is None:
        return otherwise
    north, east, down = autopilot.frame.to_ned(item.x, item.y, _altitude(item, autopilot))
    if not KINDS[item.command].place or (item.x == 0.0 and item.y == 0.0):
        north, east = otherwise[:2]
    if (item.z == 0.0 and item.command != Command.LAND) or item.z != item.z:
        down = otherwise[2]
    return north, east, down


def _altitude(item: MissionItem, autopilot: BuiltInAutopilot) -> float:
    """m above sea level. The ground is flat as far as the autopilot knows: terrain is as high as home."""
    if plain_frame(item.frame) == Frame.GLOBAL:
        return item.z
    home = autopilot.home
    return item.z + (home[2] if home is not None else autopilot.frame.altitude if autopilot.frame else 0.0)
