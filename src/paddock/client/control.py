"""Synchronous control: the simulation waits for this client's commands, which handlers return; callbacks."""

import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from math import isfinite
from time import monotonic
from typing import Any

import numpy as np

from paddock.client.session import (
    ClientRequest,
    LateControlError,
    Session,
    operation_request,
    result_value,
)
from paddock.errors import InvalidValueError, PaddockError
from paddock.wire.messages.requests import ControlRequestMessage, Direct
from paddock.wire.operations import OPERATIONS
from paddock.world.snapshot import CommandRequest, Snapshot

Commands = Mapping[Any, Mapping[str, Any]]  # vehicle -> input -> value; inputs that are not named keep their values
Handler = Callable[[CommandRequest], Commands | None]


class RemoteClaim:
    """Claimed vehicles whose requests the program fetches in its own thread."""

    def __init__(self, controls: "Controls", vehicles: tuple[str, ...]) -> None:
        self.vehicles = vehicles
        self.released = False
        self._controls = controls
        self._change = threading.Condition()
        self._requests: deque[CommandRequest] = deque(maxlen=1)  # an older one has timed out

    def wait(self, timeout: float | None = None) -> CommandRequest | None:
        """Return the next request; None after `timeout` seconds or a release."""
        with self._change:
            self._change.wait_for(lambda: self.released or self._requests, timeout)
            return self._requests.popleft() if self._requests and not self.released else None

    def reply(self, tick: int, commands: Commands) -> None:
        """Answer the request of a tick (vehicle -> inputs); a reply to another tick is refused."""
        self._controls.finish(ClientRequest(control_reply(tick, commands), result_value))

    def release(self) -> None:
        """Release the vehicles."""
        with self._change:
            self.released = True
            self._change.notify_all()
        self._controls.drop(self)

    def offer(self, request: CommandRequest) -> None:
        """Store a request for `wait`."""
        with self._change:
            self._requests.append(request)
            self._change.notify_all()


class Controls:
    """The handlers of a client, which share one claim."""

    def __init__(
        self,
        session: Session,
        finish: Callable[[ClientRequest[Any]], Any],
        answer: Callable[[CommandRequest], object] | None = None,
    ) -> None:
        """`finish` sends a request and waits; `answer` is called with control requests in place of the handlers."""
        self.finish = finish
        self.late = 0  # late controls
        self.handlers: list[tuple[tuple[str, ...], Callable[[CommandRequest], Any]]] = []
        self._answer = answer or self.answer
        self._claim: RemoteClaim | None = None
        self._session = session
        self._given_up: Future[Any] | None = None
        self._latest = 0  # tick of the last control request
        self._sync: dict[str, Any] = {}  # every, timeout, on_timeout: how the simulation waits
        self._known: Snapshot | None = None  # the state at the next tick
        self._too_slow = -1  # a tick for which the handlers took too long

    @property
    def vehicles(self) -> tuple[str, ...]:
        """All claimed vehicles."""
        groups = [vehicles for vehicles, _ in self.handlers] + ([self._claim.vehicles] if self._claim else [])
        return tuple(dict.fromkeys(name for group in groups for name in group))

    def add(self, vehicles: tuple[str, ...], handler: Handler) -> Callable[[], None]:
        """Add a handler for these vehicles; returns a function that removes it."""
        self._refuse(vehicles, "on_request", self._claim is not None)
        entry = (vehicles, handler)
        self.handlers.append(entry)
        self._claim_or(lambda: self.handlers.remove(entry))
        return lambda: self._remove(entry)

    def claim(self, vehicles: tuple[str, ...]) -> RemoteClaim:
        """Claim vehicles without a handler."""
        self._refuse(vehicles, "claim", bool(self._claim or self.handlers))
        self._claim = RemoteClaim(self, vehicles)
        self._claim_or(lambda: setattr(self, "_claim", None))
        return self._claim

    def drop(self, claim: RemoteClaim) -> None:
        """End a claim."""
        if self._claim is claim:
            self._claim = None
            self.finish(operation_request("release"))

    @property
    def given_up(self) -> bool:
        """Whether an abandoned step is still running."""
        return self._given_up is not None and not self._given_up.done()

    def give_up(self, step: Future[Any]) -> None:
        """Abandon a step: until it ends, control requests get empty replies."""
        self._given_up = step

    def _refuse(self, vehicles: tuple[str, ...], verb: str, taken: bool) -> None:
        if not vehicles:
            raise PaddockError("claim at least one vehicle")
        if taken:
            raise PaddockError(f"{verb} refused: this connection has claimed {', '.join(self.vehicles)} already")

    def _claim_or(self, undo: Callable[[], object]) -> None:
        try:
            self._sync = self.finish(claim_request(self.vehicles))
        except PaddockError:
            undo()
            if self.vehicles:
                self.finish(claim_request(self.vehicles))
            raise

    def _remove(self, entry: tuple[tuple[str, ...], Callable[[CommandRequest], Any]]) -> None:
        if entry in self.handlers:
            self.handlers.remove(entry)
            self.finish(claim_request(self.vehicles) if self.vehicles else operation_request("release"))

    def claim_again(self) -> None:
        """Claim again after a restart of the server."""
        if self.vehicles:
            self._session.ask(claim_request(self.vehicles)).add_done_callback(self._report)

    def asked(self, message: ControlRequestMessage) -> None:
        """Offer a control request to the claim, or have the handlers answer it."""
        snapshot = self._session.sync_states.snapshot(message.state)
        if snapshot is None:
            error = PaddockError(f"the control request of tick {message.tick} has no roster")
            self._session.channel.calls.add(partial(_raise, error))
            return
        self._latest = message.tick
        request = CommandRequest(message.tick, monotonic() + message.deadline, message.vehicles, snapshot)
        if self._claim is not None:
            self._claim.offer(request)
        else:
            self._session.channel.calls.add(partial(self._answer, request))

    def answer(self, request: CommandRequest) -> None:
        """Call the handlers and reply; after an error with an empty reply, so that the simulation does not wait."""
        if self.given_up:
            self.send(request.tick, {})
        elif self._too_slow == request.tick:
            self.late += 1  # the handlers have used their time for this tick
        else:
            try:
                self.send(request.tick, self._commands(request))
            except BaseException:
                self.send(request.tick, {})
                raise

    def send(self, tick: int, commands: Commands) -> None:
        """Reply to a control request; a refusal is raised where callbacks run."""
        self._session.send(control_reply(tick, commands))

    def _commands(self, request: CommandRequest) -> Commands:
        if len(self.handlers) == 1:
            answer: Commands = self.handlers[0][1](request) or {}
            return answer
        commands: dict[Any, Mapping[str, Any]] = {}
        for vehicles, handler in list(self.handlers):
            commands.update(handler(replace(request, vehicles=vehicles)) or {})
        return commands

    def refused(self, error: PaddockError) -> None:
        """Count a late control; raise any other error where callbacks run."""
        if isinstance(error, LateControlError):
            self.late += 1
        else:
            self.send(self._latest, {})
            self._session.channel.calls.add(partial(_raise, error))

    def _report(self, done: Future[Any]) -> None:
        if done.exception() is not None:
            self._session.channel.calls.add(done.result)

    def beforehand(self) -> Mapping[str, Any] | None:
        """The arguments of the next `control`, if its state is known already: saves a round trip.

        A reply that took too long is not used: the simulation then asks, waits, and follows its policy.
        """
        known, self._known = self._known, None
        if known is None or known.tick % self._sync["every"]:
            return None
        started = monotonic()
        request = CommandRequest(known.tick, started + self._sync["timeout"], self.vehicles, known)
        commands = self._commands(request)
        if monotonic() - started > self._sync["timeout"]:
            self._too_slow = known.tick
            return None
        return control_reply(known.tick, commands).arguments

    def arrived(self, snapshot: Snapshot | None) -> None:
        """Remember the state after a step."""
        self._known = snapshot if self.handlers else None

    def forget(self) -> None:
        """Forget the state, which may have changed."""
        self._known = None
        self._too_slow = -1


