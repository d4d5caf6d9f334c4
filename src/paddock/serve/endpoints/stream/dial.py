"""Renderers that listen: Paddock connects to them, sends the roster and then frames; it retries until it succeeds."""

from __future__ import annotations

import asyncio
import random
import socket
from typing import TYPE_CHECKING, Any

import numpy as np

from paddock.errors import PaddockError
from paddock.scenario.serve import split_address
from paddock.serve.counters import LimitedLog
from paddock.serve.endpoints.stream.connection import TcpConnection
from paddock.serve.subscribers.subscription import NATIVE, Subscription, View
from paddock.wire.rpc import METHOD_NOT_FOUND, Request, Response, RpcError, failure, parse, request
from paddock.wire.stream.split import JsonLine, StreamFrame
from paddock.world.frames import conversion
from paddock.world.layout import Layout
from paddock.world.rotation import euler_from_quaternion
from paddock.world.snapshot import Snapshot

if TYPE_CHECKING:
    from paddock.serve.endpoints.stream.endpoint import StreamServer


SOONEST, LATEST = 0.2, 5.0  # s between attempts: doubled from the first to the second value, with jitter
CONNECTING = 5.0  # s for one attempt


class Dialer:
    """Keeps one renderer connected; `link` is its connection, if any."""

    def __init__(self, endpoint: StreamServer, options: dict[str, Any]) -> None:
        self.endpoint = endpoint
        self.to = options["to"]
        self.rate = float(options["rate"])
        self.view = View(options["frame"], tuple(options["kinds"]), None, bool(options["tick"]))
        self.log = LimitedLog("paddock.stream")
        self.link: Renderer | None = None
        self._task: asyncio.Task[None] | None = None

    def open(self) -> None:
        """Start to dial."""
        self._task = self.endpoint.hub.loop.create_task(self._keep())

    def close(self) -> None:
        """Disconnect."""
        if self._task is not None:
            self._task.cancel()
        if self.link is not None:
            self.link.connection.close()

    async def _keep(self) -> None:
        wait = SOONEST
        while True:
            peer = await self._connected()
            if peer is not None:
                wait = SOONEST
                self.link = Renderer(self, peer)
                await self.link.gone.wait()
                self.link = None
            await asyncio.sleep(wait * random.uniform(0.75, 1.25))
            wait = min(2.0 * wait, LATEST)

    async def _connected(self) -> socket.socket | None:
        """One attempt."""
        loop = self.endpoint.hub.loop
        host, port = split_address(self.to)
        peer = None
        try:
            found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
            peer = socket.socket(*found[0][:3])
            peer.setblocking(False)
            await asyncio.wait_for(loop.sock_connect(peer, found[0][4]), CONNECTING)
        except (OSError, TimeoutError):
            self.endpoint.hub.counters.add("dials_failed", endpoint="stream")
            if peer is not None:
                peer.close()
            return None
        return peer


class Renderer:
    """A connected renderer."""

    def __init__(self, dialer: Dialer, peer: socket.socket) -> None:
        self.endpoint = dialer.endpoint
        self.dialer = dialer
        self.gone = asyncio.Event()
        self.subscription: Subscription | None = None  # None until it has the roster
        self.connection = TcpConnection(self.endpoint.hub.loop, peer, self._on_message, self._lost)
        self._roster: int | None = None  # number of its roster; None while that is being sent
        self._task: asyncio.Task[None] | None = None
        self._number = 0  # of the last request
        self._waiting: set[int] = set()  # unanswered requests
        self.begin()

    def informed(self, layout: Layout) -> bool:
        """Whether it has this roster, or is about to get it."""
        return self._roster in (None, layout.roster)

    def begin(self) -> None:
        """Send the roster, then frames."""
        self.subscription, self._roster = None, None
        self.connection.withdraw()
        if self._task is not None:
            self._task.cancel()
        self._task = self.endpoint.hub.loop.create_task(self._send_roster())

    async def _send_roster(self) -> None:
        try:
            await self.endpoint.refresh()
            snapshot = self.endpoint.newest()
            self._roster = snapshot.roster
            frame = self.dialer.view.frame
            self._number += 1
            line = await asyncio.to_thread(_line, self._number, snapshot, frame)  # slow with 100,000 vehicles
            self._waiting.add(self._number)
            self.connection.put(line)
            self.subscription = Subscription(self.dialer.view, self.dialer.rate)
            self.endpoint.show_newest([self])
        except PaddockError as error:
            self._log("roster", f"did not get the roster: {error}")
            self.connection.close()

    def _on_message(self, message: StreamFrame | JsonLine) -> None:
        if isinstance(message, StreamFrame):
            return
        try:
            parsed = parse(message.line)
        except RpcError as error:
            self._count(error.reason)
            self._log("message", f"sent an invalid message: {error}")
            return
        for one in parsed if isinstance(parsed, list) else [parsed]:
            self._take(one)

    def _take(self, message: Any) -> None:
        if isinstance(message, Request):
            text = f"{message.method[:60]!r} is not served here: connect to the stream's port"
            self.connection.put(failure(message.id, METHOD_NOT_FOUND, text))
        elif not isinstance(message, Response) or message.id not in self._waiting:
            self._count("unexpected")
        else:
            self._waiting.discard(message.id)
            if message.error is not None:
                self.endpoint.hub.counters.add("renderer_errors", endpoint="stream")
                self._log("refused", f"refused spawn_robots: {message.error.message[:200]} ({message.error.code})")

    def _lost(self, reason: str) -> None:
        if self._task is not None:
            self._task.cancel()
        if reason:
            self.endpoint.hub.counters.add("cut_off", endpoint="stream", reason=reason)
        self.gone.set()

    def _count(self, reason: str) -> None:
        self.endpoint.hub.counters.add("malformed", endpoint="stream", reason=reason)

    def _log(self, reason: str, text: str) -> None:
        self.dialer.log.warn(reason, f"renderer {self.dialer.to} {text}")


def _line(number: int, snapshot: Snapshot, frame: str) -> bytes:
    """All vehicles as the robots that renderers expect: `robot_type` is the kind, yaw in rad."""
    change, robots = conversion(NATIVE, frame), []
    for fleet in snapshot:
        place = np.nan_to_num(change.position(fleet.position))
        yaw = np.nan_to_num(euler_from_quaternion(change.quaternion(fleet.orientation))[2])
        for id, x, y, z, turn in zip(fleet.ids.tolist(), *place.T.tolist(), yaw.tolist(), strict=True):
            robots.append({"id": id, "robot_type": fleet.kind, "x": x, "y": y, "z": z, "yaw": turn})
    return request(number, "spawn_robots", {"robots": robots})
