"""Synchronous control: the simulation waits for this client's commands, and handlers give them."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, replace
from functools import cached_property, partial
from time import monotonic
from typing import Any

from paddock.client import requests
from paddock.client.session import LateControlError, Session
from paddock.client.states import sensors_of
from paddock.errors import PaddockError
from paddock.wire.messages import replies
from paddock.wire.messages.controls import Control
from paddock.world.snapshot import Snapshot

Commands = Mapping[Any, Mapping[str, Any]]
"""Vehicle -> input -> value; what is not named stays as it is."""


@dataclass(frozen=True)
class ControlRequest:
    """The simulation asks: what shall these vehicles do from this tick on?"""

    tick: int
    deadline: float  # s on the monotonic clock
    vehicles: tuple[str, ...]
    snapshot: Snapshot

    @cached_property
    def sensors(self) -> dict[str, dict[str, dict[str, Any]]]:
        """Vehicle -> sensor -> reading -> value, as `sensors()` gives them."""
        return {name: sensors_of(self.snapshot, name) for name in self.vehicles}


Handler = Callable[[ControlRequest], Commands | None]


class RemoteClaim:
    """Vehicles whose requests the program fetches itself, in a thread of its own."""

    def __init__(self, controls: Controls, vehicles: tuple[str, ...]) -> None:
        self.vehicles = vehicles
        self.released = False
        self._controls = controls
        self._change = threading.Condition()
        self._requests: deque[ControlRequest] = deque(maxlen=1)  # an older one has timed out

    def wait(self, timeout: float | None = None) -> ControlRequest | None:
        """The next request; None when none came within `timeout` seconds, or none will come any more."""
        with self._change:
            self._change.wait_for(lambda: self.released or self._requests, timeout)
            return self._requests.popleft() if self._requests and not self.released else None

    def reply(self, tick: int, commands: Commands) -> None:
        """Answer the request of that tick: vehicle -> inputs. An answer to another tick is refused."""
        self._controls.finish(requests.control(tick, commands))

    def release(self) -> None:
        """Give the vehicles back."""
        with self._change:
            self.released = True
            self._change.notify_all()
        self._controls.drop(self)

    def offer(self, request: ControlRequest) -> None:
        """A request has come."""
        with self._change:
            self._requests.append(request)
            self._change.notify_all()


class Controls:
    """The handlers of a client. The server knows one claim of it: of the vehicles of all of them together."""

    def __init__(
        self,
        session: Session,
        finish: Callable[[requests.Verb[Any]], Any],
        answer: Callable[[ControlRequest], None] | None = None,
    ) -> None:
        """`finish` asks and waits for the answer; `answer` is called with requests instead of the handlers."""
        self.finish = finish
        self.late = 0  # controls that came too late
        self.handlers: list[tuple[tuple[str, ...], Callable[[ControlRequest], Any]]] = []
        self._answer = answer or self.answer
        self._claim: RemoteClaim | None = None
        self._session = session
        self._given_up: Future[Any] | None = None
        self._latest = 0  # the tick that was asked for last
        self._sync: dict[str, Any] = {}  # every, timeout, on_timeout: how the simulation waits
        self._known: Snapshot | None = None  # the state at the coming tick
        self._too_slow = -1  # a tick for which the handlers took too long
        session.on_control = self._asked
        session.on_return = self._claim_again
        session.on_refused = self._refused

    @property
    def vehicles(self) -> tuple[str, ...]:
        """All that this client has claimed."""
        groups = [vehicles for vehicles, _ in self.handlers] + ([self._claim.vehicles] if self._claim else [])
        return tuple(dict.fromkeys(name for group in groups for name in group))

    def add(self, vehicles: tuple[str, ...], handler: Handler) -> Callable[[], None]:
        """Have a handler asked for these vehicles; returns what ends that."""
        self._refuse(vehicles, "on_control_request", self._claim is not None)
        entry = (vehicles, handler)
        self.handlers.append(entry)
        self._claim_or(lambda: self.handlers.remove(entry))
        return lambda: self._remove(entry)

    def claim(self, vehicles: tuple[str, ...]) -> RemoteClaim:
        """Requests that the program fetches itself."""
        self._refuse(vehicles, "claim", bool(self._claim or self.handlers))
        self._claim = RemoteClaim(self, vehicles)
        self._claim_or(self._forget_claim)
        return self._claim

    def drop(self, claim: RemoteClaim) -> None:
        """A claim is given back."""
        if self._claim is claim:
            self._claim = None
            self.finish(requests.RELEASE)

    @property
    def given_up(self) -> bool:
        """Whether a step goes on that nobody waits for."""
        return self._given_up is not None and not self._given_up.done()

    def give_up(self, step: Future[Any]) -> None:
        """Nobody waits for this step any more: until it is over, requests are answered with nothing."""
        self._given_up = step

    # inside ----------------------------------------------------------------------------------------------------------

    def _refuse(self, vehicles: tuple[str, ...], verb: str, taken: bool) -> None:
        if not vehicles:
            raise PaddockError("claim at least one vehicle")
        if taken:
            raise PaddockError(f"{verb} refused: this connection has claimed {', '.join(self.vehicles)} already")

    def _claim_or(self, undo: Callable[[], object]) -> None:
        try:
            self._sync = self.finish(requests.claim(self.vehicles))
        except PaddockError:
            undo()
            if self.vehicles:
                self.finish(requests.claim(self.vehicles))
            raise

    def _forget_claim(self) -> None:
        self._claim = None

    def _remove(self, entry: tuple[tuple[str, ...], Callable[[ControlRequest], Any]]) -> None:
        if entry in self.handlers:
            self.handlers.remove(entry)
            self.finish(requests.claim(self.vehicles) if self.vehicles else requests.RELEASE)

    def _claim_again(self) -> None:
        """The server has been restarted."""
        if self.vehicles:
            self._session.ask(requests.claim(self.vehicles)).add_done_callback(self._tell_trouble)

    def _asked(self, told: replies.ControlRequest) -> None:
        """Runs in the thread that listens."""
        snapshot = self._session.sync_states.snapshot(told.state)
        if snapshot is None:
            error = PaddockError(f"the control request of tick {told.tick} came without its roster")
            self._session.channel.calls.add(partial(_raise, error))
            return
        self._latest = told.tick
        request = ControlRequest(told.tick, monotonic() + told.deadline, told.vehicles, snapshot)
        if self._claim is not None:
            self._claim.offer(request)
        else:
            self._session.channel.calls.add(partial(self._answer, request))

    def answer(self, request: ControlRequest) -> None:
        """Ask the handlers; whatever goes wrong, the simulation is not kept waiting."""
        if self.given_up:
            self.send(request.tick, {})
        elif self._too_slow == request.tick:
            self.late += 1  # the handlers have had their time for this tick
        else:
            try:
                self.send(request.tick, self._commands(request))
            except BaseException:
                self.send(request.tick, {})
                raise

    def send(self, tick: int, commands: Commands) -> None:
        """Answer a request; a refusal comes out where the calls are made."""
        self._session.tell(requests.answer(tick, commands))

    def _commands(self, request: ControlRequest) -> Commands:
        if len(self.handlers) == 1:
            found: Commands = self.handlers[0][1](request) or {}
            return found
        commands: dict[Any, Mapping[str, Any]] = {}
        for vehicles, handler in list(self.handlers):
            commands.update(handler(replace(request, vehicles=vehicles)) or {})
        return commands

    def _refused(self, error: PaddockError) -> None:
        """Runs in the thread that listens."""
        if isinstance(error, LateControlError):
            self.late += 1
        else:
            self.send(self._latest, {})
            self._session.channel.calls.add(partial(_raise, error))

    def _tell_trouble(self, done: Future[Any]) -> None:
        if done.exception() is not None:
            self._session.channel.calls.add(done.result)

    # beforehand ------------------------------------------------------------------------------------------------------

    def beforehand(self) -> Control | None:
        """The answer to what the coming tick will ask, if its state is known already: that saves a round trip.

        An answer that took too long is not used: then the simulation asks, waits, and does what its policy says.
        """
        known, self._known = self._known, None
        if known is None or known.tick % self._sync["every"]:
            return None
        started = monotonic()
        request = ControlRequest(known.tick, started + self._sync["timeout"], self.vehicles, known)
        commands = self._commands(request)
        if monotonic() - started > self._sync["timeout"]:
            self._too_slow = known.tick
            return None
        return requests.answer(known.tick, commands)

    def arrived(self, snapshot: Snapshot | None) -> None:
        """A step has led here, and time stands still."""
        self._known = snapshot if self.handlers else None

    def forget(self) -> None:
        """The state may have changed since."""
        self._known = None
        self._too_slow = -1


def _raise(error: PaddockError) -> None:
    raise error
