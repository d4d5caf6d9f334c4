"""The UDP socket at which one ArduPilot looks for its physics."""

from __future__ import annotations

import select
import socket

from paddock.errors import PaddockError

Address = tuple[str, int]

MOST_AT_ONCE = 64
"""Datagrams read in one go: a flood does not hold up the tick."""
LARGEST = 2048
"""Bytes read of a datagram; servo packets have 40 or 72."""


class ServoLink:
    """Bound from `open` to `close`; never blocks longer than it is told to."""

    def __init__(self, address: str, port: int) -> None:
        self.address = address
        self.port = port  # 0: one that is free, known after `open`
        self._socket: socket.socket | None = None
        self._poll = select.poll()

    def open(self) -> None:
        """Bind; a port that is taken is a PaddockError."""
        if self._socket is not None:
            return
        bound = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        try:
            bound.bind((self.address, self.port))
        except OSError as error:
            bound.close()
            raise PaddockError(
                f"ArduPilot: udp {self.address}:{self.port} cannot be bound ({error.strerror}); stop what uses it "
                f"(another Paddock, Gazebo) or take another instance"
            ) from None
        bound.setblocking(False)
        self.port = bound.getsockname()[1]
        self._socket = bound
        self._poll.register(bound, select.POLLIN)

    def close(self) -> None:
        """Let go of the port."""
        if self._socket is not None:
            self._poll.unregister(self._socket)
            self._socket.close()
            self._socket = None

    def receive(self, timeout: float) -> list[tuple[bytes, Address]]:
        """What has come in, in order; waits up to `timeout` s for the first datagram."""
        found = self._drain()
        if not found and timeout > 0.0 and self._poll.poll(timeout * 1e3):
            found = self._drain()
        return found

    def _drain(self) -> list[tuple[bytes, Address]]:
        found: list[tuple[bytes, Address]] = []
        if self._socket is None:
            raise PaddockError(f"ArduPilot: udp {self.address}:{self.port} is not open")
        while len(found) < MOST_AT_ONCE:
            try:
                found.append(self._socket.recvfrom(LARGEST))
            except BlockingIOError:
                break
            except OSError:  # what an earlier reply ran into; the socket goes on
                continue
        return found

    def send(self, data: bytes, address: Address) -> str:
        """Send a datagram; what went wrong in words, or nothing."""
        try:
            if self._socket is not None:
                self._socket.sendto(data, address)
        except OSError as error:
            return f"cannot reply to {address[0]}:{address[1]}: {error.strerror}"
        return ""
