"""QGroundControl plans: reading, writing, round trips, and errors with their location."""

import json
from itertools import pairwise
from math import hypot, pi, radians
from pathlib import Path
from typing import Any

import numpy as np
import pymap3d
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paddock.errors import PaddockError
from paddock.planning.exchange import read_mission
from paddock.planning.from_scenario import plan
from paddock.planning.qgc_missions import LoiterCircles, mission_from_plan, thinned, to_plan
from paddock.record.mission_report.files import ground_station_texts
from paddock.scenario import load_scenario
from paddock.wire.json_document import document_text
from paddock.world.geodesy import Origin

HOME = Origin(47.3977419, 8.545594, 487.989)

PLAN = """\
{
    "fileType": "Plan",
    "geoFence": {
        "circles": [
            {"circle": {"center": [47.39756, 8.54464], "radius": 319.85}, "inclusion": true, "version": 1},
            {"circle": {"center": [47.4077419, 8.545594], "radius": 50}, "inclusion": false, "version": 1}
        ],
        "polygons": [
            {"inclusion": false, "version": 1,
             "polygon": [[47.3907419, 8.545594], [47.3907419, 8.555594], [47.3807419, 8.545594]]}
        ],
        "version": 2
    },
    "groundStation": "QGroundControl",
    "mission": {
        "cruiseSpeed": 15,
        "firmwareType": 12,
        "globalPlanAltitudeMode": 1,
        "hoverSpeed": 5,
        "items": [
            {"AMSLAltAboveTerrain": null, "Altitude": 50, "AltitudeMode": 1, "autoContinue": true, "command": 22,
             "doJumpId": 1, "frame": 3, "params": [15, 0, 0, null, 47.3985099, 8.5451002, 50], "type": "SimpleItem"},
            {"autoContinue": true, "command": 16, "doJumpId": 2, "frame": 3,
             "params": [0, 0, 0, null, 47.4067419, 8.545594, 60], "type": "SimpleItem"},
            {"autoContinue": true, "command": 16, "doJumpId": 3, "frame": 0,
             "params": [5, 0, 0, 90, 47.3977419, 8.555594, 557.989], "type": "SimpleItem"},
            {"autoContinue": true, "command": 18, "doJumpId": 4, "frame": 3,
             "params": [3, 0, 120, null, 47.3877419, 8.545594, 70], "type": "SimpleItem"},
            {"autoContinue": true, "command": 18, "doJumpId": 5, "frame": 3,
             "params": [1, 0, -75, null, 47.3877419, 8.545594, 70], "type": "SimpleItem"},
            {"autoContinue": true, "command": 178, "doJumpId": 6, "frame": 2, "params": [1, 12, -1, 0, 0, 0, 0],
             "type": "SimpleItem"},
            {"autoContinue": true, "command": 4242, "doJumpId": 7, "frame": 2, "params": [0, 0, 0, 0, 0, 0, 0],
             "type": "SimpleItem"},
            {
                "TransectStyleComplexItem": {
                    "CameraCalc": {
                        "AdjustedFootprintFrontal": 272.4, "AdjustedFootprintSide": 409.2,
                        "CameraName": "Sony ILCE-QX1", "DistanceMode": 1, "DistanceToSurface": 940.6896551724138,
                        "FixedOrientation": false, "FocalLength": 16, "FrontalOverlap": 70, "ImageDensity": 25,
                        "ImageHeight": 3632, "ImageWidth": 5456, "Landscape": true, "MinTriggerInterval": 0,
                        "SensorHeight": 15.4, "SensorWidth": 23.2, "SideOverlap": 70, "ValueSetIsDistance": false,
                        "version": 2
                    },
                    "CameraTriggerInTurnAround": true, "HoverAndCapture": false, "Items": [], "Refly90Degrees": true,
                    "TurnAroundDistance": 10, "VisualTransectPoints": [], "version": 2
                },
                "angle": 30, "complexItemType": "survey", "entryLocation": 0, "flyAlternateTransects": false,
                "polygon": [[47.41, 8.54], [47.41, 8.55], [47.42, 8.55], [47.42, 8.54]],
                "type": "ComplexItem", "version": 5
            },
            {
                "TransectStyleComplexItem": {
                    "CameraCalc": {
                        "AdjustedFootprintFrontal": 25, "AdjustedFootprintSide": 40,
                        "CameraName": "Manual (no camera specs)", "DistanceToSurface": 80,
                        "DistanceToSurfaceRelative": true, "version": 1
                    },
                    "Items": [], "TurnAroundDistance": 0, "version": 1
                },
                "angle": 0, "complexItemType": "survey",
                "polygon": [[47.41, 8.54], [47.41, 8.55], [47.42, 8.55]], "type": "ComplexItem", "version": 4
            },
            {"complexItemType": "CorridorScan", "CorridorWidth": 50, "polyline": [], "type": "ComplexItem",
             "version": 2},
            {"autoContinue": true, "command": 20, "doJumpId": 9, "frame": 2, "params": [0, 0, 0, 0, 0, 0, 0],
             "type": "SimpleItem"}
        ],
        "plannedHomePosition": [47.3977419, 8.545594, 487.989],
        "vehicleType": 1,
        "version": 2
    },
    "rallyPoints": {"points": [[47.39760401, 8.5509154, 50]], "version": 2},
    "version": 1
}
"""


