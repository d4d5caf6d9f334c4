"""A served simulation that the test steps, and clients that use only sockets and the codec."""

from __future__ import annotations

import socket
import time
import urllib.request
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families

import paddock
from paddock.serve.host import Host
from paddock.serve.live import LiveSource
from paddock.wire.vds1 import CarCommand, CarState, Subscribe, decode, encode_command, encode_subscribe

RED = {"id": 1, "name": "red", "model": "car.bicycle", "pose": [3, -2, 0.7], "speed": 12, "sensors": ["imu", "gnss"]}
BLUE = {"id": 2, "name": "blue", "model": "car.kinematic", "pose": [0, 30, 3.0], "speed": 5}
BUS = {"id": 3, "name": "bus", "model": "car.kinematic", "pose": [0, 60, 0], "behaviour": "hold"}
DRONE = {"id": 4, "name": "drone", "model": "quad", "pose": [0, 0, 9, 0]}
SCENARIO = {"seed": 4, "clock": {"rate": 1000}, "vehicles": [RED, BLUE, BUS, DRONE]}


class Peer:
    """A client with plain sockets."""

    def __init__(self, host: Host) -> None:
        self.to = ("127.0.0.1", host.addresses["vds1"]["port"])
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind(("127.0.0.1", 0))
        self.socket.settimeout(20.0)
        self.sequence = 0

    def send(self, datagram: bytes) -> None:
        self.socket.sendto(datagram, self.to)

    def drive(self, vehicle: int, steer: float = 0.0, throttle: float = 0.0, brake: float = 0.0, **more: Any) -> None:
        self.sequence += 1
        sequence = more.pop("sequence", self.sequence)
        self.send(encode_command(CarCommand(sequence, vehicle, -1.0, steer, throttle, brake, **more)))

    def subscribe(self) -> None:
        self.send(encode_subscribe(Subscribe(0)))

    def states(self, count: int) -> list[CarState]:
        received = [decode(self.socket.recv(2048)) for _ in range(count)]
        return [state for state in received if isinstance(state, CarState)]


class Serving:
    """A simulation that is stepped by the test, its host, and clients; counts are those since `renew`."""

    def __init__(self, scenario: dict[str, Any] = SCENARIO, **vds1: Any) -> None:
        self.sim = paddock.load(scenario)
        self.sim.step(10)  # kernels are loaded or compiled
        self.host = paddock.share(self.sim, vds1={"port": 0, "state": None, **vds1}, metrics={"port": 0})
        self.peers: list[Peer] = []
        self._commands, self._counts = 0, dict[tuple[str, str], float]()

    def __enter__(self) -> Serving:
        return self

    def __exit__(self, *_: object) -> None:
        self.renew()
        self.host.close()
        self.sim.close()

    def renew(self) -> None:
        for peer in self.peers:
            peer.socket.close()
        self.peers = []
        self._commands += self.commands
        self._counts = self._read()

    def peer(self) -> Peer:
        self.peers.append(Peer(self.host))
        return self.peers[-1]

    @property
    def commands(self) -> int:
        assert isinstance(self.host.source, LiveSource)
        return self.host.source.commands - self._commands

    def command(self, vehicle: str) -> dict[str, float]:
        command: dict[str, float] = self.sim.vehicles.inspect(vehicle)["command"]
        return command

    def _read(self) -> dict[tuple[str, str], float]:
        address = f"http://127.0.0.1:{self.host.addresses['metrics']['port']}/metrics"
        with urllib.request.urlopen(address, timeout=20) as answer:
            page = answer.read().decode()
        samples = [s for family in text_string_to_metric_families(page) for s in family.samples]
        own = [s for s in samples if s.labels.get("endpoint") == "vds1"]
        return {(s.name.removeprefix("paddock_hub_"), s.labels.get("reason", "")): s.value for s in own}

    def count(self, name: str, reason: str = "") -> float:
        key = (f"{name}_total", reason)
        return self._read().get(key, 0.0) - self._counts.get(key, 0.0)

    def refused(self, reason: str) -> float:
        return self.count("datagrams_refused", reason)

    def subscribers(self) -> float:
        return self._read()["paddock_clients", ""]

    @staticmethod
    def eventually(true: Callable[[], bool], seconds: float = 60.0) -> bool:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if true():
                return True
            time.sleep(0.02)
        return False


@pytest.fixture(scope="module")
def served() -> Iterator[Serving]:
    with Serving() as serving:
        yield serving


@pytest.fixture
def serving(served: Serving) -> Serving:
    """The same for all tests of a file, from tick 10 of a new run."""
    served.renew()
    served.sim.reset()
    served.sim.step(10)
    return served


@pytest.fixture
def serve() -> type[Serving]:
    """Create further ones, with other options."""
    return Serving
