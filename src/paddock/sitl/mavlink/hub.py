"""All vehicles' MAVLink sockets in one place, serviced by the thread that ticks; nothing here ever waits."""

from __future__ import annotations

import selectors
import socket
import time
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from paddock.errors import InvalidValueError, PaddockError
from paddock.sitl.mavlink.link import Link
from paddock.sitl.mavlink.log import TelemetryLog
from paddock.sitl.mavlink.packets import Counters, Reader
from paddock.sitl.mavlink.peers import SILENCE, Address, Peers
from paddock.sitl.mavlink.ports import PortError, Ports, bind
from paddock.sitl.mavlink.vehicle import MavlinkVehicle

if TYPE_CHECKING:
    from paddock.sitl.autopilot.autopilot import BuiltInAutopilot

PERIOD_US = 20_000
"""us of simulated time between two looks at the sockets: a run's bytes must not depend on the clock on the wall."""

STANDING_AFTER = 0.05  # s of wall time in which simulated time has not moved: it is paused, or waits for somebody
STANDING_PERIOD = 0.005  # s of wall time between two looks while simulated time stands still
HOUSEKEEPING_PERIOD = 0.25  # s of wall time between looks for late heartbeats and silent stations
LARGEST_SYSID = 254


class MavlinkHub:
    """The MAVLink network of a simulation. `service` is called at every exchange, and while the world is paused."""

    def __init__(self, ports: Ports | None = None, log_folder: Path | None = None, silence: float = SILENCE) -> None:
        """`log_folder`: one .tlog per vehicle; `silence` s after which a ground station is forgotten."""
        self.ports = ports or Ports()
        self.vehicles: dict[int, MavlinkVehicle] = {}
        self._log_folder = log_folder
        self._silence = silence
        self._selector = selectors.DefaultSelector()
        self._reader = Reader()
        self._links: dict[int, Link] = {}  # by system id; 0: the shared one
        self._now_us = -1
        self._attended = False  # somebody has spoken
        self._serviced_us = -PERIOD_US
        self._polled = self._kept = self._moved = 0.0  # wall time
        if self.ports.shared_port is not None:
            self._open(0, self.ports.shared_port, "all vehicles", "--shared-port", self.ports.shared_station())

    def __enter__(self) -> MavlinkHub:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    # vehicles --------------------------------------------------------------------------------------------------------

    def add(self, autopilot: BuiltInAutopilot) -> MavlinkVehicle:
        """Give an autopilot its ports; a system id or a port that is taken is refused in one line."""
        sysid = autopilot.sysid
        if not 1 <= sysid <= LARGEST_SYSID:
            raise InvalidValueError(f"system id {sysid}: valid are 1 to {LARGEST_SYSID}")
        if sysid in self.vehicles:
            raise PaddockError(f"system id {sysid} is taken: every vehicle needs its own, from 1 to {LARGEST_SYSID}")
        port, target = self._ports_of(sysid)
        link = self._open(sysid, port, f"vehicle {sysid}", "--base-port", target)
        try:
            vehicle = MavlinkVehicle(autopilot, self._open_log(sysid))
        except PaddockError:
            self._close_link(sysid)
            raise
        vehicle.now_us = max(self._now_us, 0)
        for each in (link, self._links.get(0)):
            if each is not None:
                each.vehicles[sysid] = vehicle
                vehicle.links.append(each)
        self.vehicles[sysid] = vehicle
        return vehicle

    def _ports_of(self, sysid: int) -> tuple[int, Address | None]:
        """Its port, and the station that it speaks to by itself: none where the shared link speaks to it already."""
        port, target = self.ports.own(sysid), self.ports.station(sysid)
        if port == self.ports.shared_port:
            raise PortError(f"vehicle {sysid}: its port {port} is the shared one; choose another --shared-port")
        shared = self.ports.shared_port is not None and target == self.ports.shared_station()
        return port, None if shared else target

    def _open(self, key: int, port: int, whom: str, option: str, target: Address | None) -> Link:
        opened = bind(self.ports.host, port, whom, option)
        link = Link(opened, Peers(_resolved(target) if target else None, self._silence))
        self._links[key] = link
        self._selector.register(opened, selectors.EVENT_READ, link)
        return link

    def _open_log(self, sysid: int) -> TelemetryLog | None:
        return TelemetryLog(self._log_folder / f"vehicle_{sysid}.tlog") if self._log_folder is not None else None

    def remove(self, sysid: int) -> None:
        """The vehicle is gone; its ports are free again. Nothing if there is none."""
        vehicle = self.vehicles.pop(sysid, None)
        if vehicle is None:
            return
        vehicle.close()
        for link in vehicle.links:
            del link.vehicles[sysid]
        self._close_link(sysid)

    def _close_link(self, key: int) -> None:
        link = self._links.pop(key)
        self._selector.unregister(link.socket)
        link.socket.close()

    def close(self) -> None:
        """Let go of all ports and finish the logs."""
        for sysid in list(self.vehicles):
            self.remove(sysid)
        for key in list(self._links):
            self._close_link(key)
        self._selector.close()

    # service ---------------------------------------------------------------------------------------------------------

    def service(self, now_us: int) -> None:
        """Receive, answer and send what is due at this simulated time; cheap when nothing is.

        Sockets are read every 20 ms of simulated time. Called with the same time for a while, the world stands still:
        then they are read every 5 ms of wall time, and stations get heartbeats that are not in the log.
        """
        wall = time.monotonic()
        standing, self._now_us = now_us == self._now_us, now_us
        if wall - self._kept >= HOUSEKEEPING_PERIOD:
            self._keep(wall)
        if standing:
            if wall - self._moved >= STANDING_AFTER and wall - self._polled >= STANDING_PERIOD:
                self._work(now_us, wall, True)
            return
        self._moved = wall
        if not 0 <= now_us - self._serviced_us < PERIOD_US:
            self._work(now_us, wall, False)

    def idle(self) -> None:
        """Service while nothing else happens: a pause, a wait for another process."""
        if self._now_us >= 0:
            self.service(self._now_us)

    def _work(self, now_us: int, wall: float, standing: bool) -> None:
        if now_us < self._serviced_us:
            for vehicle in self.vehicles.values():
                vehicle.restart(now_us)
        self._polled = wall
        calls = self._selector.select(0)
        self._attended = self._attended or bool(calls)
        if standing and not self._attended:
            return  # nobody is there to be answered: the log must not depend on the clock on the wall
        if not standing:
            self._serviced_us = now_us
        for vehicle in self.vehicles.values():
            vehicle.now_us = now_us
        for key, _ in calls:
            key.data.receive(self._reader, wall)
        for vehicle in self.vehicles.values():
            vehicle.service(now_us, wall, standing)

    def _keep(self, wall: float) -> None:
        """What goes by the clock on the wall."""
        self._kept = wall
        for sysid, vehicle in self.vehicles.items():
            vehicle.beat(wall)
            vehicle.autopilot.status.rejected = self._links[sysid].counters.rejected
        for link in self._links.values():
            link.peers.evict(wall)

    # what the live table shows ---------------------------------------------------------------------------------------

    def counters(self, sysid: int) -> Counters:
        """What came and went on a vehicle's own port; 0: on the shared one."""
        return self._links[sysid].counters

    def stations(self, sysid: int) -> list[Address]:
        """The ground stations that a vehicle has heard on its own port, and the one it speaks to by itself."""
        return [peer.address for peer in self._links[sysid].peers]


def _resolved(address: Address) -> Address:
    """With a number instead of a name: answers come from numbers."""
    try:
        return socket.gethostbyname(address[0]), address[1]
    except OSError as error:
        raise PaddockError(f"ground station host {address[0]!r}: not known: {error}") from error
