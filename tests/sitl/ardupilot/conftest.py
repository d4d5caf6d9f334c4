"""A stand-in of ArduPilot: sends servo packets, parses the answers by key search, keeps its own time."""

from __future__ import annotations

import re
import socket
import struct
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import pytest

from paddock.autopilot.vehicle_data import TRUTH, SensorData
from paddock.sitl.ardupilot import ArduPilotAutopilot

Make = Callable[..., ArduPilotAutopilot]
Sensors = Callable[..., SensorData]
DT = 1.0 / 1000.0
NUMBER = re.compile(r"[-+]?\d+\.?\d*(?:[eE][-+]?\d+)?")
KEYS = (
    ("", "timestamp", 1, True),
    ("imu", "gyro", 3, True),
    ("imu", "accel_body", 3, True),
    ("", "position", 3, True),
    ("", "attitude", 3, False),
    ("", "quaternion", 4, False),
    ("", "velocity", 3, True),
    ("", "rng_1", 1, False),
    ("", "rng_2", 1, False),
    ("windvane", "direction", 1, False),
    ("windvane", "speed", 1, False),
    ("", "airspeed", 1, False),
    ("", "no_time_sync", 1, False),
    ("", "no_lockstep", 1, False),
    ("battery", "voltage", 1, False),
    ("battery", "current", 1, False),
)


def search(line: str) -> dict[str, list[float]]:
    """What ArduPilot finds in a line: by searching for names, not by parsing."""
    ports = {}
    for section, key, count, required in KEYS:
        at = line.find(section)
        at = line.find(key, at + len(section) + 1) if at >= 0 else -1
        if at < 0:
            assert not required, f"Did not contain all mandatory fields: {key}"
            continue
        numbers = islice(NUMBER.finditer(line, at + len(key) + 2), count)
        ports[key] = [float(number.group()) for number in numbers]
    assert "attitude" in ports or "quaternion" in ports, "Did not receive attitude or quaternion"
    return ports


@dataclass
class StandIn:
    """One ArduPilot. `rate_hz` follows the physics as the real one's does, one Hz per frame towards its wish."""

    port: int
    channels: int = 16
    wish_hz: float = 1200.0
    rate_hz: float = 1200.0
    frame: int = 0
    timestamp: float = 0.0
    time_s: float = 0.0
    steps: int = 0
    resets: int = 0
    state: dict[str, list[float]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.settimeout(1.0)

    def restart(self) -> None:
        """Restart the process: another source port, frame 0."""
        self.socket.close()
        self.frame, self.timestamp, self.time_s, self.rate_hz = 0, 0.0, 0.0, self.wish_hz
        self.__post_init__()

    def send(self, pwm: Sequence[int] = ()) -> None:
        """The servos of this frame; again, if it has been sent before."""
        magic = {16: 18458, 32: 29569}[self.channels]
        outputs = [*pwm, *[0] * (self.channels - len(pwm))]
        packet = struct.pack(f"<HHI{self.channels}H", magic, int(self.rate_hz), self.frame, *outputs)
        self.socket.sendto(packet, ("127.0.0.1", self.port))

    def receive(self) -> dict[str, list[float]]:
        """The answer, with the time that passes for ArduPilot."""
        data = self.socket.recv(65000).decode()
        assert data.startswith("\n") and data.endswith("\n")
        self.state = search(data.strip("\n"))
        stamp = self.state["timestamp"][0]
        elapsed = stamp - self.timestamp
        if elapsed < 0.0:
            self.resets += 1
            elapsed = 0.0
        self.time_s += elapsed
        if 0.0 < elapsed < 0.1:
            self.steps += 1
            self.rate_hz = 1.0 / elapsed
        self.timestamp = stamp
        self.frame += 1
        self.rate_hz = min(max(self.wish_hz, self.rate_hz - 1.0), self.rate_hz + 1.0)
        return self.state

    def pending(self) -> int:
        """Unread answers."""
        self.socket.settimeout(0.0)
        count = 0
        try:
            while self.socket.recv(65000):
                count += 1
        except BlockingIOError:
            pass
        self.socket.settimeout(1.0)
        return count


@pytest.fixture
def stand_in() -> Iterator[Callable[..., StandIn]]:
    made: list[StandIn] = []

    def make(port: int, **options: float) -> StandIn:
        made.append(StandIn(port, **options))  # type: ignore[arg-type]
        return made[-1]

    yield make
    for peer in made:
        peer.socket.close()


def sensors_at(time_us: float, **values: Any) -> SensorData:
    """A vehicle at rest at the origin."""
    row = SensorData(time_us=time_us, imu_time_us=time_us, gyro=(0.0, 0.0, 0.0), accel=(0.0, 0.0, -9.81))
    row.row[TRUTH] = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0)
    return SensorData(row.row, **values)


@pytest.fixture
def sensors() -> Callable[..., SensorData]:
    return sensors_at


@pytest.fixture
def pilot() -> Iterator[Make]:
    opened: list[ArduPilotAutopilot] = []

    def make(frame: str = "copter", dt: float = DT, **options: Any) -> ArduPilotAutopilot:
        opened.append(ArduPilotAutopilot(frame, dt, port=0, **options))
        opened[-1].open()
        return opened[-1]

    yield make
    for pilot in opened:
        pilot.close()


class World:
    """The bridge's part: time, and an exchange at every period."""

    def __init__(self, pilot: ArduPilotAutopilot, sensors: Sensors) -> None:
        self.pilot, self.sensors, self.time_us = pilot, sensors, 0

    def turn(self, timeout: float = 1.0) -> list[float] | None:
        commands = self.pilot.collect(timeout)
        if commands is None:
            return None
        self.time_us = self.pilot.next_us(self.time_us)
        self.pilot.offer(self.sensors(self.time_us))
        return commands.row.tolist()


@pytest.fixture
def world_of(sensors: Sensors) -> Callable[[ArduPilotAutopilot], World]:
    return lambda pilot: World(pilot, sensors)
