"""What is known about fleets and vehicles, and about what is simulated."""

from __future__ import annotations

from typing import Any, TypedDict


class ColumnTree(TypedDict):
    """What a column means; a limit is null where there is none."""

    name: str
    unit: str
    meaning: str
    low: float | None
    high: float | None
    choices: list[str]


class ValueTree(ColumnTree):
    """A column of one vehicle with its value; null where that is no finite number."""

    value: float | None


class FleetInfoTree(TypedDict):
    """A fleet in full."""

    name: str
    count: int
    kind: str
    model: str
    single: bool
    driven_by: str | None
    inputs: list[ColumnTree]
    columns: list[ColumnTree]
    sensors: list[str]


class RecordingTree(TypedDict):
    """A recording that is played: the simulated time at which it starts; position and duration from there, all in s."""

    path: str
    start: float
    position: float
    duration: float


class MetadataTree(TypedDict):
    """What is being simulated or played."""

    name: str
    description: str
    seed: int
    rate: float
    pace: float
    paused: bool
    run: int
    version: str
    owner: str | None
    locked: bool
    can_load: bool
    scenario: dict[str, Any]
    fleets: list[FleetInfoTree]
    recording: RecordingTree | None


class InspectedTree(TypedDict):
    """One vehicle, every column of it."""

    id: int
    name: str
    fleet: str
    kind: str
    model: str
    preset: str | None
    driven_by: str | None
    tick: int
    time: float
    state: list[ValueTree]
    command: list[ValueTree]
    parameters: list[ValueTree]
    sensors: dict[str, list[ValueTree]]
