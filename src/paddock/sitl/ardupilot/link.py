"""The wire to one ArduPilot: its UDP socket, and the frame counter and clock of the exchange."""

from __future__ import annotations

import select
import socket
from typing import Literal

from paddock.errors import InvalidValueError, PaddockError
from paddock.sitl.autopilot_contract import bound_socket, tick_after

Address = tuple[str, int]

BATCH = 64  # datagrams read per call, so that a flood does not delay the tick
DATAGRAM = 2048  # bytes read of a datagram; servo packets have 40 or 72
LONGEST_US = 100_000  # ArduPilot ignores the step of a reply that is this much later than the one before, or more
LAST_COUNT = 2**32 - 1


class ServoLink:
    """UDP socket, bound from `open` to `close`."""

    def __init__(self, address: str, port: int) -> None:
        self.address = address
        self.port = port  # 0: a free one, known after `open`
        self._socket: socket.socket | None = None
        self._poll = select.poll()

    def open(self) -> None:
        """Bind; PaddockError if the port is in use."""
        if self._socket is not None:
            return
        self._socket = bound_socket("ArduPilot", "udp", self.address, self.port, "another Paddock, Gazebo")
        self.port = self._socket.getsockname()[1]
        self._poll.register(self._socket, select.POLLIN)

    def close(self) -> None:
        """Release the port."""
        if self._socket is not None:
            self._poll.unregister(self._socket)
            self._socket.close()
            self._socket = None

    def receive(self, timeout: float) -> list[tuple[bytes, Address]]:
        """Return the datagrams received, in order; wait up to `timeout` s for the first."""
        found = self._drain()
        if not found and timeout > 0.0 and self._poll.poll(timeout * 1e3):
            found = self._drain()
        return found

    def _drain(self) -> list[tuple[bytes, Address]]:
        found: list[tuple[bytes, Address]] = []
        if self._socket is None:
            raise PaddockError(f"ArduPilot: udp {self.address}:{self.port} is not open")
        while len(found) < BATCH:
            try:
                found.append(self._socket.recvfrom(DATAGRAM))
            except BlockingIOError:
                break
            except OSError:  # the error of an earlier reply; the socket stays usable
                continue
        return found

    def send(self, data: bytes, address: Address) -> str:
        """Send a datagram; return the error as text, or nothing."""
        try:
            if self._socket is not None:
                self._socket.sendto(data, address)
        except OSError as error:
            return f"cannot reply to {address[0]}:{address[1]}: {error.strerror}"
        return ""


class FrameClock:
    """Frame counter and reply time of one ArduPilot, in us. Reply time begins at 0 whenever the peer starts."""

    def __init__(self, dt: float) -> None:
        """`dt` s: the step of the world."""
        if not 0.0 < dt * 1e6 < LONGEST_US:
            wrong = f"a world step of {dt:g} s cannot be lockstepped"
            raise InvalidValueError(f"ArduPilot: {wrong}; it must be shorter than 0.1 s")
        self._dt_us = dt * 1e6
        self._count: int | None = None
        self._ticks = 1  # requested by the last packet
        self.shortened = False  # the packet asked for a longer step than ArduPilot itself accepts
        self.stamp_us = 0.0  # of the last reply
        self._replied_at_us: float | None = None  # world time of the last reply

    def forget(self) -> None:
        """Forget the peer: the next frame is the first."""
        self._count = None
        self.begin()

    def begin(self) -> None:
        """Restart reply time at 0."""
        self.stamp_us = 0.0
        self._replied_at_us = None

    def arrive(self, count: int) -> Literal["new", "duplicate", "restart"]:
        """Register a frame; a lower count means that the peer has restarted."""
        before, self._count = self._count, count
        if before is None or count > before or (before, count) == (LAST_COUNT, 0):
            return "new"
        return "duplicate" if count == before else "restart"

    def ask(self, frame_rate: int) -> None:
        """Set the step to max(1, round(1 / (frame_rate * dt))) ticks, always less than 0.1 s."""
        most = max(1, int((LONGEST_US - 1) / self._dt_us))
        self._ticks = min(max(1, round(1e6 / (frame_rate * self._dt_us))), most)
        self.shortened = 1e6 / frame_rate >= LONGEST_US

    @property
    def period_us(self) -> int:
        """The step of a packet, to the nearest us."""
        return max(1, round(self._ticks * self._dt_us))

    def next_us(self, time_us: int) -> int:
        """Return the time of the tick that a packet asks for, to the nearest us."""
        return tick_after(time_us, self._ticks, self._dt_us)

    def advance(self, time_us: float, in_step: bool = True) -> float | None:
        """Return the time (s) of a reply at this world time; None if the world has not moved since the last reply.

        A peer `in_step` never sees more time than it asked for, whatever passed while it was silent: it would take a
        longer step for the rate of the physics, and ask for such steps from then on.
        """
        before, asked = self._replied_at_us, self._ticks * self._dt_us
        elapsed = asked if before is None else time_us - before
        if elapsed == 0.0:
            return None
        if not 0.0 < elapsed < (asked + 1.0 if in_step else LONGEST_US):
            elapsed = asked
        self._replied_at_us = time_us
        self.stamp_us += elapsed
        return self.stamp_us * 1e-6
