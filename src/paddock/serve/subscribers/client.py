"""One connected client: who it is, what it subscribed to, and what it has the simulation do."""

from __future__ import annotations

import hmac
from collections.abc import Callable
from contextlib import suppress
from time import monotonic
from typing import TYPE_CHECKING, Any, TypeVar

from paddock.errors import PaddockError
from paddock.serve.hub import Reply
from paddock.serve.subscribers.calls import TOKEN_NEEDED, Calls
from paddock.serve.subscribers.connection import Connect
from paddock.serve.subscribers.markers import MarkerFeed
from paddock.serve.subscribers.subscription import Subscription, View
from paddock.wire.operations.results import Moment
from paddock.wire.rpc import RpcError, notification
from paddock.world.layout import Layout
from paddock.world.snapshot import Snapshot

if TYPE_CHECKING:
    from paddock.serve.subscribers.audience import Audience


T = TypeVar("T")
PATIENCE = 5.0
"""s that a client has to show the token."""


class Client:
    """A subscriber, or whoever else has connected."""

    def __init__(self, endpoint: Audience, connect: Connect, address: str) -> None:
        self.endpoint = endpoint
        self.hub = endpoint.hub
        self.name = f"{endpoint.name} client {address}"
        self.subscription: Subscription | None = None
        self.roster = -1  # number of the roster that it was told last
        self.admission = Admission(self.hub.options.token)
        self.allowance = Allowance(endpoint.requests, monotonic())
        self.markers: MarkerFeed | None = None
        self._lists = 0  # of wanted columns, so far
        self._since = monotonic()
        self.calls = Calls(self)
        self.connection = connect(self.calls.hear, self._lost)

    # what methods use ------------------------------------------------------------------------------------------------

    @property
    def most_groups(self) -> float:
        """Groups per s that it may have."""
        return self.endpoint.rate

    async def request(self, operation: str, **arguments: Any) -> Reply:
        """Have the simulation do something for this client; OperationError if it refuses."""
        return await self.hub.request(operation, self.name, **arguments)

    async def done(self, operation: str, show: bool = False, **arguments: Any) -> Moment:
        """The same, answered with when it was; `show`: what came of it is to be seen before the answer."""
        reply = await self.request(operation, **arguments)
        if show:
            await self.changed_layout()
        return {"tick": reply.tick, "time": reply.time}

    async def present(self) -> Snapshot:
        """The world as it is, or was a moment ago."""
        await self.endpoint.refresh()
        return self.endpoint.newest()

    async def read(self, read: Callable[[Snapshot], T]) -> T:
        """Read the newest snapshot where it lies, without copying it."""
        await self.endpoint.refresh()
        return self.endpoint.read(read)

    async def present_layout(self) -> Layout:
        """Who is there, or was a moment ago."""
        await self.endpoint.refresh()
        return self.endpoint.layout()

    async def changed_layout(self) -> Layout:
        """Who is there after a change that has just been made; everyone sees it from now on."""
        await self.endpoint.refresh(changed=True)
        return self.endpoint.layout()

    def next_debug_id(self) -> int:
        """The id of the next marker of the namespace `debug`."""
        return self.endpoint.next_debug_id()

    def show(self, token: str) -> None:
        """Try a token; RpcError if it is wrong, and the end if that happens too often."""
        if self.admission.show(token):
            return
        self.endpoint.count("wrong_tokens")
        if self.admission.exhausted:
            self.cut_off("token", f"{self.admission.wrong} wrong tokens")
        raise RpcError("token", "the token is wrong", TOKEN_NEEDED)

    @property
    def subscribed(self) -> Subscription:
        """The present subscription; PaddockError if there is none."""
        if self.subscription is None:
            raise PaddockError("nothing is subscribed: subscribe first")
        return self.subscription

    def next_list(self) -> int:
        """The number of the next list of wanted columns."""
        self._lists += 1
        return self._lists

    def change(self, view: View | None = None, rate: float | None = None) -> Subscription:
        """Have the present subscription show something else, or at another rate; PaddockError if there is none."""
        now = self.subscribed
        now.change(view or now.view, now.rate if rate is None else rate)
        self.hub.loop.call_soon(self._show, now)
        return now

    def subscribe(self, subscription: Subscription, layout: Layout) -> None:
        """Be sent frames from now on, after the answer that says so."""
        self.unsubscribe()
        self.subscription, self.roster = subscription, layout.roster
        self.hub.loop.call_soon(self._begin, subscription)

    def unsubscribe(self) -> None:
        """Be sent no more frames."""
        self.subscription = None
        self.connection.withdraw()
        if self.markers is not None:
            self.markers.end()
            self.markers = None

    # what the endpoint uses ------------------------------------------------------------------------------------------

    def wants(self, kind: str) -> bool:
        """Whether it subscribed to a kind."""
        return self.subscription is not None and kind in self.subscription.view.kinds

    def look_after(self, now: float) -> None:
        """Cut off whoever does not show the token in time."""
        if not self.admission.admitted and now - self._since > PATIENCE:
            self.cut_off("token", f"no token within {PATIENCE:g} s; call authenticate")

    def cut_off(self, reason: str, message: str) -> None:
        """End the connection, saying why."""
        self.connection.cut_off(reason, message)

    def _begin(self, subscription: Subscription) -> None:
        """The first frames of a subscription: markers as they are, and the present tick."""
        if subscription is not self.subscription or not self.connection.open:
            return
        if self.wants("markers"):
            mirror = self.hub.mirror
            mirror.alive(self.hub.time)  # forgets what is over
            self.markers = MarkerFeed(self.hub.loop, mirror, subscription.view.frame, self.connection.put)
            self.markers.add(sorted(mirror.markers))
            if frames := mirror.frame_trees():
                self.connection.put(notification("frames", {"frames": frames}))
        self._show(subscription)

    def _show(self, subscription: Subscription) -> None:
        """The present tick, if that is still what is wanted."""
        if subscription is self.subscription and self.connection.open:
            with suppress(PaddockError):  # the simulation is ending: so will this connection
                self.endpoint.show_newest([self])

    def _lost(self, reason: str) -> None:
        self.unsubscribe()
        self.calls.cancel()
        self.endpoint.forget(self, reason)


WRONG_TOKENS = 3
"""After so many a client is cut off."""


class Admission:
    """Whether a client has shown the token, where there is one."""

    def __init__(self, token: str | None) -> None:
        self._token = None if token is None else token.encode()
        self.admitted = token is None
        self.wrong = 0

    def show(self, token: str) -> bool:
        """Try a token; whether it is the right one."""
        if self._token is None or hmac.compare_digest(token.encode(), self._token):
            self.admitted = True
            return True
        self.wrong += 1
        return False

    @property
    def exhausted(self) -> bool:
        """Whether the client has been wrong too often."""
        return self.wrong >= WRONG_TOKENS


class Allowance:
    """Requests per second: one second's worth may come at once."""

    def __init__(self, rate: float, now: float) -> None:
        self.rate = rate
        self._left, self._since = max(rate, 1.0), now
        self.warned = False

    def take(self, now: float) -> bool:
        """Whether one more request is within the rate at a time (s)."""
        most = max(self.rate, 1.0)
        self._left, self._since = min(most, self._left + (now - self._since) * self.rate), now
        if self._left >= 0.5 * most:
            self.warned = False
        if self._left < 1.0:
            return False
        self._left -= 1.0
        return True
