"""pymavlink's own connection drives a rover through AUTO; its track is compared with the plan."""

from __future__ import annotations

import importlib.util
import os
import time
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

import pymap3d
import pytest

if importlib.util.find_spec("pymavlink") is None:
    missing = "pymavlink is not installed: pip install '.[dev]'"
    if os.environ.get("PADDOCK_REQUIRE_CLIENTS") == "1":
        pytest.fail(f"clients are required here: {missing}", pytrace=False)
    pytest.skip(f"{missing} (PADDOCK_REQUIRE_CLIENTS=1 makes this a failure)", allow_module_level=True)

from pymavlink import mavutil

PATIENCE = 120.0
HOME = (35.6812, 139.7671, 40.0)
START = (0.0, 5.0)  # m north, east of the world's origin, where the first vehicle of a fleet stands
CORNERS = [(30.0, 0.0), (30.0, 25.0), (0.0, 25.0)]


@pytest.fixture
def connect() -> Iterator[Callable[[int], Any]]:
    opened: list[Any] = []

    def open_one(port: int) -> Any:
        opened.append(mavutil.mavlink_connection(f"udpin:127.0.0.1:{port}", source_system=255, dialect="ardupilotmega"))
        assert opened[-1].wait_heartbeat(timeout=PATIENCE) is not None
        return opened[-1]

    yield open_one
    for each in opened:
        each.close()


def upload(link: Any, corners: list[tuple[float, float]]) -> None:
    """Home, then the corners, as MAVLink's specification of the mission protocol has it."""
    places = [(0.0, 0.0), *corners]
    link.mav.mission_count_send(1, 1, len(places), 0)
    while True:
        message = link.recv_match(type=["MISSION_REQUEST_INT", "MISSION_ACK"], blocking=True, timeout=PATIENCE)
        assert message is not None
        if message.get_type() == "MISSION_ACK":
            assert message.type == 0
            return
        latitude, longitude, _ = pymap3d.ned2geodetic(*places[message.seq], 0.0, *HOME)
        x, y = round(latitude * 1e7), round(longitude * 1e7)
        link.mav.mission_item_int_send(1, 1, message.seq, 3, 16, 0, 1, 0, 0, 0, 0, x, y, 0.0, 0)


def accepted(link: Any, command: int) -> bool:
    while True:
        message = link.recv_match(type="COMMAND_ACK", blocking=True, timeout=PATIENCE)
        assert message is not None, f"no answer to {command}"
        if message.command == command:
            return bool(message.result == 0)


def drive(link: Any, last: int) -> list[tuple[float, float]]:
    """Where it was (m north, east of the world's origin) until the last item was reached."""
    track: list[tuple[float, float]] = []
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        message = link.recv_match(type=["GLOBAL_POSITION_INT", "MISSION_ITEM_REACHED"], blocking=True, timeout=PATIENCE)
        assert message is not None
        if message.get_type() == "MISSION_ITEM_REACHED":
            if message.seq == last:
                return track
            continue
        north, east, _ = pymap3d.geodetic2ned(message.lat * 1e-7, message.lon * 1e-7, HOME[2], *HOME)
        track.append((float(north), float(east)))
    raise AssertionError(f"item {last} was never reached; last at {track[-1:]}")


def off_the_line(point: tuple[float, float], corners: list[tuple[float, float]]) -> float:
    """m to the nearest leg."""
    best = float("inf")
    for (n0, e0), (n1, e1) in pairwise(corners):
        dn, de = n1 - n0, e1 - e0
        share = min(max(((point[0] - n0) * dn + (point[1] - e0) * de) / (dn * dn + de * de), 0.0), 1.0)
        best = min(best, ((point[0] - n0 - share * dn) ** 2 + (point[1] - e0 - share * de) ** 2) ** 0.5)
    return best


def test_a_rover_drives_its_mission_within_two_metres(make_fleet: Any, connect: Callable[[int], Any]) -> None:
    fleet = make_fleet().settle()
    fleet.run_aside(10.0)
    link = connect(fleet.ports.station(1)[1])
    upload(link, CORNERS)
    link.mav.command_long_send(1, 1, 400, 0, 1, 0, 0, 0, 0, 0, 0)
    assert accepted(link, 400)
    link.mav.command_long_send(1, 1, 176, 0, 1, 10, 0, 0, 0, 0, 0)  # AUTO
    assert accepted(link, 176)
    link.mav.command_long_send(1, 1, 511, 0, 33, 100_000, 0, 0, 0, 0, 0)  # positions at 10 Hz
    assert accepted(link, 511)
    track = drive(link, last=3)
    plan = [START, *CORNERS]
    assert len(track) > 50
    assert max(off_the_line(point, plan) for point in track) < 2.0
    for corner in CORNERS:
        assert min(((n - corner[0]) ** 2 + (e - corner[1]) ** 2) ** 0.5 for n, e in track) < 2.5
    assert fleet.hub.vehicles[1].failures == 0
