"""The Gazebo adapter keeps the contract of adapters, with three rovers behind stand-ins of the plugin."""

from __future__ import annotations

import json
import select
import socket
import struct
import threading

import numpy as np
import pytest

from paddock.sitl.adapter import AdapterError, Placed
from paddock.sitl.adapters.ardupilot_gazebo import ArduPilotGazeboAdapter
from paddock.testing import check_adapter


class RoverWorld(threading.Thread):
    """Three skid-steer rovers at ports 10 apart; a restarted controller finds them at their start."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.sockets = _neighbours(3)
        self.port = self.sockets[0].getsockname()[1]
        self.rovers = [[0.0] * 4 for _ in self.sockets]  # ticks, north, east, yaw
        self.answered: dict[int, tuple[tuple[str, int], int, bytes]] = {}  # socket -> sender, its frame, the answer
        self.ended = threading.Event()
        self.start()

    def run(self) -> None:
        while not self.ended.is_set():
            for ready in select.select(self.sockets, [], [], 0.05)[0]:
                data, source = ready.recvfrom(100)
                _, _, frame, *pwm = struct.unpack("<HHI16H", data)
                number = self.sockets.index(ready)
                rover, (whom, before, answer) = self.rovers[number], self.answered.get(number, (("", 0), -1, b""))
                if (whom, before) != (source, frame):  # a frame that is repeated, however late, moves nothing
                    if frame == 0:
                        rover[:] = [0.0] * 4
                    answer = self.step(rover, pwm)
                self.answered[number] = (source, frame, answer)
                ready.sendto(answer, source)

    def step(self, rover: list[float], pwm: list[int]) -> bytes:
        left, right = ((channel - 1500) / 500 * 3.0 if channel else 0.0 for channel in (pwm[0], pwm[2]))
        speed, turn = 0.5 * (left + right), (left - right) / 0.5
        rover[0] += 1.0
        rover[3] += turn * 1e-3
        velocity = [speed * np.cos(rover[3]), speed * np.sin(rover[3]), 0.0]
        rover[1] += velocity[0] * 1e-3
        rover[2] += velocity[1] * 1e-3
        imu = {"gyro": [0.0, 0.0, turn], "accel_body": [0.0, 0.0, -9.80665]}
        state = {"timestamp": rover[0] * 1e-3, "imu": imu, "position": [rover[1], rover[2], 0.0], "velocity": velocity}
        return b"\n" + json.dumps({**state, "attitude": [0.0, 0.0, rover[3]]}).encode() + b"\n"

    def end(self) -> None:
        self.ended.set()
        self.join()
        for opened in self.sockets:
            opened.close()


def _neighbours(count: int) -> list[socket.socket]:
    """Sockets at ports 10 apart, wherever there is room for them."""
    for base in range(20_000, 60_000, 100):
        bound: list[socket.socket] = []
        try:
            for k in range(count):
                bound.append(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
                bound[-1].bind(("127.0.0.1", base + 10 * k))
        except OSError:
            for address in bound:
                address.close()
        else:
            return bound
    raise OSError("no free ports")


@pytest.mark.slow
def test_it_keeps_the_contract_of_adapters(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "paddock.sitl.adapters.ardupilot_gazebo.RESEND_AFTER", 15.0
    )  # a busy machine is not a lost packet
    world = RoverWorld()
    try:
        report = check_adapter(lambda: ArduPilotGazeboAdapter(port=world.port), craft="rover")
    finally:
        world.end()
    assert len(report.details) >= 17
    assert report.details["position"] == "consistent with velocity: latitude"  # it drives north


def test_a_vehicle_beyond_the_capacity_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ArduPilotGazeboAdapter, "capacity", 2)
    adapter = ArduPilotGazeboAdapter(port=20_000)
    adapter.connect()
    for number in (7, 3):
        adapter.add_vehicle(Placed(number, f"v{number}", "rover"))
    with pytest.raises(AdapterError, match="adapter 'ardupilot_gazebo' is full with 2 vehicles"):
        adapter.add_vehicle(Placed(1, "more", "rover"))
    assert adapter.vehicles == (3, 7)
    adapter.disconnect()
