"""The JSON schema matches the loader."""

import json
from typing import Any

from paddock.scenario import scenario_schema
from paddock.wire.json_document import dumps, loads

SCHEMA = scenario_schema()
PARTS: dict[str, Any] = SCHEMA["$defs"]


def test_head() -> None:
    assert SCHEMA["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert SCHEMA["title"] == "Paddock scenario"
    assert "$id" not in SCHEMA
    assert SCHEMA["anyOf"] == [{"required": ["vehicles"]}, {"required": ["mission"]}]
    sections = ["clock", "world", "track", "vehicles", "mission", "sitl", "contact", "rules", "radio"]
    sections += ["on_nan", "every", "record"]
    assert list(SCHEMA["properties"]) == ["name", "description", "seed", *sections, "serve"]
    assert json.loads(json.dumps(SCHEMA)) == SCHEMA


def test_it_can_be_sent() -> None:
    """Messages carry whole numbers of 64 bits; the page completes from the schema."""
    assert loads(dumps(SCHEMA)) == SCHEMA


def test_no_unknown_keys_and_everything_described() -> None:
    choices = {"BehaviourChoice", "Grid", "MethodChoice", "SensorChoice", "SubsystemChoice"}
    choices |= {"AntennaSection", "Fading", "MavlinkViaSection", "MissionViaSection", "ViaSection"}
    radio = {
        "BeaconSection", "FittedRadio", "HoppingSection", "JammerSection", "LinkClass",
        "LinkSettings", "MessagesSection", "PullSection", "RadioSection", "RadioType", "Shadowing",
        "SpooferSection", "StationSection",
    }  # fmt: skip
    assert set(PARTS) == choices | radio | {
        "AdapterEntry", "AreaTask", "AutopilotEntry", "BoxObstacle", "CameraSection", "CirclePatch", "CirclePattern",
        "CircleTask", "ClientLimits", "ClockSection", "ConeObstacle", "ContactSection", "Dial", "Every",
        "FleetContact", "FmuSection", "FrictionMap", "FrictionPatch", "GeneratedTrack",
        "Generate", "GridPattern", "GroundSection", "GustSection", "HalfPlane", "HeightMap",
            "LaneChangePattern", "LinePattern",
        "LineTask", "Mavlink",
        "MetricsEndpoint", "MissionEvent", "MissionSection", "NoFlyZone", "Obstacle", "PointTask", "PolygonTask",
        "RandomPattern", "RecordSection", "RectanglePatch", "RoundObstacle", "RulesSection", "SeparationSection",
        "Serve", "ShmEndpoint", "Sitl",
        "SpawnSection", "StreamEndpoint", "Sync", "TaskEntry", "TaskMix", "TrackPattern",
        "TrackSection", "TrackSurface", "Vds1Endpoint", "VehicleEntry",
        "WallObstacle", "WebEndpoint", "WindProfileSection", "WorldSection", "ZmqEndpoint", "ZoneCircle",
    }  # fmt: skip
    for name, part in [("Scenario", SCHEMA), *PARTS.items()]:
        assert part["description"], name
        if name in choices:
            continue
        assert part["additionalProperties"] is False, name
        assert all(field.get("description") for field in part["properties"].values()), name


def test_units_limits_and_defaults() -> None:
    clock = PARTS["ClockSection"]["properties"]
    assert clock["rate"]["description"] == "Ticks per simulated second, in Hz."
    assert (clock["rate"]["default"], clock["rate"]["minimum"], clock["rate"]["maximum"]) == (240.0, 0.001, 1e6)
    assert "default" not in clock["dt"]
    assert PARTS["ClockSection"]["not"] == {"required": ["rate", "dt"]}
    vehicle = PARTS["VehicleEntry"]
    assert vehicle["required"] == ["model"]
    assert vehicle["not"] == {"required": ["driver", "behaviour"]}
    pose = vehicle["properties"]["pose"]["anyOf"][0]
    assert pose == {"type": "array", "items": {"type": "number"}, "minItems": 3, "maxItems": 4}
    wind = PARTS["WorldSection"]["properties"]["wind"]
    assert (wind["minItems"], wind["maxItems"], wind["default"]) == (3, 3, [0.0, 0.0, 0.0])


def test_choices_are_a_name_or_one_key() -> None:
    text, mapping = PARTS["BehaviourChoice"]["anyOf"]
    assert text == {"type": "string", "minLength": 1}
    assert (mapping["type"], mapping["minProperties"], mapping["maxProperties"]) == ("object", 1, 1)
    assert (PARTS["SpawnSection"]["minProperties"], PARTS["SpawnSection"]["maxProperties"]) == (1, 1)
