"""Synchronous control: before some ticks the engine asks whoever claimed a vehicle for its commands, and waits.

Only declared sources are waited for, each until a deadline; what happens then is a policy. A reply, and what a policy
does in its place, enters the run as logged commands: a replay needs neither the client nor the wall clock.

Partners of the barrier (autopilots in lockstep) have a rhythm and a policy of their own: the ticking thread calls them,
and what they `post` enters the run in the same way.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from time import monotonic
from typing import Any, Protocol

import numpy as np

from paddock.engine.actions import Control
from paddock.engine.mailbox import Mailbox
from paddock.engine.pipeline import NEVER_DUE, HaltedError, every
from paddock.errors import PaddockError
from paddock.scenario import Sync
from paddock.world.fleet import Ints
from paddock.world.snapshot import Snapshot

Readings = dict[str, dict[str, Any]]


class LateReplyError(PaddockError):
    """An answer to a request that is not open: it came too late, or twice."""


@dataclass(frozen=True)
class ControlRequest:
    """The engine asks: what shall these vehicles do from this tick on?"""

    tick: int
    deadline: float  # s on the monotonic clock
    vehicles: tuple[str, ...]
    snapshot: Snapshot
    sensors: Mapping[str, Readings]  # vehicle -> sensor -> reading -> value, as `Simulation.sensors` gives them


class ControlSource:
    """Someone who has claimed vehicles and answers the engine's requests, from any thread."""

    def __init__(
        self, name: str, vehicles: tuple[str, ...], ids: frozenset[int], check: Callable[[Control], Control]
    ) -> None:
        self.name = name
        self.vehicles = vehicles
        self.ids = ids
        self.released = False
        self._check = check
        self._change = threading.Condition()
        self.on_request: Callable[[ControlRequest], None] | None = None  # called by the ticking thread; must not wait
        self._request: ControlRequest | None = None
        self._reply: list[Control] | None = None
        self._prepared: tuple[int, list[Control]] | None = None

    def wait(self, timeout: float | None = None) -> ControlRequest | None:
        """The next unanswered request; None when none came within `timeout` seconds, or none will come any more."""
        with self._change:
            self._change.wait_for(lambda: self.released or (self._request is not None and self._reply is None), timeout)
            return self._request if self._reply is None and not self.released else None

    def reply(self, tick: int, commands: Mapping[str, Mapping[str, Any]]) -> None:
        """Answer the request of that tick: vehicle -> inputs. An answer to another tick is refused."""
        controls = self._checked(commands)
        with self._change:
            if self._request is None or self._request.tick != tick:
                waiting = "none" if self._request is None else f"tick {self._request.tick}"
                raise LateReplyError(f"the reply for tick {tick} comes too late; open request: {waiting}")
            if self._reply is not None:
                raise LateReplyError(f"the request of tick {tick} has been answered already")
            self._reply = controls
            self._change.notify_all()

    def prepare(self, tick: int, commands: Mapping[str, Mapping[str, Any]]) -> None:
        """Answer the next request beforehand, should it be of that tick; otherwise it is asked as usual."""
        self._prepared = tick, self._checked(commands)

    def prepared_for(self, tick: int) -> bool:
        """Whether the request of that tick has its answer already."""
        return self._prepared is not None and self._prepared[0] == tick

    def release(self) -> None:
        """Give the vehicles back; the engine no longer waits for this source."""
        with self._change:
            self.released = True
            self._change.notify_all()

    def ask(self, request: ControlRequest) -> None:
        """Open a request (called by the engine)."""
        prepared, self._prepared = self._prepared, None
        ready = prepared is not None and prepared[0] == request.tick
        with self._change:
            self._request, self._reply = request, prepared[1] if prepared and ready else None
            self._change.notify_all()
        if self.on_request is not None and not ready:
            self.on_request(request)

    def poke(self) -> None:
        """Have the engine look around while it waits for the reply."""
        with self._change:
            self._change.notify_all()

    def answer(
        self, until: float | None, go_on: Callable[[], bool], meanwhile: Callable[[], None] = lambda: None
    ) -> list[Control] | None:
        """Wait for the reply until a monotonic time (None: for ever), while `go_on()` holds; closes the request."""
        while True:
            meanwhile()
            with self._change:
                left = 0.05 if until is None else min(0.05, until - monotonic())
                if self._reply is not None or self.released or left <= 0 or not go_on():
                    reply, self._request, self._reply = self._reply, None, None
                    return reply
                self._change.wait(left)

    def _checked(self, commands: Mapping[str, Mapping[str, Any]]) -> list[Control]:
        for vehicle in commands:
            if vehicle not in self.vehicles:
                raise PaddockError(f"{self.name!r} has not claimed {vehicle!r}; claimed: {', '.join(self.vehicles)}")
        return [self._check(Control(vehicle, inputs)) for vehicle, inputs in commands.items()]


