"""Serve a running simulation: `with paddock.share(sim, zmq=True): sim.run()`, or `sim.show()` in a notebook.

It is a source for a host: it dispatches operations to their handlers, and pushes events and changes.
"""

import atexit
import secrets
import sys
import threading
from collections import Counter
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor, wait
from functools import cache, partial
from operator import attrgetter
from time import thread_time
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

from paddock.client import NotebookPage, checked_height
from paddock.engine.actions import MOST_WAITING, Action, FrameAction, Posted
from paddock.engine.barrier import Claim, LateReplyError
from paddock.engine.events import Event
from paddock.engine.markers import MarkerChange
from paddock.engine.pacing import RunMode
from paddock.engine.simulation import Simulation
from paddock.errors import PaddockError, unknown_name
from paddock.scenario import Scenario, Serve, load_scenario
from paddock.scenario.serve import ENDPOINTS, ClientLimits
from paddock.serve.describe import Described, simulation_figures
from paddock.serve.facts import Cost
from paddock.serve.host import ClockOwner, Host, Push, Visualization
from paddock.serve.mirror import change_tree, placed_tree
from paddock.serve.states import StateEncoder
from paddock.wire.operations import OPERATIONS
from paddock.world.fleet import Ints
from paddock.world.snapshot import Snapshot

Director = Callable[[Scenario], None]  # ends the run soon and starts that of another scenario


OnChange = Callable[[int, bool], None]  # gets the tick, and whether time passes by itself
H = TypeVar("H", bound=Callable[..., Any])
UNCONFIGURED = ClientLimits()
MOST_FOR_TICK = 256  # commands and placings that clients may send for the same tick, in advance


def changes_with(version: Callable[["LiveSource"], Any]) -> Callable[[H], H]:
    """Declare when the result of a read may change; by default with every tick."""

    def mark(handler: H) -> H:
        handler.version = version  # type: ignore[attr-defined]
        return handler

    return mark


