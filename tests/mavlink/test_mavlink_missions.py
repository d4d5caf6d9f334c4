"""The mission protocol in both directions, over a socket: requests, replies and stored plans."""

from __future__ import annotations

from math import nan
from typing import Any

import pytest

mavlink = pytest.importorskip("pymavlink.dialects.v20.ardupilotmega", reason="pymavlink is not installed")

from paddock.autopilot.mission_items import PlanKind  # noqa: E402
from paddock.mavlink import protocols  # noqa: E402
from paddock.mavlink.protocols import decode  # noqa: E402

LATITUDE, LONGITUDE = 356812000, 1397671000


def item(seq: int, command: int = 16, kind: int = 0, **values: Any) -> Any:
    fields = {"frame": 3, "current": 0, "p1": 0.0, "p2": 0.0, "p3": 0.0, "p4": 0.0, "x": LATITUDE + 1000 * seq}
    f = {**fields, "y": LONGITUDE, "z": 0.0, **values}
    parameters = (f["p1"], f["p2"], f["p3"], f["p4"])
    return mavlink.MAVLink_mission_item_int_message(
        1, 1, seq, f["frame"], command, f["current"], 1, *parameters, f["x"], f["y"], f["z"], kind
    )


def count(number: int, kind: int = 0) -> Any:
    return mavlink.MAVLink_mission_count_message(1, 1, number, kind)


def upload(fleet: Any, station: Any, items: list[Any], kind: int = 0) -> int:
    """Answer every request; the result."""
    station.send(count(len(items), kind))
    while True:
        message = fleet.expect(station, "MISSION_REQUEST_INT|MISSION_ACK")
        assert message.mission_type == kind
        assert message.target_system == 255 and message.target_component == 190
        if message.get_type() == "MISSION_ACK":
            return int(message.type)
        station.send(items[message.seq])


def download(fleet: Any, station: Any, kind: int = 0, integers: bool = True) -> list[Any]:
    listing = mavlink.MAVLink_mission_request_list_message(1, 1, kind)
    total = fleet.ask(station, listing, "MISSION_COUNT", lambda m: m.mission_type == kind).count
    make = mavlink.MAVLink_mission_request_int_message if integers else mavlink.MAVLink_mission_request_message
    name = "MISSION_ITEM_INT" if integers else "MISSION_ITEM"
    items = [fleet.ask(station, make(1, 1, seq, kind), name, lambda m, s=seq: m.seq == s) for seq in range(total)]
    station.send(mavlink.MAVLink_mission_ack_message(1, 1, 0, kind))
    return items


def test_a_mission_round_trips(rover: Any) -> None:
    station = rover.station()
    sent = [item(k) for k in range(4)]
    assert upload(rover, station, sent) == 0
    back = download(rover, station)
    assert [(m.command, m.frame, m.x, m.y, m.z) for m in back] == [(m.command, m.frame, m.x, m.y, m.z) for m in sent]
    older = download(rover, station, integers=False)
    assert older[3].x == pytest.approx(35.6815, abs=1e-5)


def test_fence_and_rally_points(rover: Any) -> None:
    station = rover.station()
    fence = [item(k, 5001, 1, p1=3.0, x=LATITUDE + 9000 * (k == 1), y=LONGITUDE + 9000 * (k == 2)) for k in range(3)]
    assert upload(rover, station, fence, 1) == 0
    assert upload(rover, station, [item(0, 5100, 2, z=10.0)], 2) == 0
    assert [m.command for m in download(rover, station, 1)] == [5001, 5001, 5001]
    assert [m.z for m in download(rover, station, 2)] == [10.0]
    assert len(download(rover, station, 0)) == 0