def enu(lat: float, lon: float) -> tuple[float, float]:
    east, north, _ = pymap3d.geodetic2enu(lat, lon, HOME.height_m, HOME.latitude_deg, HOME.longitude_deg, HOME.height_m)
    return float(east), float(north)


def test_a_plan_is_read() -> None:
    mission = mission_from_plan(PLAN, HOME).mission
    assert mission["base"] == pytest.approx([0, 0, 0], abs=1e-6) and mission["speed"] == 15
    tasks = {task["name"]: task for task in mission["tasks"]}
    assert list(tasks) == ["waypoint_0", "waypoint_1", "loiter_0", "loiter_1", "survey_0", "survey_1"]
    assert tasks["waypoint_0"]["point"]["at"] == pytest.approx(enu(47.4067419, 8.545594), abs=1e-5)
    assert tasks["waypoint_0"]["altitude"] == 60
    assert tasks["waypoint_1"]["point"]["at"] == pytest.approx(enu(47.3977419, 8.555594), abs=1e-5)
    assert tasks["waypoint_1"]["altitude"] == pytest.approx(70)  # 557.989 m above the sea
    right, left = tasks["loiter_0"]["circle"], tasks["loiter_1"]["circle"]
    center = enu(47.3877419, 8.545594)
    assert (right["radius"], right["turn"], left["radius"], left["turn"]) == (120, "right", 75, "left")
    assert hypot(right["at"][0] - center[0], right["at"][1] - center[1]) == pytest.approx(120)
    assert (right["heading"], left["heading"]) == (-pi / 2, pi / 2)  # begun in the east
    survey, manual = tasks["survey_0"]["polygon"], tasks["survey_1"]["polygon"]
    assert survey["outline"][2] == pytest.approx(enu(47.42, 8.55), abs=1e-5)
    assert survey["angle"] == pytest.approx(radians(60)) and manual["angle"] == pytest.approx(pi / 2)
    assert survey["camera"] == {
        "width_px": 5456, "height_px": 3632, "sensor_width_mm": 23.2, "sensor_height_mm": 15.4, "focal_length_mm": 16,
        "side_overlap": 0.7,
    }  # fmt: skip
    footprint = 940.6896551724138 * 23.2 / 16 * (1 - 0.7)  # computed by QGroundControl
    assert footprint == pytest.approx(409.2) and tasks["survey_0"]["altitude"] == 940.6896551724138
    assert manual["spacing"] == 40 and tasks["survey_1"]["altitude"] == 80
    assert [zone["name"] for zone in mission["zones"]] == ["fence_0", "fence_1"]
    assert mission["zones"][0]["circle"]["at"] == pytest.approx(enu(47.4077419, 8.545594), abs=1e-5)
    assert mission["zones"][1]["polygon"][1] == pytest.approx(enu(47.3907419, 8.555594), abs=1e-5)
    assert len(load_scenario({"mission": mission}).vehicles) == 1


def test_unsupported_parts_are_reported() -> None:
    assert mission_from_plan(PLAN, HOME).notes == [
        "item 1: take-off is skipped: vehicles start where the scenario places them",
        "item 3: the waypoint's hold of 5 s is not supported",
        "item 3: the waypoint's yaw of 90 deg is not supported",
        "item 4: 3 turns become one",
        "item 6: command 178 (change speed) is not supported",
        "item 7: command 4242 is not supported",
        "item 8: the survey's Refly90Degrees is not supported",
        "item 8: the survey's TurnAroundDistance is not supported: turns are planned",
        "item 10: CorridorScan is not supported",
        "2 waypoints: each becomes a task, in a planned order",
        "geoFence: inclusion circle 1 is not supported",
        "rally point 1 is not supported: vehicles return to the base",
    ]


