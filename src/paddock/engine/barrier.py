"""The barrier: before some ticks the engine waits for the programs that control vehicles.

Two kinds of program control vehicles. A client *claims* vehicles and answers requests from its own thread, within the
deadline of `clock.sync`; a policy replaces a missing answer. An *autopilot* joins as a `Partner`: the ticking thread
calls it, and it has its own period, deadline and policy. Both enter the run as logged commands, so that a replay needs
neither the program nor the wall clock.
"""

import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from time import monotonic
from typing import Any, Protocol

import numpy as np

from paddock.engine.actions import CommandAction
from paddock.engine.clock_thread import ClockThread
from paddock.engine.pipeline import NEVER_DUE
from paddock.errors import PaddockError
from paddock.world.fleet import Ints
from paddock.world.snapshot import CommandRequest

Checked = tuple[CommandAction, tuple[int, ...]]
"""A command with the `Applier.version` at which it was checked; (): not checked."""
Check = Callable[[CommandAction], Checked]


class LateReplyError(PaddockError):
    """A reply to a request that is not open: it is late or a duplicate."""


OnRequest = Callable[["Claim", CommandRequest], None]
"""Called by the ticking thread for each request of a claim; must not block."""
Handler = Callable[[CommandRequest], Mapping[str, Mapping[str, Any]] | None]
"""Returns the commands of a request: vehicle -> input -> value; inputs that are not named keep their values."""


def answering(handler: Handler) -> OnRequest:
    """Return what replies to requests with the result of a handler, which the ticking thread calls.

    A result after the deadline is discarded: the policy applies. An error ends the step before the tick begins.
    """

    def answer(claim: Claim, request: CommandRequest) -> None:
        commands = handler(request) or {}
        if monotonic() <= request.deadline:
            claim.reply(request.tick, commands)

    return answer


@dataclass(eq=False, repr=False)
class Claim:
    """Vehicles that one client controls synchronously. The client may use it from any thread."""

    name: str
    vehicles: tuple[str, ...]
    ids: frozenset[int]
    _check: Check
    _on_request: OnRequest | None = None

    def __post_init__(self) -> None:
        self.released = False
        self._change = threading.Condition()
        self._request: CommandRequest | None = None
        self._reply: list[Checked] | None = None
        self._prepared: tuple[int, list[Checked]] | None = None

    # for the client --------------------------------------------------------------------------------------------------

    def wait(self, timeout: float | None = None) -> CommandRequest | None:
        """Return the next open request; None after `timeout` seconds or when the claim has ended."""
        with self._change:
            self._change.wait_for(lambda: self.released or (self._request is not None and self._reply is None), timeout)
            return self._request if self._reply is None and not self.released else None

    def reply(self, tick: int, commands: Mapping[Any, Mapping[str, Any]]) -> None:
        """Answer the request of that tick: vehicle or id -> inputs. LateReplyError if that request is not open."""
        actions = self._checked(commands)
        with self._change:
            if self._request is None or self._request.tick != tick:
                waiting = "none" if self._request is None else f"tick {self._request.tick}"
                raise LateReplyError(f"the reply for tick {tick} comes too late; open request: {waiting}")
            if self._reply is not None:
                raise LateReplyError(f"the request of tick {tick} has been answered already")
            self._reply = actions
            self._change.notify_all()

    def prepare(self, tick: int, commands: Mapping[Any, Mapping[str, Any]]) -> None:
        """Answer the request of that tick in advance; a request of another tick is sent as usual."""
        actions = self._checked(commands)
        with self._change:
            self._prepared = tick, actions

    def release(self) -> None:
        """End the claim; the engine no longer waits for this client."""
        with self._change:
            self.released = True
            self._change.notify_all()

    # for the engine --------------------------------------------------------------------------------------------------

    def prepared_for(self, tick: int) -> bool:
        """Return whether the request of that tick is answered in advance."""
        with self._change:
            return self._prepared is not None and self._prepared[0] == tick

    def request(self, request: CommandRequest) -> None:
        """Open a request."""
        with self._change:
            prepared, self._prepared = self._prepared, None
            ready = prepared is not None and prepared[0] == request.tick
            self._request, self._reply = request, prepared[1] if prepared and ready else None
            self._change.notify_all()
        if self._on_request is not None and not ready:
            self._on_request(self, request)

    def wake(self) -> None:
        """Interrupt the wait for the reply, so that the engine serves other threads."""
        with self._change:
            self._change.notify_all()

    def collect(self, until: float, thread: ClockThread) -> list[Checked] | None:
        """Wait for the reply until a monotonic time (s) or until the run stops, and close the request."""
        while True:
            thread.serve_reads()
            with self._change:
                left = min(0.05, until - monotonic())
                if self._reply is not None or self.released or left <= 0 or thread.stopping:
                    reply, self._request, self._reply = self._reply, None, None
                    return reply
                self._change.wait(left)

    def _checked(self, commands: Mapping[Any, Mapping[str, Any]]) -> list[Checked]:
        for vehicle in commands:
            if vehicle not in self.vehicles and vehicle not in self.ids:
                raise PaddockError(f"{self.name!r} has not claimed {vehicle!r}; claimed: {', '.join(self.vehicles)}")
        return [self._check(CommandAction(vehicle, inputs)) for vehicle, inputs in commands.items()]


