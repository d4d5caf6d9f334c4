"""What the user wrote: YAML -> a typed Scenario that remembers where every value stands."""

from __future__ import annotations

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
from paddock.scenario.mission import Mission
from paddock.scenario.problems import Problem, ScenarioError, located
from paddock.scenario.scenario import Clock, Every, Record, Scenario, Sync, World, scenario_schema
from paddock.scenario.serve import Serve
from paddock.scenario.sitl import Sitl
from paddock.scenario.vehicle import Spawn, VehicleEntry

if TYPE_CHECKING:
    from paddock.scenario.spawning import spawn_poses

__all__ = [
    "BehaviourChoice",
    "Clock",
    "Every",
    "MethodChoice",
    "Mission",
    "Problem",
    "Record",
    "Scenario",
    "ScenarioError",
    "SensorChoice",
    "Serve",
    "Sitl",
    "Spawn",
    "Sync",
    "VehicleEntry",
    "World",
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


def __getattr__(name: str) -> Any:
    """Import numpy only for who places vehicles: reading a scenario does not need it."""
    if name == "spawn_poses":
        from paddock.scenario.spawning import spawn_poses

        return spawn_poses
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
