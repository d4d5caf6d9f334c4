"""Scenarios: YAML to a typed Scenario that keeps the file, line and column of every value."""

from typing import TYPE_CHECKING

from paddock.errors import lazy_names
from paddock.scenario.base import BehaviourChoice, MethodChoice, SensorChoice
from paddock.scenario.loading import (
    bundled_names,
    bundled_path,
    demo_names,
    load_preset,
    load_scenario,
    manoeuvre_names,
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
    "bundled_names",
    "bundled_path",
    "demo_names",
    "load_preset",
    "load_scenario",
    "located",
    "manoeuvre_names",
    "preset_description",
    "preset_names",
    "scenario_from_text",
    "scenario_schema",
    "spawn_poses",
]

__getattr__ = lazy_names(__name__, {"spawn_poses": "spawning"})  # needs numpy
