"""What a run costs, what happens in it, and what its vehicles were told."""

from __future__ import annotations

from typing import Any, TypedDict

from paddock.serve.subscribers.shapes.roster import Point, Range


class StageTree(TypedDict):
    """What a stage of the tick has cost so far."""

    calls: int
    seconds: float


class SubscriberTree(TypedDict):
    """Someone who is connected."""

    name: str
    endpoint: str
    rate: float
    skipped: int


class FiguresTree(TypedDict):
    """Numbers about the run, twice a second; `running`: it goes on by itself unless it is paused."""

    tick: int
    time: float
    wall: float
    rate: float
    pace: float
    paused: bool
    running: bool
    run: int
    vehicles: int
    slips: int
    lag_seconds: float
    tick_seconds: float
    events: int
    commands: int
    refused: int
    owner: str
    stages: dict[str, StageTree]
    subscribers: list[SubscriberTree]
    counts: dict[str, int]


class EventTree(TypedDict):
    """Something that has happened."""

    number: int
    tick: int
    kind: str
    subject: str
    detail: str


class RouteTree(TypedDict):
    """Where vehicles are to go."""

    fleet: str
    ids: list[Range]
    behaviour: str
    closed: bool
    points: list[Point]


class OrderTree(TypedDict):
    """What some vehicles were told to do instead of what their entry says."""

    ids: list[Range]
    behaviour: str
    options: dict[str, Any]