def test_out_of_order_items_are_requested_again_and_duplicates_ignored(
    rover: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    station, wall = rover.station(), [100.0]
    monkeypatch.setattr(protocols, "monotonic", lambda: wall[0])
    assert rover.ask(station, count(3), "MISSION_REQUEST_INT").seq == 0
    assert rover.ask(station, item(2), "MISSION_REQUEST_INT").seq == 0
    assert rover.ask(station, item(0), "MISSION_REQUEST_INT").seq == 1
    station.send(item(0))
    assert rover.ask(station, item(1), "MISSION_REQUEST_INT").seq == 2
    assert rover.ask(station, item(2), "MISSION_ACK").type == 0
    assert len(rover.autopilots[0].plans[PlanKind.MISSION]) == 3
    wall[0] += 1.0
    assert rover.ask(station, item(2), "MISSION_ACK").type == 0  # the station had missed the ack


def test_a_duplicate_last_item_is_acknowledged_once(rover: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A second answer would be taken for that of the download which follows."""
    station, wall = rover.station(), [100.0]
    monkeypatch.setattr(protocols, "monotonic", lambda: wall[0])
    rover.ask(station, count(1), "MISSION_REQUEST_INT")
    station.send(item(0))
    station.send(item(0))
    rover.pass_time(0.5)
    assert sum(m.get_type() == "MISSION_ACK" for m in station.received) == 1
    assert len(download(rover, station)) == 1
    wall[0] += 1.0
    station.send(item(0))  # late: the station has continued
    rover.pass_time(0.5)
    assert sum(m.get_type() == "MISSION_ACK" for m in station.received) == 1


def test_unused_fields_may_be_nan(rover: Any) -> None:
    """MAVSDK's Mission plugin leaves everything that an item does not use as NaN."""
    station, none = rover.station(), {"p1": nan, "p2": nan, "p3": nan, "p4": nan, "x": 0, "y": 0, "z": nan}
    speed = {"frame": 2, "p1": 1.0, "p2": 5.0, "p3": -1.0, "x": 0, "y": 0, "z": nan}
    items = [item(0), item(1, 178, **speed), item(2, 205, frame=2, **none), item(3, 20, frame=3, **none)]
    wait = mavlink.MAVLink_mission_item_message(1, 1, 4, 2, 112, 0, 1, 9.0, 0, 0, 0, nan, nan, nan, 0)
    assert upload(rover, station, [*items, wait]) == 0
    plan = rover.autopilots[0].plans[PlanKind.MISSION]
    assert [(i.x, i.y, i.z) for i in plan[1:]] == [(0.0, 0.0, 0.0)] * 4


@pytest.mark.parametrize(
    ("message", "z", "result"),
    [
        (item(0, 21, z=nan), 0.0, 0),  # the ground is where it is
        (item(0, 22, z=nan), None, 12),
        (item(0, 5001, 1, z=nan), 0.0, 0),
        (item(0, 5100, 2, z=nan), None, 12),
        (item(0, 178, z=float("inf")), None, 12),
    ],
)
def test_used_altitudes_must_be_numbers(message: Any, z: float | None, result: int) -> None:
    taken, wrong = decode(message)
    assert (None if taken is None else taken.z, wrong) == (z, result)


def test_item_0_is_home_once_known(make_fleet: Any) -> None:
    fleet = make_fleet().settle()
    station = fleet.station()
    assert upload(fleet, station, [item(k) for k in range(3)]) == 0
    station.send(mavlink.MAVLink_command_int_message(1, 1, 0, 179, 0, 0, 0, 0, 0, 0, 356820000, 1397680000, 55.0))
    assert fleet.expect(station, "COMMAND_ACK").result == 0
    first, second, _ = download(fleet, station)
    assert (first.command, first.frame, first.x, first.y, first.z) == (16, 0, 356820000, 1397680000, 55.0)
    assert second.x == LATITUDE + 1000


def test_partial_upload_replaces_and_appends(rover: Any) -> None:
    station, plans = rover.station(), rover.autopilots[0].plans
    assert upload(rover, station, [item(k) for k in range(5)]) == 0
    assert write_part(rover, station, {2: item(2, z=7.0), 3: item(3, z=8.0)}) == 0
    assert [i.z for i in plans[PlanKind.MISSION]] == [0.0, 0.0, 7.0, 8.0, 0.0]
    assert write_part(rover, station, {4: item(4, z=9.0), 5: item(5, z=10.0)}) == 0
    assert [i.z for i in plans[PlanKind.MISSION]] == [0.0, 0.0, 7.0, 8.0, 9.0, 10.0]
    assert write_part(rover, station, {1: item(1, 30999)}) == 3
    rover.expect(station, "STATUSTEXT", lambda m: "Mission item 1 rejected" in m.text)
    assert len(plans[PlanKind.MISSION]) == 6
    for first, last in ((7, 8), (3, 2), (-1, 2)):
        partly = mavlink.MAVLink_mission_write_partial_list_message(1, 1, first, last, 0)
        assert rover.ask(station, partly, "MISSION_ACK").type == 13


def write_part(fleet: Any, station: Any, items: dict[int, Any]) -> int:
    station.send(mavlink.MAVLink_mission_write_partial_list_message(1, 1, min(items), max(items), 0))
    while True:
        message = fleet.expect(station, "MISSION_REQUEST_INT|MISSION_ACK")
        if message.get_type() == "MISSION_ACK":
            return int(message.type)
        station.send(items[message.seq])


def test_partial_download(rover: Any) -> None:
    station = rover.station()
    assert upload(rover, station, [item(k) for k in range(50)]) == 0
    ask_part = mavlink.MAVLink_mission_request_partial_list_message
    for first, last, wanted in ((3, 3, [3]), (10, 45, list(range(10, 46))), (48, -1, [48, 49])):
        station.forget()
        station.send(ask_part(1, 1, first, last, 0))
        rover.expect(station, "MISSION_ITEM_INT", lambda m, s=wanted[-1]: m.seq == s)
        reported = [m for m in station.received if m.get_type() == "MISSION_ITEM_INT"]
        assert [(m.seq, m.x) for m in reported] == [(k, LATITUDE + 1000 * k) for k in wanted]
    for first, last in ((50, 50), (5, 4), (0, 50), (-2, -1)):
        assert rover.ask(station, ask_part(1, 1, first, last, 0), "MISSION_ACK").type == 13
    assert rover.ask(station, ask_part(1, 1, 0, 0, 7), "MISSION_ACK").type == 3


def test_float_items_are_accepted(rover: Any) -> None:
    station = rover.station()
    rover.ask(station, count(1), "MISSION_REQUEST_INT")
    older = mavlink.MAVLink_mission_item_message(1, 1, 0, 3, 16, 0, 1, 0, 0, 0, 0, 35.5, 139.25, 5.0, 0)
    assert rover.ask(station, older, "MISSION_ACK").type == 0
    taken = rover.autopilots[0].plans[PlanKind.MISSION][0]
    assert (taken.x, taken.y, taken.z) == (35.5, 139.25, 5.0)


@pytest.mark.parametrize(
    ("bad", "result"),
    [
        (item(1, 30999), 3),  # unsupported command
        (item(1, frame=1), 2),  # local frame
        (item(1, frame=99), 2),
        (item(1, z=nan), 12),
        (item(1, x=910_000_000), 10),
        (item(1, y=1_810_000_000), 11),
        (item(1, p1=float("inf")), 6),
        (mavlink.MAVLink_mission_item_message(1, 1, 1, 3, 16, 0, 1, 0, 0, 0, 0, nan, 139.0, 5.0, 0), 10),
        (mavlink.MAVLink_mission_item_message(1, 1, 1, 3, 16, 0, 1, 0, 0, 0, 0, 35.0, nan, 5.0, 0), 11),
        (item(1, 22, z=10.0), 3),  # a rover does not take off
    ],
)
def test_an_invalid_mission_is_refused_and_the_old_one_kept(rover: Any, bad: Any, result: int) -> None:
    station = rover.station()
    assert upload(rover, station, [item(0), item(1)]) == 0
    before = rover.autopilots[0].plans[PlanKind.MISSION]
    assert upload(rover, station, [item(0), bad, item(2)]) == result
    assert rover.autopilots[0].plans[PlanKind.MISSION] is before
    rover.expect(station, "STATUSTEXT", lambda m: "Mission item 1 rejected" in m.text)


def test_too_many_and_unknown_kinds_are_refused(rover: Any) -> None:
    station = rover.station()
    assert rover.ask(station, count(60000), "MISSION_ACK").type == 4
    assert rover.ask(station, count(1, 7), "MISSION_ACK").type == 3
    partly = mavlink.MAVLink_mission_write_partial_list_message(1, 1, 0, 1, 7)
    assert rover.ask(station, partly, "MISSION_ACK").type == 3
    assert rover.ask(station, mavlink.MAVLink_mission_request_int_message(1, 1, 5, 0), "MISSION_ACK").type == 13
    assert rover.ask(station, item(0), "MISSION_ACK").type == 1  # without an upload


def test_clearing(rover: Any) -> None:
    station, plans = rover.station(), rover.autopilots[0].plans
    upload(rover, station, [item(0), item(1)])
    assert upload(rover, station, []) == 0
    assert plans[PlanKind.MISSION] == ()
    upload(rover, station, [item(0), item(1)])
    upload(rover, station, [item(0, 5100, 2)], 2)
    clear = mavlink.MAVLink_mission_clear_all_message(1, 1, 255)
    assert rover.ask(station, clear, "MISSION_ACK").type == 0
    assert all(not plan for plan in plans.values())


def test_a_cancelled_upload_keeps_the_old_mission(rover: Any) -> None:
    station, other = rover.station(), rover.station(system=254)
    upload(rover, station, [item(0), item(1)])
    rover.ask(station, count(3), "MISSION_REQUEST_INT")
    assert rover.ask(other, count(2), "MISSION_ACK").type == 14  # denied: another one is at it
    station.send(mavlink.MAVLink_mission_ack_message(1, 1, 15, 0))
    rover.pass_time(0.1)
    assert upload(rover, station, [item(0)]) == 0
    assert len(rover.autopilots[0].plans[PlanKind.MISSION]) == 1


def test_requests_are_repeated_and_then_time_out(rover: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    station = rover.station()
    monkeypatch.setattr(protocols, "monotonic", lambda: -1e9)  # so that only simulated time counts
    rover.ask(station, count(2), "MISSION_REQUEST_INT")
    answer = rover.expect(station, "MISSION_ACK")
    assert answer.type == 15
    assert sum(m.get_type() == "MISSION_REQUEST_INT" for m in station.received) == 8
    assert rover.bridge.time_us > 7_000_000


def test_two_stations_download_at_the_same_time(rover: Any) -> None:
    first, two = rover.station(), rover.station(system=245)
    upload(rover, first, [item(k) for k in range(3)])
    listing = mavlink.MAVLink_mission_request_list_message(1, 1, 0)
    assert rover.ask(first, listing, "MISSION_COUNT").count == 3
    assert rover.ask(two, listing, "MISSION_COUNT").target_system == 245
    for seq in range(3):
        for station in (two, first):
            request = mavlink.MAVLink_mission_request_int_message(1, 1, seq, 0)
            assert rover.ask(station, request, "MISSION_ITEM_INT").x == LATITUDE + 1000 * seq
    assert not any(m.get_type() == "MISSION_ITEM_INT" and m.target_system == 245 for m in first.received)


def test_the_current_item_by_message_and_by_command(rover: Any) -> None:
    station = rover.station()
    upload(rover, station, [item(k) for k in range(4)])
    station.send(mavlink.MAVLink_mission_set_current_message(1, 1, 2))
    rover.expect(station, "MISSION_CURRENT", lambda m: m.seq == 2)
    assert rover.order(station, 224, 3.0) == 0
    rover.expect(station, "MISSION_CURRENT", lambda m: m.seq == 3)
    assert rover.ask(station, mavlink.MAVLink_mission_set_current_message(1, 1, 99), "MISSION_ACK").type == 13
    assert rover.order(station, 224, 99.0) != 0


def test_a_rover_refuses_a_spline_by_its_name(rover: Any) -> None:
    station = rover.station()
    assert upload(rover, station, [item(0), item(1, 82), item(2)]) == 3  # MAV_MISSION_UNSUPPORTED
    text = rover.expect(station, "STATUSTEXT", lambda m: "Mission item 1" in m.text).text
    assert text == "Mission item 1 rejected: unsupported, NAV_SPLINE_WAYPOINT on a rover"[:50]
