"""A simulation behind the web endpoint, and pages that use only WebSockets, JSON and bytes."""

from __future__ import annotations

import http.client
import json
import struct
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import numpy as np
import pytest
from served_endpoint import RpcClient, ServedEndpoint
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

PATIENCE = 60.0
TICK, POSES, COLUMNS = 0x10, 0x14, 0x15
TICK_FIELDS = struct.Struct("<QddII")
POSE = np.dtype([("p", "<f4", 3), ("q", "<u4")])


def frames(message: bytes) -> dict[int, bytes]:
    """Type -> payload of the frames in a binary message."""
    parts, at = {}, 0
    while at < len(message):
        kind, length = struct.unpack_from("<BI", message, at)
        parts[kind] = message[at + 5 : at + 5 + length]
        at += 5 + length
    assert at == len(message)
    return parts


def column_blocks(payload: bytes) -> tuple[int, list[np.ndarray]]:
    """Number of the list, and the values (columns, vehicles) of every request in its order."""
    wanted, count = struct.unpack_from("<II", payload)
    at, blocks = 8, []
    for k in range(count):
        request, vehicles, columns, width = struct.unpack_from("<4I", payload, at)
        assert request == k
        at += 16
        size = vehicles * columns
        blocks.append(np.frombuffer(payload, f"<f{width}", size, at).reshape(columns, vehicles))
        at += width * size
    assert at == len(payload)
    return wanted, blocks


class Page(RpcClient):
    """One WebSocket; every read has a time limit."""

    def __init__(self, port: int, **options: Any) -> None:
        super().__init__()
        self._stack = ExitStack()
        limits = {"compression": None, "max_size": None, "close_timeout": 0.2}  # a client that never reads cannot close
        opening = connect(f"ws://127.0.0.1:{port}/ws", **limits, **options)
        self.socket = self._stack.enter_context(opening)
        self.groups: list[bytes] = []

    def send_request(self, request: dict[str, Any]) -> None:
        self.socket.send(json.dumps(request))

    def next_tree(self) -> dict[str, Any]:
        while isinstance(message := self.socket.recv(PATIENCE), bytes):
            self.groups.append(message)
        return json.loads(message)

    def frames(self, kind: int = TICK) -> dict[int, bytes]:
        """The frames of the next message that has this kind."""
        while True:
            message = self.groups.pop(0) if self.groups else self.socket.recv(PATIENCE)
            if isinstance(message, str):
                tree = json.loads(message)
                if "method" in tree:
                    self.notifications.append(tree)
            elif kind in (group := frames(message)):
                return group

    def group(self, tick: int) -> dict[int, bytes]:
        """The group of a tick."""
        while TICK_FIELDS.unpack((group := self.frames())[TICK])[0] != tick:
            pass
        return group

    def ending(self) -> str:
        """Why the connection is cut off; it must be closed after that."""
        reason = self.notification("closed")["reason"]
        with pytest.raises(ConnectionClosed):
            self.drain()
        return reason

    def drain(self) -> None:
        """Read until the end."""
        while True:
            self.socket.recv(PATIENCE)

    def close(self) -> None:
        self._stack.close()


class Served(ServedEndpoint):
    """A simulation with a web endpoint."""

    endpoint = "web"

    def connect(self, **options: Any) -> Page:
        page = Page(self.port, **options)
        self._stack.callback(page.close)
        return page

    def get(self, path: str, **headers: str) -> http.client.HTTPResponse:
        """An answer with its body read into `body`."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        try:
            connection.request("GET", path, headers=headers)
            response = connection.getresponse()
            response.body = response.read()  # type: ignore[attr-defined]
            return response
        finally:
            connection.close()

    def clients(self) -> float:
        return next(s.value for s in self.samples("paddock_clients") if s.labels["endpoint"] == "web")


@pytest.fixture(scope="module")
def serve(metrics: Any) -> Iterator[Callable[..., Served]]:
    """`serve(scenario, running=True, token=..., web={...})`: all are closed when the module is done."""
    with ExitStack() as stack:
        yield lambda scenario, running=False, **fields: Served(stack, scenario, running, fields, metrics)


@pytest.fixture
def open_page() -> Iterator[Callable[[int], Page]]:
    """`open_page(port)`: closed when the test is done."""
    with ExitStack() as stack:

        def opened(port: int) -> Page:
            page = Page(port)
            stack.callback(page.close)
            return page

        yield opened


@pytest.fixture(scope="module")
def blocks() -> Callable[[bytes], tuple[int, list[np.ndarray]]]:
    return column_blocks
