"""What a scenario's mission amounts to: a problem, how it is solved, and what happens meanwhile."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from paddock.planning.obstacles.zone import Zone
from paddock.planning.problem import Agent, Problem, Task


@dataclass(frozen=True)
class Happening:
    """Something that happens at a time: exactly one of the others is given."""

    at: float  # s
    task: Task | None = None  # a new task
    damage: str | None = None  # the name of a vehicle that can do nothing more
    agent: Agent | None = None  # one more vehicle
    zone: Zone | None = None  # nobody may fly there from now on


@dataclass(frozen=True)
class MissionSetup:
    """Everything that a mission starts from."""

    problem: Problem
    method: str = "clustered_greedy"
    options: Mapping[str, Any] = field(default_factory=dict)
    replan: bool = True
    reserve: float = 0.0  # m of the range that is kept
    battery_reserve: float = 0.2  # share of the charge at which a vehicle goes home
    separation: tuple[float, float] | None = (50.0, 20.0)  # m across, m up; None: none is kept
    execute: Literal["dynamics", "kinematic"] = "dynamics"
    happenings: tuple[Happening, ...] = ()