def test_a_camera_upright() -> None:
    upright = json.loads(PLAN)
    upright["mission"]["items"][7]["TransectStyleComplexItem"]["CameraCalc"]["Landscape"] = False
    camera = mission_from_plan(upright, HOME).mission["tasks"][4]["polygon"]["camera"]
    assert (camera["width_px"], camera["sensor_width_mm"]) == (3632, 15.4)


MISSION: dict[str, Any] = {
    "base": [0, 0, 2, 0],
    "zones": [
        {"name": "tower", "circle": {"at": [-500, -500], "radius": 150}},
        {"name": "city", "polygon": [[-900, 0], [-800, 0], [-800, 100]]},
    ],
}


START = (0.0, 0.0, 2.0)  # where the vehicle arms


def route() -> Any:
    return np.array([[0, 0, 102, 0], [200, 0, 102, 0], [400, 0, 102, 1.5], [400, 300, 102, 1.5]], dtype=np.float64)


def test_a_plan_is_written() -> None:
    loiter = LoiterCircles(400, 400, 82, 90, left=True)
    written = to_plan([route(), loiter], MISSION, HOME, START, speed=20)
    assert set(written) == {"fileType", "geoFence", "groundStation", "mission", "rallyPoints", "version"}
    assert (written["fileType"], written["version"], written["mission"]["version"]) == ("Plan", 1, 2)
    mission = written["mission"]
    assert (mission["cruiseSpeed"], mission["firmwareType"], mission["vehicleType"]) == (20, 12, 1)
    assert mission["plannedHomePosition"] == pytest.approx([47.3977419, 8.545594, 489.989])
    assert [item["command"] for item in mission["items"]] == [22, 178, 16, 16, 18, 20]
    assert [item["doJumpId"] for item in mission["items"]] == [1, 2, 3, 4, 5, 6]
    assert [item["frame"] for item in mission["items"]] == [3, 2, 3, 3, 3, 2]
    assert all(len(item["params"]) == 7 for item in mission["items"])
    assert mission["items"][1]["params"] == [0, 20, -1, 0, 0, 0, 0]  # airspeed, m/s, throttle unchanged
    corner, turn = mission["items"][2]["params"], mission["items"][4]["params"]
    assert enu(*corner[4:6]) == pytest.approx((400, 0), abs=2e-5) and corner[6] == 100
    assert (turn[0], turn[2], turn[6]) == (1, -90, 80)  # counter-clockwise
    assert to_plan([], MISSION, HOME, START)["mission"]["items"] == []
    quad = to_plan(route(), MISSION, HOME, START, vehicle="quad", firmware="ardupilot", speed=7)["mission"]
    assert (quad["hoverSpeed"], quad["vehicleType"], quad["firmwareType"]) == (7, 2, 3)
    assert json.loads(document_text(written)) == written
    with pytest.raises(PaddockError, match=r"unknown firmware 'px5' of a .plan file; did you mean 'px4'\?"):
        to_plan([], MISSION, HOME, START, firmware="px5")


def test_altitudes_are_above_the_ground_where_the_vehicle_starts() -> None:
    """Whatever the height of the base: an autopilot's home is where it arms."""
    mission = {"base": [0, 0, 100, 0], "altitude": 100, "zones": [], "tasks": [{"point": {"at": [200, 0]}}]}
    scenario = {"mission": mission, "vehicles": [{"name": "q", "model": "quad", "pose": [30, 0, 102, 0]}]}
    scenario |= {"world": {"ground_z": 2.0, "origin": [HOME.latitude_deg, HOME.longitude_deg, HOME.height_m]}}
    loaded = load_scenario(scenario)
    (text,) = ground_station_texts(loaded, plan(loaded), HOME).values()
    (written,) = [json.loads(text)["mission"]]
    assert written["plannedHomePosition"][2] == pytest.approx(HOME.height_m + 2.0)
    assert enu(*written["plannedHomePosition"][:2]) == pytest.approx((0, 0), abs=2e-5)
    heights = [item["params"][6] for item in written["items"] if item["command"] in (16, 22)]
    assert heights == pytest.approx([100, *[98] * (len(heights) - 1)], abs=2.0)


