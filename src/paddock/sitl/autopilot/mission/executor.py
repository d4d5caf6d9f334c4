"""Goes through a mission: the mode AUTO of every craft asks it, 50 times a second, where to go.

As in ArduPilot: item 0 is the place of home and is never flown; items that go somewhere come one after the other, and
the actions between two of them are done when the first is reached, while the craft goes on to the second.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from enum import IntEnum
from math import inf
from typing import TYPE_CHECKING

from paddock.sitl.autopilot.answer import ACCEPTED, Answer, Result
from paddock.sitl.autopilot.mission.actions import Actions, described
from paddock.sitl.autopilot.mission.gaze import Gaze
from paddock.sitl.autopilot.mission.leg import Leg
from paddock.sitl.autopilot.mission.legs import SMALLEST_RADIUS, goes_through, make_leg
from paddock.sitl.autopilot.mission.order import FIRST, Order, Stretch
from paddock.sitl.autopilot.mission.places import Place, place_of
from paddock.sitl.autopilot.mission_item import MissionItem, PlanKind
from paddock.sitl.autopilot.notices import CurrentItem, ItemReached, Severity
from paddock.sitl.autopilot.targets import NavTarget, Task

if TYPE_CHECKING:
    from paddock.sitl.autopilot.autopilot import BuiltInAutopilot

STAYS = (Task.CIRCLE, Task.DELAY, Task.RETURN, Task.LAND)  # the next leg begins where the craft is then


class MissionState(IntEnum):
    """The MISSION_STATEs of MISSION_CURRENT in use."""

    NO_MISSION = 1
    NOT_STARTED = 2
    ACTIVE = 3
    PAUSED = 4
    COMPLETE = 5


class MissionExecutor:
    """The mission of one vehicle, under way. The plan is the autopilot's; a new one begins from its start."""

    def __init__(self, autopilot: BuiltInAutopilot) -> None:
        self.autopilot = autopilot
        self.lead = inf
        """m before a waypoint at which the craft begins its corner; the craft may set it, the radius bounds it."""
        self.running = False  # between `start` and `stop`
        self.finished = False
        self.gaze = Gaze(autopilot)
        self._forget(autopilot.plans[PlanKind.MISSION])

    def _forget(self, items: Sequence[MissionItem]) -> None:
        self.items = items
        self._order = Order(items)
        self._leg: Leg | None = None
        self._current = 0
        self.actions = Actions(self.autopilot, self.gaze)
        if self.running:
            self.gaze.look(None)
        self.finished = False

    # what others want to know ----------------------------------------------------------------------------------------

    @property
    def current(self) -> int:
        """The sequence of the item it is busy with, or would go on with; 0 before the start."""
        self._renew()
        return self._current

    @property
    def count(self) -> int:
        """How many items there are, home included."""
        self._renew()
        return len(self.items)

    @property
    def state(self) -> MissionState:
        """For MISSION_CURRENT."""
        if self.count <= FIRST:
            return MissionState.NO_MISSION
        if self.finished:
            return MissionState.COMPLETE
        if self.running:
            return MissionState.ACTIVE
        return MissionState.PAUSED if self._leg is not None else MissionState.NOT_STARTED

    @property
    def item(self) -> MissionItem | None:
        """The item it is busy with."""
        return self.items[self._leg.sequence] if self._leg is not None else None

    def distance(self) -> float:
        """m to the target of the current item; 0 without one."""
        return self._leg.distance(self._position()) if self._leg is not None else 0.0

    def refusal(self) -> str:
        """Why AUTO cannot be entered; empty if it can."""
        if self.count <= FIRST:
            return "no mission"
        return "" if self._order.peek(FIRST).nav is not None else "the mission goes nowhere"

    # what it is told -------------------------------------------------------------------------------------------------

    def start(self, resume: bool | None = None) -> None:
        """Begin, or go on where it was stopped (None: as MIS_RESTART says). A finished mission begins anew."""
        self._renew()
        sequence = self._begin_at(resume)
        self.running = True
        if sequence == FIRST:
            self._forget(self.items)
        self._go(self._order.advance(sequence), self._position())

    def stop(self) -> None:
        """AUTO ends; the mission stays where it is."""
        self.running = False

    def set_current(self, sequence: int) -> Answer:
        """Go on with that item, at once if it is under way; 0 or 1: from the start."""
        self._renew()
        if not 0 <= sequence < self.count or self.count <= FIRST:
            return Answer(Result.DENIED, f"Mission: no item {sequence}, there are {self.count}")
        if sequence <= FIRST:
            self._forget(self.items)
        self.finished = False
        self._leg = None
        self._current = max(sequence, FIRST)
        if self.running:
            self._go(self._order.advance(self._current), self._position())
        else:
            self.autopilot.outbox.append(CurrentItem(self._current))
        return ACCEPTED

    def change_speed(self, speed: float) -> None:
        """m/s over the ground for the rest of the mission; -2: as the parameters say."""
        self.actions.change_speed(speed)

    def update(self, dt: float) -> NavTarget:
        """Where to go, `dt` s after the last call; a new plan begins at once."""
        if self._renew() and self.running:
            self.start(resume=False)
        if not self.running or self._leg is None:
            return self._done()
        self.actions.update(dt, self.distance())
        if self._leg.done(self.autopilot, self.lead, dt):
            self._reach(self._leg)
        return self._target(self._leg) if self._leg is not None else self._done()

    # how it goes on --------------------------------------------------------------------------------------------------

    def _renew(self) -> bool:
        """Whether there is another plan than before; then it is at its start."""
        items = self.autopilot.plans[PlanKind.MISSION]
        if items is self.items:
            return False
        self._forget(items)
        return True

    def _begin_at(self, resume: bool | None) -> int:
        if resume is None:
            resume = not self.autopilot.parameters.value("MIS_RESTART")
        return self._current if resume and not self.finished and self._current >= FIRST else FIRST

    def _reach(self, leg: Leg) -> None:
        self.autopilot.outbox.append(ItemReached(leg.sequence))
        start = self._position() if leg.target.task in STAYS else leg.target.target
        self._go(self._order.advance(leg.sequence + 1), start)

    def _go(self, stretch: Stretch, start: Place) -> None:
        """To the next item, from `start`; without one, the mission is complete."""
        self.lead = inf
        self.actions.load([(k, self.items[k]) for k in stretch.actions])
        if stretch.nav is None:
            self._complete(stretch)
            return
        item = self.items[stretch.nav]
        leg = make_leg(stretch.nav, item, self.autopilot, start)
        if leg.distance(start) < SMALLEST_RADIUS:  # the same place again: the plane through it needs a direction
            start = self._position()
        leg.target = replace(leg.target, start=start, after=self._after(leg))
        self._leg, self._current = leg, leg.sequence
        self.autopilot.outbox.append(CurrentItem(leg.sequence))
        self.autopilot.say(Severity.INFO, f"Mission: {leg.sequence} {described(item)}")

    def _complete(self, stretch: Stretch) -> None:
        self.actions.finish()
        self._leg = None
        self.finished = True
        if stretch.looped:
            self.autopilot.say(Severity.ERROR, "Mission: its jumps lead nowhere")
        self.autopilot.say(Severity.NOTICE, "Mission complete")

    def _after(self, leg: Leg) -> Place | None:
        """The waypoint after this one, if the craft may pass this one without stopping."""
        if leg.target.task is not Task.WAYPOINT or leg.wait > 0.0:
            return None
        following = self._order.peek(leg.sequence + 1).nav
        if following is None or not goes_through(self.items[following]):
            return None
        return place_of(self.items[following], self.autopilot, leg.target.target)

    def _target(self, leg: Leg) -> NavTarget:
        """The leg's target with the yaw and the speed that actions have asked for."""
        wanted = self.actions.yaw(leg.yaw), self.actions.speed
        if not _same(wanted, (leg.target.yaw, leg.target.speed)):
            leg.target = replace(leg.target, yaw=wanted[0], speed=wanted[1])
        return leg.target

    def _done(self) -> NavTarget:
        position = self._position()
        return NavTarget(Task.DONE, position, position, yaw=self.gaze.yaw(), speed=self.actions.speed)

    def _position(self) -> Place:
        now = self.autopilot.estimate
        return now.north, now.east, now.down


def _same(a: tuple[float, float], b: tuple[float, float]) -> bool:
    """Equal, where NaN equals NaN."""
    return all(x == y or (x != x and y != y) for x, y in zip(a, b, strict=True))
