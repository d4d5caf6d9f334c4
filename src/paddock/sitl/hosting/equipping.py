"""A scenario made ready for autopilots: vehicles that they fly get the sensors that they need."""

from __future__ import annotations

from paddock.scenario import Scenario, SensorChoice, VehicleEntry
from paddock.scenario.sitl import MODEL_CRAFTS, WORLD, AutopilotEntry
from paddock.sitl.equipment.standard_sensors import standard_sensors


def craft_of(pilots: AutopilotEntry, entry: VehicleEntry | None) -> str:
    """What these pilots fly."""
    return pilots.craft or (MODEL_CRAFTS[entry.model] if entry is not None else "")


def equipped_scenario(scenario: Scenario) -> Scenario:
    """The same scenario, with the standard sensors where a vehicle with an autopilot has none; itself without any."""
    if scenario.sitl is None:
        return scenario
    flown = {pilots.vehicles: pilots for pilots in scenario.sitl.pilots if pilots.adapter == WORLD}
    return scenario.with_vehicles(
        tuple(
            entry if entry.name not in flown or entry.sensors else _equipped(entry, flown[entry.name], scenario)
            for entry in scenario.vehicles
        )
    )


def _equipped(entry: VehicleEntry, pilots: AutopilotEntry, scenario: Scenario) -> VehicleEntry:
    ticks = scenario.clock.rate  # a real autopilot wants its IMU as often as the world ticks
    chosen = standard_sensors(craft_of(pilots, entry), None if pilots.autopilot == "builtin" else ticks, ticks)
    sensors = tuple(SensorChoice(name=name, options=options) for choice in chosen for name, options in choice.items())
    return entry.model_copy(update={"sensors": sensors})
