"""pymavlink uploads a plan of QGroundControl: take-off, survey, landing pattern; a plane flies it and lands."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import pi
from typing import Any

import numpy as np
import pymap3d
import pytest

import paddock

if importlib.util.find_spec("pymavlink") is None:
    missing = "pymavlink is not installed: pip install '.[dev]'"
    if os.environ.get("PADDOCK_REQUIRE_CLIENTS") == "1":
        pytest.fail(f"clients are required here: {missing}", pytrace=False)
    pytest.skip(f"{missing} (PADDOCK_REQUIRE_CLIENTS=1 makes this a failure)", allow_module_level=True)

from pymavlink import mavutil

RATE = 100
HOME = (35.6812, 139.7671, 40.0)
ALTITUDE = 45.0  # m, of the survey
ROWS = (40.0, 160.0)  # m east of home
LAND = (40.0, -160.0)  # m north, east of home: the touchdown point
DISTANCE, RADIUS, APPROACH = 300.0, 75.0, 40.0  # m: QGroundControl's defaults of a landing pattern
Item = tuple[int, int, tuple[float, float, float, float], float, float, float]  # frame, command, p1-p4, n, e, z


def plan() -> list[Item]:
    """The items that QGroundControl sends to an ArduPlane: home first, the landing to the north, clockwise circle."""
    none = (0.0, 0.0, 0.0, 0.0)
    items: list[Item] = [(0, 16, none, 0.0, 0.0, HOME[2]), (3, 22, (15.0, 0.0, 0.0, 0.0), 120.0, 0.0, 30.0)]
    for k, east in enumerate(ROWS):
        first, last = (250.0, 600.0) if k % 2 == 0 else (600.0, 250.0)
        items += [(3, 16, none, first, east, ALTITUDE), (2, 206, (25.0, 0.0, 1.0, 0.0), 0.0, 0.0, 0.0)]
        items += [(3, 16, none, last, east, ALTITUDE), (2, 206, none, 0.0, 0.0, 0.0)]
    circle = LAND[0] - DISTANCE, LAND[1] + RADIUS  # its tangent leads to the touchdown point
    items += [(2, 189, none, 0.0, 0.0, 0.0), (3, 31, (1.0, RADIUS, 0.0, 1.0), *circle, APPROACH)]
    return [*items, (3, 21, none, *LAND, 0.0)]


class Operator:
    """A pymavlink connection and the simulation, which steps while the operator waits; the true track."""

    def __init__(self, sim: Any, port: int) -> None:
        self.sim, self.track, self.seen = sim, [], []  # type: ignore[var-annotated]
        self.link = mavutil.mavlink_connection(f"udpin:127.0.0.1:{port}", source_system=255, dialect="ardupilotmega")

    def step(self) -> list[Any]:
        """0.2 s of simulated time; the messages that arrived."""
        self.sim.step(RATE // 5)
        plane = self.sim.snapshot()["plane"]
        self.track.append([self.sim.time, *plane.position, *plane.velocity])
        messages = []
        while (message := self.link.recv_match(blocking=False)) is not None:
            messages.append(message)
        self.link.mav.heartbeat_send(6, 8, 0, 0, 0)
        self.seen += [
            m for m in messages if m.get_type() in ("EXTENDED_SYS_STATE", "MISSION_ITEM_REACHED", "STATUSTEXT")
        ]
        return messages

    def wait(self, kind: str, fits: Callable[[Any], bool] = lambda message: True, seconds: float = 30.0) -> Any:
        """The next message of a kind that fits."""
        end = self.sim.time + seconds
        while self.sim.time < end:
            for message in self.step():
                if message.get_type() == kind and fits(message):
                    return message
        raise AssertionError(f"no {kind} within {seconds} s; texts: {self.texts()}")

    def texts(self) -> list[str]:
        return [m.text for m in self.seen if m.get_type() == "STATUSTEXT"]

    def command(self, number: int, *p: float) -> None:
        self.link.mav.command_long_send(1, 1, number, 0, *p, *[0.0] * (7 - len(p)))
        assert self.wait("COMMAND_ACK", lambda m: m.command == number).result == 0

    def upload(self, items: list[Item]) -> None:
        self.link.mav.mission_count_send(1, 1, len(items), 0)
        sent = -1
        while True:
            asked = self.wait_any("MISSION_REQUEST_INT", "MISSION_REQUEST", "MISSION_ACK")
            if asked.get_type() == "MISSION_ACK":
                assert asked.type == 0, f"item {sent} refused with {asked.type}"
                return
            sent = asked.seq
            frame, command, p, north, east, z = items[sent]
            latitude, longitude, _ = pymap3d.ned2geodetic(north, east, 0.0, *HOME)
            x, y = (round(latitude * 1e7), round(longitude * 1e7)) if frame != 2 else (0, 0)
            self.link.mav.mission_item_int_send(1, 1, sent, frame, command, 0, 1, *p, x, y, z, 0)

    def wait_any(self, *kinds: str) -> Any:
        for _ in range(200):
            messages = [message for message in self.step() if message.get_type() in kinds]
            if messages:
                return messages[-1]
        raise AssertionError(f"none of {kinds}")


@contextmanager
def operated(model: str, links: dict[str, Any]) -> Iterator[Operator]:
    parameters = {"LAND_DISARMDELAY": 2, "WP_RADIUS": 40}
    vehicle = {"name": "plane", "model": model, "preset": "mapper", "pose": [0.0, 0.0, 0.0, pi / 2]}
    pilots = {"vehicles": "plane", "parameters": parameters}
    world = {"origin": list(HOME)}
    scenario = {"seed": 5, "clock": {"rate": RATE}, "world": world, "vehicles": [vehicle]}
    with paddock.load({**scenario, "sitl": {"pilots": [pilots], "mavlink": links}}) as sim:
        operator = Operator(sim, links["station"])
        try:
            yield operator
        finally:
            operator.link.close()


@pytest.mark.slow
@pytest.mark.parametrize(("model", "off"), [("plane", 15.0), ("fixed_wing", 40.0)])
def test_it_flies_take_off_survey_and_landing_pattern(
    own_links: Callable[[int], dict[str, Any]], model: str, off: float
) -> None:
    """`off`: m along the runway from the point to the touchdown; the stabilised model has no drag and floats."""
    with operated(model, own_links(1)) as operator:
        operator.wait("HEARTBEAT")
        operator.upload(plan())
        operator.command(511, 245, 200_000)  # EXTENDED_SYS_STATE
        operator.command(400, 1)
        operator.command(176, 1, 10)  # AUTO
        operator.wait("HEARTBEAT", lambda m: m.base_mode & 128, 10.0)
        operator.wait("HEARTBEAT", lambda m: not m.base_mode & 128, 320.0)
        reached = [m.seq for m in operator.seen if m.get_type() == "MISSION_ITEM_REACHED"]
        states = [m.landed_state for m in operator.seen if m.get_type() == "EXTENDED_SYS_STATE"]
        track = np.array(operator.track)
        assert not [event for event in operator.sim.events.since() if event.kind == "crashed"]
    # take-off 1, rows 2-4 and 6-8, DO_LAND_START 10, circle 11, land 12
    assert reached == [1, 2, 4, 6, 8, 11, 12]
    changes = [state for k, state in enumerate(states) if k == 0 or state != states[k - 1]]
    assert changes == [1, 3, 2, 4, 1]  # on ground, take-off, in air, landing, on ground
    # along the runway, no faster than full throttle allows, and on the rows at the survey's altitude
    lifted = track[track[:, 3] > 1.0][0]
    assert abs(lifted[1]) < 2.0 and 10.0 < lifted[2] < 80.0
    for east, (low, high) in zip(ROWS, ((450.0, 540.0), (300.0, 390.0)), strict=True):  # once it has lined up
        row = track[(np.abs(track[:, 1] - east) < 20.0) & (track[:, 2] > low) & (track[:, 2] < high)]
        assert len(row) > 20 and np.abs(row[:, 1] - east).max() < 6.0
        assert np.abs(row[:, 3] - ALTITUDE).max() < 4.0
    # touchdown near the point, gently, and a straight roll-out
    landed = track[(track[:, 0] > 60.0) & (track[:, 3] < 0.05)]
    touchdown, halt = landed[0], landed[-1]
    assert abs(touchdown[1] - LAND[1]) < 3.0 and abs(touchdown[2] - LAND[0]) < off
    falling = track[(track[:, 0] > 60.0) & (track[:, 3] > 0.05) & (track[:, 3] < 2.0)]
    assert falling[-1, 6] > -1.6
    assert np.hypot(*halt[4:6]) < 3.0 and abs(halt[1] - LAND[1]) < 5.0