class LiveSource:
    """A live simulation, which any thread may be driving. Handlers of operations receive this object."""

    live = True  # whether the ring says when the state has changed

    def __init__(
        self,
        sim: Simulation,
        locked: bool = False,
        director: Director | None = None,
        preparing: str = "",
        limits: ClientLimits = UNCONFIGURED,
    ) -> None:
        """`locked`: clients cannot own the clock. `director`: clients may load another scenario.

        `preparing` is shown to clients until `prepared` is called. `limits`: what clients may add.
        """
        self.limits = limits
        self.sim = self.watched = sim
        self.watch = sim.clock.watch
        self.rate = sim.engine.world.clock.rate
        self.addresses: Mapping[str, Any] = {}
        self.owner = ClockOwner(locked)
        self.visualization = Visualization()
        self.director = director
        self.preparing = preparing
        self.claims: dict[str, Claim] = {}  # client -> its claim
        self.drivers: dict[int, str] = {}  # id of a vehicle -> the client that drives it alone
        self.commands = 0  # accepted
        self._ahead: Counter[tuple[int, int]] = Counter()  # actions that clients have sent in advance, by run and tick
        self.refused = 0  # operations
        self.driving = False  # whether a client's `run` drives the clock, because no thread of the program does
        self.states = StateEncoder()
        self.described = Described()
        self.changes = 0  # of the run from outside: with the tick, the version of facts
        self._seconds = [0.0, 0.0, 0.0]  # of processor time since `take_spent`: see Cost
        self._posted_seconds = 0.0  # of the applier, then
        self._moment: tuple[Any, ...] = ()  # of the clock at the last call of `_on_clock`
        self.drawn: dict[str, Any] = {}  # shapes of the mission's tasks
        self._handlers = handlers()
        self.push: Push = lambda kind, content: None
        self.publish: Callable[[Snapshot], None] = lambda snapshot: None
        self._on_change: OnChange = lambda tick, ticking: None
        self._worker = ThreadPoolExecutor(1, "paddock-worker")
        self._wake = threading.Event()
        self.closing = False  # nothing waits any longer
        self._idle_worker = threading.Thread(target=self._work_while_idle, name="paddock-requests", daemon=True)
        self._listeners: list[tuple[list[Any], Callable[..., None]]] = [
            (sim.events.listeners, self._on_event),
            (sim.control.log.listeners, self._on_action),
            (sim.engine.listeners.restart, self._on_restart),
            (sim.world.markers.listeners, self._on_markers),
            (sim.engine.thread.listeners, self._on_clock),
        ]

    def handler(self, operation: str) -> Callable[..., Any]:
        """Return the handler of an operation, called with the client and the arguments."""
        if operation not in self._handlers:
            raise unknown_name("operation", operation, self._handlers)
        return partial(self._handlers[operation], self)

    def version(self, operation: str) -> Any:
        """Return a value that changes when the result of a fact may change."""
        version: Callable[[LiveSource], Any] = getattr(self._handlers[operation], "version", LiveSource.moment)
        return version(self)

    def moment(self) -> tuple[int, ...]:
        """Return what changes with every tick and with every change from outside."""
        return self.sim.engine.world.run, self.sim.tick, self.changes

    def mark_changed(self) -> None:
        """Report a change of the run at rest: what the hub has read before it is not the present state."""
        self.changes += 1
        if not self.ticking:
            self._on_change(self.sim.tick, False)

    def count_refused(self) -> None:
        """Count an operation that was refused."""
        self.refused += 1

    def count_commands(self, count: int) -> None:
        """Count commands that were accepted."""
        self.commands += count

    def post(self, action: Action, client: str, at_tick: int | None) -> None:
        """Post an action; one tick takes a limited number of those that clients have sent for it in advance."""
        applier, run = self.sim.engine.applier, self.sim.engine.world.run
        if at_tick is None:
            applier.post(action, None, client)
            return
        if self._ahead[run, at_tick] >= MOST_FOR_TICK:
            raise PaddockError(f"{MOST_FOR_TICK} actions of clients wait for tick {at_tick} already: use another tick")
        applier.post(action, at_tick, client)
        self._ahead[run, at_tick] += 1
        if len(self._ahead) > MOST_WAITING:  # those of earlier ticks and runs are done
            now = run, self.sim.tick
            self._ahead = Counter({due: count for due, count in self._ahead.items() if due >= now})

    def set_driver(self, number: int, client: str, driving: bool) -> None:
        """Let a client drive a vehicle (its id) alone, or end that."""
        if driving or self.drivers.get(number) == client:
            others = {vehicle: driver for vehicle, driver in self.drivers.items() if vehicle != number}
            self.drivers = others | ({number: client} if driving else {})

    def run_until(self, until: float) -> int:
        """Run until a simulation time (s), then hold; return the tick. For a client, while no other thread drives."""
        self.driving = True
        self.sim.clock.proceed()
        try:
            self.sim.run(until)
        finally:
            self.driving = False
            self.sim.clock.hold()  # no tick passes after it
        return self.sim.tick

    def claim_of(self, client: str) -> Claim:
        """Return the claim of a client."""
        claim = self.claims.get(client)
        if claim is None:
            raise LateReplyError("a control answers a request: claim vehicles first")
        return claim

    def refuse_other_driver(self, client: str, ids: Ints) -> None:
        """Refuse a command or an override of a vehicle that another client drives."""
        for number, driver in self.drivers.items():
            if driver != client and number in ids:
                program, rows = self.sim.engine.applier.found(number)
                raise PaddockError(f"{program.fleet.names_of(rows)} is driven by {driver}: take over first")

    def change(self, work: Callable[[], Any], read: bool = False) -> Future[Any]:
        """Schedule a change of the state between two ticks; `read`: a read, also while the barrier waits."""
        done = self.sim.engine.thread.request(work, read)
        self._wake.set()
        return done

    def read(self, work: Callable[[], Any]) -> Future[Any]:
        """Schedule a read of the state between two ticks, also while the barrier waits."""
        return self.change(work, read=True)

    def answer(self, work: Callable[[], Any]) -> Future[Any]:
        """Like `change`, and account for the time of the ticking thread."""

        def timed() -> Any:
            began = thread_time()
            try:
                return work()
            finally:
                self._seconds[1] += thread_time() - began
                self.mark_changed()

        return self.change(timed)

    @property
    def ticking(self) -> bool:
        """Whether time passes by itself: operations then have a budget."""
        return self.sim.clock.active and self.sim.clock.mode is RunMode.RUNNING

    def take_spent(self, link_seconds: float) -> Cost:
        """Return the processor time that clients have taken since the last call; none while time does not pass.

        `link_seconds`: that of the thread of the link, s.
        """
        total = self.sim.engine.applier.posted_seconds
        commands, self._posted_seconds = total - self._posted_seconds, total
        (_, changes, others), self._seconds = self._seconds, [0.0, 0.0, 0.0]
        return Cost(commands, changes, others + link_seconds) if self.ticking else Cost(0.0, 0.0, 0.0)

    def at_rest(self) -> Future[Any] | None:
        """Wait, after the clock was paused or held, until the ticks under way are done; None without a run."""
        return self.read(lambda: None) if self.sim.clock.active else None

    def aside(self, work: Callable[[], Future[Any]]) -> Future[Any]:
        """Do slow work, such as compiling, in a worker thread, one job at a time; then wait for its Future.

        The thread of the link must not do it: a hub that gets no answers counts as hung.
        """
        outcome: Future[Any] = Future()

        def copy(done: Future[Any]) -> None:
            if (error := done.exception()) is not None:
                outcome.set_exception(error)
            else:
                outcome.set_result(done.result())

        def begin() -> None:
            began = thread_time()
            try:
                done = work()
            except BaseException as error:
                outcome.set_exception(error)
            else:
                done.add_done_callback(copy)
            finally:
                self._seconds[2] += thread_time() - began

        self._worker.submit(begin)
        return outcome

    def added(self, work: Callable[[], Any]) -> Future[Any]:
        """Like `answer`, but wait until it is done: the next job of the worker is checked against the fleets then."""
        done = self.answer(work)
        while not (done.done() or self.closing):
            wait([done], 0.2)
        return done

    def period(self, rate: float) -> int:
        """Return the ticks between snapshots at a rate per simulated second (Hz)."""
        return max(1, round(self.rate / rate))

    def attach(self, push: Push, publish: Callable[[Snapshot], None], on_change: OnChange) -> None:
        """Start pushing events and changes; `on_change(tick, ticking)` is called after ticks and changes."""
        self.push, self.publish, self._on_change = push, publish, on_change
        on_change(self.sim.tick, self.ticking)
        for listeners, listener in self._listeners:
            listeners.append(listener)
        self._idle_worker.start()

    def detach(self) -> None:
        """Stop pushing; release the clock and all claims."""
        for listeners, listener in self._listeners:
            listeners.remove(listener)
        for client in [*self.claims, self.owner.client or ""]:
            self.gone(client)
        self.closing = True
        self._wake.set()
        if self._idle_worker.is_alive():
            self._idle_worker.join()
        self._worker.shutdown(wait=False, cancel_futures=True)

    def gone(self, client: str) -> None:
        """Release the clock and the claim of a client."""
        self.states.forget(client)
        self.drivers = {number: other for number, other in self.drivers.items() if other != client}
        claim = self.claims.pop(client, None)
        if claim is not None:
            claim.release()
        if self.owner.release(client):
            self.sim.clock.cancel_ticks(f"{client} has left")
            self.sim.clock.release()

    def publish_present(self) -> Snapshot:
        """Publish the present state to every endpoint. While another thread drives, it is that of its last snapshot."""
        snapshot = self.sim.engine.publisher.snapshot()
        self.publish(snapshot)
        return snapshot

    def prepared(self) -> None:
        """Notify clients that the simulation is ready."""
        self.preparing = ""
        self.push("preparing", {"text": ""})

    def announce(self) -> list[tuple[str, dict[str, Any]]]:
        """Return markers, frames and the preparation status, for a new hub."""
        board = self.sim.world.markers
        hidden = [name for name, visible in board.namespaces().items() if not visible]
        return [
            *([("preparing", {"text": self.preparing})] if self.preparing else ()),
            ("markers", {"put": list(map(placed_tree, board.alive(self.sim.time, hidden=True)))}),
            ("hidden", {"namespaces": hidden}),
            ("frames", {"tree": self.sim.engine.world.transforms.save()}),
        ]

    def figures(self) -> dict[str, Any]:
        """Return figures of the run, for metrics and pages."""
        own = {"commands": self.commands, "refused": self.refused, "claims": len(self.claims)}
        drivers = {str(number): client for number, client in self.drivers.items()}
        more = {"owner": self.owner.client or "", "drivers": drivers, "visualization": self.visualization.mode}
        return {**simulation_figures(self.sim), **own, **more}

    def _work_while_idle(self) -> None:
        """Carry out operations while no thread drives the simulation."""
        while not self.closing:
            self._wake.wait()
            self._wake.clear()
            self.sim.engine.thread.serve_idle()

    def _on_clock(self) -> None:
        """Report ticks, and changes of the clock."""
        clock = self.sim.clock
        moment = self.sim.tick, clock.mode, clock.pace, clock.active
        if moment != self._moment:
            self._moment = moment
            self._on_change(moment[0], self.ticking)

    def _on_event(self, event: Event) -> None:
        self.mark_changed()
        self.push("event", dict(vars(event)))

    def _on_markers(self, change: MarkerChange) -> None:
        self.mark_changed()
        self.push("markers", change_tree(change))

    def _on_action(self, posted: Posted) -> None:
        self.mark_changed()
        frame = posted.action
        if isinstance(frame, FrameAction):
            pose = {"position": list(frame.position), "quaternion": list(frame.quaternion), "time": self.sim.time}
            self.push("frames", {"name": frame.name, "parent": frame.parent, "moving": frame.moving, **pose})

    def _on_restart(self, how: str) -> None:
        self.mark_changed()
        now = self.sim.engine.publisher.snapshot()
        self.drivers = {number: client for number, client in self.drivers.items() if number in now}  # ids start again
        self.push("restart", {"how": how, "run": self.sim.engine.world.run, "tick": self.sim.tick})
        self.push("frames", {"tree": self.sim.engine.world.transforms.save()})
        self.publish(now)


