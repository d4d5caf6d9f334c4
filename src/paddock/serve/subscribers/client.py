"""One connected client: its token, its calls, its subscription."""

from __future__ import annotations

import hmac
from collections.abc import Callable
from contextlib import suppress
from time import monotonic
from typing import TYPE_CHECKING, Any, TypeVar

from paddock.errors import PaddockError
from paddock.serve.hub import OperationOutcome
from paddock.serve.subscribers.calls import TOKEN_NEEDED, CallHandler
from paddock.serve.subscribers.connection import Connect
from paddock.serve.subscribers.markers import MarkerFeed
from paddock.serve.subscribers.subscription import Subscription, View
from paddock.wire.operations.results import Moment
from paddock.wire.rpc import RpcError, notification
from paddock.world.layout import Layout
from paddock.world.snapshot import Snapshot

if TYPE_CHECKING:
    from paddock.serve.subscribers.endpoint import SubscriberEndpoint


T = TypeVar("T")
WRONG_TOKENS = 3  # wrong tokens that end a connection
PATIENCE = 5.0  # s for a client to send the token


class Client:
    """A client of the stream or the web endpoint."""

    def __init__(self, endpoint: SubscriberEndpoint, connect: Connect, address: str) -> None:
        self.endpoint = endpoint
        self.hub = endpoint.hub
        self.name = f"{endpoint.name} client {address}"
        self.subscription: Subscription | None = None
        self.roster = -1  # number of the last roster sent
        self.admitted = self.hub.options.token is None
        self._wrong_tokens = 0
        self.allowance = Allowance(endpoint.requests, monotonic())
        self.markers: MarkerFeed | None = None
        self._lists = 0  # lists of columns so far
        self._since = monotonic()
        self.calls = CallHandler(self)
        self.connection = connect(self.calls.receive, self._lost)

    async def request(self, operation: str, **arguments: Any) -> OperationOutcome:
        """Carry out an operation for this client; OperationError if it is refused."""
        return await self.hub.request(operation, self.name, **arguments)

    async def done(self, operation: str, show: bool = False, **arguments: Any) -> Moment:
        """The same, returning its tick and time; `show`: publish the effect before that."""
        reply = await self.request(operation, **arguments)
        if show:
            await self.layout(changed=True)
        return {"tick": reply.tick, "time": reply.time}

    async def present(self) -> Snapshot:
        """A copy of a recent snapshot."""
        await self.endpoint.refresh()
        return self.endpoint.newest()

    async def read(self, read: Callable[[Snapshot], T]) -> T:
        """Read a recent snapshot without copying it."""
        await self.endpoint.refresh()
        return self.endpoint.read(read)

    async def layout(self, changed: bool = False) -> Layout:
        """The layout of a recent snapshot, or of one after a change, which is published to all clients."""
        await self.endpoint.refresh(changed)
        return self.endpoint.layout()

    def show(self, token: str) -> None:
        """Check a token; RpcError if it is wrong. Repeated errors end the connection."""
        expected = self.hub.options.token
        if expected is None or hmac.compare_digest(token.encode(), expected.encode()):
            self.admitted = True
            return
        self._wrong_tokens += 1
        self.endpoint.count("wrong_tokens")
        if self._wrong_tokens >= WRONG_TOKENS:
            self.connection.cut_off("token", f"{self._wrong_tokens} wrong tokens")
        raise RpcError("token", "the token is wrong", TOKEN_NEEDED)

    @property
    def subscribed(self) -> Subscription:
        """The present subscription; PaddockError if there is none."""
        if self.subscription is None:
            raise PaddockError("no subscription: call subscribe first")
        return self.subscription

    def next_list(self) -> int:
        """The number of the next list of columns."""
        self._lists += 1
        return self._lists

    def change(self, view: View | None = None, rate: float | None = None) -> None:
        """Change the view or the rate of the subscription; PaddockError if there is none."""
        now = self.subscribed
        now.change(view or now.view, now.rate if rate is None else rate)
        self.hub.loop.call_soon(self._show, now)

    def subscribe(self, subscription: Subscription, layout: Layout) -> None:
        """Start to send frames, after the answer to this call."""
        self.unsubscribe()
        self.subscription, self.roster = subscription, layout.roster
        self.hub.loop.call_soon(self._begin, subscription)

    def unsubscribe(self) -> None:
        """Stop sending frames."""
        self.subscription = None
        self.connection.withdraw()
        if self.markers is not None:
            self.markers.end()
            self.markers = None

    def wants(self, kind: str) -> bool:
        """Whether it subscribed to a kind."""
        return self.subscription is not None and kind in self.subscription.view.kinds

    def look_after(self, now: float) -> None:
        """End the connection of a client that sends no token in time."""
        if not self.admitted and now - self._since > PATIENCE:
            self.connection.cut_off("token", f"no token within {PATIENCE:g} s; call authenticate")

    def _begin(self, subscription: Subscription) -> None:
        """Send the first frames of a subscription: all markers, and the present tick."""
        if subscription is not self.subscription or not self.connection.open:
            return
        if self.wants("markers"):
            mirror = self.hub.mirror
            mirror.alive(self.hub.time)  # deletes expired markers
            self.markers = MarkerFeed(self.hub.loop, mirror, subscription.view.frame, self.connection.put)
            self.markers.add(sorted(mirror.markers))
            if frames := mirror.frame_trees():
                self.connection.put(notification("frames", {"frames": frames}))
        self._show(subscription)

    def _show(self, subscription: Subscription) -> None:
        """Send the present tick, unless the subscription has changed."""
        if subscription is self.subscription and self.connection.open:
            with suppress(PaddockError):  # the simulation is ending
                self.endpoint.show_newest([self])

    def _lost(self, reason: str) -> None:
        self.unsubscribe()
        self.calls.cancel()
        self.endpoint.forget(self, reason)


class Allowance:
    """A limit of requests per second, with bursts of one second's worth."""

    def __init__(self, rate: float, now: float) -> None:
        self.rate = rate
        self._left, self._since = max(rate, 1.0), now
        self.warned = False

    def take(self, now: float) -> bool:
        """Whether one more request at a time (s) is within the rate."""
        most = max(self.rate, 1.0)
        self._left, self._since = min(most, self._left + (now - self._since) * self.rate), now
        if self._left >= 0.5 * most:
            self.warned = False
        if self._left < 1.0:
            return False
        self._left -= 1.0
        return True