class Partner(Protocol):
    """Someone who exchanges with the world before some ticks. All methods are called by the ticking thread.

    A reset or restore may take the ticks back; the simulation's `restarted` tells whoever wants to know.
    """

    def due(self, tick: int) -> int:
        """The first tick >= `tick` at which to exchange; NEVER_DUE if none is known. Cheap: asked at every tick."""

    def exchange(self, tick: int) -> None:
        """Read the world as it is, and post commands for this tick.

        It may wait, until a deadline of its own, calling `meanwhile()`; when the barrier's `go_on()` is false it raises
        HaltedError: the tick has not begun, and is exchanged again when the run goes on.
        """


class BarrierStage:
    """Runs every `sync.every` ticks while there are sources, and whenever a partner is due."""

    name = "barrier"

    def __init__(
        self,
        sync: Sync,
        mailbox: Mailbox,
        report: Callable[[str, str, str], None],
        snapshot: Callable[[], Snapshot],
        check: Callable[[Control], Control],
    ) -> None:
        self.sync = sync
        self.mailbox = mailbox
        self.report = report  # (kind, subject, detail) -> an event that enters the log
        self.snapshot = snapshot
        self.check = check
        self.sources: list[ControlSource] = []
        self.partners: tuple[Partner, ...] = ()
        self._flown: dict[int, frozenset[int]] = {}  # by the identity of the partner: ids of vehicles
        self.policy_inputs: Callable[[str, str], dict[str, Any]] = lambda vehicle, policy: {}
        self.exists: Callable[[str], bool] = lambda vehicle: True
        self.readings: Callable[[str], Readings] = lambda vehicle: {}
        self.go_on: Callable[[], bool] = lambda: True
        self.meanwhile: Callable[[], None] = lambda: None  # called while waiting for replies
        self._claiming = threading.Lock()

    def claim(
        self, name: str, vehicles: tuple[str, ...], ids: frozenset[int], instead_of: ControlSource | None = None
    ) -> ControlSource:
        """Declare a source for vehicles given by name, whose ids these are; a vehicle has at most one."""
        self.refuse_flown(np.array(sorted(ids), dtype=np.int64))
        claimed = ControlSource(name, vehicles, ids, self.check)
        with self._claiming:
            for source in self.sources:
                if source is not instead_of and not source.released and source.ids & ids:
                    taken = ", ".join(source.vehicles)
                    raise PaddockError(f"{source.name!r} has already claimed {taken}: a vehicle has one source")
            if instead_of is not None:
                instead_of.release()
            self.sources = [*self.sources, claimed]
        return claimed

    def join(self, partner: Partner, flies: frozenset[int] = frozenset()) -> None:
        """Have a partner from the next tick on; the vehicles that it `flies` take no one else's commands.

        Any thread may call this.
        """
        with self._claiming:
            self.partners = (*self.partners, partner)
            self._flown = {**self._flown, id(partner): flies}

    def leave(self, partner: Partner) -> None:
        """Do without a partner; nothing if it has left. Any thread may call this."""
        with self._claiming:
            self.partners = tuple(other for other in self.partners if other is not partner)
            self._flown = {key: flies for key, flies in self._flown.items() if key != id(partner)}

    def post(self, control: Control, tick: int, source: str) -> None:
        """A partner's command for this tick: checked when it is taken up, refused then if the vehicle has gone."""
        self.mailbox.post(control, tick, source)

    def refuse_flown(self, ids: Ints) -> None:
        """Who flies by an autopilot takes no commands from others: they would be replaced at once."""
        if any(not flies.isdisjoint(ids.tolist()) for flies in self._flown.values()):
            raise PaddockError("it is flown by its autopilot: talk to that one, or leave it out of sitl.pilots")

    def refuse_claimed(self, ids: Ints) -> None:
        """What somebody has claimed, or an autopilot flies, cannot be given to a rule."""
        self.refuse_flown(ids)
        for source in self.sources:
            if not source.released and not source.ids.isdisjoint(ids.tolist()):
                raise PaddockError(f"{source.name!r} has claimed {', '.join(source.vehicles)}: it has to let go first")

    def poke(self) -> None:
        """Have the engine look around, should it be waiting here."""
        for source in self.sources:
            source.poke()

    def waits_for_nobody(self, tick: int, ticks: int) -> bool:
        """Whether so many ticks can pass without waiting for a reply."""
        first = self.due(tick)
        if first >= tick + ticks:
            return True
        if self._partners_due(tick) < tick + ticks:
            return False
        return ticks == 1 and all(source.released or source.prepared_for(first) for source in self.sources)

    def due(self, tick: int) -> int:
        """The next multiple of the period, while anyone has claimed a vehicle, or the next tick of a partner."""
        partners = self._partners_due(tick)
        return min(partners, self._sources_due(tick)) if self.sources else partners

    def longest_slice(self, tick: int) -> int:
        """Ticks from this one until the engine may have to wait again: others are served between."""
        return min(self.due(tick + 1) - tick, 1 << 20)

    def _sources_due(self, tick: int) -> int:
        return every(tick, self.sync.every) if self.sources else NEVER_DUE

    def _partners_due(self, tick: int) -> int:
        first = NEVER_DUE
        for partner in self.partners:
            first = min(first, partner.due(tick))
        return first

    def run(self, tick: int) -> None:
        """Partners exchange in the order in which they joined, then the sources are asked."""
        for partner in self.partners:
            if partner.due(tick) == tick:
                partner.exchange(tick)
        if self.sources and self._sources_due(tick) == tick:
            self._ask_all(tick)

    def _ask_all(self, tick: int) -> None:
        """Ask everyone at once, then collect the answers in the order of the claims."""
        with self._claiming:
            for source in self.sources:
                if not any(self.exists(vehicle) for vehicle in source.vehicles):
                    source.release()  # all its vehicles have gone: nobody to wait for
            sources = self.sources = [source for source in self.sources if not source.released]
        deadline = monotonic() + self.sync.timeout
        for source in sources:
            self._ask(source, tick, deadline)
        for source in sources:
            reply = source.answer(deadline, self.go_on, self.meanwhile)
            if reply is None and not source.released:
                reply = self._late(source, tick)
            for control in reply or ():
                self.mailbox.post(control, tick, source.name)
            if reply is None and not source.released and not self.go_on():
                raise HaltedError

    def _ask(self, source: ControlSource, tick: int, deadline: float) -> None:
        sensors = {vehicle: self.readings(vehicle) for vehicle in source.vehicles}
        source.ask(ControlRequest(tick, deadline, source.vehicles, self.snapshot(), sensors))

    def _late(self, source: ControlSource, tick: int) -> list[Control] | None:
        if not self.go_on():
            return None
        policy = self.sync.on_timeout
        self.report("barrier_timeout", source.name, f"no reply within {self.sync.timeout:g} s: {policy}")
        if policy == "pause":  # time stands still until the source answers or is released
            self._ask(source, tick, float("inf"))
            return source.answer(None, self.go_on, self.meanwhile)
        if policy == "hold":
            return None
        wanted = {vehicle: self.policy_inputs(vehicle, policy) for vehicle in source.vehicles}
        return [Control(vehicle, inputs) for vehicle, inputs in wanted.items() if inputs]
