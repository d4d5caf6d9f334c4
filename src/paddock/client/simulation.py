"""A simulation that runs elsewhere, with the verbs of a local one."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable
from concurrent.futures import Future
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, Self, TypeVar, overload

from paddock.client import requests
from paddock.client.channel import Callbacks
from paddock.client.control import Controls, Handler, RemoteClaim
from paddock.client.requests import ClientRequest, as_method
from paddock.client.session import Session
from paddock.client.states import EVENT, MARKERS, STATE, Watching
from paddock.errors import PaddockError, suggestion
from paddock.planning.mission.views import VIEW_NAMES, MissionView
from paddock.wire.messages.markers import ClearMarkers, DeleteMarkers, MarkerCommand, PutMarkers, ShowMarkers
from paddock.wire.messages.recordings import EventMessage
from paddock.wire.messages.requests import Command
from paddock.world.snapshot import Snapshot

T = TypeVar("T")
P = ParamSpec("P")
KEEPING = (Command, PutMarkers, DeleteMarkers, ClearMarkers, ShowMarkers)
"""Requests that do not change the state of this tick."""
RENAMED = {
    "let_go": "release_clock",
    "order": "override",
    "orders": "overrides",
    "set_frame": "frames.set",
    "transform": "frames.transform",
    "mark": "markers.put",
    "unmark": "markers.remove",
    "show_markers": "markers.show",
    **{n: f"mission.{n}" for n in ("add_task", "add_zone", "add_vehicle", "damage", "move_task", "remove_task")},
}
"""Old spellings, which still work with a DeprecationWarning, and the new ones."""


def default_name() -> str:
    """The name of a client that gave none: its program and process."""
    return f"{os.path.basename(sys.argv[0] or 'python')}-{os.getpid()}"


def renamed(sim: Any, name: str, parts: dict[str, Any]) -> Any:
    """The attribute of an old spelling; `parts` replace attributes that would make a request."""
    if name not in RENAMED:
        public = [known for known in (*dir(type(sim)), *vars(sim)) if known[0] != "_"]
        raise AttributeError(f"a remote simulation has no attribute {name!r}; {suggestion(name, public)}")
    new = RENAMED[name]
    warnings.warn(f"sim.{name} is deprecated: use sim.{new}", DeprecationWarning, stacklevel=3)
    part, _, rest = new.partition(".")
    return attrgetter(rest)(parts[part]) if part in parts else attrgetter(new)(sim)


def verb(request: Callable[P, ClientRequest[T]]) -> Callable[Concatenate[Any, P], T]:
    """A method that sends a request and waits for its reply."""

    def method(self: Any, /, *args: P.args, **kwargs: P.kwargs) -> T:
        reply: T = self._ask(request(*args, **kwargs))
        return reply

    as_method(request, method)
    return method


class RemotePart:
    """A part of a remote simulation: verbs of one subject."""

    def __init__(self, ask: Callable[[ClientRequest[Any]], Any]) -> None:
        self._ask = ask


class RemoteMarkers(RemotePart):
    """`sim.markers`."""

    put = verb(requests.put_markers)
    remove = verb(requests.remove_markers)
    show = verb(requests.show_markers)


class RemoteFrames(RemotePart):
    """`sim.frames`."""

    set = verb(requests.set_frame)
    transform = verb(requests.transform)


class RemoteEvents(RemotePart):
    """`sim.events.since(number)`, or shorter `sim.events(number)`."""

    since = verb(requests.events)
    __call__ = since


class RemoteMission(RemotePart):
    """`sim.mission`: the fields of a MissionView, each read when it is used, and verbs that change the mission."""

    view = verb(requests.mission_view)
    add_task = verb(requests.add_task)
    add_zone = verb(requests.add_zone)
    add_vehicle = verb(requests.add_vehicle)
    damage = verb(requests.damage)
    move_task = verb(requests.move_task)
    remove_task = verb(requests.remove_task)

    def __getattr__(self, name: str) -> Any:
        """Return a field of the view."""
        if name not in VIEW_NAMES:
            raise AttributeError(f"a mission has no attribute {name!r}; fields: {', '.join(MissionView._fields)}")
        return getattr(self.view(), name)


class RemoteSimulation:
    """The first client that steps, runs or holds controls the clock until it releases it. Safe for several threads."""

    seek = verb(requests.seek)
    pause = verb(requests.pause)
    resume = verb(requests.resume)
    hold = verb(requests.hold)
    release_clock = verb(requests.release_clock)
    command = verb(requests.command)
    spawn = verb(requests.spawn)
    remove = verb(requests.remove)
    override = verb(requests.override)
    overrides = verb(requests.overrides)
    routes = verb(requests.routes)
    sensors = verb(requests.sensors)
    inspect = verb(requests.inspect)
    state_hash = verb(requests.state_hash)
    save = verb(requests.save)
    restore = verb(requests.restore)
    reset = verb(requests.reset)

    def __init__(self, url: str, token: str | None, name: str | None, timeout: float) -> None:
        """Connect, or PaddockError: use `paddock.connect`."""
        self.session = Session(url, token, name or default_name(), timeout, Callbacks())
        self.controls = Controls(self.session, self._ask)
        self.watching = Watching(self.session)
        self.markers = RemoteMarkers(self._ask)
        self.frames = RemoteFrames(self._ask)
        self.events = RemoteEvents(self._ask)
        self._running: Future[None] | None = None
        self._closed = False
        try:
            self._finish(self.session.hello())
        except BaseException:
            self.close()
            raise

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            return renamed(self, name, {"mission": RemoteMission(self._ask)})

    # clock -----------------------------------------------------------------------------------------------------------

    @property
    def tick(self) -> int:
        """Ticks since the start of the run."""
        return self._ask(requests.tick())

    @property
    def time(self) -> float:
        """Simulation time, s."""
        return self._ask(requests.time())

    @property
    def pace(self) -> float:
        """Simulated seconds per wall second of `run`; 0 is as fast as possible. Can be set at any time."""
        return self._ask(requests.pace())

    @pace.setter
    def pace(self, pace: float) -> None:
        self._ask(requests.set_pace(pace))

    @property
    def paused(self) -> bool:
        """Whether time is held."""
        return self._ask(requests.paused())

    def step(self, ticks: int = 1) -> None:
        """Advance by exactly this many ticks, then return. This client controls the clock from then on."""
        if not self.controls.handlers:
            self._ask(requests.step(ticks))
        elif requests.whole_ticks(ticks):
            found = self._ask(requests.step_synchronously(ticks, self.controls.beforehand()), keep=True)
            self.controls.arrived(found)

    def run(self, until: float | None = None, pace: float | None = None) -> None:
        """Run until a simulation time (s; None: until `stop` or an interrupt), at a pace; takes the clock."""
        request = requests.run(until, pace)
        if until is not None:
            self._ask(request)
            return
        self._running = Future()
        self._ask(request)
        try:
            self._finish(self._running, attend=True)
        finally:
            self._running = None
            self.hold()

    def stop(self) -> None:
        """Make this client's `run` return."""
        running = self._running
        if running is not None and not running.done():
            running.set_result(None)
        self._ask(requests.stop())

    # synchronous control ---------------------------------------------------------------------------------------------

    def claim(self, *vehicles: str) -> RemoteClaim:
        """Claim vehicles: this program answers their control requests with `wait` and `reply`, until `release`."""
        return self.controls.claim(vehicles)

    @overload
    def on_control_request(self, *vehicles: str, handler: None = None) -> Callable[[Handler], Handler]: ...
    @overload
    def on_control_request(self, *vehicles: str, handler: Handler) -> Callable[[], None]: ...
    def on_control_request(self, *vehicles: str, handler: Handler | None = None) -> Callable[..., Any]:
        """Have the simulation wait for these vehicles' commands, which `handler(request)` returns.

        It returns {vehicle: {input: value}}; inputs that are not named keep their values. Also a decorator. Returns a
        function that ends it.
        """
        if handler is not None:
            return self.controls.add(vehicles, handler)

        def decorate(function: Handler) -> Handler:
            self.controls.add(vehicles, function)
            return function

        return decorate

    # reading ---------------------------------------------------------------------------------------------------------

    def snapshot(self) -> Snapshot:
        """Return the world now: immutable, and bit for bit that of a local simulation."""
        found = self._ask(requests.snapshot()) or self._ask(requests.snapshot(roster=True))
        if found is None:
            raise PaddockError("the server's reply holds no state")
        return found

    def on_state(self, callback: Callable[[Snapshot], object], every: int | None = None) -> Callable[[], None]:
        """Call `callback(snapshot)` for every published state whose tick `every` divides; returns a function to end it.

        It runs in the thread that is in `step` or `run`, if any.
        """
        return self.watching.add(STATE, callback, every)

    def on_event(self, callback: Callable[[EventMessage], object]) -> Callable[[], None]:
        """Call `callback(event)` for every event; returns a function to end it."""
        return self.watching.add(EVENT, callback)

    def on_markers(self, callback: Callable[[MarkerCommand], object]) -> Callable[[], None]:
        """Call `callback(command)` with all markers, then with every change; returns a function to end it."""
        return self.watching.add(MARKERS, callback)

    @property
    def metadata(self) -> dict[str, Any]:
        """The scenario, the clock, and the fleets with their inputs and sensors."""
        return self._ask(requests.metadata())

    @property
    def mission(self) -> RemoteMission | None:
        """The mission: its fields, and verbs that change it; None without one."""
        return None if self._ask(requests.mission_view()) is None else RemoteMission(self._ask)

    # connection ------------------------------------------------------------------------------------------------------

    def close(self) -> None:
        """Disconnect, and release the clock and all claims. The simulation continues."""
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

    def _ask(self, request: ClientRequest[T], keep: bool = False) -> T:
        """Send a request and wait; `keep`: the known state stays valid."""
        if self._closed:
            raise PaddockError("the connection is closed")
        if not (keep or isinstance(request.body, KEEPING)):
            self.controls.forget()
        future = self.session.ask(request, wake=False)
        self._finish(future, attend=request.patient)
        return request.read(future.result())

    def _finish(self, future: Future[Any], attend: bool = False) -> None:
        try:
            self.session.channel.finish(future, attend)
        except BaseException:
            if not future.done():
                self.controls.give_up(future)
            raise
        future.result()
