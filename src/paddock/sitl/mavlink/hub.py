"""The MAVLink sockets of all vehicles, serviced by the thread that ticks; nothing blocks."""

from __future__ import annotations

import selectors
import socket
import time
from pathlib import Path
from typing import TYPE_CHECKING

from paddock.errors import InvalidValueError, PaddockError
from paddock.sitl.mavlink.link import SILENCE, Address, MavlinkLink, MavlinkPeers, PortError, Ports, TelemetryLog, bind
from paddock.sitl.mavlink.packets import PacketReader
from paddock.sitl.mavlink.vehicle import MavlinkVehicle

if TYPE_CHECKING:
    from paddock.sitl.autopilot.autopilot import BuiltInAutopilot

PERIOD_US = 20_000  # us of simulated time between two polls: the log must not depend on wall time

PAUSED_AFTER = 0.05  # s of wall time without progress after which the simulation counts as paused
PAUSED_PERIOD = 0.005  # s of wall time between two polls while paused
HOUSEKEEPING_PERIOD = 0.25  # s of wall time between checks for due heartbeats and silent peers
MAX_SYSID = 254


class MavlinkHub:
    """The MAVLink network of a simulation. Call `service` at every exchange, and `idle` while paused."""

    def __init__(self, ports: Ports | None = None, log_folder: Path | None = None, silence: float = SILENCE) -> None:
        """`log_folder` receives one .tlog per vehicle; peers are removed after `silence` s."""
        self.ports = ports or Ports()
        self.vehicles: dict[int, MavlinkVehicle] = {}
        self._log_folder = log_folder
        self._silence = silence
        self._selector = selectors.DefaultSelector()
        self._reader = PacketReader()
        self.links: dict[int, MavlinkLink] = {}  # by system id; 0: shared
        self._now_us = -1
        self._contacted = False  # a packet has been received
        self._serviced_us = -PERIOD_US
        self._polled = self._kept = self._moved = 0.0  # wall time
        if self.ports.shared_port is not None:
            self._open(0, self.ports.shared_port, "all vehicles", "--shared-port", self.ports.shared_station())

    def add(self, autopilot: BuiltInAutopilot) -> MavlinkVehicle:
        """Open the ports of an autopilot; raise PaddockError if its system id or a port is in use."""
        sysid = autopilot.sysid
        if not 1 <= sysid <= MAX_SYSID:
            raise InvalidValueError(f"system id {sysid} is not in 1 to {MAX_SYSID}")
        if sysid in self.vehicles:
            raise PaddockError(f"system id {sysid} is in use: every vehicle needs its own, 1 to {MAX_SYSID}")
        port = self.ports.own(sysid)
        target: Address | None = self.ports.station(sysid)
        if port == self.ports.shared_port:
            raise PortError(f"vehicle {sysid}: port {port} is also the shared port; choose another --shared-port")
        if self.ports.shared_port is not None and target == self.ports.shared_station():
            target = None  # the shared link already sends to it
        link = self._open(sysid, port, f"vehicle {sysid}", "--base-port", target)
        try:
            folder = self._log_folder
            vehicle = MavlinkVehicle(autopilot, TelemetryLog(folder / f"vehicle_{sysid}.tlog") if folder else None)
        except PaddockError:
            self._close_link(sysid)
            raise
        vehicle.now_us = max(self._now_us, 0)
        for each in (link, self.links.get(0)):
            if each is not None:
                each.vehicles[sysid] = vehicle
                vehicle.links.append(each)
        self.vehicles[sysid] = vehicle
        return vehicle

    def _open(self, key: int, port: int, owner: str, option: str, target: Address | None) -> MavlinkLink:
        opened = bind(self.ports.host, port, owner, option)
        if target is not None:
            try:
                target = socket.gethostbyname(target[0]), target[1]  # replies come from numeric addresses
            except OSError as error:
                raise PaddockError(f"unknown ground station host {target[0]!r}: {error}") from error
        link = MavlinkLink(opened, MavlinkPeers(target, self._silence))
        self.links[key] = link
        self._selector.register(opened, selectors.EVENT_READ, link)
        return link

    def remove(self, sysid: int) -> None:
        """Remove a vehicle and free its ports; ignored if unknown."""
        vehicle = self.vehicles.pop(sysid, None)
        if vehicle is None:
            return
        vehicle.close()
        for link in vehicle.links:
            del link.vehicles[sysid]
        self._close_link(sysid)

    def _close_link(self, key: int) -> None:
        link = self.links.pop(key)
        self._selector.unregister(link.socket)
        link.socket.close()

    def close(self) -> None:
        """Close all ports and logs."""
        for sysid in list(self.vehicles):
            self.remove(sysid)
        for key in list(self.links):
            self._close_link(key)
        self._selector.close()

    def service(self, now_us: int) -> None:
        """Receive, reply and send what is due at this simulated time; cheap when nothing is due.

        Sockets are polled every 20 ms of simulated time. While the time does not change (paused) they are polled every
        5 ms of wall time, and peers receive heartbeats that are not logged.
        """
        wall = time.monotonic()
        paused, self._now_us = now_us == self._now_us, now_us
        if wall - self._kept >= HOUSEKEEPING_PERIOD:
            self._kept = wall
            for sysid, vehicle in self.vehicles.items():
                vehicle.beat(wall)
                vehicle.autopilot.status.rejected = self.links[sysid].counters.rejected
            for link in self.links.values():
                link.peers.evict(wall)
        if paused:
            if wall - self._moved >= PAUSED_AFTER and wall - self._polled >= PAUSED_PERIOD:
                self._work(now_us, wall, True)
            return
        self._moved = wall
        if not 0 <= now_us - self._serviced_us < PERIOD_US:
            self._work(now_us, wall, False)

    def idle(self) -> None:
        """Service while the simulation is paused or waits for another process."""
        if self._now_us >= 0:
            self.service(self._now_us)

    def _work(self, now_us: int, wall: float, paused: bool) -> None:
        if now_us < self._serviced_us:
            for vehicle in self.vehicles.values():
                vehicle.restart(now_us)
        self._polled = wall
        ready = self._selector.select(0)
        self._contacted = self._contacted or bool(ready)
        if paused and not self._contacted:
            return  # no peer yet: the log must not depend on wall time
        if not paused:
            self._serviced_us = now_us
        for vehicle in self.vehicles.values():
            vehicle.now_us = now_us
        for key, _ in ready:
            key.data.receive(self._reader, wall)
        for vehicle in self.vehicles.values():
            vehicle.service(now_us, wall, paused)
