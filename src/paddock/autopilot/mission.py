"""Executes a mission: AUTO of each vehicle type asks it for the target, 50 times a second.

As in ArduPilot, item 0 is home and is never flown; NAV items follow one another, and the DO and CONDITION items
between two of them run when the first is reached, while the vehicle moves to the second.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import IntEnum
from math import hypot, inf, isnan, nan, radians, remainder, tau
from typing import TYPE_CHECKING, NamedTuple

from paddock.autopilot.estimate import Ned
from paddock.autopilot.mission_items import (
    DO_CHANGE_SPEED,
    ITEM_KINDS,
    MIN_RADIUS,
    MissionItem,
    MissionLeg,
    NavTarget,
    NavTask,
    PlanKind,
    Role,
    make_leg,
    position_of,
    speed_limits,
)
from paddock.autopilot.telemetry import ACCEPTED, Ack, CurrentItem, ItemReached, Severity, denied
from paddock.compute.scalars import atan2

if TYPE_CHECKING:
    from paddock.autopilot.autopilot import BuiltInAutopilot

FIRST = 1  # item 0 is home
MAX_JUMPS = 64  # between two NAV items; more are an endless loop
NEAR_END = 0.5  # m
NEAR_ROI = 1.0  # m: closer, the direction to the region of interest is undefined
YAW_REACHED = radians(5.0)
CONDITION_DELAY, CONDITION_DISTANCE, CONDITION_YAW = 112, 114, 115  # MAV_CMD
SET_ROI, CLEAR_ROI, SET_CAMERA_DISTANCE, SET_SERVO, SET_RELAY = (195, 201), 197, 206, 183, 181
AS_COMMAND = (DO_CHANGE_SPEED, 179, 181, 182, 183, 184, 194, 203, 206, 207, 2000, 2001)
"""Items that run as the command of the same number: home, relays, servos, reverse, camera, fence."""
VERTICAL = {2.0: " climb", 3.0: " descent"}  # speed types of DO_CHANGE_SPEED
LAND_START = 189
STAYS = (
    NavTask.HEADING,
    NavTask.CLIMB,
    NavTask.LOITER_TO_ALT,
    NavTask.CIRCLE,
    NavTask.DELAY,
    NavTask.RETURN,
    NavTask.LAND,
)
"""Tasks after which the next leg starts at the vehicle's position."""
POSITION_TASKS = (NavTask.WAYPOINT, NavTask.SPLINE, NavTask.LOITER, NavTask.LOITER_TO_ALT, NavTask.LAND)
"""Tasks whose path leads to their own position, so that a corner before them can be rounded."""


class Stretch(NamedTuple):
    """The items up to the next NAV item."""

    nav: int | None  # its sequence; None: end of the mission
    actions: tuple[int, ...]  # sequences of the DO and CONDITION items passed
    looped: bool = False  # the mission ends because DO_JUMPs form an endless loop


def next_stretch(items: Sequence[MissionItem], sequence: int, jumps: dict[int, int]) -> Stretch:
    """Return the stretch from an item (inclusive) to the next NAV item; count `jumps`, by sequence of the DO_JUMP."""
    actions: list[int] = []
    made = 0
    while FIRST <= sequence < len(items):
        item = items[sequence]
        role = ITEM_KINDS[item.command].role
        if role is Role.NAV:
            return Stretch(sequence, tuple(actions))
        if role is not Role.JUMP:
            actions.append(sequence)
        count = jumps.get(sequence, 0)
        if role is not Role.JUMP or 0.0 <= item.p2 <= count:  # -1: repeat endlessly
            sequence += 1
            continue
        jumps[sequence] = count + 1
        made += 1
        if made > MAX_JUMPS:
            return Stretch(None, (), True)
        sequence = int(item.p1)
    return Stretch(None, tuple(actions))


