"""Scenarios: YAML to a typed Scenario that keeps the file, line and column of every value."""

import warnings
from typing import TYPE_CHECKING, Any

from paddock.scenario.base import BehaviourChoice, MethodChoice, SensorChoice
from paddock.scenario.loading import (
    demo_names,
    demo_path,
    load_preset,
    load_scenario,
    preset_description,
    preset_names,
    scenario_from_text,
)
from paddock.scenario.mission import MissionSection
from paddock.scenario.problems import ScenarioError, ScenarioProblem, located
from paddock.scenario.scenario import ClockSection, Every, RecordSection, Scenario, Sync, WorldSection, scenario_schema
from paddock.scenario.serve import Serve
from paddock.scenario.sitl import Sitl
from paddock.scenario.vehicle import SpawnSection, VehicleEntry

if TYPE_CHECKING:
    from paddock.scenario.spawning import spawn_poses

__all__ = [
    "BehaviourChoice",
    "ClockSection",
    "Every",
    "MethodChoice",
    "MissionSection",
    "RecordSection",
    "Scenario",
    "ScenarioError",
    "ScenarioProblem",
    "SensorChoice",
    "Serve",
    "Sitl",
    "SpawnSection",
    "Sync",
    "VehicleEntry",
    "WorldSection",
    "demo_names",
    "demo_path",
    "load_preset",
    "load_scenario",
    "located",
    "preset_description",
    "preset_names",
    "scenario_from_text",
    "scenario_schema",
    "spawn_poses",
]

_RENAMED = {
    "Clock": "ClockSection",
    "Mission": "MissionSection",
    "Problem": "ScenarioProblem",
    "Record": "RecordSection",
    "Spawn": "SpawnSection",
    "World": "WorldSection",
}


def __getattr__(name: str) -> Any:
    """Import `spawn_poses`, which needs numpy, on first use; resolve deprecated names."""
    if name == "spawn_poses":
        from paddock.scenario.spawning import spawn_poses

        return spawn_poses
    if name in _RENAMED:
        warnings.warn(f"paddock.scenario.{name} is now {_RENAMED[name]}", DeprecationWarning, stacklevel=2)
        return globals()[_RENAMED[name]]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
