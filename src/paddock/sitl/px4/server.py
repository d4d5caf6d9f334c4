"""The TCP port at which one PX4 looks for its simulator: one connection at a time, nothing blocks."""

from __future__ import annotations

import select
import socket

from paddock.errors import PaddockError

CHUNK = 65536
MOST_UNSENT = 1 << 18
"""Bytes that may wait for a peer that does not read; what comes then is dropped whole."""


class SimulatorServer:
    """Listens from `open` to `close`; tells when a peer comes or goes by `generation`."""

    def __init__(self, address: str, port: int) -> None:
        self.address = address
        self.port = port  # 0: one that is free, known after `open`
        self.generation = 0  # +1 with every peer
        self.refused = 0  # connections while there was a peer
        self.dropped = 0  # messages that a peer did not make room for
        self._listener: socket.socket | None = None
        self._peer: socket.socket | None = None
        self._unsent = bytearray()

    def open(self) -> None:
        """Listen; a port that is taken is a PaddockError."""
        if self._listener is not None:
            return
        listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((self.address, self.port))
            listener.listen(4)
        except OSError as error:
            listener.close()
            raise PaddockError(
                f"PX4: tcp {self.address}:{self.port} cannot be bound ({error.strerror}); stop what uses it "
                f"(another Paddock, jMAVSim, Gazebo) or take another instance"
            ) from None
        listener.setblocking(False)
        self.port = listener.getsockname()[1]
        self._listener = listener

    def close(self) -> None:
        """Let go of the port and of the peer."""
        self.hang_up()
        if self._listener is not None:
            self._listener.close()
            self._listener = None

    def hang_up(self) -> None:
        """Let go of the peer."""
        self._unsent.clear()
        if self._peer is not None:
            self._peer.close()
            self._peer = None

    @property
    def connected(self) -> bool:
        """Whether there is a peer."""
        return self._peer is not None

    def wait(self, timeout: float) -> None:
        """Until something happens on the sockets, or the time is up."""
        sockets = [s for s in (self._listener, self._peer) if s is not None]
        writers = [self._peer] if self._unsent and self._peer is not None else []
        select.select(sockets, writers, [], timeout)

    def receive(self) -> bytes:
        """What the peer has sent; a new peer is welcomed, one that has gone is let go."""
        self._accept()
        if self._peer is None:
            return b""
        try:
            data = self._peer.recv(CHUNK)
        except BlockingIOError:
            return b""
        except OSError:
            data = b""
        if not data:
            self.hang_up()
        return data

    def _accept(self) -> None:
        if self._listener is None:
            raise PaddockError(f"PX4: tcp {self.address}:{self.port} is not open")
        try:
            newcomer, _ = self._listener.accept()
        except OSError:
            return
        if self._peer is not None:
            self.refused += 1
            newcomer.close()
            return
        newcomer.setblocking(False)
        newcomer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._peer = newcomer
        self.generation += 1

    def send(self, data: bytes) -> None:
        """Send, as far as the peer reads; whole messages are dropped when too much waits."""
        if self._peer is None:
            return
        if len(self._unsent) + len(data) > MOST_UNSENT:
            self.dropped += 1
        else:
            self._unsent += data
        try:
            sent = self._peer.send(self._unsent)
            del self._unsent[:sent]
        except BlockingIOError:
            pass
        except OSError:
            self.hang_up()
