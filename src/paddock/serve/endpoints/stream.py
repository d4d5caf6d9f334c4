"""The stream endpoint: clients that connect over TCP, and renderers that are dialled."""

import asyncio
import random
import socket
from collections import deque
from collections.abc import Collection
from contextlib import suppress
from functools import partial
from typing import Any

import numpy as np

from paddock.errors import PaddockError
from paddock.scenario.serve import split_address
from paddock.serve.hub import Hub
from paddock.serve.protection.admission import SEND_BUFFER, LimitedLog, listening_socket
from paddock.serve.subscribers.client import Connection, Lost, OnMessage
from paddock.serve.subscribers.endpoint import SubscriberEndpoint, Viewer
from paddock.serve.subscribers.subscription import NATIVE, Subscription, View
from paddock.wire import WireError
from paddock.wire.rpc import METHOD_NOT_FOUND, Request, Response, RpcError, failure, parse, request
from paddock.wire.stream.frames import FrameType, JsonLine, Splitter, StreamFrame
from paddock.world.frames import conversion, euler_from_quaternion
from paddock.world.layout import Layout
from paddock.world.snapshot import Snapshot

PAUSE = 0.2  # s without accepting after the system has run out of a resource


class StreamServer(SubscriberEndpoint):
    """Sends frames and answers calls over TCP."""

    name = "stream"

    def __init__(self, hub: Hub, options: dict[str, Any], every: int) -> None:
        super().__init__(hub, options, every)
        self.dialers = [Dialer(self, dial) for dial in options["dial"]]
        self._accepting: asyncio.Task[None] | None = None
        self._port = int(options["port"])

    async def open(self) -> dict[str, Any]:
        listening = listening_socket(self.hub.options.bind, self._port)
        self._accepting = self.hub.loop.create_task(self._accept(listening))
        self.begin()
        for dialer in self.dialers:
            dialer.open()
        return {"port": listening.getsockname()[1]}

    async def close(self) -> None:
        if self._accepting is not None:
            self._accepting.cancel()
        for dialer in self.dialers:
            dialer.close()
        await super().close()

    def viewers(self) -> list[Viewer]:
        return [*self.clients, *self._renderers()]

    def has_news_of(self, layout: Layout) -> bool:
        return super().has_news_of(layout) or not all(link.informed(layout) for link in self._renderers())

    def push_roster(self, layout: Layout) -> None:
        super().push_roster(layout)
        for renderer in self._renderers():
            if not renderer.informed(layout):
                renderer.begin()

    def _renderers(self) -> "list[Renderer]":
        return [link for dialer in self.dialers if (link := dialer.link) is not None]

    async def _accept(self, listening: socket.socket) -> None:
        with listening:
            while True:
                try:
                    peer, address = await self.hub.loop.sock_accept(listening)
                except ConnectionAbortedError:
                    continue
                except OSError:  # e.g. out of file descriptors: try again later
                    await asyncio.sleep(PAUSE)
                    continue
                try:
                    self.welcome(partial(TcpConnection, self.hub.loop, peer), f"{address[0]}:{address[1]}")
                except OSError:  # already disconnected
                    peer.close()


ENDPOINT = StreamServer

PIECE = 1 << 18
LONGEST_LINE = 1 << 20
LARGEST_FRAME = 4 << 20
AT_ONCE = 64  # messages per system call
KEEPALIVE = {"TCP_KEEPIDLE": 20, "TCP_KEEPINTVL": 5, "TCP_KEEPCNT": 4}
"""TCP keepalive, to detect a peer whose machine is gone: idle s, interval s, probes."""


