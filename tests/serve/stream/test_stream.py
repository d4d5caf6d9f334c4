"""Data for subscribers: positions in their frame, subsets, rates, rosters, telemetry, markers, events."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from time import monotonic, sleep
from typing import Any

import numpy as np
import pytest

from paddock.wire.stream.drawing import MarkerFlag, MarkerKind, decode_lines, decode_markers, decode_spheres
from paddock.wire.stream.frames import decode_events
from paddock.wire.stream.positions import decode_telemetry

RED = {"name": "red", "id": 7, "model": "car.kinematic", "pose": [3, 4, math.pi / 2]}
SCOUTS = {"name": "scouts", "id": 100, "count": 5, "model": "point", "spawn": {"grid": {"spacing": 3, "z": 5}}}
DRONE = {"name": "drone", "id": 1, "model": "quad", "pose": [1, 2, 30, 0.5]}
SCENARIO = {"clock": {"rate": 240}, "vehicles": [RED, SCOUTS, DRONE]}


@pytest.fixture(scope="module")
def served(serve: Callable[..., Any]) -> Any:
    """No thread drives: time passes by the clients' steps."""
    return serve(SCENARIO, stream={"port": 0, "rate": 1000})


def test_positions_and_ids_are_those_of_the_snapshot(served: Any) -> None:
    peer = served.connect()
    answer = peer.call("subscribe")
    assert answer["ticks_per_second"] == 240.0 and answer["rate"] == 1000.0
    tick, sim_time, wall_time, run, roster = peer.tick()
    poses = {record["id"]: record for record in peer.poses()}
    snapshot = served.sim.snapshot()
    assert (tick, run, roster) == (snapshot.tick, snapshot.run, answer["roster"])
    assert sim_time == snapshot.time and wall_time > 1.7e9
    assert sorted(poses) == [1, 7, 100, 101, 102, 103, 104]
    for number, record in poses.items():
        assert record["p"].tolist() == snapshot[int(number)].position.astype(np.float32).tolist()
        assert record["q"].tolist() == snapshot[int(number)].orientation.astype(np.float32).tolist()


@pytest.mark.parametrize(
    ("frame", "position", "quaternion"),
    [
        ("enu", (3, 4, 0), (0, 0, math.sqrt(0.5), math.sqrt(0.5))),  # faces north: yaw 90 deg
        ("nwu", (4, -3, 0), (0, 0, 0, 1)),  # north, west, up: no turn at all
        ("ned", (4, 3, 0), (0, 0, 0, 1)),  # north, east, down: the same
        ("unreal", (300, -400, 0), (0, 0, -math.sqrt(0.5), math.sqrt(0.5))),  # cm, y to the south: a left turn is -z
    ],
)
def test_frames_by_hand(served: Any, frame: str, position: Any, quaternion: Any) -> None:
    """A car at 3 m east, 4 m north that looks north."""
    peer = served.connect()
    peer.call("subscribe", frame=frame, vehicles=["red"])
    (record,) = peer.poses()
    assert record["id"] == 7
    np.testing.assert_allclose(record["p"], position, atol=1e-4)
    sign = np.sign(record["q"] @ np.array(quaternion))  # q and -q are the same
    np.testing.assert_allclose(sign * record["q"], quaternion, atol=1e-6)


def test_a_subset_by_fleet_vehicle_and_id(served: Any) -> None:
    peer = served.connect()
    peer.call("subscribe", vehicles=["scouts[3]", "red", 1])
    assert peer.poses()["id"].tolist() == [1, 7, 103]
    peer.call("subscribe", vehicles=["scouts"])
    assert peer.poses()["id"].tolist() == [100, 101, 102, 103, 104]


def test_unknown_vehicles_are_refused_with_a_suggestion(served: Any) -> None:
    peer = served.connect()
    assert peer.refused("subscribe", vehicles=["scuts"]) == (
        -32602,
        "subscribe: 'vehicles': unknown vehicle or fleet 'scuts'; did you mean 'scouts'?",
    )
    code, message = peer.refused("subscribe", vehicles=[99])
    assert code == -32602 and "unknown vehicle id 99" in message
    assert "scouts[9]" in peer.refused("subscribe", vehicles=["scouts[9]"])[1]


