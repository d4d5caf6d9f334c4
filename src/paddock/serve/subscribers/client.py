"""One connected client: what waits to be sent, its token, its subscription, and its JSON-RPC calls.

Sending never blocks. Each call is parsed, validated and answered.
"""

import asyncio
import logging
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Coroutine
from contextlib import suppress
from time import monotonic
from types import NoneType
from typing import TYPE_CHECKING, Any

from paddock.errors import PaddockError, suggestion
from paddock.serve.facts import OperationError, OperationOutcome
from paddock.serve.protection.admission import Allowance, has_token
from paddock.serve.subscribers.markers import MarkerFeed
from paddock.serve.subscribers.subscription import Subscription, View
from paddock.wire import WireError, rpc
from paddock.wire.operations import METHODS, ArgumentError
from paddock.wire.operations.operation import in_json
from paddock.wire.results import Moment
from paddock.wire.stream.columns import Commands, decode_commands
from paddock.wire.stream.frames import JsonLine, StreamFrame
from paddock.world.layout import Layout

if TYPE_CHECKING:
    from paddock.serve.subscribers.endpoint import SubscriberEndpoint


WRONG_TOKENS = 3  # wrong tokens that end a connection
PATIENCE = 5.0  # s for a client to send the token
REFUSED = -32000  # the simulation refuses the operation
TOKEN_NEEDED = -32001
TOO_MANY = -32002
MOST_AT_ONCE = 1000  # unanswered calls of one client
NOTIFY_EVERY = 0.5  # s between two notifications about refused commands
LOG = logging.getLogger("paddock.subscribers")


Bytes = bytes | memoryview
FrameGroup = tuple[Bytes, ...]  # the frames of one tick; peers may share the bytes
MOST_WAITING = 8 << 20  # bytes of unsent messages after which a peer counts as not reading
GRACE = 1.0  # s for a peer to read why its connection ends

OnMessage = Callable[[StreamFrame | JsonLine], None]  # called with every received message
Lost = Callable[[str], None]  # called once at the end with a word for the reason; empty if the peer left


class Connection(ABC):
    """Outgoing data of one peer; a transport implements `_flush` and `close`.

    Messages are never dropped; of groups of frames only the latest waits. A group that has begun is finished; messages
    go between groups.
    """

    most_waiting = MOST_WAITING

    def __init__(self, loop: asyncio.AbstractEventLoop, on_message: OnMessage, lost: Lost) -> None:
        self.loop = loop
        self.open = True  # not ending
        self.skipped = 0  # groups replaced by newer ones
        self._on_message, self._lost = on_message, lost
        self._messages: deque[Bytes] = deque()
        self._waiting_bytes = 0  # bytes of waiting messages
        self._group: FrameGroup | None = None
        self._closed = False
        self._reason = ""

    def put(self, message: Bytes) -> None:
        """Send a message that must not be dropped; a peer that does not read is disconnected."""
        if not self.open:
            return
        if self._waiting_bytes > self.most_waiting:
            self.cut_off("does_not_read", f"more than {self.most_waiting} bytes of replies are unread")
        else:
            self._messages.append(message)
            self._waiting_bytes += len(message)
            self._flush()

    def offer(self, group: FrameGroup) -> bool:
        """Send the frames of a tick unless newer ones replace them; return True if they replace queued ones."""
        if not self.open:
            return False
        skipped, self._group = self._group is not None, group
        self.skipped += skipped
        self._flush()
        return skipped

    def withdraw(self) -> None:
        """Discard the group that has not begun."""
        self._group = None

    def cut_off(self, reason: str, message: str) -> None:
        """Finish the group that has begun, send the reason, then close."""
        if self.open:
            self.open, self._reason = False, reason
            last = rpc.notification("closed", {"reason": message})
            self._messages, self._waiting_bytes, self._group = deque([last]), len(last), None
            self.loop.call_later(GRACE, self.close)
            self._flush()

    def _next(self) -> Bytes | FrameGroup | None:
        """Return what to send next; None if nothing waits."""
        if self._messages:
            message = self._messages.popleft()
            self._waiting_bytes -= len(message)
            return message
        group, self._group = self._group, None
        return group

    def drop(self, reason: str) -> None:
        """Close immediately, for a reason."""
        if not self._closed:
            self._reason = reason
            self.close()

    @abstractmethod
    def close(self) -> None:
        """Close immediately."""

    @abstractmethod
    def _flush(self) -> None:
        """Send the queued data."""


Connect = Callable[[OnMessage, Lost], Connection]  # creates the connection of a client


