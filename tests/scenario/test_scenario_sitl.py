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
        ({"pilots": []}, "sitl.pilots: there is at least one entry of pilots"),
        ({"pilots": [{"vehicles": "rovr"}]}, "no entry of vehicles called 'rovr'; did you mean 'rover'?"),
        ({"pilots": [{"vehicles": "busy"}]}, "'busy' has a behaviour: a vehicle is driven by it or by an autopilot"),
        ({"pilots": [{"vehicles": "boat"}]}, "say what flies model 'point': craft"),
        ({"pilots": [{}]}, "say which vehicles of this scenario they fly: vehicles: name"),
        ({"pilots": [{"vehicles": "rover"}, {"vehicles": "copter", "sysid": 3}]}, "system id 3 is taken by pilots[0]"),
        ({"pilots": [{"vehicles": "rover", "sysid": 253}]}, "there are at most 254 systems, this is number 255"),
        ({"pilots": [{"adapter": "x", "craft": "rover"}]}, "there is no adapter 'x'; valid: world"),
        ({"pilots": [{"vehicles": "copter", "mission": []}]}, "a mission has at least one point"),
        ({"pilots": [{"vehicles": "copter", "mission": [[1, 2]]}]}, "a point of a mission is [x, y, z], not [1, 2]"),
        ({"pilots": [{"vehicles": "copter", "mission": [[0, 1e9, 0]]}]}, "a mission reaches 100 km at most, not 1000"),
        ({"pilots": [{"vehicles": "copter", "mission": [[0, 0, "up"]]}]}, "mission reaches 100 km at most, not 'up' m"),
        ({"pilots": [{"vehicles": "copter", "mission": 7}]}, "the name of a file or a list of points [x, y, z], not 7"),
        ({"pilots": [{"vehicles": "rover", "craft": "copter"}]}, "model 'rover' is flown as a rover, not as a copter"),
        ({"pilots": [{"vehicles": "rover", "count": 2}]}, "count is for another adapter; here it is that of vehicles"),
        ({"pilots": [{"vehicles": "rover", "spacing": 2.0}]}, "spacing is for another adapter"),
        ({"pilots": [{"vehicles": "rover", "instance": 0}]}, "instance is for a real autopilot"),
        ({"pilots": [{"vehicles": "rover", "lockstep": False}]}, "lockstep is for a real ArduPilot"),
        ({"pilots": [{"vehicles": "rover", "start": 5.0}]}, "start is when a mission begins: there is none"),
        (
            {"pilots": [{"vehicles": "copter", "autopilot": "ardupilot", "parameters": {"X": 1.0}}]},
            "parameters and mission are for the built-in autopilot",
        ),
        (
            {"pilots": [{"vehicles": "copter"}], "adapters": [{"type": "jsbsim"}, {"type": "jsbsim"}]},
            "there is another adapter called 'jsbsim'",
        ),
        ({"pilots": [{"vehicles": "copter"}], "tme": "free"}, "tme"),
    ],
)
def test_mistakes_are_told_in_one_line_with_their_place(sitl: dict[str, Any], message: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        scenario(**sitl)
    assert message in str(caught.value)
    assert "sitl" in str(caught.value) and len(str(caught.value).splitlines()) == 1


def test_the_schema_knows_the_section() -> None:
    schema = scenario_schema()
    assert set(schema["$defs"]["Pilots"]["properties"]) >= {"vehicles", "autopilot", "craft", "sysid", "mission"}
    assert schema["$defs"]["Sitl"]["properties"]["time"]["enum"] == ["lockstep", "free", "scaled"]