def test_take_off_leads_into_the_air() -> None:
    """From the ground: to where the route is high enough for the vehicle, or to its greatest height."""
    way = np.array([[10.0 * k, 0.0, 2.0 + 3.0 * k, 0.0] for k in range(12)])
    for vehicle, height, x in (("quad", 2.5, 0.0), ("fixed_wing", 20.0, 200.0 / 3.0)):
        for part in (way, way[: 2 + (height > 3.0)]):
            items = to_plan(part, MISSION, HOME, START, vehicle=vehicle, tolerance=-1.0)["mission"]["items"]
            top = min(height, part[-1, 2] - 2.0)
            assert items[0]["command"] == 22 and items[0]["params"][6] == pytest.approx(top)
            assert enu(*items[0]["params"][4:6])[0] == pytest.approx(min(x, part[-1, 0]), abs=2e-5)
            assert items[2]["params"][6] == pytest.approx(top if vehicle == "quad" else 21.0) or len(items) == 3
    items = to_plan(way, MISSION, HOME, START, vehicle="rover")["mission"]["items"]
    assert [item["command"] for item in items] == [16, 178, 16, 20]
    circles = LoiterCircles(0, 90, 52, 90)
    items = to_plan([circles, way], MISSION, HOME, START)["mission"]["items"]
    assert [item["command"] for item in items[:3]] == [22, 178, 18] and items[0]["params"][6] == 50


def test_no_waypoint_is_written_twice() -> None:
    """Parts begin where the one before ends, with circles between them as well."""
    there, back = route(), route()[::-1]
    circles = LoiterCircles(400, 210, 102, 90, left=True)
    items = to_plan([there, circles, back, back[-1:]], MISSION, HOME, START)["mission"]["items"]
    assert [item["command"] for item in items] == [22, 178, 16, 16, 18, 16, 16, 20]
    places = [tuple(item["params"][4:]) for item in items if item["command"] in (16, 22)]
    assert all(first != other for first, other in pairwise(places)) and places[0] == places[-1]


def test_a_zone_with_heights_is_no_fence() -> None:
    zones = [zone | {"ceiling": 50} for zone in MISSION["zones"][:1]] + MISSION["zones"][1:]
    fence = to_plan(route(), MISSION | {"zones": zones}, HOME, START)["geoFence"]
    assert fence["circles"] == [] and len(fence["polygons"]) == 1


def test_fences_of_zones() -> None:
    fence = to_plan(route(), MISSION, HOME, START)["geoFence"]
    assert fence["version"] == 2
    (circle,), (polygon,) = fence["circles"], fence["polygons"]
    assert circle["inclusion"] is False and circle["circle"]["radius"] == 150
    assert enu(*circle["circle"]["center"]) == pytest.approx((-500, -500), abs=2e-5)
    points = [enu(*point) for point in polygon["polygon"]]
    assert polygon["inclusion"] is False and len(points) == 3
    area = sum(a[0] * b[1] - b[0] * a[1] for a, b in zip(points, points[1:] + points[:1], strict=True)) / 2
    assert area == pytest.approx(-5000, abs=0.1)  # clockwise


@given(
    st.lists(
        st.tuples(*[st.floats(-1e4, 1e4)] * 2, st.floats(22, 500), st.just(0.0)), min_size=2, max_size=6, unique=True
    )
)
def test_round_trip(points: list[tuple[float, ...]]) -> None:
    waypoints = np.array(points)
    written = to_plan(waypoints, MISSION, HOME, START, tolerance=-1.0)
    imported = mission_from_plan(document_text(written), HOME)
    assert not any("178" in note for note in imported.notes)  # the speed that it has anyway
    mission = imported.mission
    read = [[*task["point"]["at"], task["altitude"]] for task in mission["tasks"]]
    np.testing.assert_allclose(read, waypoints[1:, :3] - [0, 0, 2], atol=1e-3)  # the first is the take-off
    assert mission["zones"][0]["circle"]["at"] == pytest.approx([-500, -500], abs=2e-5)


