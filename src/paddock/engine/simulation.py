"""A simulation: the small stable contract that notebooks, servers and tests work with."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from importlib import import_module
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from paddock.engine.actions import Action, Control, MissionOrder, Order, Place, Posted, Remove, SetFrame, Spawn, Target
from paddock.engine.applier import Applier
from paddock.engine.background import in_background
from paddock.engine.barrier import BarrierStage, ControlSource
from paddock.engine.build import environment_values
from paddock.engine.driver import Driver
from paddock.engine.errands import Errands
from paddock.engine.events import EventLog
from paddock.engine.frames import WORLD, refuse_unusable, transform_between
from paddock.engine.inspect import inspected
from paddock.engine.latch import refuse_driven
from paddock.engine.log import ActionLog
from paddock.engine.mailbox import AT_ONCE, Mailbox
from paddock.engine.markers import MarkerBoard
from paddock.engine.motion import MOTIONS
from paddock.engine.orders import Given
from paddock.engine.pacing import Pacer
from paddock.engine.pipeline import Pipeline
from paddock.engine.roster import Roster
from paddock.engine.routes import PlannedRoute, routes_of
from paddock.engine.stages.behave import BehaveStage
from paddock.engine.stages.latch import LatchStage
from paddock.engine.stages.mission import MissionStage
from paddock.engine.stages.move import MoveStage
from paddock.engine.stages.publish import PublishStage, Watcher
from paddock.engine.stages.sense import SenseStage
from paddock.engine.state import clear_state, hashed_state, load_state, saved_state
from paddock.errors import InvalidValueError, PaddockError, unknown_name
from paddock.scenario import Scenario, Sync
from paddock.world.archive import digest, pack
from paddock.world.markers import Marker
from paddock.world.snapshot import Snapshot
from paddock.world.transforms import Transform
from paddock.world.world import World

if TYPE_CHECKING:  # planning is only imported where there is a mission
    from paddock.engine.mission.run import MissionRun
    from paddock.planning.mission.views import MissionView

POSTABLE = (Control, Spawn, Remove, Place, Order, MissionOrder)
"""Actions that anybody may leave in the mailbox."""
LAST_TIME = 1e12
"""s: a time that no run reaches."""


class Simulation:
    """Owns the truth. One thread ticks it; any thread may `post`, `pause`, `resume` or change the `pace`."""

    def __init__(self, scenario: Scenario, device: str = "cpu", prepared: bool = True) -> None:
        """Not `prepared`, it is there at once, without any kernel: who wants that calls `prepare` before all else."""
        if device not in MOTIONS:
            raise unknown_name("device", device, MOTIONS)
        self.scenario = scenario
        self.events = EventLog()
        self.log = ActionLog()
        self.mailbox = Mailbox()
        self.world = World(scenario.clock.rate, environment_values(scenario), scenario.seed)
        self.roster = Roster(scenario, self.world, self.events, device)
        programs = self.roster.programs
        self.publisher = PublishStage(self.world, programs, scenario.every.snapshot)
        self.applier = applier = Applier(self.world, self.roster, self.events, self.log, self._changed)
        sync = scenario.clock.sync or Sync()
        self.barrier = BarrierStage(sync, self.mailbox, applier.report, self.snapshot, applier.checked)
        applier.refuse_claimed = self.barrier.refuse_claimed
        applier.refuse_flown = self.barrier.refuse_flown
        self.barrier.policy_inputs = applier.policy_inputs
        self.barrier.exists = applier.exists
        self.barrier.readings = applier.readings_if_there
        self.barrier.go_on = lambda: not self.pacer.stopping
        self.latch = LatchStage(self.mailbox, programs, applier.take_up, self.events)
        poses = self.publisher.poses
        self.behave = BehaveStage(self.world, programs, poses, self.events, scenario.every.behaviour)
        self.sense = SenseStage(self.world, programs, poses)
        exactly = scenario.mission is not None and scenario.mission.execute == "kinematic"
        self.stage = MissionStage(self.world.clock, scenario.every.behaviour if exactly else None)
        applier.direct = self.stage.carry_out
        self.pipeline = Pipeline(
            self.world.clock,
            before=(self.barrier, self.latch, *(() if exactly else (self.stage,)), self.behave),
            motion=MoveStage(self.world, programs),
            after=(*((self.stage,) if exactly else ()), self.sense, self.publisher),
        )
        self.pacer = Pacer(self.world.clock, self.pipeline.advance, scenario.clock.pace)
        self.driver = Driver()
        self.errands = Errands(self.driver, self._rouse)
        self.barrier.meanwhile = self.errands.serve_glances
        self.markers = MarkerBoard(self._check_frame)  # what is shown: no part of the state
        # told "reset" or "restore" when the run begins anew
        self.restarted: list[Callable[[str], None]] = [self.markers.restart]
        self.closing: list[Callable[[], None]] = []  # what ends with the simulation
        self.idling: list[Callable[[], None]] = []  # called between slices of a run, also while it is paused
        self.pacer.between = self._between
        self.pacer.lend = self.driver.lent
        self.pacer.longest_slice = lambda: self.barrier.longest_slice(self.tick)
        self._sensed = False  # whether sensors have their first readings
        self._populate(prepared)

    # time ------------------------------------------------------------------------------------------------------------

    @property
    def tick(self) -> int:
        """Ticks since the run began."""
        return self.world.clock.tick

    @property
    def time(self) -> float:
        """Simulation time, s."""
        return self.world.clock.time

    @property
    def pace(self) -> float:
        """Simulated seconds per wall second of `run`; 0 is as fast as possible. May be set at any time."""
        return self.pacer.pace

    @pace.setter
    def pace(self, pace: float) -> None:
        self.pacer.pace = pace

    def prepare(self) -> None:
        """The sensors' first readings, for which kernels are compiled; nothing if they are there."""
        with self.driver.driving("prepare()"):
            if not self._sensed:
                if self.stage.mission is not None:
                    self.stage.mission.begin()
                self.sense.run(self.tick)
                self._sensed = True
                self.publisher.forget()

    def step(self, ticks: int = 1) -> None:
        """Exactly that many ticks, then return."""
        if isinstance(ticks, bool) or not isinstance(ticks, int | np.integer) or ticks < 0:
            raise InvalidValueError(f"step takes a whole number of ticks >= 0, not {ticks!r}")
        with self.driver.driving("step()"):
            self.pacer.stopping = False  # an earlier stop() is no reason not to wait at the barrier
            end = self.tick + int(ticks)
            self.pipeline.advance(int(ticks))
            if self.tick < end:
                raise PaddockError(f"step() was stopped at tick {self.tick}, {end - self.tick} ticks early")

    def run(
        self, until: float | None = None, pace: float | None = None, heartbeat: Callable[[], None] | None = None
    ) -> None:
        """Run to a simulation time (s; None: until `stop`), at a pace; `heartbeat` is called ten times a second."""
        if until is not None and not (isinstance(until, int | float | np.number) and abs(until) <= LAST_TIME):
            raise InvalidValueError(f"run(until=...) takes a finite time in s, not {until!r}")
        if pace is not None:
            self.pace = pace
        with self.driver.driving("run()"):
            self.pacer.run(None if until is None else self.world.clock.tick_at(until), heartbeat)

    def running(self, until: float | None = None, pace: float | None = None) -> AbstractContextManager[None]:
        """Run in a thread of its own while a `with` block lasts: `with sim.running(): ...`."""
        return in_background(lambda: self.run(until, pace), lambda: self.pacer.running, self.stop)

    def pause(self) -> None:
        """Hold a running `run`; `step` still works."""
        self.pacer.set(paused=True)

    def resume(self) -> None:
        """Go on."""
        self.pacer.set(paused=False, held=False)

    @property
    def paused(self) -> bool:
        """Whether `run` is held."""
        return self.pacer.paused or self.pacer.held

    def stop(self) -> None:
        """Make `run` return."""
        self.pacer.set(stopping=True)

    # actions ---------------------------------------------------------------------------------------------------------

    def command(self, target: str | int, *, at_tick: int | None = None, source: str = "", **inputs: Any) -> None:
        """Set inputs of a vehicle, or of a fleet with arrays of its length, from the next tick on (or from `at_tick`).

        Inputs that are not named stay as they are.
        """
        self.post(Control(target, inputs), at_tick, source)

    def post(self, action: Action, at_tick: int | None = None, source: str = "") -> None:
        """Leave an action in the mailbox, for the next tick or for `at_tick`. Any thread may call this."""
        if not isinstance(action, POSTABLE):
            raise PaddockError(f"only {', '.join(kind.__name__ for kind in POSTABLE)} can be posted, not {action!r}")
        if isinstance(action, Control):
            action = self.applier.checked(action)
        elif isinstance(action, Place):
            action = self.applier.checked_place(action)
        elif isinstance(action, Order):
            action = self.applier.checked_order(action)
        elif isinstance(action, MissionOrder):
            action = self.stage.checked(action)
        self.mailbox.refuse_if_full()
        tick = AT_ONCE if at_tick is None else _whole("at_tick takes a whole number of ticks >= 0", at_tick, 0, 2**62)
        self.mailbox.post(action, tick, source)

    def spawn(self, /, **fields: Any) -> str:
        """Add vehicles: the fields of a scenario's `vehicles` entry, or `fleet="scouts"` with `count` and `spawn`.

        Returns the name. Takes effect at once; nothing is added when any field is wrong.
        """
        with self.driver.driving("spawn()"):
            return self.applier.apply(Posted(self.tick, 0, Spawn(fields), ""))

    def remove(self, target: str | int) -> None:
        """Take a vehicle or a fleet out of the world, at once."""
        with self.driver.driving("remove()"):
            self.applier.apply(Posted(self.tick, 0, Remove(target), ""))

    def place(
        self, target: str | int, pose: Sequence[float], speed: float = 0.0, *, at_tick: int | None = None
    ) -> None:
        """Put a vehicle at x, y, z (m) and yaw (rad), as if it started there, with the next tick or at `at_tick`.

        Its commands stay as they are. Any thread may call this.
        """
        self.post(Place(target, pose, speed), at_tick)

    def order(self, target: Target, behaviour: Any, *, at_tick: int | None = None, source: str = "") -> None:
        """Tell vehicles to do something else than their entry says, at once or at `at_tick`. Any thread may call this.

        `behaviour`: what a scenario takes (a name, or {name: options}), "external": take commands from now on, or None:
        back to what the entry says, its rule starting anew. An option that is a list has one value per vehicle.
        """
        order = self.applier.checked_order(Order(target, behaviour))
        if at_tick is not None:
            self.post(order, at_tick, source)
        elif self.driver.elsewhere():
            self.errands.leave(lambda: self._order(order, source)).result()
        else:
            self._order(order, source)

    def _order(self, order: Order, source: str) -> None:
        with self.driver.driving("order()"):
            self.applier.apply(Posted(self.tick, 0, order, source))

    def direct(self, verb: str, /, *, at_tick: int | None = None, source: str = "", **arguments: Any) -> None:
        """Ask something of the mission, at once or at `at_tick`: add_task, add_zone, damage, and so on."""
        order = self.stage.checked(MissionOrder(verb, arguments))
        if at_tick is not None:
            self.post(order, at_tick, source)
        elif self.driver.elsewhere():
            self.errands.leave(lambda: self._direct(order, source)).result()
        else:
            self._direct(order, source)

    def _direct(self, order: MissionOrder, source: str) -> None:
        with self.driver.driving(f"{order.verb}()"):
            self.applier.apply(Posted(self.tick, 0, order, source))

    def add_task(self, name: str, **fields: Any) -> None:
        """One more task for the mission: the fields of a scenario's task, such as `point={"at": [100, 50]}`."""
        self.direct("add_task", name=name, **fields)

    def add_zone(self, name: str, **fields: Any) -> None:
        """Nobody of the mission may be there from now on: the fields of a scenario's zone."""
        self.direct("add_zone", name=name, **fields)

    def add_vehicle(self, name: str, **fields: Any) -> None:
        """Vehicles join the mission: the fields of a scenario's `vehicles` entry."""
        self.direct("add_vehicle", name=name, **fields)

    def damage(self, vehicle: str) -> None:
        """A vehicle of the mission can do nothing more; others take over its tasks."""
        self.direct("damage", vehicle=vehicle)

    def move_task(self, task: str, x: float, y: float) -> None:
        """A task of the mission is to be done elsewhere (m)."""
        self.direct("move_task", task=task, x=x, y=y)

    def remove_task(self, task: str) -> None:
        """A task of the mission need not be done."""
        self.direct("remove_task", task=task)

    def set_frame(
        self,
        name: str,
        parent: str = WORLD,
        position: Sequence[float] = (0.0, 0.0, 0.0),
        quaternion: Sequence[float] = (0.0, 0.0, 0.0, 1.0),
        moving: bool = False,
    ) -> None:
        """Place a named frame in another (`world`, a vehicle, a frame), at once.

        A frame that is not `moving` stays as it is; a moving one is set again and again, and is stale when it is not.
        """
        frame = SetFrame(name, parent, list(map(float, position)), list(map(float, quaternion)), moving)
        with self.driver.driving("set_frame()"), self.applier.rebuilding:
            self.applier.apply(Posted(self.tick, 0, frame, ""))

    def claim(self, *vehicles: str, source: str = "client", instead_of: ControlSource | None = None) -> ControlSource:
        """Declare that someone will answer the engine's control requests for these vehicles (synchronous control).

        `instead_of` is an earlier claim that ends with this one, unless this one is refused.
        """
        if not vehicles:
            raise PaddockError("claim at least one vehicle")
        ids: set[int] = set()
        for vehicle in vehicles:
            with self.applier.rebuilding:
                program, rows = self.applier.found(vehicle)
                refuse_driven(program, rows)
                ids.update(program.fleet.ids[rows].tolist())
        return self.barrier.claim(source, tuple(vehicles), frozenset(ids), instead_of)

    # looking ---------------------------------------------------------------------------------------------------------

    def snapshot(self) -> Snapshot:
        """The world now: immutable, yours to keep. While another thread ticks, it is asked for one between ticks."""
        if self.driver.elsewhere():
            return self.publisher.from_elsewhere()
        return self.publisher.snapshot()

    def watch(self, watcher: Watcher, every: int | None = None) -> Callable[[], None]:
        """Call `watcher(snapshot)` every so many ticks (`every.snapshot` of the scenario by default).

        Returns a function that ends the watching.
        """
        if not callable(watcher):
            raise PaddockError(f"a watcher is a function of a snapshot, not {watcher!r}")
        period = self.publisher.period
        if every is not None:
            period = _whole("every takes a whole number of ticks >= 1", every, 1)
        if period is None:
            raise PaddockError("say how often to watch: watch(..., every=ticks), or every: {snapshot: ticks}")
        entry = (period, watcher)
        self.publisher.watchers.append(entry)
        return lambda: self.publisher.watchers.remove(entry) if entry in self.publisher.watchers else None

    def sensors(self, target: str | int) -> dict[str, dict[str, Any]]:
        """What a vehicle's (or a whole fleet's) sensors last delivered: sensor -> reading -> value or (n,) array."""
        self.driver.refuse_elsewhere("sensors()")
        return self.applier.readings(target)

    def inspect(self, target: str | int) -> dict[str, dict[str, Any]]:
        """Every state, command and parameter column of a vehicle: group -> name -> value."""
        self.driver.refuse_elsewhere("inspect()")
        program, rows = self.applier.found(target)
        if len(rows) != 1:
            raise PaddockError(f"{target!r} is a fleet of {len(rows)}: name one member, e.g. {target}[0]")
        return inspected(program, int(rows[0]))

    def orders(self) -> list[Given]:
        """The orders that are being followed: ids of the vehicles, the behaviour's name, its options."""
        self.driver.refuse_elsewhere("orders()")
        programs = self.roster.programs.values()
        return [given for program in programs if program.orders is not None for given in program.orders.given()]

    def routes(self) -> list[PlannedRoute]:
        """Where vehicles are to go: the paths and points of what they follow."""
        self.driver.refuse_elsewhere("routes()")
        own = [route for program in self.roster.programs.values() for route in routes_of(program)]
        return own if self.stage.mission is None else [*own, *self.stage.mission.routes()]

    @property
    def mission(self) -> MissionView | None:
        """The mission as it is now: tasks, zones, members, numbers so far; None without one."""
        self.driver.refuse_elsewhere("mission")
        return None if self.stage.mission is None else self.stage.mission.view()

    def transform(self, target: str, source: str, time: float | None = None) -> Transform:
        """What takes points of one frame to another: `world`, a vehicle's name, or a frame set by `set_frame`.

        Now, or at another simulation time (s) for frames that hang on the same vehicle or in the world.
        """
        self.driver.refuse_elsewhere("transform()")
        return transform_between(self.world, self.publisher.poses, target, source, time)

    def show(self, height: int = 600) -> Any:
        """The page of this simulation, `height` pixels high, for the cell of a notebook; `.url` opens it elsewhere.

        It is served until its `close()`, or until the simulation is closed.
        """
        notebook = import_module("paddock.serve.share")  # named, not imported: the engine does without serving
        return notebook.show(self, height)

    # markers ---------------------------------------------------------------------------------------------------------

    def mark(self, *markers: Marker, source: str = "") -> None:
        """Show markers, in place of those of the same namespace and id; all, or none if any frame is unknown or stale.

        They never change the run. Any thread may call this.
        """
        with self.applier.rebuilding:  # wait for a reset to be over: these are markers of the new run then
            now = self.time
        self.markers.put(markers, now, source)

    def unmark(self, namespace: str | None = None, id: int | None = None) -> None:
        """Take a marker away, a whole namespace, or everything. Any thread may call this."""
        if namespace is not None:
            self.markers.remove(namespace, id)
        elif id is not None:
            raise InvalidValueError(f"say the namespace of marker {id!r}: unmark(namespace, {id!r})")
        else:
            self.markers.clear()

    def show_markers(self, namespace: str, visible: bool = True) -> None:
        """Show or hide a namespace of markers. Any thread may call this."""
        self.markers.show(namespace, visible)

    # state -----------------------------------------------------------------------------------------------------------

    def state_hash(self) -> str:
        """Hex digest of the complete state at this tick."""
        self.driver.refuse_elsewhere("state_hash()")
        return digest(hashed_state(self))

    def save(self) -> bytes:
        """The complete state: `restore` and go on, and everything is as if nothing had happened."""
        self.driver.refuse_elsewhere("save()")
        return pack(saved_state(self))

    def restore(self, blob: bytes) -> None:
        """Go back (or forth) to a saved state of this scenario."""
        with self.driver.driving("restore()"), self.applier.rebuilding:
            load_state(self, blob)
            self.log.restart(self.tick)
            self.publisher.forget()
            self.latch.forget()
            self._tell_restarted("restore")

    def reset(self, seed: int | None = None) -> None:
        """Start the scenario again from tick 0; a seed that is given replaces the scenario's."""
        if seed is not None:
            seed = _whole("a seed is a whole number in 0 to 2**64 - 1", seed, 0, 2**64 - 1)
        with self.driver.driving("reset()"), self.applier.rebuilding:
            if seed is not None:
                self.scenario = self.roster.scenario = self.scenario.model_copy(update={"seed": seed})
            clear_state(self)
            self._populate()
            self._tell_restarted("reset")

    def close(self) -> None:
        """Stop whatever runs and let clients go that wait for a control request. A closed simulation cannot tick."""
        self.driver.closed = True
        self.stop()
        self.errands.cancel()
        for source in self.barrier.sources:
            source.release()
        while self.closing:
            self.closing.pop()()

    def __enter__(self) -> Self:
        """For `with paddock.load(...) as sim`."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close."""
        self.close()

    # inside ----------------------------------------------------------------------------------------------------------

    def _populate(self, prepared: bool = True) -> None:
        """All vehicles of the scenario at tick 0, with their sensors' first readings if it is to be `prepared`."""
        mission = self.prepared_mission(self.scenario.seed)
        self.roster.populate()
        self.publisher.forget()
        self.latch.forget()
        self._sensed = prepared
        if prepared:
            if mission is not None:
                mission.begin()
            self.sense.run(self.tick)

    def prepared_mission(self, seed: int) -> MissionRun | None:
        """A new run of the scenario's mission for that seed, before there are any fleets; None without a mission."""
        if self.scenario.mission is None:
            return None
        from paddock.engine.mission.run import MissionRun

        scenario = self.scenario if seed == self.scenario.seed else self.scenario.model_copy(update={"seed": seed})
        run = MissionRun(scenario, self.world, self.roster, self.events, self.publisher.poses)
        self.stage.mission, self.roster.built = run, run.built
        return run

    def _between(self) -> None:
        """What the ticking thread does for other threads between two slices of ticks."""
        self.publisher.serve()
        self.errands.serve()
        for call in self.idling:
            call()

    def _rouse(self) -> None:
        """Have the ticking thread look around, wherever it waits."""
        self.pacer.wake()
        self.barrier.poke()

    def _check_frame(self, frame: str) -> None:
        """Refuse a frame in which nothing can be shown. Any thread may ask."""
        with self.applier.rebuilding:
            refuse_unusable(self.world, frame)

    def _tell_restarted(self, how: str) -> None:
        for listener in self.restarted:
            listener(how)

    def _changed(self, roster: bool) -> None:
        """An action took effect; `roster`: vehicles, frames or events, not only commands."""
        self.latch.forget()
        if roster:
            self.publisher.forget()


def _whole(rule: str, value: Any, low: int = 0, high: int | None = None) -> int:
    """The value as an int if it is a whole number in range."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < low or (high or value) < value:
        raise InvalidValueError(f"{rule}, not {value!r}")
    return int(value)
