"""A session with a server: requests and replies, heartbeats, reconnecting, errors.

A request is an operation with its arguments, encoded as a message for the server, and how its reply is read.
"""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from itertools import count
from math import isfinite
from time import monotonic
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar
from urllib.parse import urlsplit
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

from paddock.client.channel import Callbacks, ClientChannel
from paddock.client.states import StateReader, Watching
from paddock.errors import InvalidValueError, MissingFeatureError, PaddockError, UnknownNameError
from paddock.wire import WireError
from paddock.wire.messages.requests import (
    Body,
    Call,
    ControlRequestMessage,
    Direct,
    Error,
    Goodbye,
    Heartbeat,
    Hello,
    Reply,
    RequestMessage,
    ResultMessage,
    Welcome,
    decode_reply,
    encode_request,
)
from paddock.wire.messages.states import StateUpdate
from paddock.wire.operations import OPERATIONS
from paddock.world.transforms import DisconnectedFramesError, StaleFrameError

if TYPE_CHECKING:
    from paddock.client.control import Controls

T = TypeVar("T")
LOOK = 0.1  # s between checks for timeouts
LONG = 6.0  # timeouts that a live server may take for a short request


class ClientRequest(NamedTuple, Generic[T]):
    """A request, and how its reply is read."""

    body: Body
    read: Callable[[Reply], T]
    patient: bool = False  # may take arbitrarily long while the server responds

    @property
    def keeps_state(self) -> bool:
        """Whether the state of the present tick stays as it is."""
        match self.body:
            case Call(operation) | Direct(operation):
                return operation in OPERATIONS and OPERATIONS[operation].entry.keeps_state
        return False


def result_value(reply: Reply) -> Any:
    """Return the value of a result; None for other replies."""
    return reply.body.value if isinstance(reply.body, ResultMessage) else None


def operation_request(operation: str, /, **arguments: Any) -> ClientRequest[Any]:
    """Return the request of an operation. The server validates Calls; other messages need valid values."""
    entry = OPERATIONS[operation]
    if entry.callable_by_name:
        return ClientRequest(Call(operation, arguments), result_value, entry.entry.slow)
    checked = {name: one for name, one in entry.checked(arguments).items() if name in arguments}
    return ClientRequest(Direct(operation, checked), result_value, entry.entry.slow)


def command_request(target: Any, inputs: Mapping[str, Any], at_tick: int | None) -> ClientRequest[None]:
    """Return the request that sets inputs of a vehicle, a fleet, or vehicles given by id."""
    if isinstance(target, str | int | np.integer):
        return operation_request("command", target=target, inputs=checked_inputs(inputs, target), at_tick=at_tick)
    ids = _ids(target)
    if at_tick is not None:
        raise InvalidValueError("at_tick goes with a command for one vehicle or a fleet, not for a list of vehicles")
    return operation_request("command_many", ids=ids, inputs=checked_inputs(inputs, f"{len(ids)} vehicles"))


def claim_request(vehicles: Sequence[str]) -> ClientRequest[dict[str, Any]]:
    """Return the request that makes the simulation wait for this client's commands for these vehicles."""
    return operation_request("claim", vehicles=list(vehicles))


def control_reply(tick: int, commands: Mapping[Any, Mapping[str, Any]]) -> Direct:
    """Return the answer to the control request of a tick."""
    checked = {vehicle: checked_inputs(inputs, vehicle) for vehicle, inputs in commands.items()}
    OPERATIONS["control"].checked({"tick": tick, "commands": {}})
    return Direct("control", {"tick": tick, "commands": checked})  # vehicles by name or id


def _ids(target: Any) -> NDArray[Any]:
    try:
        ids = np.asarray(target)
    except ValueError:  # nested lists of different lengths
        ids = np.empty(())
    if ids.ndim != 1 or (ids.size and ids.dtype.kind not in "iu"):
        raise InvalidValueError(f"a command is for a name, an id, or a list of ids, not {target!r}")
    return ids


def checked_inputs(inputs: Any, target: Any) -> dict[str, Any]:
    """Return inputs as numbers, texts or arrays of finite numbers; errors read like those of a local simulation."""
    if not isinstance(inputs, Mapping):
        raise InvalidValueError(f"the inputs of {target!r} are given by name, as in {{'steer': 0.1}}, not {inputs!r}")
    return {name: _checked(name, value, target) for name, value in inputs.items()}


def _checked(name: str, value: Any, target: Any) -> Any:
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value.item()
    if not isinstance(value, np.ndarray | list | tuple):
        if isinstance(value, str) or _is_finite(value):
            return value
        raise InvalidValueError(f"{target}: input {name!r} must be a finite number, not {value!r}")
    try:
        array = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise InvalidValueError(f"input {name!r} of {target!r} must be an array of numbers") from None
    if not np.isfinite(array).all():
        raise InvalidValueError(f"input {name!r} of {target!r} has values that are not finite")
    return array