def test_the_roster_has_ranges(served: Any) -> None:
    fleets = {fleet["name"]: fleet for fleet in served.connect().call("get_roster")["fleets"]}
    assert fleets["scouts"]["ids"] == [[100, 5]] and fleets["scouts"]["members"] == [[0, 5]]
    assert fleets["red"]["single"] is True and fleets["red"]["kind"] == "car"
    assert fleets["drone"]["model"] == "quad"


def test_a_step_is_published_while_no_run_is_active(served: Any) -> None:
    peer, other = served.connect(), served.connect()
    other.call("subscribe")
    before = other.tick()[0]
    assert peer.call("simulation_step", ticks=7)["tick"] == before + 7
    while (tick := other.tick()[0]) < before + 7:
        assert tick >= before
    assert tick == before + 7
    peer.close()


def test_telemetry(served: Any) -> None:
    peer = served.connect()
    peer.call("subscribe", kinds=["telemetry"], vehicles=["drone", "red"])
    records = decode_telemetry(peer.frame(0x02))
    assert records["id"].tolist() == [1, 7]
    charge = served.sim.snapshot()["drone"]["charge"]
    assert records["battery"].tolist() == [np.float32(charge), 1.0]
    assert records["health"].tolist() == [1.0, 1.0] and records["signal"].tolist() == [1.0, 1.0]
    assert [flags & 0b10 for flags in records["flags"].tolist()] == [2, 2]


