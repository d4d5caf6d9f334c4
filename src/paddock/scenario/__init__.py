"""What the user wrote: YAML -> a typed Scenario that remembers where every value stands."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paddock.scenario.catalog import demo_names, demo_path, load_preset, preset_description, preset_names
from paddock.scenario.choice import BehaviourChoice, MethodChoice, SensorChoice
from paddock.scenario.marks import ScenarioError
from paddock.scenario.mission import Mission
from paddock.scenario.model import Scenario
from paddock.scenario.problems import Problem, located
from paddock.scenario.schema import scenario_schema
from paddock.scenario.sections import Clock, Every, Record, Sync, World
from paddock.scenario.serve import Serve
from paddock.scenario.sitl import Sitl
from paddock.scenario.source import load_scenario, scenario_from_text
from paddock.scenario.spawn import Spawn
from paddock.scenario.vehicle import VehicleEntry

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
