"""What a mission does on its way: conditions to wait for, and actions that are done at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import isnan, nan, radians, remainder, tau
from typing import TYPE_CHECKING

from paddock.sitl.autopilot.mission.gaze import Gaze
from paddock.sitl.autopilot.mission.items import CLIMB_SPEEDS, KINDS, Command, Role
from paddock.sitl.autopilot.mission.places import place_of
from paddock.sitl.autopilot.mission_item import MissionItem
from paddock.sitl.autopilot.notices import Severity

if TYPE_CHECKING:
    from paddock.sitl.autopilot.autopilot import BuiltInAutopilot

YAW_REACHED = radians(5.0)
LOOK = (Command.DO_SET_ROI, Command.DO_SET_ROI_LOCATION)
ASKED = (Command.DO_CHANGE_SPEED, Command.DO_SET_HOME, Command.DO_FENCE_ENABLE)
"""What is done as when a ground station asks for it."""
OF_CLIMB = {2.0: " of climb", 3.0: " of descent"}


@dataclass
class Actions:
    """The queue of actions and conditions, and what they have left behind for the craft."""

    autopilot: BuiltInAutopilot
    gaze: Gaze  # where DO_SET_ROI makes the craft look
    waiting: list[tuple[int, MissionItem]] = field(default_factory=list)  # sequence and item, in order
    speed: float = nan  # m/s, from DO_CHANGE_SPEED
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
        wishes = self.gaze.yaw(), self.wanted_yaw
        return next((yaw for yaw in wishes if not isnan(yaw)), otherwise)

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
        if KINDS[item.command].role is Role.CAMERA or (item.command in LOOK and not self._turns_nose):
            self._announce(sequence, item, ", no camera on board")
            return
        self._announce(sequence, item)
        if item.command == Command.DO_CHANGE_SPEED and item.p1 not in CLIMB_SPEEDS:
            self.change_speed(item.p2)
        elif item.command in LOOK:
            self._look(item)
        elif item.command == Command.DO_SET_ROI_NONE:
            self.gaze.look(None)
        elif item.command in ASKED:
            self._command(sequence, item)

    @property
    def _turns_nose(self) -> bool:
        """Whether the craft can look somewhere without a gimbal: only copters fly another way than they point."""
        return self.autopilot.craft.kind == "copter"

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
        self.gaze.look(None if nothing else place_of(item, self.autopilot, (now.north, now.east, now.down)))

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
        return f"{name}{OF_CLIMB.get(item.p1, '')} to {item.p2:g} m/s"
    if item.command == Command.DO_SET_CAM_TRIGG_DIST:
        return f"{name}: {item.p1:g} m" if item.p1 > 0.0 else f"{name}: off"
    if item.command == Command.CONDITION_YAW:
        return f"{name} {item.p1:g} deg"
    return name