@cache
def handlers() -> dict[str, Callable[..., Any]]:
    """Return the handlers by the names of their operations."""
    from paddock.serve.operations import clock, radio, vehicles, world  # here: they need this module

    modules = (clock, radio, vehicles, world)
    functions = {name: function for module in modules for name, function in vars(module).items() if name in OPERATIONS}
    homes = [module.__name__ for module in modules]
    own = {name: function for name, function in functions.items() if function.__module__ in homes}
    rest = [op for name, op in OPERATIONS.items() if op.entry.handling != "hub" and name not in own]
    return own | {op.name: _calling(".".join(filter(None, op.client))) for op in rest}


def _calling(path: str) -> Callable[..., Any]:
    """Return the handler that calls a method of the simulation, such as `frames.set`."""
    method = attrgetter(path)

    def handler(run: LiveSource, client: str, **arguments: Any) -> Any:
        return method(run.sim)(**arguments)

    return handler


def to_stderr(line: str) -> None:
    """The default destination of log lines."""
    print(f"paddock: {line}", file=sys.stderr, flush=True)


def serve_options(fields: dict[str, Any]) -> Serve:
    """Validate the fields of a scenario's `serve` section."""
    options = load_scenario({"vehicles": [], "serve": fields}).serve
    assert options is not None
    return options


