"""What the scenario says that a plan itself does not know."""

from __future__ import annotations

from paddock.planning.report.words import latitude, longitude
from paddock.planning.setup import MissionSetup
from paddock.scenario import Scenario
from paddock.world.geodesy import Origin


def origin_of(scenario: Scenario) -> Origin | None:
    """Where the world lies on Earth, if the scenario says so."""
    return Origin(*scenario.world.origin) if "origin" in scenario.world.model_fields_set else None


def settings(scenario: Scenario, setup: MissionSetup) -> list[tuple[str, str]]:
    """What, and its value."""
    rows: list[tuple[str, str]] = []
    mission = scenario.mission
    if mission is not None:
        rows.append(("range kept in reserve", f"{mission.reserve:,.0f} m"))
    apart = setup.separation
    kept = "none is kept" if apart is None else f"{apart[0]:g} m across or {apart[1]:g} m in height, kept in flight"
    rows.append(("separation", kept))
    origin = origin_of(scenario)
    if origin is not None:
        where = f"{latitude(origin.latitude_deg)}, {longitude(origin.longitude_deg)}, {origin.height_m:g} m"
        rows.append(("origin", where))
    rows += [(f"option of {setup.method}: {key}", f"{value}") for key, value in setup.options.items()]
    return rows