def test_failsafes_lower_the_health(served: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """They come with the next heartbeat of the simulation."""
    peer, other = served.connect(), served.connect()
    peer.call("subscribe", kinds=["telemetry"], vehicles=["drone", "red"])
    monkeypatch.setattr(served.sim.vehicles.autopilots, "failsafes", lambda: [7])
    until = monotonic() + 60.0
    while (health := decode_telemetry(peer.frame(0x02))["health"].tolist()) != [1.0, 0.5]:
        assert health == [1.0, 1.0] and monotonic() < until
        sleep(0.05)
        other.call("simulation_step", ticks=1)


def test_first_person_frames_are_of_quadrotors(served: Any) -> None:
    peer = served.connect()
    peer.call("subscribe", kinds=["fpv"], frame="ned")
    payload = peer.frame(0x11)
    assert len(payload) == 4 + 56 and struct.unpack("<Ii", payload[:8]) == (1, 1)
    east, north, up = served.sim.snapshot()["drone"].velocity
    velocity = struct.unpack("<3f", payload[4 + 24 : 4 + 36])
    np.testing.assert_allclose(velocity, (north, east, -up), rtol=1e-6, atol=1e-9)
    voltage, charge = struct.unpack("<2f", payload[4 + 48 : 4 + 56])
    assert (voltage, charge) == tuple(np.float32(served.sim.snapshot()["drone"][n]) for n in ("voltage", "charge"))


def test_tick_frames_can_be_left_out(served: Any) -> None:
    peer = served.connect()
    peer.call("subscribe", tick=False)
    assert peer.next().type == 0x01


def test_markers_reach_another_subscriber(served: Any) -> None:
    watcher, drawer = served.connect(), served.connect()
    watcher.call("subscribe", kinds=["markers", "lines", "spheres"], frame="unreal")
    watcher.tick()
    points = [[0, 0, 0], [1, 2, 3]]
    line = {"namespace": "plan", "id": 4, "kind": "line_strip", "scale": [0.1, 1, 1], "vertices": points}
    drawer.call("put_markers", markers=[line])
    (record,) = decode_markers(watcher.frame(0x12))
    assert (record.namespace, record.id, record.kind, record.flags) == ("plan", 4, MarkerKind.LINE_STRIP, 0)
    np.testing.assert_allclose(record.points, [[0, 0, 0], [100, -200, 300]])
    assert record.scale[0] == pytest.approx(10.0)
    lines = decode_lines(watcher.frame(0x03))
    np.testing.assert_allclose(lines["end"], [[100, -200, 300]], rtol=1e-6)
    assert lines["thickness"].tolist() == [np.float32(10.0)]
    drawer.call("show_markers", namespace="plan", visible=False)
    assert decode_markers(watcher.frame(0x12))[0].flags == MarkerFlag.HIDDEN
    assert len(decode_lines(watcher.frame(0x03))) == 0
    drawer.call("delete_markers", namespace="plan", id=4)
    gone = decode_markers(watcher.frame(0x12))[0]
    assert (gone.namespace, gone.id, gone.flags) == ("plan", 4, MarkerFlag.DELETE)


def test_a_marker_on_a_vehicle_is_drawn_where_the_vehicle_is(served: Any) -> None:
    """`red` looks north from (3, 4): 2 m ahead of it is (3, 6), and 1 m to its left is (2, 4)."""
    watcher, drawer = served.connect(), served.connect()
    ball = {"namespace": "on", "id": 1, "kind": "points", "scale": [0.5, 1, 1], "frame": "red"}
    drawer.call("put_markers", markers=[{**ball, "vertices": [[2, 0, 0], [0, 1, 0]]}])
    watcher.call("subscribe", kinds=["spheres", "markers"])
    (record,) = decode_markers(watcher.frame(0x12))  # earlier markers are sent with the subscription
    assert record.frame == "red"
    spheres = decode_spheres(watcher.frame(0x04))
    np.testing.assert_allclose(spheres["centre"], [[3, 6, 0], [2, 4, 0]], atol=1e-5)
    assert spheres["radius"].tolist() == [0.25, 0.25]
    drawer.call("delete_markers", namespace="on")


def test_a_marker_too_large_for_the_wire_is_refused_with_its_batch(served: Any) -> None:
    peer, drawer = served.connect(), served.connect()
    peer.call("subscribe", kinds=["markers"], frame="unreal")
    huge = {"namespace": "huge", "id": 1, "kind": "circle", "scale": [1e38, 1, 1]}  # in cm beyond float32
    code, message = drawer.refused("put_markers", markers=[{**huge, "id": 2, "scale": [2, 1, 1]}, huge])
    assert code == -32000 and "scale" in message
    drawer.call("put_markers", markers=[{**huge, "id": 3, "scale": [2, 1, 1]}])
    (record,) = decode_markers(peer.frame(0x12))
    assert (record.id, record.scale[0]) == (3, 200.0)
    drawer.call("delete_markers", namespace="huge")


def test_an_unknown_marker_frame_is_refused(served: Any) -> None:
    marker = {"namespace": "bad", "id": 1, "kind": "text", "label": "x", "frame": "rad"}
    code, message = served.connect().refused("put_markers", markers=[marker])
    assert code == -32000 and "did you mean 'red'?" in message


def test_debug_lines_and_spheres(served: Any) -> None:
    peer, other = served.connect(), served.connect()
    peer.call("draw_debug_lines", lines=[[0, 100, 0, 100, 100, 0]], color=[255, 0, 0, 255], frame="unreal")
    peer.call("draw_debug_spheres", spheres=[[1, 2, 3, 0.5]])
    peer.call("subscribe", kinds=["lines", "spheres"])
    line, sphere = decode_lines(peer.frame(0x03))[0], decode_spheres(peer.frame(0x04))[0]
    assert line["start"].tolist() == [0, -1, 0] and line["end"].tolist() == [1, -1, 0]
    assert line["color"].tolist() == [255, 0, 0, 255]
    assert sphere["centre"].tolist() == [1, 2, 3] and sphere["radius"] == 0.5
    other.call("clear_debug")
    while len(decode_lines(peer.frame(0x03))):  # no tick passes, and yet they go
        pass


def test_a_spawn_is_notified_and_published(served: Any) -> None:
    watcher, maker = served.connect(), served.connect()
    watcher.call("subscribe", vehicles=["scouts"], kinds=["positions", "events"])
    watcher.poses()
    robots = [{"id": 500, "robot_type": "rover", "name": "late", "x": 1, "y": 2}]
    assert maker.call("spawn_robots", robots=robots) == {"names": ["late"], "ids": [500]}
    (event,) = decode_events(watcher.frame(0x13))
    assert (event.kind, event.subject) == ("spawned", "late")
    roster = watcher.notification("roster")
    assert {fleet["name"] for fleet in roster["fleets"]} == {"drone", "late", "red", "scouts"}
    watcher.call("subscribe")
    assert 500 in watcher.poses()["id"]
    maker.call("remove_vehicle", vehicle_id=500)
    assert "late" not in [fleet["name"] for fleet in watcher.notification("roster")["fleets"]]


def test_vehicles_that_join_a_subscribed_fleet_are_included(served: Any) -> None:
    peer = served.connect()
    peer.call("subscribe", vehicles=["scouts"])
    served.sim.spawn(fleet="scouts", count=1, pose=[50, 0, 5, 0])
    while len(records := peer.poses()) == 5:
        pass
    assert records["p"][-1].tolist() == [50, 0, 5]
    served.sim.remove(int(records["id"][-1]))
    while len(peer.poses()) == 6:
        pass