@dataclass
class MissionActions:
    """The queue of DO and CONDITION items of a leg, and the speed and yaw they have set."""

    executor: "MissionExecutor"
    roi: Ned | None = None  # the region of interest, which a copter faces in AUTO and GUIDED
    waiting: list[int] = field(default_factory=list)  # sequences of items
    speed: float = nan  # m/s, from DO_CHANGE_SPEED
    commanded_yaw: float = nan  # rad, from CONDITION_YAW; until the next leg
    _elapsed: float = -1.0  # s in the condition at the head of the queue; -1: not started

    @property
    def autopilot(self) -> "BuiltInAutopilot":
        """The autopilot of the mission."""
        return self.executor.autopilot

    def load(self, sequences: Sequence[int]) -> None:
        """Start the actions of a new leg; pending ones of the last leg are dropped."""
        self.waiting = list(sequences)
        self.commanded_yaw = nan
        self._elapsed = -1.0

    def update(self, dt: float, distance: float) -> None:
        """Run what is due; `distance` m to the waypoint."""
        while self.waiting:
            sequence = self.waiting[0]
            item = self.executor.items[sequence]
            if ITEM_KINDS[item.command].role is not Role.CONDITION:
                self._run_action(sequence, item)
            elif not self._condition_met(sequence, item, dt, distance):
                return
            self.waiting.pop(0)
            self._elapsed = -1.0

    def finish(self) -> None:
        """Run the remaining DO items without waiting for conditions: the mission ends."""
        items = self.executor.items
        self.waiting = [k for k in self.waiting if ITEM_KINDS[items[k].command].role is not Role.CONDITION]
        self.update(0.0, 0.0)

    def roi_yaw(self) -> float:
        """Return the heading to the region of interest, rad; NaN without one."""
        if self.roi is None:
            return nan
        now = self.autopilot.estimate
        north, east = self.roi[0] - now.north, self.roi[1] - now.east
        return atan2(east, north) if hypot(north, east) > NEAR_ROI else now.yaw

    def change_speed(self, speed: float) -> None:
        """Set the ground speed, m/s, within the limits of the vehicle; -1 no change, -2 default."""
        if speed > 0.0:
            low, high, why = speed_limits(self.autopilot.parameters)
            self.speed = min(max(speed, low), high)
            if self.speed != speed:
                text = f"Speed: {speed:g} m/s limited to {self.speed:g} ({why})"
                self.autopilot.send_text(Severity.WARNING, text)
        elif speed == -2.0:
            self.speed = nan

    def _condition_met(self, sequence: int, item: MissionItem, dt: float, distance: float) -> bool:
        """Return whether a condition is met, dt s after the last call; `distance` m to the waypoint."""
        if self._elapsed < 0.0:
            self._elapsed = 0.0
            self._report(sequence, item)
            if item.command == CONDITION_YAW:
                sign = -1.0 if item.p3 < 0.0 else 1.0
                relative = self.autopilot.estimate.yaw + sign * radians(item.p1)
                self.commanded_yaw = remainder(relative if item.p4 else radians(item.p1), tau)
        else:
            self._elapsed += dt
        if item.command == CONDITION_DELAY:
            return self._elapsed >= item.p1
        if item.command == CONDITION_DISTANCE:
            return distance <= item.p1
        return abs(remainder(self.commanded_yaw - self.autopilot.estimate.yaw, tau)) <= YAW_REACHED

    def _run_action(self, sequence: int, item: MissionItem) -> None:
        copter = self.autopilot.vehicle.kind == "copter"  # others always face their direction of travel
        if ITEM_KINDS[item.command].role is Role.CAMERA or (item.command in SET_ROI and not copter):
            self._report(sequence, item, ", no gimbal or video on board")
            return
        self._report(sequence, item)
        if item.command == DO_CHANGE_SPEED and item.p1 not in VERTICAL:
            self.change_speed(item.p2)
        elif item.command in SET_ROI:
            clear = item.x == 0.0 and item.y == 0.0
            self.roi = None if clear else position_of(item, self.autopilot, self.autopilot.estimate.position)
        elif item.command == CLEAR_ROI:
            self.roi = None
        elif item.command in AS_COMMAND:
            p = (item.p1, item.p2, item.p3, item.p4, item.x, item.y, item.z)
            ack = self.autopilot.command(item.command, p, item.frame)
            if not ack.accepted:
                self.autopilot.send_text(Severity.WARNING, f"Mission: {sequence} rejected: {ack.text}")

    def _report(self, sequence: int, item: MissionItem, more: str = "") -> None:
        self.autopilot.send_text(Severity.INFO, f"Mission: {sequence} {describe(item)}{more}")


def describe(item: MissionItem) -> str:
    """Return an item's name and values for status texts."""
    name = ITEM_KINDS[item.command].name
    if item.command == DO_CHANGE_SPEED:
        return f"{name}{VERTICAL.get(item.p1, '')} {item.p2:g} m/s"
    if item.command == SET_CAMERA_DISTANCE:
        return f"{name} {item.p1:g} m" if item.p1 > 0.0 else f"{name} off"
    if item.command == CONDITION_YAW:
        return f"{name} {item.p1:g} deg"
    if item.command in (SET_SERVO, SET_RELAY):
        return f"{name} {item.p1:g} to {item.p2:g}"
    return name


