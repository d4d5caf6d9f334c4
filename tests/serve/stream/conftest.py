"""A served simulation, and a client that uses only sockets, JSON and the codecs."""

from __future__ import annotations

import json
import socket
import struct
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import numpy as np
import pytest
from served_endpoint import RpcClient, ServedEndpoint

from paddock.wire.stream.frames import JsonLine, Splitter, StreamFrame

TICK, POSITIONS = 0x10, 0x01
TICK_FIELDS = struct.Struct("<QddII")
POSE = np.dtype([("id", "<i4"), ("p", "<f4", 3), ("q", "<f4", 4)])
PATIENCE = 60.0


class Peer(RpcClient):
    """One connection to a stream endpoint; every read has a time limit."""

    def __init__(self, port: int, receive_buffer: int | None = None) -> None:
        super().__init__()
        self.socket = socket.socket()
        if receive_buffer:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        self.socket.settimeout(PATIENCE)
        try:
            self.socket.connect(("127.0.0.1", port))
        except OSError:
            self.socket.close()
            raise
        self.splitter = Splitter(1 << 28, 1 << 28)
        self.inbox: deque[StreamFrame | JsonLine] = deque()

    def send_request(self, request: dict[str, Any]) -> None:
        self.socket.sendall(json.dumps(request).encode() + b"\n")

    def next_tree(self) -> dict[str, Any]:
        while not isinstance(message := self.next(), JsonLine):
            pass
        return json.loads(message.line)

    def frame(self, kind: int) -> memoryview:
        """The payload of the next frame of a type."""
        while True:
            message = self.next()
            if isinstance(message, StreamFrame) and message.type == kind:
                return message.payload
            if isinstance(message, JsonLine) and "method" in (tree := json.loads(message.line)):
                self.notifications.append(tree)

    def tick(self) -> tuple[int, float, float, int, int]:
        """tick, sim_time, wall_time, run, roster of the next group."""
        return TICK_FIELDS.unpack(self.frame(TICK))

    def poses(self) -> np.ndarray:
        """The records of the next frame of positions."""
        payload = self.frame(POSITIONS)
        records = np.frombuffer(payload, POSE, offset=4)
        assert len(records) == int.from_bytes(payload[:4], "little")
        return records

    def next(self) -> StreamFrame | JsonLine:
        while not self.inbox:
            piece = self.socket.recv(1 << 16)
            if not piece:
                raise EOFError("the connection is closed")
            self.inbox.extend(self.splitter.feed(piece))
        return self.inbox.popleft()

    def ending(self) -> str:
        """Why the connection is cut off; it must be closed after that."""
        reason = self.notification("closed")["reason"]
        with pytest.raises((EOFError, ConnectionError)):
            self.next()
        return reason

    def close(self) -> None:
        self.socket.close()


class Served(ServedEndpoint):
    """A simulation with a stream endpoint."""

    endpoint = "stream"

    def __init__(self, stack: ExitStack, *arguments: Any) -> None:
        super().__init__(stack, *arguments)
        self._peers: list[Peer] = []
        stack.callback(self.disconnect)

    def connect(self, **options: Any) -> Peer:
        self._peers.append(Peer(self.port, **options))
        return self._peers[-1]

    def disconnect(self) -> None:
        for peer in self._peers:
            peer.close()

    def skipped(self) -> dict[str, float]:
        """Groups that each client connected now was too slow for."""
        return {sample.labels["client"]: sample.value for sample in self.samples("paddock_subscriber_skipped_total")}


@pytest.fixture(scope="module")
def serve(metrics: Any) -> Iterator[Callable[..., Served]]:
    """`serve(scenario, running=True, token=..., stream={...})`: all are closed when the module is done."""
    with ExitStack() as stack:
        yield lambda scenario, running=False, **fields: Served(stack, scenario, running, fields, metrics)
