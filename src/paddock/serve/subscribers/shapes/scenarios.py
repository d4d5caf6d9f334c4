"""Scenarios and models to choose from."""

from __future__ import annotations

from typing import TypedDict

from paddock.serve.subscribers.shapes.vehicles import ColumnTree


class ProblemTree(TypedDict):
    """What is wrong with a scenario, and where; lines and columns count from 1."""

    line: int
    column: int
    message: str


class ScenarioCardTree(TypedDict):
    """A scenario that can be started."""

    name: str
    description: str
    vehicles: int
    picture: str | None


class ModelTree(TypedDict):
    """A model of which vehicles can be brought in."""

    model: str
    kind: str
    summary: str
    presets: list[str]
    inputs: list[ColumnTree]