class MissionState(IntEnum):
    """MISSION_STATE of MISSION_CURRENT."""

    NO_MISSION = 1
    NOT_STARTED = 2
    ACTIVE = 3
    PAUSED = 4
    COMPLETE = 5


class MissionExecutor:
    """The mission of one vehicle in progress; a new plan starts from its first item."""

    autopilot: "BuiltInAutopilot"
    lead: float  # m before a waypoint at which AUTO starts the corner, limited by the acceptance radius
    passed: bool  # AUTO has followed a spline to its end
    running: bool  # AUTO is active
    finished: bool
    actions: MissionActions
    items: Sequence[MissionItem]
    current: int  # sequence of the current item; 0 before the start
    _jumps: dict[int, int]  # made so far, by the sequence of the DO_JUMP
    _leg: MissionLeg | None

    def __init__(self, autopilot: "BuiltInAutopilot") -> None:
        self.autopilot = autopilot
        self.lead = inf
        self.passed = self.running = self.finished = False
        self.actions = MissionActions(self)
        self.rewind(autopilot.plans[PlanKind.MISSION])

    def rewind(self, items: Sequence[MissionItem]) -> None:
        """Return to the start, of a new plan or of the same."""
        self.items = items
        self._jumps = {}
        self._leg = None
        self.current = 0
        self.actions = MissionActions(self, None if self.running else self.actions.roi)
        self.finished = False

    @property
    def state(self) -> MissionState:
        """State for MISSION_CURRENT."""
        if len(self.items) <= FIRST:
            return MissionState.NO_MISSION
        if self.finished:
            return MissionState.COMPLETE
        if self.running:
            return MissionState.ACTIVE
        return MissionState.PAUSED if self._leg is not None else MissionState.NOT_STARTED

    def distance(self) -> float:
        """Return the distance to the target of the current item, m; 0 without one."""
        return self._leg.distance(self.autopilot.estimate.position) if self._leg is not None else 0.0

    def refusal(self) -> str:
        """Return why AUTO cannot be entered, or an empty string."""
        if len(self.items) <= FIRST:
            return "no mission"
        return "" if next_stretch(self.items, FIRST, dict(self._jumps)).nav is not None else "mission has no waypoint"

    def start(self, resume: bool | None = None) -> None:
        """Start, or resume where it stopped (None: as MIS_RESTART selects). A finished mission restarts."""
        resume = not self.autopilot.parameters.value("MIS_RESTART") if resume is None else resume
        sequence = self.current if resume and not self.finished and self.current >= FIRST else FIRST
        self.running = True
        if sequence == FIRST:
            self.rewind(self.items)
        self._start_leg(next_stretch(self.items, sequence, self._jumps), self.autopilot.estimate.position)

    def set_current(self, sequence: int) -> Ack:
        """Continue with an item; 0 or 1 restarts the mission."""
        if not 0 <= sequence < len(self.items) or len(self.items) <= FIRST:
            return denied(f"Mission: no item {sequence}, mission has {len(self.items)} items")
        if sequence <= FIRST:
            self.rewind(self.items)
        self.finished = False
        self._leg = None
        self.current = max(sequence, FIRST)
        if self.running:
            self._start_leg(next_stretch(self.items, self.current, self._jumps), self.autopilot.estimate.position)
        else:
            self.autopilot.outbox.append(CurrentItem(self.current))
        return ACCEPTED

    def landing_start(self) -> int | None:
        """Return the sequence of the nearest DO_LAND_START: by its own position, or that of the next waypoint."""
        starts = [k for k, item in enumerate(self.items) if k >= FIRST and item.command == LAND_START]

        def distance(sequence: int) -> float:
            item, following = self.items[sequence], next_stretch(self.items, sequence, dict(self._jumps)).nav
            if (item.x or item.y) and (frame := self.autopilot.frame) is not None:
                return self.autopilot.estimate.distance(frame.to_ned(item.x, item.y, 0.0))
            if following is None:
                return inf
            here = self.autopilot.estimate.position
            return self.autopilot.estimate.distance(position_of(self.items[following], self.autopilot, here))

        return min(starts, key=distance, default=None)

    @property
    def landing(self) -> bool:
        """Whether the mission is in a landing sequence."""
        passed = self.items[FIRST : self.current]
        return self.running and any(item.command == LAND_START for item in passed)

    def complete(self) -> None:
        """End the mission at its current item: it is done."""
        if self._leg is not None:
            self.autopilot.outbox.append(ItemReached(self._leg.sequence))
            self._start_leg(Stretch(None, ()), self.autopilot.estimate.position)

    def update(self, dt: float) -> NavTarget:
        """Return the target, `dt` s after the last call; a new plan starts immediately."""
        if self.running and self._leg is None and not self.finished:
            self.start(resume=False)
        if not self.running or self._leg is None:
            return self._done()
        self.actions.update(dt, self.distance())
        if (leg := self._leg).done(self.autopilot, self.lead, dt):
            self.autopilot.outbox.append(ItemReached(leg.sequence))
            start = self.autopilot.estimate.position if leg.target.task in STAYS else leg.target.target
            self._start_leg(next_stretch(self.items, leg.sequence + 1, self._jumps), start)
        return self._target(self._leg) if self._leg is not None else self._done()

    def steady(self, seconds: float) -> bool:
        """Return whether the present leg goes on for some time: no action waits, and its end is not near."""
        leg, now = self._leg, self.autopilot.estimate
        if leg is None or leg.arrived or self.actions.waiting or self.actions.roi is not None:
            return False
        pace = hypot(now.vn, now.ve, now.vd) * seconds + NEAR_END
        dn, de = leg.target.target[0] - leg.target.start[0], leg.target.target[1] - leg.target.start[1]
        left = (leg.target.target[0] - now.north) * dn + (leg.target.target[1] - now.east) * de
        far = left > pace * hypot(dn, de) or hypot(dn, de) < leg.radius  # short of the plane through the target
        return leg.distance(now.position) > leg.radius + pace and far

    def _start_leg(self, stretch: Stretch, start: Ned) -> None:
        """Start the leg from `start` to the next NAV item, or complete the mission."""
        self.lead, self.passed = inf, False
        self.actions.load(stretch.actions)
        if stretch.nav is None:
            self.actions.finish()
            self._leg, self.finished = None, True
            if stretch.looped:
                self.autopilot.send_text(Severity.ERROR, "Mission: DO_JUMP loop without waypoint")
            self.autopilot.send_text(Severity.NOTICE, "Mission complete")
            return
        item = self.items[stretch.nav]
        leg = make_leg(stretch.nav, item, self.autopilot, start)
        if leg.distance(start) < MIN_RADIUS:  # the same position again: a leg needs a direction
            start = self.autopilot.estimate.position
        after, curved = self._next_waypoint(leg)
        leg.target = replace(leg.target, start=start, after=after, curved=curved)
        self._leg, self.current = leg, leg.sequence
        self.autopilot.outbox.append(CurrentItem(leg.sequence))
        self.autopilot.send_text(Severity.INFO, f"Mission: {leg.sequence} {describe(item)}")

    def _next_waypoint(self, leg: MissionLeg) -> tuple[Ned | None, bool]:
        """Return the next waypoint, if the vehicle may pass this one without stopping, and whether it is a spline.

        Before a spline a straight leg ends at its waypoint: the corner is part of the curve. Before a landing a spline
        ends level.
        """
        if leg.target.task not in (NavTask.WAYPOINT, NavTask.SPLINE, NavTask.LOITER_TO_ALT) or leg.wait > 0.0:
            return None, False
        following = next_stretch(self.items, leg.sequence + 1, dict(self._jumps)).nav
        task = None if following is None else ITEM_KINDS[self.items[following].command].task
        curved, bent = task is NavTask.SPLINE, leg.target.task is NavTask.SPLINE
        stops = (curved and not bent) or (bent and task is NavTask.LAND)
        if following is None or task not in POSITION_TASKS or stops:
            return None, False
        return position_of(self.items[following], self.autopilot, leg.target.target), curved

    def _target(self, leg: MissionLeg) -> NavTarget:
        """Return the leg's target with the speed that actions have set, and the yaw: of the ROI, else CONDITION_YAW."""
        headings = self.actions.roi_yaw(), self.actions.commanded_yaw
        yaw, speed = next((each for each in headings if not isnan(each)), leg.yaw), self.actions.speed
        if (yaw, speed) != (leg.target.yaw, leg.target.speed):
            leg.target = replace(leg.target, yaw=yaw, speed=speed)
        return leg.target

    def _done(self) -> NavTarget:
        position = self.autopilot.estimate.position
        return NavTarget(NavTask.DONE, position, position, yaw=self.actions.roi_yaw(), speed=self.actions.speed)
