"""The answer: who does what, along which way, when; and what nobody can do, and why."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

from paddock.errors import unknown_name
from paddock.planning.paths.path import Path, joined
from paddock.planning.paths.segment import Pose
from paddock.planning.problem import Problem

LegKind = Literal["transit", "wait", "coverage", "return"]


@dataclass(frozen=True)
class Leg:
    """A part of a route: on the way to a task, waiting for it, doing it, or going home."""

    kind: LegKind
    task: str | None  # the task it leads to or does
    flown: float  # m
    begins: float  # s
    ends: float  # s
    start: Pose
    end: Pose
    make: Callable[[], Path] = field(repr=False, compare=False)

    @cached_property
    def path(self) -> Path:
        """The way; made when first asked for."""
        return self.make()


@dataclass(frozen=True)
class Route:
    """What one vehicle does."""

    agent: str
    legs: tuple[Leg, ...]
    speed: float  # m/s

    @property
    def tasks(self) -> tuple[str, ...]:
        """Its tasks, in order."""
        return tuple(leg.task for leg in self.legs if leg.kind == "coverage" and leg.task is not None)

    @property
    def flown(self) -> float:
        """Metres flown, the way home included."""
        return sum(leg.flown for leg in self.legs)

    @property
    def ends(self) -> float:
        """When it is home, s."""
        return self.legs[-1].ends if self.legs else 0.0

    @cached_property
    def path(self) -> Path:
        """The whole way; where a vehicle that hovers or drives waits, the path stands still."""
        return joined(leg.path for leg in self.legs)


@dataclass(frozen=True)
class Undone:
    """A task that nobody can do."""

    task: str
    reason: str


@dataclass(frozen=True)
class Plan:
    """Who does what."""

    problem: Problem
    method: str
    routes: tuple[Route, ...]  # of all agents, in the problem's order; without legs for those who stay
    undone: tuple[Undone, ...] = ()
    notes: Mapping[str, Any] = field(default_factory=dict)  # what the method tells: rounds, messages, iterations

    @property
    def total(self) -> float:
        """Metres flown by all."""
        return sum(route.flown for route in self.routes)

    @property
    def makespan(self) -> float:
        """When the last one is home, s."""
        return max((route.ends for route in self.routes), default=0.0)

    @property
    def done(self) -> int:
        """Tasks that are done."""
        return sum(len(route.tasks) for route in self.routes)

    def route(self, agent: str) -> Route:
        """The route of a vehicle."""
        for route in self.routes:
            if route.agent == agent:
                return route
        raise unknown_name("vehicle", str(agent), [route.agent for route in self.routes])
