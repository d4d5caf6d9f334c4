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

import paddock
from paddock.serve.host import Host
from paddock.wire.stream.frames import JsonLine, Splitter, StreamFrame

TICK, POSITIONS = 0x10, 0x01
TICK_FIELDS = struct.Struct("<QddII")
POSE = np.dtype([("id", "<i4"), ("p", "<f4", 3), ("q", "<f4", 4)])
PATIENCE = 60.0


class Peer:
    """One connection to a stream endpoint; every read has a time limit."""

    def __init__(self, port: int, receive_buffer: int | None = None) -> None:
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
        self.notifications: list[dict[str, Any]] = []
        self.number = 0

    def send(self, method: str, /, **params: Any) -> int:
        """Call without waiting; the id of the call."""
        self.number += 1
        self.socket.sendall(self.line(self.number, method, params))
        return self.number

    @staticmethod
    def line(number: int, method: str, params: dict[str, Any]) -> bytes:
        return json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}).encode() + b"\n"

    def call(self, method: str, /, **params: Any) -> Any:
        """The result of a call."""
        answer = self.answer(self.send(method, **params))
        assert "result" in answer, answer
        return answer["result"]

    def refused(self, method: str, /, **params: Any) -> tuple[int, str]:
        """(code, message) of a call that is refused."""
        error = self.answer(self.send(method, **params))["error"]
        return error["code"], error["message"]

    def answer(self, number: int | None) -> dict[str, Any]:
        """The answer to a call; frames that come before it are left out."""
        return self.until(lambda message: message if message.get("id", -1) == number else None)

    def notification(self, method: str) -> dict[str, Any]:
        """The parameters of the next notification of that name, or of the first that was kept."""
        for k, message in enumerate(self.notifications):
            if message["method"] == method:
                return self.notifications.pop(k)["params"]
        return self.until(lambda message: message["params"] if message.get("method") == method else None)

    def until(self, wanted: Callable[[dict[str, Any]], Any]) -> Any:
        while True:
            message = self.next()
            if isinstance(message, JsonLine):
                tree = json.loads(message.line)
                if (value := wanted(tree)) is not None:
                    return value
                if "method" in tree:
                    self.notifications.append(tree)

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


class Served:
    """A simulation with a stream endpoint."""

    def __init__(
        self, stack: ExitStack, scenario: dict[str, Any], running: bool, serve: dict[str, Any], metrics: Any
    ) -> None:
        self._metrics = metrics
        self.sim = stack.enter_context(paddock.load(scenario))
        fields = {"stream": {"port": 0}, "metrics": {"port": 0}, **serve}
        self.host: Host = stack.enter_context(paddock.share(self.sim, lambda line: None, **fields))
        self._peers: list[Peer] = []
        stack.callback(self.disconnect)
        if running:
            stack.enter_context(self.sim.clock.running())

    @property
    def port(self) -> int:
        return self.host.addresses["stream"]["port"]

    def connect(self, **options: Any) -> Peer:
        self._peers.append(Peer(self.port, **options))
        return self._peers[-1]

    def disconnect(self) -> None:
        for peer in self._peers:
            peer.close()

    def count(self, name: str, **labels: str) -> float:
        """One of the hub's counters, as the metrics endpoint shows it."""
        samples = [s.value for s in self.samples(f"paddock_hub_{name}_total") if s.labels == labels]
        return samples[0] if samples else 0.0

    def skipped(self) -> dict[str, float]:
        """Groups that each client connected now was too slow for."""
        return {sample.labels["client"]: sample.value for sample in self.samples("paddock_subscriber_skipped_total")}

    def samples(self, name: str) -> list[Any]:
        """What the metrics endpoint shows under a name."""
        return self._metrics(self.host, name)


@pytest.fixture(scope="module")
def serve(metrics: Any) -> Iterator[Callable[..., Served]]:
    """`serve(scenario, running=True, token=..., stream={...})`: all are closed when the module is done."""
    with ExitStack() as stack:
        yield lambda scenario, running=False, **fields: Served(stack, scenario, running, fields, metrics)
