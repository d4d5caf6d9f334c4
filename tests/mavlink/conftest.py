"""Vehicles with MAVLink on free ports, and ground stations made of a socket and pymavlink's own parser."""

from __future__ import annotations

import select
import socket
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from free_ports import free_ports

from paddock.autopilot.autopilot import BuiltInAutopilot
from paddock.sitl.adapter import Placed, SimulatorAdapter
from paddock.sitl.adapters.lightweight import LightweightAdapter
from paddock.sitl.bridge import Bridge

mavlink = pytest.importorskip("pymavlink.dialects.v20.ardupilotmega", reason="pymavlink is not installed")

from paddock.mavlink.hub import MavlinkHub  # noqa: E402
from paddock.mavlink.link import Ports  # noqa: E402

PATIENCE = 240.0  # s of wall time before a test fails, on a slow machine and with kernels to compile
READY_US = 15_000_000  # simulated: the estimator has settled long before


class Station:
    """A ground station: everything it receives is parsed by pymavlink's stream parser."""

    def __init__(self, vehicle_port: int, port: int = 0, system: int = 255, component: int = 190) -> None:
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind(("127.0.0.1", port))
        self.socket.setblocking(False)
        self.port: int = self.socket.getsockname()[1]
        self.to = ("127.0.0.1", vehicle_port)
        self.out = mavlink.MAVLink(None, srcSystem=system, srcComponent=component)
        self.parser = mavlink.MAVLink(None)
        self.parser.robust_parsing = True
        self.received: list[Any] = []
        self.read = 0  # messages before this index have been examined

    def send(self, message: Any, v1: bool = False) -> None:
        self.send_bytes(message.pack(self.out, force_mavlink1=v1))
        self.out.seq = (self.out.seq + 1) % 256

    def send_bytes(self, data: bytes) -> None:
        self.socket.sendto(data, self.to)

    def listen(self) -> None:
        """Receive waiting packets."""
        while select.select([self.socket], [], [], 0)[0]:
            self.received += self.parser.parse_buffer(self.socket.recv(4096)) or []

    def next(self, kinds: tuple[str, ...], test: Callable[[Any], bool]) -> Any:
        """The next such message among those that were not looked at; None if there is none yet."""
        self.listen()
        while self.read < len(self.received):
            self.read += 1
            if self.received[self.read - 1].get_type() in kinds and test(self.received[self.read - 1]):
                return self.received[self.read - 1]
        return None

    def forget(self) -> None:
        self.listen()
        self.received.clear()
        self.read = 0

    def greet(self) -> None:
        self.send(mavlink.MAVLink_heartbeat_message(6, 8, 0, 0, 4, 3))

    def command(self, number: int, *p: float, confirmation: int = 0, target: int = 1) -> None:
        values = [*p, *([0.0] * 7)][:7]
        self.send(mavlink.MAVLink_command_long_message(target, 1, number, confirmation, *values))


class Fleet:
    """A bridge with vehicles, a hub, and stations; time passes in the thread of the test, or in a separate one."""

    def __init__(self, adapter: SimulatorAdapter, count: int, craft: str, **options: Any) -> None:
        self.base, self.station_base = free_ports(count + 1), free_ports(count + 1)
        ports = options.pop("ports", {})
        if ports.pop("shared", False):
            ports["shared_port"] = self.base + count
        self.ports = Ports(base_port=self.base, station_port=self.station_base, **ports)
        self.bridge = Bridge()
        self.hub = MavlinkHub(self.ports, **options)
        self.bridge.register(adapter)
        self.autopilots = [BuiltInAutopilot(k, craft) for k in range(1, count + 1)]
        for pilot in self.autopilots:
            placed = Placed(
                pilot.sysid, f"v{pilot.sysid}", craft, (5.0 * (pilot.sysid // 16), 5.0 * (pilot.sysid % 16), 0.0)
            )
            self.bridge.spawn(placed, pilot, adapter.name)
            self.hub.add(pilot)
        self.bridge.after_exchange.append(self.hub.service)
        self.bridge.while_waiting.append(self.hub.idle)
        self.stations: list[Station] = []
        self._thread: threading.Thread | None = None
        self._stop = threading.Event()

    def step(self) -> None:
        """The next exchange, called as the engine's barrier calls it."""
        self.bridge.exchange(self.bridge.due(round(self.bridge.time_us * self.bridge.tick_rate / 1e6)))

    def station(self, sysid: int = 1, **options: Any) -> Station:
        self.stations.append(Station(self.ports.own(sysid), **options))
        return self.stations[-1]

    def listener(self, sysid: int = 1, **options: Any) -> Station:
        """Return the station that a vehicle sends to unasked."""
        return self.station(sysid, port=self.ports.station(sysid)[1], **options)

    def arrived(self, sysid: int = 1) -> None:
        """Wait until packets sent to a vehicle are in its socket."""
        assert select.select([self.hub.vehicles[sysid].links[0].socket], [], [], PATIENCE)[0]

    def pass_time(self, seconds: float) -> None:
        self._pass_until(self.bridge.time_us + round(seconds * 1e6))

    def settle(self) -> Fleet:
        """Until every vehicle knows where it is and may be armed."""
        self._pass_until(READY_US)
        return self

    def _pass_until(self, time_us: int) -> None:
        while self.bridge.time_us < time_us:
            self.step()
            for station in self.stations:
                station.listen()  # its socket holds a few hundred packets

    def expect(self, station: Station, kind: str, test: Callable[[Any], bool] = lambda _: True) -> Any:
        """Run until the station receives such a message; `kind` may be several, separated by |."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            if (message := station.next(tuple(kind.split("|")), test)) is not None:
                return message
            if self._thread is None:
                self.step()
            else:
                select.select([station.socket], [], [], 1.0)
        names = sorted({m.get_type() for m in station.received})
        raise AssertionError(
            f"no such {kind}; received {names}, {[m.text for m in station.received if 'TEXT' in m.get_type()]}"
        )

    def ask(self, station: Station, message: Any, kind: str, test: Callable[[Any], bool] = lambda _: True) -> Any:
        station.send(message)
        return self.expect(station, kind, test)

    def order(self, station: Station, number: int, *p: float, **options: Any) -> int:
        """The result of a command."""
        station.command(number, *p, **options)
        return int(self.expect(station, "COMMAND_ACK", lambda m: m.command == number).result)

    def run_aside(self, scale: float) -> None:
        """Run in a separate thread."""

        def pace() -> None:
            wall, start_us = time.monotonic(), self.bridge.time_us
            while not self._stop.wait(
                max(0.0, wall + (self.bridge.due_us - start_us) * 1e-6 / scale - time.monotonic())
            ):
                self.step()

        self._thread = threading.Thread(target=pace)
        self._thread.start()

    def close(self) -> None:
        self._stop.set()
        if self._thread is not None:
            self._thread.join()
        self.bridge.close()
        self.hub.close()
        for station in self.stations:
            station.socket.close()


@pytest.fixture
def make_fleet() -> Iterator[Callable[..., Fleet]]:
    """Fleets of rovers on the lightweight simulator, or of other vehicles; closed after the test."""
    made: list[Fleet] = []

    def make(count: int = 1, craft: str = "rover", adapter: SimulatorAdapter | None = None, **options: Any) -> Fleet:
        made.append(Fleet(adapter or LightweightAdapter(seed=3), count, craft, **options))
        return made[-1]

    yield make
    for fleet in made:
        fleet.close()


@pytest.fixture
def rover(make_fleet: Callable[..., Fleet]) -> Fleet:
    """One rover that has just been switched on."""
    return make_fleet()


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    return tmp_path / "logs"
