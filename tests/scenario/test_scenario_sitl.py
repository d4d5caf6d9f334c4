from __future__ import annotations

from typing import Any

import pytest

from paddock.scenario import ScenarioError, load_scenario, scenario_schema
from paddock.scenario.sitl import system_ids

VEHICLES = [
    {"name": "rover", "model": "rover", "count": 3, "spawn": {"grid": {"spacing": 3}}},
    {"name": "copter", "model": "quad"},
    {"name": "boat", "model": "point"},
    {"name": "busy", "model": "quad", "behaviour": "hold"},
]


def scenario(**sitl: Any) -> Any:
    return load_scenario({"vehicles": VEHICLES, "sitl": sitl})


def test_system_ids_go_on_from_the_entry_before() -> None:
    read = scenario(
        pilots=[
            {"vehicles": "rover"},
            {"vehicles": "copter", "sysid": 10},
            {"adapter": "arena", "craft": "rover", "count": 2},
        ],
        adapters=[{"name": "arena", "type": "lightweight"}],
    )
    entries = {entry.name: entry for entry in read.vehicles}
    assert system_ids(read.sitl, entries) == [[1, 2, 3], [10], [11, 12]]
    assert load_scenario(read.to_yaml()) == read


@pytest.mark.parametrize(
    ("sitl", "message"),
    [
        ({"pilots": []}, "sitl.pilots: pilots needs at least one entry"),
        ({"pilots": [{"vehicles": "rovr"}]}, "unknown vehicles 'rovr'; did you mean 'rover'?"),
        ({"pilots": [{"vehicles": "busy"}]}, "'busy' has a behaviour; an autopilot cannot drive it, too"),
        ({"pilots": [{"vehicles": "boat"}]}, "model 'point' has no default craft; set craft"),
        ({"pilots": [{}]}, "name the vehicles of this scenario that they fly: vehicles: name"),
        (
            {"pilots": [{"vehicles": "rover"}, {"vehicles": "copter", "sysid": 3}]},
            "system id 3 is already used by pilots[0]",
        ),
        ({"pilots": [{"vehicles": "rover", "sysid": 253}]}, "system ids end at 254; this is 255"),
        ({"pilots": [{"adapter": "x", "craft": "rover"}]}, "unknown adapter 'x'; valid: world"),
        ({"pilots": [{"vehicles": "copter", "mission": []}]}, "a mission has at least one point"),
        ({"pilots": [{"vehicles": "copter", "mission": [[1, 2]]}]}, "a point of a mission is [x, y, z], not [1, 2]"),
        (
            {"pilots": [{"vehicles": "copter", "mission": [[0, 1e9, 0]]}]},
            "a mission point is at most 100 km away, not 1000",
        ),
        (
            {"pilots": [{"vehicles": "copter", "mission": [[0, 0, "up"]]}]},
            "mission point is at most 100 km away, not 'up' m",
        ),
        ({"pilots": [{"vehicles": "copter", "mission": 7}]}, "the name of a file or a list of points [x, y, z], not 7"),
        ({"pilots": [{"vehicles": "rover", "craft": "copter"}]}, "model 'rover' is flown as a rover, not as a copter"),
        (
            {"pilots": [{"vehicles": "rover", "count": 2}]},
            "count is only for another adapter; vehicles 'rover' define it here",
        ),
        ({"pilots": [{"vehicles": "rover", "spacing": 2.0}]}, "spacing is only for another adapter"),
        ({"pilots": [{"vehicles": "rover", "instance": 0}]}, "instance is only for a real autopilot"),
        ({"pilots": [{"vehicles": "rover", "lockstep": False}]}, "lockstep is only for a real ArduPilot"),
        ({"pilots": [{"vehicles": "rover", "start": 5.0}]}, "start needs a mission"),
        (
            {"pilots": [{"vehicles": "copter", "autopilot": "ardupilot", "parameters": {"X": 1.0}}]},
            "parameters and mission are only for the built-in autopilot",
        ),
        (
            {"pilots": [{"vehicles": "copter"}], "adapters": [{"type": "jsbsim"}, {"type": "jsbsim"}]},
            "adapter name 'jsbsim' is already used",
        ),
        ({"pilots": [{"vehicles": "copter"}], "tme": "free"}, "tme"),
    ],
)
def test_errors_have_one_line_and_a_location(sitl: dict[str, Any], message: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        scenario(**sitl)
    assert message in str(caught.value)
    assert "sitl" in str(caught.value) and len(str(caught.value).splitlines()) == 1


def test_the_schema_knows_the_section() -> None:
    schema = scenario_schema()
    assert set(schema["$defs"]["AutopilotEntry"]["properties"]) >= {
        "vehicles",
        "autopilot",
        "craft",
        "sysid",
        "mission",
    }
    assert schema["$defs"]["Sitl"]["properties"]["time"]["enum"] == ["lockstep", "free", "scaled"]