def _raise(error: PaddockError) -> None:
    raise error


def claim_request(vehicles: Sequence[str]) -> ClientRequest[dict[str, Any]]:
    """Return the request that makes the simulation wait for this client's commands for these vehicles."""
    return operation_request("claim", vehicles=list(vehicles))


def control_reply(tick: int, commands: Mapping[Any, Mapping[str, Any]]) -> Direct:
    """Return the answer to the control request of a tick."""
    checked = {vehicle: checked_inputs(inputs, vehicle) for vehicle, inputs in commands.items()}
    OPERATIONS["control"].checked({"tick": tick, "commands": {}})
    return Direct("control", {"tick": tick, "commands": checked})  # vehicles by name or id


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


Call = Callable[[], object]


class Callbacks:
    """Callbacks of the user, run in order. A thread that waits for a step runs them itself and raises their errors.

    Otherwise a separate thread runs them, or `deliver` receives them.
    """

    def __init__(self, deliver: Callable[[Call], None] | None = None) -> None:
        self._deliver = deliver
        self._waiting: deque[Call] = deque()
        self._change = threading.Condition()
        self._attended = False
        self._closed = False
        self._thread: threading.Thread | None = None

    def add(self, call: Call) -> None:
        """Queue a callback."""
        if self._deliver is not None:
            self._deliver(call)
            return
        self._waiting.append(call)
        if not self._attended:
            self._hand_over()

    def make(self) -> None:
        """Run all waiting callbacks; after an error the rest runs later."""
        while self._waiting:
            self._waiting.popleft()()

    @contextmanager
    def attended(self) -> Iterator[None]:
        """Let this thread run the callbacks while the block lasts."""
        self._attended = True
        try:
            yield
        finally:
            self._attended = False
            if self._waiting:
                self._hand_over()

    def close(self) -> None:
        """Run no more callbacks."""
        with self._change:
            self._closed = True
            self._change.notify_all()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join()

    def _hand_over(self) -> None:
        with self._change:
            if self._thread is None and not self._closed:
                self._thread = threading.Thread(target=self._run, name="paddock-callbacks", daemon=True)
                self._thread.start()
            self._change.notify_all()

    def _run(self) -> None:
        while True:
            with self._change:
                self._change.wait_for(lambda: self._closed or (self._waiting and not self._attended))
                if self._closed:
                    return
            try:
                self._waiting.popleft()()
            except IndexError:  # another thread was faster
                continue
            except Exception:  # reported like any thread's error
                threading.excepthook(threading.ExceptHookArgs((*sys.exc_info(), threading.current_thread())))
