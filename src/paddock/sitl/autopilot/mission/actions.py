"""What a mission does on its way: conditions to wait for, and actions that are done at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import atan2, hypot, nan, radians, remainder, tau
from typing import TYPE_CHECKING

from paddock.sitl.autopilot.mission.items import KINDS, Command, Role
from paddock.sitl.autopilot.mission.places import Place, place_of
from paddock.sitl.autopilot.mission_item import MissionItem
from paddock.sitl.autopilot.notices import Severity

if TYPE_CHECKING:
    from paddock.sitl.autopilot.autopilot import BuiltInAutopilot

YAW_REACHED = radians(5.0)
LOOK = (Command.DO_SET_ROI, Command.DO_SET_ROI_LOCATION)


@dataclass
class Actions:
    """The queue of actions and conditions, and what they have left behind for the craft."""

    autopilot: BuiltInAutopilot
    waiting: list[tuple[int, MissionItem]] = field(default_factory=list)  # sequence and item, in order
    speed: float = nan  # m/s, from DO_CHANGE_SPEED
    look_at: Place | None = None  # from DO_SET_ROI
    wanted_yaw: float = nan  # rad, from CONDITION_YAW; until the next leg
    _elapsed: float = -1.0  # s in the condition at the head of the queue; -1: it has not begun

    def load(self, items: Sequence[tuple[int, MissionItem]]) -> None:
        """The actions of the leg that begins now; what the last leg did not come to is left out."""
        self.waiting = list(items)
        self.wanted_yaw = nan
        self._elapsed = -1.0

    def update(self, dt: float, distance: float) -> None:
        """Do what is due; `distance` m to the waypoint."""
        while self.waiting:
            sequence, item = self.waiting[0]
            if KINDS[item.command].role is Role.CONDITION and not self._fulfilled(sequence, item, dt, distance):
                return
            if KINDS[item.command].role is not Role.CONDITION:
                self._do(sequence, item)
            self.waiting.pop(0)
            self._elapsed = -1.0

    def finish(self) -> None:
        """The mission ends: do what remains, without waiting for conditions."""
        self.waiting = [entry for entry in self.waiting if KINDS[entry[1].command].role is not Role.CONDITION]
        self.update(0.0, 0.0)

    def yaw(self, otherwise: float) -> float:
        """Where the nose should point, rad: what is looked at, then what was asked for, then `otherwise`."""
        if self.look_at is not None:
            now = self.autopilot.estimate
            north, east = self.look_at[0] - now.north, self.look_at[1] - now.east
            return atan2(east, north) if hypot(north, east) > 1.0 else now.yaw
        return self.wanted_yaw if self.wanted_yaw == self.wanted_yaw else otherwise

    # conditions ------------------------------------------------------------------------------------------------------

    def _fulfilled(self, sequence: int, item: MissionItem, dt: float, distance: float) -> bool:
        if self._elapsed < 0.0:
            self._elapsed = 0.0
            self._begin(sequence, item)
        else:
            self._elapsed += dt
        if item.command == Command.CONDITION_DELAY:
            return self._elapsed >= item.p1
        if item.command == Command.CONDITION_DISTANCE:
            return distance <= item.p1
        return abs(remainder(self.wanted_yaw - self.autopilot.estimate.yaw, tau)) <= YAW_REACHED

    def _begin(self, sequence: int, item: MissionItem) -> None:
        self._announce(sequence, item)
        if item.command == Command.CONDITION_YAW:
            way = -1.0 if item.p3 < 0.0 else 1.0
            relative = self.autopilot.estimate.yaw + way * radians(item.p1)
            self.wanted_yaw = remainder(relative if item.p4 else radians(item.p1), tau)

    # actions ---------------------------------------------------------------------------------------------------------

    def _do(self, sequence: int, item: MissionItem) -> None:
        if KINDS[item.command].role is Role.CAMERA:
            self._announce(sequence, item, ", no camera on board")
            return
        self._announce(sequence, item)
        if item.command == Command.DO_CHANGE_SPEED:
            self.change_speed(item.p2)
        elif item.command in LOOK:
            self._look(item)
        elif item.command == Command.DO_SET_ROI_NONE:
            self.look_at = None
        elif item.command in (Command.DO_SET_HOME, Command.DO_FENCE_ENABLE):
            self._command(sequence, item)

    def change_speed(self, speed: float) -> None:
        """m/s over the ground from now on; -1 no change, -2 as the parameters say."""
        if speed > 0.0:
            self.speed = speed
        elif speed == -2.0:
            self.speed = nan

    def _look(self, item: MissionItem) -> None:
        """Towards a place; latitude and longitude 0 end it."""
        now = self.autopilot.estimate
        nothing = item.x == 0.0 and item.y == 0.0
        self.look_at = None if nothing else place_of(item, self.autopilot, (now.north, now.east, now.down))

    def _command(self, sequence: int, item: MissionItem) -> None:
        """What the autopilot also does when a ground station asks for it."""
        p = (item.p1, item.p2, item.p3, item.p4, item.x, item.y, item.z)
        answer = self.autopilot.command(item.command, p, item.frame)
        if not answer.accepted:
            self.autopilot.say(Severity.WARNING, f"Mission: {sequence} refused: {answer.text}")

    def _announce(self, sequence: int, item: MissionItem, more: str = "") -> None:
        self.autopilot.say(Severity.INFO, f"Mission: {sequence} {described(item)}{more}")


def described(item: MissionItem) -> str:
    """An item in a few words, for status texts."""
    name = KINDS[item.command].name
    if item.command == Command.DO_CHANGE_SPEED:
        return f"{name} to {item.p2:g} m/s"
    if item.command == Command.DO_SET_CAM_TRIGG_DIST:
        return f"{name}: {item.p1:g} m" if item.p1 > 0.0 else f"{name}: off"
    if item.command == Command.CONDITION_YAW:
        return f"{name} {item.p1:g} deg"
    return name