class Partner(Protocol):
    """A program that exchanges data with the world before some ticks. The ticking thread calls all methods.

    A reset or restore may set the tick back; register with `Engine.listeners` to be notified.
    """

    def due(self, tick: int) -> int:
        """Return the first tick >= `tick` of an exchange; NEVER_DUE if none is known. Called at every tick."""

    def exchange(self, tick: int) -> None:
        """Read the world and post commands for this tick to the mailbox.

        It may wait up to its own deadline, calling `ClockThread.serve_reads()`. When `ClockThread.stopping` is set, it
        raises HaltedError: the tick has not begun, and is exchanged again when the run continues.
        """


class AutopilotStates(Protocol):
    """What autopilots hold of a run's state. The thread that saves and restores calls the methods."""

    def refuse_restore(self) -> None:
        """Raise PaddockError if there are autopilots or simulators that cannot return to an earlier state."""

    def add_part(self, state: Any) -> None:
        """Add their part to the state of the run, or a fresh one to another: `state.autopilots`; None without them."""

    def read(self) -> None:
        """Continue from the part of the state that has replaced that of the run; without one, restart."""


class Autopilots:
    """The partners of the barrier and the vehicles that they fly. Any thread may join or leave."""

    def __init__(self) -> None:
        self.partners: tuple[Partner, ...] = ()
        self.flown: dict[int, frozenset[int]] = {}  # id(partner) -> ids of vehicles
        self.describe: list[Callable[[], list[dict[str, Any]]]] = []  # each returns trees of vehicles with autopilots
        self.failsafes: Callable[[], list[int]] = list  # returns the ids of vehicles with an active failsafe
        self.states: AutopilotStates | None = None
        self.joins = 0  # number of partners that have joined
        self._lock = threading.Lock()

    @property
    def vehicles(self) -> frozenset[int]:
        """Ids of the vehicles that autopilots fly."""
        return frozenset().union(*self.flown.values())

    def status(self) -> list[dict[str, Any]]:
        """Return what the partners report on their vehicles. For the ticking thread."""
        return [tree for describe in self.describe for tree in describe()]

    def join(self, partner: Partner, vehicles: Iterable[int] = ()) -> None:
        """Add a partner from the next tick on; vehicles with these ids then refuse other commands."""
        with self._lock:
            self.partners = (*self.partners, partner)
            self.flown = {**self.flown, id(partner): frozenset(vehicles)}
            self.joins += 1

    def leave(self, partner: Partner) -> None:
        """Remove a partner; no effect if it has left."""
        with self._lock:
            self.partners = tuple(other for other in self.partners if other is not partner)
            self.flown = {key: flown for key, flown in self.flown.items() if key != id(partner)}

    def refuse_flown(self, ids: Ints) -> None:
        """Raise PaddockError if an autopilot flies one of these vehicles."""
        if any(not flown.isdisjoint(ids.tolist()) for flown in self.flown.values()):
            raise PaddockError(
                "it is flown by its autopilot: send commands to the autopilot, or remove the vehicle from sitl.pilots"
            )

    def due(self, tick: int) -> int:
        """Return the first tick >= `tick` at which a partner is due."""
        partners = self.partners
        if not partners:
            return NEVER_DUE
        return partners[0].due(tick) if len(partners) == 1 else min([partner.due(tick) for partner in partners])


class Claims:
    """The claims of all clients. A vehicle has at most one controller: a client, an autopilot or a behaviour."""

    def __init__(self, autopilots: Autopilots) -> None:
        self.autopilots = autopilots
        self.active: list[Claim] = []
        self._lock = threading.Lock()

    def add(self, claim: Claim, replaces: Claim | None = None) -> Claim:
        """Add a claim; `replaces` is an earlier claim that ends if this one is accepted."""
        self.autopilots.refuse_flown(np.array(sorted(claim.ids), dtype=np.int64))
        with self._lock:
            for other in self.active:
                if other is not replaces and not other.released and other.ids & claim.ids:
                    taken = ", ".join(other.vehicles)
                    raise PaddockError(f"{other.name!r} has already claimed {taken}: a vehicle has one source")
            if replaces is not None:
                replaces.release()
            self.active = [*self.active, claim]
        return claim

    def refuse_controlled(self, ids: Ints) -> None:
        """Raise PaddockError if a client or an autopilot controls one of these vehicles."""
        self.autopilots.refuse_flown(ids)
        for claim in self.active:
            if not claim.released and not claim.ids.isdisjoint(ids.tolist()):
                raise PaddockError(f"{claim.name!r} has claimed {', '.join(claim.vehicles)}: release the claim first")

    def current(self, exists: Callable[[str], bool]) -> list[Claim]:
        """Return the claims to wait for; release those whose vehicles no longer exist."""
        with self._lock:
            for claim in self.active:
                if not any(exists(vehicle) for vehicle in claim.vehicles):
                    claim.release()
            self.active = [claim for claim in self.active if not claim.released]
            return self.active

    def wake(self) -> None:
        """Interrupt a wait for replies."""
        for claim in self.active:
            claim.wake()
