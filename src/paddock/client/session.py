"""A conversation with a server: requests and their answers, signs of life, and what to do when it was interrupted."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from itertools import count
from time import monotonic
from typing import Any
from urllib.parse import urlsplit

from paddock.client.channel import Calls, Channel
from paddock.client.requests import Verb
from paddock.client.states import StateReader
from paddock.errors import InvalidValueError, MissingFeatureError, PaddockError, UnknownNameError
from paddock.wire.error import WireError
from paddock.wire.messages.replies import ControlRequest, Error, Reply, Welcome, decode_reply
from paddock.wire.messages.requests import Body, Call, Goodbye, Heartbeat, Hello, Request, Step, encode_request
from paddock.wire.messages.states import StateUpdate
from paddock.world.transforms import DisconnectedFramesError, StaleFrameError

LOOK = 0.1
"""s between looks at who has waited too long."""
LONG = 6.0
"""How many timeouts a server that lives may take for what should not take long."""


@dataclass(slots=True)
class Asked:
    """A request without an answer."""

    body: Body
    future: Future[Any]  # of a Reply, or of a Snapshot
    patient: bool
    at: float  # monotonic s

    @property
    def what(self) -> str:
        """What it is called in errors."""
        return f"{self.body.method}()" if isinstance(self.body, Call) else f"{type(self.body).__name__}"


class Session:
    """Says Hello again by itself when the server has forgotten this client."""

    def __init__(self, url: str, token: str | None, name: str, timeout: float, calls: Calls) -> None:
        """Begin to connect; `hello` says whether it worked."""
        if not timeout > 0:
            raise InvalidValueError(f"the timeout is a time > 0 in s, not {timeout!r}")
        self.url, self.token, self.name, self.timeout = url, token, name, timeout
        self.welcome: Welcome | None = None
        self.states = StateReader()  # of `snapshot`
        self.sync_states = StateReader()  # of control requests and steps
        self.on_control: Callable[[ControlRequest], None] = lambda request: None
        self.on_refused: Callable[[PaddockError], None] = lambda error: None  # a control
        self.on_topic: Callable[[bytes, bytes], None] = lambda topic, data: None
        self.on_return: Callable[[], None] = lambda: None  # the server has met this client again
        self._asked: dict[int, Asked] = {}
        self._numbers = count(1)
        self._heard = monotonic()
        self._beat = self._looked = monotonic()
        self._meeting = False  # whether Hello waits for its answer
        self._again: list[Asked] = []  # to be asked again after Hello
        self.channel = Channel(url, self, calls)

    def hello(self) -> Future[Reply]:
        """Introduce this client."""
        return self._meet()

    def ask(self, verb: Verb[Any], wake: bool = True) -> Future[Any]:
        """Send a request; the future has its Reply (of `snapshot`: a Snapshot or None), or a PaddockError."""
        asked = Asked(verb.body, Future(), verb.patient, monotonic())
        asked.future.set_running_or_notify_cancel()
        self._send(asked, wake)
        return asked.future

    def tell(self, body: Body) -> None:
        """Send a request that is answered only if it is refused."""
        self.channel.post(encode_request(Request(0, body, self.token or "")), None)

    def subscribe(self, topic: bytes) -> None:
        """Hear what is published on a topic."""
        assert self.welcome is not None
        host = urlsplit(self.url).hostname or "127.0.0.1"
        host = f"[{host}]" if ":" in host else host
        self.channel.subscribe(f"tcp://{host}:{self.welcome.publish}", topic, self.token)

    def close(self) -> None:
        """Say goodbye, if anybody listens; nothing is answered any more."""
        if self.welcome is not None:
            farewell = Asked(Goodbye(), Future(), False, monotonic() - self.timeout + min(0.5, self.timeout))
            self._send(farewell, wake=False)
            self.channel.finish(farewell.future)
        self.channel.close()
        self._fail_all(PaddockError("the connection is closed"))

    # from the channel ------------------------------------------------------------------------------------------------

    def on_reply(self, data: bytes) -> None:
        """Something for this client."""
        self._heard = monotonic()
        try:
            reply = decode_reply(data)
        except WireError:
            return  # of a newer server, perhaps; whoever waits for it is told in time
        asked = self._asked.pop(reply.id, None)
        if isinstance(reply.body, ControlRequest):
            self.on_control(reply.body)
        elif isinstance(reply.body, Error):
            self._refused(asked, reply.body)
        elif asked is not None and isinstance(reply.body, StateUpdate):
            # read now: the next message may bring another roster
            reader = self.sync_states if isinstance(asked.body, Step) else self.states
            asked.future.set_result(reader.snapshot(reply.body))
        elif asked is not None:
            asked.future.set_result(reply)

    def on_published(self, topic: bytes, data: bytes) -> None:
        """Something for everybody."""
        self.on_topic(topic, data)

    def on_moment(self) -> None:
        """Give a sign of life; give up what was asked for too long ago."""
        now = monotonic()
        if now - self._looked < LOOK:
            return
        self._looked = now
        if self.welcome is not None and now - self._beat > min(self.welcome.heartbeat / 5, self.timeout / 4):
            self._beat = now
            token = self.token or ""
            self.channel.beat(encode_request(Request(next(self._numbers), Heartbeat(), token)))
        for number, asked in list(self._asked.items()):
            if error := self._overdue(asked, now):
                del self._asked[number]
                asked.future.set_exception(error)

    # asking ----------------------------------------------------------------------------------------------------------

    def _send(self, asked: Asked, wake: bool = True) -> None:
        number = next(self._numbers)
        data = encode_request(Request(number, asked.body, self.token or ""))
        self._asked[number] = asked
        self.channel.post(data, asked.future, wake)

    def _overdue(self, asked: Asked, now: float) -> PaddockError | None:
        if now - max(asked.at, self._heard) > self.timeout or (self._meeting and now - asked.at > self.timeout):
            return no_answer(self.url, self.timeout)
        if not asked.patient and now - asked.at > LONG * self.timeout:
            return no_reply(self.url, asked.what, LONG * self.timeout)
        return None

    def _refused(self, asked: Asked | None, error: Error) -> None:
        if error.code == "hello" and self.welcome is not None:
            if asked is not None:
                self._again.append(asked)
            if not self._meeting:
                self._meet().add_done_callback(self._met_again)
        elif asked is not None:
            asked.future.set_exception(error_from(error.code, error.message))
        elif error.code == "cut_off":
            self._fail_all(PaddockError(f"{self.url}: {error.message}"))
        else:
            self.on_refused(error_from(error.code, error.message))

    def _fail_all(self, error: PaddockError) -> None:
        for number in list(self._asked):
            self._asked.pop(number).future.set_exception(error)

    # meeting ---------------------------------------------------------------------------------------------------------

    def _meet(self) -> Future[Reply]:
        self._meeting = True
        asked = Asked(Hello(self.name), Future(), False, monotonic())
        asked.future.add_done_callback(self._met)
        self._send(asked)
        return asked.future

    def _met(self, done: Future[Reply]) -> None:
        self._meeting = False
        if done.exception() is None:
            body = done.result().body
            self.welcome = body if isinstance(body, Welcome) else None

    def _met_again(self, done: Future[Reply]) -> None:
        """What was asked of the server before it forgot is lost; what it refused for that reason is asked again."""
        error = done.exception()
        for number, asked in list(self._asked.items()):
            del self._asked[number]
            asked.future.set_exception(error or forgotten(self.url, asked.what))
        again, self._again = self._again, []
        if error is None:
            self.on_return()  # first of all: what is asked again may rely on it
        for asked in again:
            if error is not None:
                asked.future.set_exception(error)
            else:
                self._send(asked)


KINDS: dict[str, type[PaddockError]] = {
    kind.__name__: kind
    for kind in (UnknownNameError, InvalidValueError, MissingFeatureError, StaleFrameError, DisconnectedFramesError)
}
LATE = "LateReplyError"
"""What the server calls a control that came too late."""


class NoAnswerError(PaddockError, TimeoutError):
    """The server does not answer, or has forgotten what it was asked."""


class LateControlError(PaddockError):
    """A control that came too late, or twice; it changed nothing."""


def error_from(code: str, message: str) -> PaddockError:
    """What the server has told."""
    return LateControlError(message) if code == LATE else KINDS.get(code, PaddockError)(message)


def no_answer(url: str, timeout: float) -> NoAnswerError:
    """The server is silent."""
    return NoAnswerError(
        f"no answer from {url} within {timeout:g} s: is the server running? "
        "start one with `paddock run SCENARIO --serve zmq`"
    )


def no_reply(url: str, what: str, waited: float) -> NoAnswerError:
    """The server lives, but what it was asked does not happen."""
    return NoAnswerError(
        f"{url} has not done {what} within {waited:g} s, though it answers: is the simulation waiting for a control?"
    )


def forgotten(url: str, what: str) -> NoAnswerError:
    """The server does not know any more what it was asked."""
    return NoAnswerError(f"{what} was lost: {url} was restarted, or has heard nothing of this client for too long")