def _is_finite(value: Any) -> bool:
    try:
        return isinstance(value, int | float | np.number) and isfinite(float(value))
    except (OverflowError, TypeError):  # too large for a float; complex
        return False


@dataclass(slots=True)
class Asked:
    """An unanswered request."""

    body: Body
    future: Future[Any]  # of a Reply, or of a Snapshot
    patient: bool
    at: float  # monotonic s

    @property
    def what(self) -> str:
        """Its name in errors."""
        return f"{self.body[0]}()" if isinstance(self.body, Call | Direct) else f"{type(self.body).__name__}"


class Subscribing(NamedTuple):
    """Subscriptions that the server may not have seen yet."""

    future: Future[None]
    then: Callable[[int, int], None]
    at: float  # monotonic s


class Session:
    """A session with one server; it sends Hello again when the server no longer knows this client."""

    def __init__(
        self,
        url: str,
        token: str | None,
        name: str,
        timeout: float,
        calls: Callbacks,
        controls: Callable[["Session"], "Controls"],
    ) -> None:
        """Start connecting; `hello` returns the result. `controls` constructs what handles control requests."""
        if not timeout > 0:
            raise InvalidValueError(f"the timeout is a time > 0 in s, not {timeout!r}")
        self.url, self.token, self.name, self.timeout = url, token, name, timeout
        self.welcome: Welcome | None = None
        self.states = StateReader()  # of `snapshot`
        self.sync_states = StateReader()  # of control requests and steps
        self.watching = Watching(self)
        self.controls = controls(self)
        self._asked: dict[int, Asked] = {}
        self._denied: PaddockError | None = None  # why the server refuses the connection
        self._subscribing: dict[bytes, Subscribing] = {}  # by the topic of the answer
        self._numbers = count(1)
        self._heard = monotonic()
        self._beat = self._looked = monotonic()
        self._meeting = False  # whether Hello is unanswered
        self._again: list[Asked] = []  # to be sent again after Hello
        self.channel = ClientChannel(url, token, self, calls)

    def hello(self) -> Future[Reply]:
        """Send Hello."""
        self._meeting = True
        asked = Asked(Hello(self.name), Future(), False, monotonic())
        asked.future.add_done_callback(self._met)
        self._send(asked)
        return asked.future

    def ask(self, verb: ClientRequest[Any], wake: bool = True) -> Future[Any]:
        """Send a request; the future returns its Reply (for `snapshot`: a Snapshot or None) or raises PaddockError."""
        asked = Asked(verb.body, Future(), verb.patient, monotonic())
        asked.future.set_running_or_notify_cancel()
        self._send(asked, wake)
        return asked.future

    def send(self, body: Body) -> None:
        """Send a request that gets a reply only if it is refused."""
        self.channel.post(encode_request(RequestMessage(0, body, self.token or "")), None)

    def subscribe(self, *topics: bytes, then: Callable[[int, int], None]) -> Future[None]:
        """Subscribe; the future is done when the server has seen it, after a call of `then` with run and tick."""
        assert self.welcome is not None
        host = urlsplit(self.url).hostname or "127.0.0.1"
        host = f"[{host}]" if ":" in host else host
        answer = b"ready/%s/" % uuid4().hex.encode() + topics[0]
        future: Future[None] = Future()
        future.set_running_or_notify_cancel()
        self._subscribing[answer] = Subscribing(future, then, monotonic())
        for topic in (*topics, answer):  # the server sees them in this order
            self.channel.subscribe(f"tcp://{host}:{self.welcome.publish}", topic)
        return future

    def on_published(self, topic: bytes, data: bytes) -> None:
        """Handle a published message."""
        if topic in self._subscribing:
            self._subscribed(topic, PaddockError(f"subscription refused: {data.decode()}") if data else None)
        self.watching.on_message(topic, data)

    def _subscribed(self, answer: bytes, error: PaddockError | None) -> None:
        future, then, _ = self._subscribing.pop(answer)
        self.channel.unsubscribe(answer)

        def begin(clock: Future[Reply]) -> None:
            if (failed := clock.exception()) is not None:
                future.set_exception(failed)
            else:
                reply = clock.result()
                then(result_value(reply)["run"], reply.tick)
                future.set_result(None)

        if error is None:
            self.ask(ClientRequest(Call("clock", {}), result_value)).add_done_callback(begin)
        else:
            future.set_exception(error)

    def close(self) -> None:
        """Send Goodbye and close; unanswered requests fail."""
        if self.welcome is not None:
            farewell = Asked(Goodbye(), Future(), False, monotonic() - self.timeout + min(0.5, self.timeout))
            self._send(farewell, wake=False)
            self.channel.finish(farewell.future)
        self.channel.close()
        self._fail_all(PaddockError("the connection is closed"))

    def on_reply(self, data: bytes) -> None:
        """Handle a reply."""
        self._heard = monotonic()
        try:
            reply = decode_reply(data)
        except WireError:
            return  # unknown to this client, e.g. from a newer server: the request times out
        asked = self._asked.pop(reply.id, None)
        if isinstance(reply.body, ControlRequestMessage):
            self.controls.asked(reply.body)
        elif isinstance(reply.body, Error):
            self._refused(asked, reply.body)
        elif asked is not None and isinstance(reply.body, StateUpdate):
            # decoded now: the next message may contain another roster
            reader = self.sync_states if isinstance(asked.body, Direct) else self.states
            asked.future.set_result(reader.snapshot(reply.body))
        elif asked is not None:
            asked.future.set_result(reply)

    def on_denied(self, reason: str) -> None:
        """Fail all requests, also later ones: the server refuses the connection."""
        self._denied = PaddockError(f"{self.url}: {reason}")
        self._fail_all(self._denied)

    def on_moment(self) -> None:
        """Send heartbeats; fail requests that time out."""
        now = monotonic()
        if now - self._looked < LOOK:
            return
        self._looked = now
        if self.welcome is not None and now - self._beat > min(self.welcome.heartbeat / 5, self.timeout / 4):
            self._beat = now
            token = self.token or ""
            self.channel.beat(encode_request(RequestMessage(next(self._numbers), Heartbeat(), token)))
        for answer, asking in list(self._subscribing.items()):
            if now - asking.at > self.timeout:
                port = self.welcome.publish if self.welcome else 0
                text = f"no answer to a subscription within {self.timeout:g} s: is port {port} of {self.url} reachable?"
                self._subscribed(answer, NoAnswerError(f"{text} It is serve.zmq.publish, by default the next port"))
        for number, asked in list(self._asked.items()):
            error = ""
            if now - max(asked.at, self._heard) > self.timeout or (self._meeting and now - asked.at > self.timeout):
                error = f"no answer from {self.url} within {self.timeout:g} s: is the server running? "
                error += "start one with `paddock run SCENARIO --serve zmq`"
            elif not asked.patient and now - asked.at > LONG * self.timeout:
                error = f"{self.url} answers, but {asked.what} did not complete within {LONG * self.timeout:g} s: "
                error += "is the simulation waiting for a control?"
            if error:
                del self._asked[number]
                asked.future.set_exception(NoAnswerError(error))

    def _send(self, asked: Asked, wake: bool = True) -> None:
        number = next(self._numbers)
        data = encode_request(RequestMessage(number, asked.body, self.token or ""))
        self._asked[number] = asked
        if self._denied is not None:
            self._fail_all(self._denied)
        else:
            self.channel.post(data, asked.future, wake)

    def _refused(self, asked: Asked | None, error: Error) -> None:
        if error.code == "hello" and self.welcome is not None:
            if asked is not None:
                self._again.append(asked)
            if not self._meeting:
                self.hello().add_done_callback(self._met_again)
        elif asked is not None:
            asked.future.set_exception(error_from(error.code, error.message))
        elif error.code == "cut_off":
            self._fail_all(PaddockError(f"{self.url}: {error.message}"))
        else:
            self.controls.refused(error_from(error.code, error.message))

    def _fail_all(self, error: PaddockError) -> None:
        for number in list(self._asked):
            if (asked := self._asked.pop(number, None)) is not None:  # another thread may be faster
                asked.future.set_exception(error)
        for answer in list(self._subscribing):
            self._subscribed(answer, error)

    def _met(self, done: Future[Reply]) -> None:
        self._meeting = False
        if done.exception() is None:
            body = done.result().body
            self.welcome = body if isinstance(body, Welcome) else None

    def _met_again(self, done: Future[Reply]) -> None:
        """Fail requests sent before a restart of the server; repeat those that were refused for lack of Hello."""
        error = done.exception()
        for number, asked in list(self._asked.items()):
            del self._asked[number]
            lost = f"{asked.what} was lost: {self.url} was restarted, or received nothing from this client for too long"
            asked.future.set_exception(error or NoAnswerError(lost))
        again, self._again = self._again, []
        if error is None:
            self.controls.claim_again()  # first: repeated requests may depend on it
        for asked in again:
            if error is not None:
                asked.future.set_exception(error)
            else:
                self._send(asked)


KINDS: dict[str, type[PaddockError]] = {
    kind.__name__: kind
    for kind in (UnknownNameError, InvalidValueError, MissingFeatureError, StaleFrameError, DisconnectedFramesError)
}
LATE = "LateReplyError"  # the server's error for a late control


class NoAnswerError(PaddockError, TimeoutError):
    """The server does not answer, or lost the request."""


class LateControlError(PaddockError):
    """A late or repeated control, which changed nothing."""


def error_from(code: str, message: str) -> PaddockError:
    """Return the exception for an error sent by the server."""
    return LateControlError(message) if code == LATE else KINDS.get(code, PaddockError)(message)
