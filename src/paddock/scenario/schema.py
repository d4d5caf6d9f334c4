"""The JSON schema of a scenario, for editors and other languages."""

from __future__ import annotations

from typing import Any

from paddock.scenario.mission_events import EVENTS
from paddock.scenario.mission_tasks import KINDS
from paddock.scenario.model import Scenario
from paddock.scenario.serve import ENDPOINTS

DIALECT = "https://json-schema.org/draft/2020-12/schema"


def scenario_schema() -> dict[str, Any]:
    """Return the schema (draft 2020-12); every field carries a description with its unit."""
    schema = Scenario.model_json_schema(mode="validation")
    parts = schema["$defs"]
    parts["Clock"]["not"] = {"required": ["rate", "dt"]}
    parts["VehicleEntry"]["not"] = {"required": ["driver", "behaviour"]}
    parts["Spawn"] |= {"minProperties": 1, "maxProperties": 1}
    for part, names in (
        ("Task", KINDS), ("NoFlyZone", ("circle", "polygon")), ("MissionEvent", EVENTS),
        ("PolygonTask", ("spacing", "camera")),
    ):  # fmt: skip
        parts[part]["oneOf"] = [{"required": [name]} for name in names]
    schema["anyOf"] = [{"required": [name]} for name in (*schema.pop("required"), "mission")]
    for name in ENDPOINTS:  # instead of the mapping, its port, its name, or just true
        short = {"type": "string"} if name == "shm" else {"type": "integer"}
        parts["Serve"]["properties"][name]["anyOf"] += [short, {"const": True}]
    schema["properties"]["record"]["anyOf"].append({"type": "string", "minLength": 1})
    for part, key in (
        ("Clock", "dt"),
        ("VehicleEntry", "name"),
        ("Task", "name"),
        ("NoFlyZone", "name"),
        ("AdapterEntry", "name"),
    ):  # they follow from other fields
        del parts[part]["properties"][key]["default"]
    return {"$schema": DIALECT, **schema, "title": "Paddock scenario"}
