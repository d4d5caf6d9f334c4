"""A simulation that runs elsewhere, with the verbs of one that runs here."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import Any, Self, TypeVar, overload

from paddock.client import verbs
from paddock.client.channel import Calls
from paddock.client.control import Controls, Handler, RemoteClaim
from paddock.client.missions import RemoteMission
from paddock.client.session import Session
from paddock.client.states import Watching
from paddock.client.verbs import Verb
from paddock.errors import PaddockError
from paddock.wire.messages.controls import Command
from paddock.wire.messages.markers import ClearMarkers, DeleteMarkers, MarkerCommand, PutMarkers, ShowMarkers
from paddock.wire.messages.recordings import Event
from paddock.world.markers import Marker
from paddock.world.snapshot import Snapshot
from paddock.world.transforms import Transform

T = TypeVar("T")
KEEPING = (Command, PutMarkers, DeleteMarkers, ClearMarkers, ShowMarkers)
"""Requests that leave the state of this tick as it is."""


def default_name() -> str:
    """What a client is called that did not say: its program and process."""
    return f"{os.path.basename(sys.argv[0] or 'python')}-{os.getpid()}"


class RemoteEvents:
    """The events of the run: `sim.events.since(number)`, or shorter `sim.events(number)`."""

    def __init__(self, ask: Callable[[Verb[list[Event]]], list[Event]]) -> None:
        self._ask = ask

    def since(self, number: int = 0) -> list[Event]:
        """The kept events after the given number, oldest first."""
        return self._ask(verbs.events(number))

    __call__ = since


class RemoteSimulation(RemoteMission):
    """The first that steps, runs or holds owns the clock until it lets go; any thread may use it."""

    def __init__(self, url: str, token: str | None, name: str | None, timeout: float) -> None:
        """Connect, or PaddockError: use `paddock.connect`."""
        self.session = Session(url, token, name or default_name(), timeout, Calls())
        self.controls = Controls(self.session, self._ask)
        self.watching = Watching(self.session)
        self.events = RemoteEvents(self._ask)
        self._running: Future[None] | None = None
        self._closed = False
        try:
            self._finish(self.session.hello())
        except BaseException:
            self.close()
            raise

    # time ------------------------------------------------------------------------------------------------------------

    @property
    def tick(self) -> int:
        """Ticks since the run began."""
        return self._ask(verbs.tick())

    @property
    def time(self) -> float:
        """Simulation time, s."""
        return self._ask(verbs.time())

    @property
    def pace(self) -> float:
        """Simulated seconds per wall second of `run`; 0 is as fast as possible. May be set at any time."""
        return float(self._ask(verbs.clock("pace")))

    @pace.setter
    def pace(self, pace: float) -> None:
        self._ask(verbs.set_pace(pace))

    @property
    def paused(self) -> bool:
        """Whether time is held."""
        return bool(self._ask(verbs.clock("paused")))

    def step(self, ticks: int = 1) -> None:
        """Exactly that many ticks, then return. This client owns the clock from then on."""
        if not self.controls.handlers:
            self._ask(verbs.step(ticks))
        elif verbs.whole_ticks(ticks):
            found = self._ask(verbs.step_synchronously(ticks, self.controls.beforehand()), keep=True)
            self.controls.arrived(found)

    def run(self, until: float | None = None, pace: float | None = None) -> None:
        """Run to a simulation time (s; None: until `stop`, or an interrupt), at a pace; this client owns the clock."""
        verb = verbs.run(until, pace)
        if until is not None:
            self._ask(verb)
            return
        self._running = Future()
        self._ask(verb)
        try:
            self._finish(self._running, attend=True)
        finally:
            self._running = None
            self.hold()

    def seek(self, position: float) -> float:
        """Jump to a time of a served recording (s from its beginning); returns where it stands."""
        return self._ask(verbs.seek(position))

    def stop(self) -> None:
        """Make this client's `run` return."""
        running = self._running
        if running is not None and not running.done():
            running.set_result(None)
        self._ask(verbs.STOP)

    def pause(self) -> None:
        """Hold a running `run`; `step` still works."""
        self._ask(verbs.PAUSE)

    def resume(self) -> None:
        """Go on."""
        self._ask(verbs.RESUME)

    def hold(self) -> None:
        """Own the clock: time passes by this client's `step` and `run` only."""
        self._ask(verbs.do("hold"))

    def let_go(self) -> None:
        """Give the clock back; time goes on."""
        self._ask(verbs.do("let_go"))

    # actions ---------------------------------------------------------------------------------------------------------

    def command(self, target: Any, *, at_tick: int | None = None, **inputs: Any) -> None:
        """Set inputs of a vehicle, or of a fleet with arrays of its length, from the next tick on (or from `at_tick`).

        Inputs that are not named stay as they are. An array of ids is a target too.
        """
        self._ask(verbs.command(target, at_tick, inputs))

    def spawn(self, **fields: Any) -> str:
        """Add vehicles: the fields of a scenario's `vehicles` entry, or `fleet="scouts"` with `count` and `spawn`."""
        return self._ask(verbs.spawn(fields))

    def remove(self, target: str | int) -> None:
        """Take a vehicle or a fleet out of the world, at once."""
        self._ask(verbs.do("remove", target=target))

    def order(self, target: Any, behaviour: Any) -> None:
        """Tell vehicles (a name, an id, or a list of them) to do something else than their entry says.

        A behaviour as in a scenario; "external": take commands from now on; None: back to what the entry says.
        """
        self._ask(verbs.order(target, behaviour))

    def set_frame(
        self,
        name: str,
        parent: str = "world",
        position: Sequence[float] = (0.0, 0.0, 0.0),
        quaternion: Sequence[float] = (0.0, 0.0, 0.0, 1.0),
        moving: bool = False,
    ) -> None:
        """Place a named frame in another (`world`, a vehicle, a frame), at once."""
        self._ask(verbs.set_frame(name, parent, position, quaternion, moving))

    def claim(self, *vehicles: str) -> RemoteClaim:
        """Declare that this program will answer the control requests for these vehicles: wait, reply, release."""
        return self.controls.claim(vehicles)

    @overload
    def on_control_request(self, *vehicles: str, handler: None = None) -> Callable[[Handler], Handler]: ...
    @overload
    def on_control_request(self, *vehicles: str, handler: Handler) -> Callable[[], None]: ...
    def on_control_request(self, *vehicles: str, handler: Handler | None = None) -> Callable[..., Any]:
        """Have the simulation wait for these vehicles' commands, and `handler(request)` give them.

        It returns {vehicle: {input: value}}; what is not named stays. Also a decorator. Returns what ends it.
        """
        if handler is not None:
            return self.controls.add(vehicles, handler)

        def decorate(function: Handler) -> Handler:
            self.controls.add(vehicles, function)
            return function

        return decorate

    # looking ---------------------------------------------------------------------------------------------------------

    def orders(self) -> list[verbs.Order]:
        """The orders that are being followed: ids of the vehicles, the behaviour's name, its options."""
        return self._ask(verbs.orders())

    def routes(self) -> list[verbs.Route]:
        """Where vehicles are to go: the paths and points of what they follow."""
        return self._ask(verbs.routes())

    def snapshot(self) -> Snapshot:
        """The world now: immutable, yours to keep, and bit for bit what a local simulation would give."""
        found = self._ask(verbs.snapshot()) or self._ask(verbs.snapshot(roster=True))
        if found is None:
            raise PaddockError("the server's answer holds no state")
        return found

    def on_state(self, callback: Callable[[Snapshot], object], every: int | None = None) -> Callable[[], None]:
        """Call `callback(snapshot)` for every state published, of the ticks that `every` divides; returns what ends it.

        In the thread that is in `step` or `run`, if there is one.
        """
        return self.watching.on_state(callback, every)

    def on_event(self, callback: Callable[[Event], object]) -> Callable[[], None]:
        """Call `callback(event)` for every event; returns what ends it."""
        return self.watching.on_event(callback)

    def on_markers(self, callback: Callable[[MarkerCommand], object]) -> Callable[[], None]:
        """Call `callback(command)` with all markers, and whenever anyone changes them; returns what ends it."""
        return self.watching.on_markers(callback)

    def sensors(self, target: str | int) -> dict[str, dict[str, Any]]:
        """What a vehicle's (or a whole fleet's) sensors last delivered: sensor -> reading -> value or (n,) array."""
        found: dict[str, dict[str, Any]] = self._ask(verbs.call("sensors", target=target))
        return found

    def inspect(self, target: str | int) -> dict[str, dict[str, Any]]:
        """Every state, command and parameter column of a vehicle: group -> name -> value."""
        found: dict[str, dict[str, Any]] = self._ask(verbs.call("inspect", target=target))
        return found

    def transform(self, target: str, source: str, time: float | None = None) -> Transform:
        """What takes points of one frame to another: `world`, a vehicle's name, or a frame set by `set_frame`."""
        return self._ask(verbs.transform(target, source, time))

    @property
    def metadata(self) -> dict[str, Any]:
        """What is simulated: scenario, seed, rate, owner of the clock, fleets with their inputs."""
        return self._ask(verbs.METADATA)

    # markers ---------------------------------------------------------------------------------------------------------

    def mark(self, *markers: Marker) -> None:
        """Show markers, in place of those of the same namespace and id; all, or none if any frame is unknown."""
        self._ask(verbs.mark(markers))

    def unmark(self, namespace: str | None = None, id: int | None = None) -> None:
        """Take a marker away, a whole namespace, or everything."""
        self._ask(verbs.unmark(namespace, id))

    def show_markers(self, namespace: str, visible: bool = True) -> None:
        """Show or hide a namespace of markers."""
        self._ask(verbs.show_markers(namespace, visible))

    # state -----------------------------------------------------------------------------------------------------------

    def state_hash(self) -> str:
        """Hex digest of the complete state at this tick."""
        return str(self._ask(verbs.call("state_hash")))

    def save(self) -> bytes:
        """The complete state."""
        return self._ask(verbs.save())

    def restore(self, blob: bytes) -> None:
        """Go back (or forth) to a saved state of this scenario."""
        self._ask(verbs.restore(blob))

    def reset(self, seed: int | None = None) -> None:
        """Start the scenario again from tick 0; a seed that is given replaces the scenario's."""
        self._ask(verbs.reset(seed))

    def close(self) -> None:
        """Leave: what this client owned and claimed is free again. The simulation goes on."""
        if not self._closed:
            self._closed = True
            self.session.close()
            self.session.channel.calls.close()

    def __enter__(self) -> Self:
        """For `with paddock.connect(...) as sim`."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close."""
        self.close()

    # inside ----------------------------------------------------------------------------------------------------------

    def _ask(self, verb: Verb[T], keep: bool = False) -> T:
        """Ask and wait; `keep`: what is known of the state stays true."""
        if self._closed:
            raise PaddockError("the connection is closed")
        if not (keep or isinstance(verb.body, KEEPING)):
            self.controls.forget()
        future = self.session.ask(verb, wake=False)
        self._finish(future, attend=verb.patient)
        return verb.read(future.result())

    def _finish(self, future: Future[Any], attend: bool = False) -> None:
        try:
            self.session.channel.finish(future, attend)
        except BaseException:
            if not future.done():
                self.controls.give_up(future)
            raise
        future.result()