class Client:
    """A client of the stream or the web endpoint."""

    def __init__(self, endpoint: "SubscriberEndpoint", connect: Connect, address: str) -> None:
        self.endpoint = endpoint
        self.hub = endpoint.hub
        self.name = f"{endpoint.name} client {address}"
        self.host = address.rpartition(":")[0]
        self.subscription: Subscription | None = None
        self.roster = -1  # number of the last roster sent
        self.admitted = self.hub.options.token is None
        self._wrong_tokens = 0
        self.allowance = Allowance(endpoint.requests, monotonic())
        self.markers: MarkerFeed | None = None
        self._lists = 0  # lists of columns so far
        self.since = monotonic()
        self.silent = True  # has sent nothing yet
        self._tasks: set[asyncio.Task[None]] = set()  # one for each call
        self._refused = 0  # calls without an answer, since the last notification
        self._notified = 0.0  # time of that notification
        self.connection = connect(self.receive, self._lost)

    async def request(self, operation: str, **arguments: Any) -> OperationOutcome:
        """Carry out an operation for this client; OperationError if it is refused."""
        return await self.hub.request(operation, self.name, **arguments)

    async def done(self, operation: str, **arguments: Any) -> Moment:
        """Carry out an operation; return its result with tick and time."""
        reply = await self.request(operation, **arguments)
        return {"tick": reply.tick, "time": reply.time}

    async def layout(self, changed: bool = False) -> Layout:
        """Return the layout of a recent snapshot; after a change, of a new one that is published to all clients."""
        await self.endpoint.refresh(changed)
        return self.endpoint.read(lambda snapshot: snapshot.layout)

    def authenticate(self, token: str) -> None:
        """Check a token; RpcError if it is wrong. Repeated errors end the connection."""
        if has_token(self.hub.options, token):
            if not self.admitted:
                self.admitted = True
                self.endpoint.admit(self)
            if not self.connection.open:
                raise rpc.RpcError("connections", "the connection ends", TOO_MANY)
            return
        self._wrong_tokens += 1
        self.endpoint.count("wrong_tokens")
        if self._wrong_tokens >= WRONG_TOKENS:
            self.connection.cut_off("token", f"{self._wrong_tokens} wrong tokens")
        raise rpc.RpcError("token", "the token is wrong", TOKEN_NEEDED)

    @property
    def subscribed(self) -> Subscription:
        """The present subscription; PaddockError if there is none."""
        if self.subscription is None:
            raise PaddockError("no subscription: call subscribe first")
        return self.subscription

    def next_list(self) -> int:
        """Return the number of the next list of columns."""
        self._lists += 1
        return self._lists

    def change(self, view: View | None = None, rate: float | None = None) -> None:
        """Change the view or the rate of the subscription; PaddockError if there is none."""
        now = self.subscribed
        now.change(view or now.view, now.rate if rate is None else rate)
        self.hub.loop.call_soon(self._show, now)

    def subscribe(self, subscription: Subscription, layout: Layout) -> None:
        """Start sending frames, after the answer to this call."""
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
        """Return whether it subscribed to a kind."""
        return self.subscription is not None and kind in self.subscription.view.kinds

    def check_token_timeout(self, now: float) -> None:
        """Disconnect a client that sends no token in time."""
        if not self.admitted and now - self.since > PATIENCE:
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
                self.connection.put(rpc.notification("frames", {"frames": frames}))
        self._show(subscription)

    def _show(self, subscription: Subscription) -> None:
        """Send the present tick, unless the subscription has changed."""
        if subscription is self.subscription and self.connection.open:
            with suppress(PaddockError):  # the simulation is ending
                self.endpoint.show_newest([self])

    def _lost(self, reason: str) -> None:
        self.unsubscribe()
        for task in self._tasks:
            task.cancel()
        self.endpoint.forget(self, reason)

    def receive(self, message: StreamFrame | JsonLine) -> None:
        """Handle a message."""
        self.silent = False
        if isinstance(message, StreamFrame):
            if self._allowed(None):
                self._start(self._command(message.payload))
            return
        try:
            parsed = rpc.parse(message.line)
        except rpc.RpcError as error:
            if self._allowed(error.id):
                self.endpoint.count("malformed", reason=error.reason)
                self.connection.put(rpc.failure(error.id, error.code, str(error)))
            return
        if isinstance(parsed, list):
            if all(self._allowed(getattr(message, "id", None)) for message in parsed):
                self._start(self._batch(parsed))
        elif self._allowed(getattr(parsed, "id", None)):
            self._start(self._single(parsed))

    def _allowed(self, id: Any) -> bool:
        """Return whether one more call is within the limits; warn once, then disconnect."""
        allowance = self.allowance
        if allowance.take(monotonic()):
            if len(self._tasks) < MOST_AT_ONCE:
                return True
            self.endpoint.count("malformed", reason="too_many_at_once")
            self.connection.put(rpc.failure(id, TOO_MANY, f"more than {MOST_AT_ONCE} unanswered requests"))
            return False
        text = f"more than {allowance.rate:g} requests per second"
        if allowance.warned:
            self.connection.cut_off("requests", text)
        else:
            allowance.warned = True
            self.connection.put(rpc.failure(id, TOO_MANY, f"{text}: the connection ends if this continues"))
        return False

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        task = self.hub.loop.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _batch(self, messages: list[Any]) -> None:
        answers = await asyncio.gather(*map(self._answered, messages))
        lines = [answer.rstrip(b"\n") for answer in answers if answer]
        if lines:
            self.connection.put(b"[" + b",".join(lines) + b"]\n")

    async def _single(self, message: rpc.Message) -> None:
        if answer := await self._answered(message):
            self.connection.put(answer)

    async def _answered(self, message: rpc.Message | rpc.RpcError) -> bytes:
        """Return the line that answers a message; empty for a notification."""
        if isinstance(message, rpc.RpcError):
            self.endpoint.count("malformed", reason=message.reason)
            return rpc.failure(message.id, message.code, str(message))
        if isinstance(message, rpc.Response):
            self.endpoint.count("malformed", reason="response")  # to no request
            return b""
        try:
            value = await self._called(message)
            return rpc.result(message.id, value) if isinstance(message, rpc.Request) else b""
        except Exception as error:
            code, text, data = _described(error, message.method)
            if isinstance(message, rpc.Request):
                return rpc.failure(message.id, code, text, data)
            self._refuse(text, message.method)
            return b""

    async def _called(self, call: rpc.Request | rpc.Notification) -> Any:
        operation, params = METHODS.get(call.method), call.params
        if operation is None:
            name = call.method[:60]
            raise rpc.RpcError("method", f"unknown method {name!r}; {suggestion(name, METHODS)}", rpc.METHOD_NOT_FOUND)
        if isinstance(params, dict) and "token" in params and not operation.takes("token"):
            params = dict(params)
            token = params.pop("token")
            if not isinstance(token, str):
                raise rpc.RpcError("token", f"{call.method}: 'token' must be a text", TOKEN_NEEDED)
            self.authenticate(token)
        if not (operation.entry.public or self.admitted):
            raise rpc.RpcError("token", f"{call.method}: call authenticate with the token first", TOKEN_NEEDED)
        arguments = operation.read(params)
        if (handler := self.endpoint.handlers.get(operation.name)) is not None:
            result = await handler(self, **arguments)
        else:
            reply = await self.request(operation.name, **arguments)
            if operation.entry.shows:
                await self.layout(changed=True)
            result = Moment(tick=reply.tick, time=reply.time) if operation.result is NoneType else reply.result
        return {operation.entry.answer: in_json(operation.result, result)} if operation.entry.answer else result

    async def _command(self, payload: memoryview) -> None:
        try:
            if not self.admitted:
                raise rpc.RpcError("token", "call authenticate with the token first", TOKEN_NEEDED)
            commands: Commands = decode_commands(payload)
            inputs = {name: commands.values[:, k] for k, name in enumerate(commands.names)}
            await self.request("command_many", ids=commands.ids, inputs=inputs)
        except Exception as error:
            self._refuse(_described(error, "commands")[1], "commands")

    def _refuse(self, text: str, what: str) -> None:
        """Count a refused call without an answer; notify the client at a limited rate."""
        self._refused += 1
        self.endpoint.count("refused_commands")
        if monotonic() - self._notified < NOTIFY_EVERY:
            return
        name = "command_refused" if what == "commands" else "refused"
        self.connection.put(rpc.notification(name, {"of": what, "reason": text, "count": self._refused}))
        self._refused, self._notified = 0, monotonic()


def _described(error: Exception, what: str) -> tuple[int, str, Any]:
    """Return (code, one line, data) for an error."""
    text = "; ".join(line.strip() for line in str(error).splitlines() if line.strip())
    if isinstance(error, rpc.RpcError):
        return error.code, text, None
    if isinstance(error, ArgumentError):
        return rpc.INVALID_PARAMS, text, None
    if isinstance(error, OperationError):
        internal = error.kind == "InternalError"
        return (rpc.INTERNAL_ERROR if internal else REFUSED), text, {"kind": error.kind}
    if isinstance(error, WireError | PaddockError):
        return REFUSED, text, {"kind": type(error).__name__}
    LOG.error("%s failed", what, exc_info=error)
    return rpc.INTERNAL_ERROR, f"{what} failed inside the server", None