class TcpConnection(Connection):
    """Splits received bytes into messages and sends without blocking."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        peer: socket.socket,
        on_message: OnMessage,
        lost: Lost,
        types: Collection[FrameType] = (FrameType.COMMANDS,),
    ) -> None:
        """`types` are the accepted frames; `lost` is called with a word for the reason, empty if the peer left."""
        super().__init__(loop, on_message, lost)
        self.socket = peer
        self._splitter = Splitter(LARGEST_FRAME, LONGEST_LINE, frozenset(types))
        self._begun: deque[memoryview] = deque()  # being sent
        self._writing = False
        peer.setblocking(False)
        peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        peer.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BUFFER)
        peer.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        for option, value in KEEPALIVE.items():
            if hasattr(socket, option):
                peer.setsockopt(socket.IPPROTO_TCP, getattr(socket, option), value)
        loop.add_reader(peer, self._on_readable)

    def close(self) -> None:
        if self._closed:
            return
        self.open, self._closed = False, True
        self.loop.remove_reader(self.socket)
        self.loop.remove_writer(self.socket)
        self.socket.close()
        self._lost(self._reason)

    def _on_readable(self) -> None:
        try:
            piece = self.socket.recv(PIECE)
        except (BlockingIOError, InterruptedError):
            return
        except OSError:
            piece = b""
        if not piece:
            self.close()
        if not self.open:  # read and discard after the end, or the peer would not see the reason
            return
        try:
            for message in self._splitter.feed(piece):
                self._on_message(message)
                if not self.open:
                    return
        except WireError as error:
            self.cut_off(error.reason, str(error))

    def _flush(self) -> None:
        if self._closed:
            return
        try:
            done = self._send()
        except OSError:
            self.close()
            return
        if not done and not self._writing:
            self.loop.add_writer(self.socket, self._flush)
        elif done and self._writing:
            self.loop.remove_writer(self.socket)
        self._writing = not done
        if done and not self.open:
            with suppress(OSError):
                self.socket.shutdown(socket.SHUT_WR)

    def _send(self) -> bool:
        """Send without blocking; return True once nothing waits. OSError if the peer has disconnected."""
        while self._begun or self._begin():
            try:
                sent = self.socket.sendmsg(self._begun)
            except (BlockingIOError, InterruptedError):
                return False
            while sent:
                first = self._begun.popleft()
                if sent < len(first):
                    self._begun.appendleft(first[sent:])
                sent -= min(sent, len(first))
        return True

    def _begin(self) -> bool:
        """Start sending the queued messages or, without any, the group."""
        for _ in range(min(len(self._messages), AT_ONCE) or 1):
            item = self._next() or ()
            parts = item if isinstance(item, tuple) else (item,)
            self._begun.extend(view for part in parts if (view := memoryview(part)))
        return bool(self._begun)


SOONEST, LATEST = 0.2, 5.0  # s between attempts: doubled from the first to the second value, with jitter
CONNECTING = 5.0  # s for one attempt


class Dialer:
    """Keeps a renderer that listens connected; `link` is its connection, if any."""

    def __init__(self, endpoint: StreamServer, options: dict[str, Any]) -> None:
        self.endpoint = endpoint
        self.to = options["to"]
        self.rate = float(options["rate"])
        self.view = View(options["frame"], tuple(options["kinds"]), None, bool(options["tick"]))
        self.log = LimitedLog("paddock.stream")
        self.link: Renderer | None = None
        self._task: asyncio.Task[None] | None = None

    def open(self) -> None:
        self._task = self.endpoint.hub.loop.create_task(self._keep())

    def close(self) -> None:
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
        loop = self.endpoint.hub.loop
        host, port = split_address(self.to)
        peer = None
        try:
            addresses = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
            peer = socket.socket(*addresses[0][:3])
            peer.setblocking(False)
            await asyncio.wait_for(loop.sock_connect(peer, addresses[0][4]), CONNECTING)
        except (OSError, TimeoutError):
            self.endpoint.count("dials_failed")
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
        self.connection: Connection = TcpConnection(self.endpoint.hub.loop, peer, self._on_message, self._lost, ())
        self._roster: int | None = None  # number of its roster; None while that is being sent
        self._task: asyncio.Task[None] | None = None
        self._number = 0  # of the last request
        self._waiting: set[int] = set()  # unanswered requests
        self.begin()

    def informed(self, layout: Layout) -> bool:
        """Return whether it has this roster, or the roster is being sent."""
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
            self.endpoint.count("malformed", reason=error.reason)
            self._log("message", f"sent an invalid message: {error}")
            return
        for each in parsed if isinstance(parsed, list) else [parsed]:
            self._take(each)

    def _take(self, message: Any) -> None:
        if isinstance(message, Request):
            text = f"{message.method[:60]!r} is not served here: connect to the stream's port"
            self.connection.put(failure(message.id, METHOD_NOT_FOUND, text))
        elif not isinstance(message, Response) or message.id not in self._waiting:
            self.endpoint.count("malformed", reason="unexpected")
        else:
            self._waiting.discard(message.id)
            if message.error is not None:
                self.endpoint.count("renderer_errors")
                self._log("refused", f"refused spawn_robots: {message.error.message[:200]} ({message.error.code})")

    def _lost(self, reason: str) -> None:
        if self._task is not None:
            self._task.cancel()
        if reason:
            self.endpoint.count("cut_off", reason=reason)
        self.gone.set()

    def _log(self, reason: str, text: str) -> None:
        self.dialer.log.warn(reason, f"renderer {self.dialer.to} {text}")


def _line(number: int, snapshot: Snapshot, frame: str) -> bytes:
    """Return all vehicles as the robots that renderers expect: `robot_type` is the kind, yaw in rad."""
    change, robots = conversion(NATIVE, frame), []
    for fleet in snapshot:
        position = np.nan_to_num(change.position(fleet.position))
        yaw = np.nan_to_num(euler_from_quaternion(change.quaternion(fleet.orientation))[2])
        for id, x, y, z, turn in zip(fleet.ids.tolist(), *position.T.tolist(), yaw.tolist(), strict=True):
            robots.append({"id": id, "robot_type": fleet.kind, "x": x, "y": y, "z": z, "yaw": turn})
    return request(number, "spawn_robots", {"robots": robots})