@settings(max_examples=settings.default.max_examples // 4)
@given(st.integers(2, 200), st.floats(0.1, 20))
def test_thinned_routes_stay_within_the_tolerance(count: int, tolerance: float) -> None:
    angle = np.linspace(0, 3 * pi, count)
    way = np.stack([200 * np.cos(angle), 200 * np.sin(angle), 10 * angle, angle], axis=1)
    few = thinned(way, tolerance)
    assert (few[0] == way[0]).all() and (few[-1] == way[-1]).all() and len(few) <= len(way)
    dense = np.concatenate([np.linspace(a, b, 40) for a, b in zip(few[:-1, :3], few[1:, :3], strict=True)])
    gaps = np.linalg.norm(np.diff(dense, axis=0), axis=1).max()
    nearest = np.linalg.norm(way[:, None, :3] - dense[None], axis=2).min(axis=1)
    assert nearest.max() <= tolerance + gaps


def test_a_straight_route_has_two_waypoints() -> None:
    way = np.stack([np.arange(100.0), np.zeros(100), np.full(100, 50.0), np.zeros(100)], axis=1)
    assert thinned(way, 0.01).tolist() == [[0, 0, 50, 0], [99, 0, 50, 0]]
    assert len(thinned(way[:1], 1.0)) == 1 and len(thinned(way[:0], 1.0)) == 0


MISTAKES = [
    ("", "", "a.plan:1:1: not valid JSON: Expecting value"),
    ('"Plan"', '"Mission"', "a.plan:2:17: a plan has fileType 'Plan', not 'Mission'"),
    ('    "version": 1\n}', '    "version": 7\n}', "a.plan:74:16: expected plan version 1, not 7"),
    ('"vehicleType": 1,\n        "version": 2', '"vehicleType": 1,\n        "version": 1',
     "a.plan:71:20: expected mission version 2, not 1"),
    ("47.4067419, 8.545594, 60]", "147.4, 8.545594, 60]",
     "a.plan:24:24: [147.4, 8.54559] is not a position on Earth; the order is latitude, longitude"),
    ("[0, 0, 0, null, 47.4067419, 8.545594, 60]", "[0, 0]", "a.plan:24:24: an item has 7 params, not 2"),
    ('"frame": 0,', '"frame": 7,', "a.plan:25:75: a position has frame 0, 3 or 10, not 7"),
    ('"type": "SimpleItem"}', '"type": "Item"}', "a.plan:22:104: an item is a SimpleItem or ComplexItem, not 'Item'"),
    ('"radius": 50}', '"radius": "x"}', 'a.plan:6:69: expected a finite number, not "x"'),
    ('"radius": 50}', '"radius": -1}', "a.plan:6:24: circle.radius: must be > 0, not -1.0"),
    ('"AdjustedFootprintSide": 40,', "", "a.plan:54:35: expected a finite number, not null"),
    ("[[47.41, 8.54], [47.41, 8.55], [47.42, 8.55]]", "[[47.41, 8.54]]",
     "a.plan:62:28: a polygon has at least 3 points, not 1"),
    ('"items": [', '"items": 3, "other": [', "a.plan:20:18: mission: items must be a list, not 3"),
    ('    "groundStation": "QGroundControl",\n', "",
     "a.plan:1:1: plan: QGroundControl needs the key 'groundStation' (a text)"),
    ('"firmwareType": 12,', "", "a.plan:15:16: mission: QGroundControl needs the key 'firmwareType' (a number)"),
    ('"autoContinue": true, "command": 16', '"command": 16',
     "a.plan:23:13: item: QGroundControl needs the key 'autoContinue' (a flag)"),
    ('"Altitude": 50, ', "", "a.plan:21:13: altitude: QGroundControl needs the key 'Altitude' (a number)"),
    ('"inclusion": false, "version": 1}', '"inclusion": 0, "version": 1}',
     "a.plan:6:87: fence circle: inclusion must be a flag, not 0"),
    ('"points": [[47.39760401, 8.5509154, 50]], ', "",
     "a.plan:73:20: rally points: QGroundControl needs the key 'points' (a list)"),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "message"), MISTAKES)
def test_mistakes(old: str, new: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert old in PLAN
    (tmp_path / "a.plan").write_text(PLAN.replace(old, new, 1) if old else "")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(PaddockError) as caught:
        read_mission("a.plan", HOME)
    assert str(caught.value) == message


def test_file_formats_are_recognized(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(PLAN)
    assert len(read_mission(tmp_path / "a.json", HOME).mission["tasks"]) == 6
