"""Which UDP ports vehicles and ground stations use, and how a port is taken."""

from __future__ import annotations

import errno
import socket
from collections.abc import Collection
from dataclasses import dataclass

from paddock.errors import InvalidValueError, PaddockError

RECEIVE_BUFFER = 1 << 18  # bytes: a burst of a ground station's packets while the world is busy


SETTINGS = {"--base-port": "port", "--station-port": "station", "--shared-port": "shared"}
"""Flag of `paddock sitl` -> key of a scenario's `mavlink`."""


def where_set(option: str) -> str:
    """How to choose another port, whether there is a scenario or only flags."""
    key = SETTINGS.get(option)
    return f"{option}, or mavlink: {{{key}: ...}} in the scenario's sitl section" if key else option


class PortError(PaddockError):
    """A port cannot be had; the message says which, for whom, and what to do."""


@dataclass(frozen=True)
class Ports:
    """Vehicle k binds `base_port` + k - 1 and speaks to `station_port` + k - 1 of `station_host` by itself.

    `shared_port`: one more socket on which all vehicles speak, to `station_port` by itself; None: there is none.
    """

    host: str = "127.0.0.1"  # the address that vehicles bind; 0.0.0.0 to be reached from other machines
    base_port: int = 18570
    station_host: str = "127.0.0.1"
    station_port: int = 14550
    shared_port: int | None = None

    def __post_init__(self) -> None:
        for name, port in (("base_port", self.base_port), ("station_port", self.station_port)):
            if not 1 <= port <= 65535:
                raise InvalidValueError(f"{name} {port}: a UDP port is 1 to 65535")
        if self.shared_port is not None and not 1 <= self.shared_port <= 65535:
            raise InvalidValueError(f"shared_port {self.shared_port}: a UDP port is 1 to 65535")

    def own(self, sysid: int) -> int:
        """The port that a vehicle binds."""
        return self._checked(self.base_port, sysid, "--base-port")

    def station(self, sysid: int) -> tuple[str, int]:
        """Where a vehicle's ground station listens."""
        port = self._checked(self.station_port, sysid, "--station-port")
        return self.station_host, port

    def shared_station(self) -> tuple[str, int]:
        """Where the ground station of all vehicles listens."""
        return self.station_host, self.station_port

    def refuse_overlap(self, sysids: Collection[int]) -> None:
        """On one machine a vehicle's port cannot be a station's too: one vehicle would speak to another."""
        if not self._same_machine():
            return
        own = {self.own(sysid): sysid for sysid in sysids}
        stations = {self.station(sysid)[1]: sysid for sysid in sysids}
        if self.shared_port is not None and self.shared_port in stations:
            raise PortError(
                f"UDP port {self.shared_port} is the shared one and that of vehicle {stations[self.shared_port]}'s "
                f"ground station; choose another with {where_set('--shared-port')}"
            )
        if both := sorted(own.keys() & stations.keys()):
            raise PortError(
                f"UDP port {both[0]} is vehicle {own[both[0]]}'s own and that of vehicle {stations[both[0]]}'s ground "
                f"station; keep {max(sysids)} between --base-port and --station-port (mavlink: {{port, station}})"
            )

    def _same_machine(self) -> bool:
        here = self.station_host == "localhost" or self.station_host.startswith("127.")
        return here or self.station_host == self.host

    def _checked(self, base: int, sysid: int, option: str) -> int:
        port = base + sysid - 1
        if port > 65535:
            raise PortError(f"vehicle {sysid}: port {port} is beyond 65535; choose a lower {where_set(option)}")
        return port


def bind(host: str, port: int, whom: str, option: str) -> socket.socket:
    """A UDP socket that never blocks; a port that cannot be had is a PortError that names `whom` and `option`."""
    opened = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    try:
        opened.setblocking(False)
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, RECEIVE_BUFFER)
        opened.bind((host, port))
    except OSError as error:
        opened.close()
        raise PortError(_refusal(error, host, port, whom, option)) from error
    return opened


def _refusal(error: OSError, host: str, port: int, whom: str, option: str) -> str:
    how = where_set(option)
    if error.errno == errno.EADDRINUSE:
        return f"{whom}: UDP port {port} is taken by another program; close it or choose others with {how}"
    if error.errno == errno.EACCES:
        return f"{whom}: UDP port {port} needs privileges; choose one above 1023 with {how}"
    return f"{whom}: UDP port {host}:{port} cannot be opened: {error.strerror or error}; see {how}"
