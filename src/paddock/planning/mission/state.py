"""The state of a mission, and what changes in it when a vehicle comes to the end of a leg."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from paddock.planning.covering import Covered
from paddock.planning.mission.board import Board
from paddock.planning.mission.drawn import Drawn
from paddock.planning.mission.log import LogEntry
from paddock.planning.mission.members import STATUS_ON, Member, Members, Status
from paddock.planning.mission.requests import Request
from paddock.planning.obstacles.zone import Zone
from paddock.planning.paths.segment import Pose
from paddock.planning.plans import Leg, Route
from paddock.planning.problem import Problem
from paddock.planning.setup import MissionSetup

PoseOf = Callable[[int], Pose]
"""Where the vehicle in a row is now."""


@dataclass
class MissionChange:
    """What an observation upsets: found first, then planned anew in one go."""

    causes: list[str] = field(default_factory=list)  # nothing has to be planned as long as there are none
    dirty: set[int] = field(default_factory=set)  # rows of vehicles whose routes cannot stand
    aborted: set[int] = field(default_factory=set)  # of those who give up what they are doing
    new: set[int] = field(default_factory=set)  # of those whose routes are new
    damaged: list[str] = field(default_factory=list)  # names of those who failed
    bereft: bool = False  # they had tasks, which others may do

    @property
    def matters(self) -> bool:
        """Whether anything has to be planned."""
        return bool(self.causes or self.dirty or self.bereft)

    @property
    def cause(self) -> str:
        """All causes in one line."""
        first, more = self.damaged[:1], len(self.damaged) - 1
        damage = [f"damage of {name}" + (f" and {more} more" if more else "") for name in first]
        return ", ".join(damage + self.causes)


class MissionState:
    """Everything about a mission that changes."""

    def __init__(self, setup: MissionSetup) -> None:
        self.setup = setup
        self.board, self.members = Board(), Members()
        self.zones: tuple[Zone, ...] = setup.problem.zones
        self.log: list[LogEntry] = []
        self.time = 0.0  # s
        self.started = False
        self.happenings = sorted(setup.happenings, key=lambda happening: happening.at)
        self.happened = 0  # how many of them
        self.queue: list[Request] = []  # what was asked for since the last observation
        self.replans = 0
        self.covered: Covered = {}  # paths of tasks, kept from one planning to the next
        for agent in setup.problem.agents:
            self.members.add(agent)
        for task in setup.problem.tasks:
            self.board.add(task, 0.0)

    @property
    def problem(self) -> Problem:
        """What is planned at first, with the zones that there are now."""
        return replace(self.setup.problem, agents=(), tasks=(), zones=self.zones)

    def tell(self, kind: str, member: Member | None = None, task: str | None = None, detail: str = "") -> None:
        """Write it down."""
        name, way = (None, None) if member is None else (member.name, member.travelled)
        self.log.append(LogEntry(self.time, kind, name, task, detail, way))

    def become(self, member: Member, status: Status) -> None:
        """A vehicle's status changes."""
        if member.status != status:
            member.status = status
            self.tell("state", member, detail=status)

    def begin(self, member: Member, route: Route, drawn: Drawn) -> None:
        """A vehicle follows a new route from here on."""
        self.members.follow(member, route, drawn)
        if route.legs:
            self._arrive(member, route.legs[0])
        elif member.status != "damaged":
            self.become(member, "home" if member.travelled > 0.0 else "idle")

    def pass_legs(self, member: Member, tolerance: float) -> None:
        """Go on to the leg that a vehicle is on, after all whose end it has passed to within `tolerance` (m)."""
        all_, k = self.members, member.row
        while all_.progress[k] >= all_.due[k] - tolerance and self.time >= all_.gate[k]:
            self._leave(member, member.route.legs[member.leg])
            all_.enter(member, member.leg + 1)
            if member.current is None:
                self.become(member, "home")
            else:
                self._arrive(member, member.current)

    def undo(self, task: str, reason: str) -> None:
        """A task will not be done, unless something changes."""
        job = self.board.jobs[task]
        if job.state != "undone" or job.reason != reason:
            self.board.give_back(task)
            job.state, job.reason = "undone", reason
            self.tell("undone", task=task, detail=reason)

    def release(self, member: Member, reason: str, lasting: bool = False) -> None:
        """A vehicle gives up all its tasks: others may do them, or nobody where nothing is planned anew.

        A lasting reason also stands where nobody else is able to do anything.
        """
        doing = member.doing
        for task in ([doing] if doing else []) + member.ahead:
            self.board.give_back(task)
            if not self.setup.replan:
                self.undo(task, reason)
            elif lasting:
                self.board.jobs[task].reason = reason

    def _arrive(self, member: Member, leg: Leg) -> None:
        self.become(member, STATUS_ON[leg.kind])
        if leg.kind != "coverage":
            return
        job, task = self.board.jobs[str(leg.task)], self.board.task(str(leg.task))
        if not job.doing:  # otherwise it is what was left of it when a new route was made
            job.doing, job.started = True, self.time
            late = self.time - task.closes
            self.tell("started", member, leg.task, f"{late:.3f} s after its window" if late > 1e-6 else "")

    def _leave(self, member: Member, leg: Leg) -> None:
        if leg.kind == "coverage":
            job = self.board.jobs[str(leg.task)]
            job.state, job.completed, job.doing = "completed", self.time, False
            self.tell("completed", member, leg.task)