def share(
    sim: Simulation,
    on_log: Callable[[str], None] = to_stderr,
    **serve: Any,
) -> Host:
    """Serve a simulation with the fields of a scenario's `serve` section; without any, as its scenario says.

    Returns when every endpoint is open. Close the host, or leave its `with` block, to end it. `host.addresses` has the
    address of each endpoint. `on_log` receives the log lines of the hub.
    """
    options = serve_options(serve) if serve else sim.scenario.serve
    if options is None or not options.endpoints:
        raise PaddockError(f"name at least one endpoint, e.g. share(sim, web=True); valid: {', '.join(ENDPOINTS)}")
    return Host(LiveSource(sim, options.lock, limits=options.limits), options, on_log)


_SHOWN: "WeakKeyDictionary[Simulation, Shown]" = WeakKeyDictionary()


class Shown(NotebookPage):
    """The page of one simulation of this process. Its token is in the URL, since a proxy may pass on anything."""

    def __init__(self, sim: Simulation, height: int) -> None:
        token = secrets.token_urlsafe(16)
        self.host = share(sim, web={"port": 0}, token=token)
        super().__init__(f"http://127.0.0.1:{self.host.addresses['web']['port']}/?token={token}", height)

    def close(self) -> None:
        """Stop serving the page; the simulation continues."""
        self.closed = True
        self.host.close()


def show(sim: Simulation, height: int = 600) -> Shown:
    """Serve the page of a simulation on a free local port; a second call returns the same one."""
    checked_height(height)
    if sim.engine.thread.closed:
        raise PaddockError("show() refused: the simulation is closed")
    shown = _SHOWN.get(sim)
    if shown is None or shown.closed:
        shown = _SHOWN[sim] = Shown(sim, height)
        sim.engine.listeners.close.append(shown.close)
    shown.height = height
    return shown


@atexit.register
def _close_all() -> None:
    """Close all pages at exit: a notebook's kernel does not close them."""
    for shown in list(_SHOWN.values()):
        shown.close()
