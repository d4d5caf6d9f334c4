"""A simulation: the small stable API for notebooks, servers and tests. `Simulation.engine` has the internals."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Self, overload

from paddock.engine import actions, services
from paddock.engine.barrier import Claim, Handler, OnRequest, answering
from paddock.engine.behaviours import road_trees
from paddock.engine.commands import refuse_commanded_by_behaviour
from paddock.engine.engine import Engine
from paddock.engine.frames import NamedFrames
from paddock.engine.markers import MarkerBoard
from paddock.engine.radio.control import RadioControl
from paddock.engine.radio.stage import NO_RADIO
from paddock.errors import InvalidValueError, PaddockError, whole_number
from paddock.scenario import Scenario
from paddock.scenario.vehicle import with_files
from paddock.track.loading import scenery_with_track
from paddock.track.standings import Standings
from paddock.track.track import Track
from paddock.wire.results import BehaviourOverride, PlannedRoute
from paddock.world.archive import pack
from paddock.world.columns import Floats
from paddock.world.snapshot import Snapshot

if TYPE_CHECKING:  # planning is imported for a mission only
    from paddock.wire.mission_results import MissionView


class Simulation:
    """A simulation. One thread ticks it; any thread may send commands and use its clock."""

    def __init__(self, scenario: Scenario, device: str = "cpu", prepared: bool = True) -> None:
        """Without `prepared` nothing is planned or compiled yet: `engine.prepare()` or the first tick does it."""
        if not isinstance(scenario, Scenario):
            kind = type(scenario).__name__
            raise InvalidValueError(f"Simulation takes a Scenario, not {kind}: use paddock.load(...)")
        self.engine = Engine(scenario, device, prepared)
        self.clock = self.engine.pacer  # `pace`, `paused`, `pause`, `resume`, `stop`, `running`, `watch`
        self.vehicles = Vehicles(self.engine)  # `place`, `sensors`, `inspect`, `autopilots`
        self.control = Control(self.engine)  # `claim`, `on_request`, `log`
        self.behaviours = Behaviours(self.engine)  # `override`, `overrides`, `routes`
        self.events = self.engine.events  # the events of the run: `since(number)`, `on(callback)`
        self.world = SimulationWorld(self.engine)  # `track`, `scenery`, `frames`, `markers`

    @property
    def scenario(self) -> Scenario:
        """The scenario, with the seed of the present run."""
        return self.engine.scenario

    @property
    def mission(self) -> "MissionControl | None":
        """The mission: its state as attributes, and verbs to change it; None without one."""
        return None if self.engine.mission is None else MissionControl(self.engine)

    @property
    def race(self) -> "RaceControl | None":
        """The race of the section `rules`: `standings()`; None without one."""
        return RaceControl(self.engine) if self.engine.parts.rules.active else None

    @property
    def radio(self) -> RadioControl:
        """The radio of the section `radio`: `links()`, `link(a, b)`, `stations`, `jammers`, ...

        PaddockError without that section.
        """
        if not self.engine.radio.active:
            raise PaddockError(NO_RADIO)
        return RadioControl(self.engine)

    @property
    def tick(self) -> int:
        """Ticks since the run began."""
        return self.engine.world.clock.tick

    @property
    def time(self) -> float:
        """Simulation time, s."""
        return self.engine.world.clock.time

    def step(self, ticks: int = 1) -> None:
        """Advance by exactly that many ticks, then return."""
        if type(ticks) is not int or ticks < 0:
            ticks = whole_number("step takes a whole number of ticks >= 0", ticks)
        engine = self.engine
        thread, clock = engine.thread, engine.world.clock
        took = thread.take("step()")  # not `driving`, whose `with` block costs as much as a tick of a small fleet
        try:
            thread.stopping = False  # of an earlier stop()
            end = clock.tick + ticks
            engine.advance(ticks)
            if clock.tick < end:
                raise PaddockError(f"step() was stopped at tick {clock.tick}, {end - clock.tick} ticks early")
        finally:
            if took:
                thread.leave()

    def run(
        self, until: float | None = None, pace: float | None = None, heartbeat: Callable[[], None] | None = None
    ) -> None:
        """Run to a simulation time (s; None: until `clock.stop`) at a pace; call `heartbeat` ten times a second."""
        self.clock.run(until, pace, heartbeat)

    def command(self, target: str | int, *, at_tick: int | None = None, source: str = "", **inputs: Any) -> None:
        """Set inputs of a vehicle, or of a fleet with arrays of its length, from the next tick (or `at_tick`) on.

        Other inputs keep their values. Any thread may call this.
        """
        self.engine.applier.command(target, inputs, at_tick, source)

    def spawn(self, /, **fields: Any) -> str:
        """Add vehicles: the fields of a scenario's `vehicles` entry, or `fleet="scouts"` with `count` and `spawn`.

        Takes effect immediately; nothing is added if a field is invalid. Return the name.
        """
        return self.engine.applier.apply_now(actions.SpawnAction(with_files(fields)), "spawn()")

    def remove(self, target: str | int) -> None:
        """Remove a vehicle or a fleet, immediately."""
        self.engine.applier.apply_now(actions.RemoveAction(target), "remove()")

    def snapshot(self) -> Snapshot:
        """Return the present state, immutable. Any thread may call this."""
        if self.engine.thread.elsewhere():
            return self.engine.publisher.from_elsewhere(self.engine.thread)
        return self.engine.publisher.snapshot()

    def show(self, height: int = 600) -> Any:
        """Return the page of this simulation for a notebook cell, `height` pixels high; `.url` opens it elsewhere.

        It is served until its `close()`, or until the simulation is closed.
        """
        return services["show"](self, height)

    def state_hash(self) -> str:
        """Return a hex digest of the complete state at this tick."""
        self.engine.thread.refuse_elsewhere("state_hash()")
        return self.engine.state_hash()

    def save(self) -> bytes:
        """Return the complete state, for `restore`."""
        self.engine.thread.refuse_elsewhere("save()")
        return pack(self.engine.saved_state())

    def restore(self, blob: bytes) -> None:
        """Load a saved state of this scenario."""
        self.engine.restore(blob)

    def reset(self, seed: int | None = None) -> None:
        """Start the scenario again from tick 0, with another seed if one is given."""
        if seed is not None:
            seed = whole_number("a seed is a whole number in 0 to 2**64 - 1", seed, 2**64 - 1)
        self.engine.reset(seed)

    def close(self) -> None:
        """Stop the run and release all claims. A closed simulation cannot tick."""
        self.engine.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        world = self.engine.world
        return f"<Simulation {self.scenario.name!r}: {world.vehicles} vehicles, t = {self.time:g} s, tick {self.tick}>"


class Vehicles:
    """The vehicles of a simulation, `sim.vehicles`."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self.autopilots = engine.claims.autopilots  # those that fly vehicles: `join`, `leave`, `status`

    def place(
        self, target: str | int, pose: Sequence[Any] | Floats, speed: Any = 0.0, *, at_tick: int | None = None
    ) -> None:
        """Move a vehicle to x, y, z (m) and yaw (rad) as if it had started there, with the next tick or at `at_tick`.

        A fleet takes poses (n, 4) and a speed (m/s) or (n,) of them. Commands are kept. Any thread may call this.
        """
        self._engine.applier.post(actions.PlaceAction(target, pose, speed), at_tick)

    def sensors(self, target: str | int) -> dict[str, dict[str, Any]]:
        """Return the last readings of a vehicle's or fleet's sensors: sensor -> reading -> value or (n,) array."""
        self._engine.thread.refuse_elsewhere("sensors()")
        return self._engine.publisher.snapshot().sensors(target)

    def inspect(self, target: str | int) -> dict[str, dict[str, Any]]:
        """Return every state, command and parameter column of a vehicle: group -> name -> value.

        Over uneven ground there is a group `ground`: height, slopes and friction under the vehicle.
        """
        self._engine.thread.refuse_elsewhere("inspect()")
        program, rows = self._engine.applier.found(target)
        if len(rows) != 1:
            raise PaddockError(f"{target!r} is a fleet of {len(rows)}: name one vehicle, e.g. {target}[0]")
        values, world = program.inspect(int(rows[0])), self._engine.world
        if world.uneven is not None:
            below = world.uneven.ground.at(values["state"]["x"], values["state"]["y"], world.environment)
            values["ground"] = {name: float(value) for name, value in below._asdict().items()}
        return values


class Control:
    """Who commands the vehicles of a simulation, `sim.control`."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self.log = engine.applier.log  # the actions that were applied: `entries`, `complete`

    def claim(
        self,
        *vehicles: str,
        source: str = "client",
        instead_of: Claim | None = None,
        on_request: OnRequest | None = None,
    ) -> Claim:
        """Claim vehicles for synchronous control: the engine requests their commands and waits for the replies.

        `instead_of` is an earlier claim that ends if this one is accepted. The ticking thread calls
        `on_request(claim, request)` for each request; it must not block.
        """
        if not vehicles:
            raise PaddockError("claim at least one vehicle")
        applier, ids = self._engine.applier, set[int]()
        for vehicle in vehicles:
            with applier.rebuilding:
                program, rows = applier.found(vehicle)
                refuse_commanded_by_behaviour(program, rows)
                ids.update(program.fleet.ids[rows].tolist())
        claim = Claim(source, vehicles, frozenset(ids), applier.checked_now, on_request)
        return self._engine.claims.add(claim, instead_of)

    @overload
    def on_request(self, *vehicles: str, handler: None = None) -> Callable[[Handler], Handler]: ...
    @overload
    def on_request(self, *vehicles: str, handler: Handler) -> Callable[[], None]: ...
    def on_request(self, *vehicles: str, handler: Handler | None = None) -> Callable[..., Any]:
        """Have `step` and `run` wait for these vehicles' commands, which `handler(request)` returns.

        It returns {vehicle: {input: value}}; inputs that are not named keep their values. Also a decorator. Returns a
        function that ends it. The thread that ticks calls the handler, and gets its errors.
        """
        if handler is not None:
            return self.claim(*vehicles, on_request=answering(handler)).release

        def decorate(function: Handler) -> Handler:
            self.claim(*vehicles, on_request=answering(function))
            return function

        return decorate


class SimulationWorld:
    """What surrounds the vehicles of a simulation, `sim.world`."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self.frames = NamedFrames(engine.world, engine.publisher.poses, engine.applier, engine.thread)
        self.markers = MarkerBoard(self.frames.check, self._time_after_reset)  # not part of the state
        engine.listeners.restart.append(self.markers.restart)

    @property
    def track(self) -> Track | None:
        """The race track of the scenario; None without one."""
        track: Track | None = self._engine.world.track
        return track

    def _time_after_reset(self) -> float:
        """Return the simulation time, s, after waiting for a reset that is going on."""
        with self._engine.applier.rebuilding:
            return self._engine.world.clock.time

    def scenery(self, side: int = 128) -> dict[str, Any]:
        """Return the ground, on a grid of at most `side` values per side, static obstacles, and roads. Any thread."""
        programs = list(self._engine.programs.values())
        behaviours = [program.control.behaviour for program in programs]
        roads = road_trees(behaviour.setup for behaviour in behaviours if behaviour is not None)
        return {**scenery_with_track(self._engine.scenario, side), "roads": roads}


class Behaviours:
    """The behaviours of a simulation's vehicles, `sim.behaviours`."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def override(self, target: actions.Target, behaviour: Any, *, at_tick: int | None = None, source: str = "") -> None:
        """Replace the behaviour of vehicles, immediately or at `at_tick`. Any thread may call this.

        `behaviour`: a name or {name: options} as in a scenario, "external" to take commands, or None to return to the
        behaviour of the entry. An option that is a list has one value per vehicle.
        """
        self._engine.applier.apply_or_post(actions.OverrideAction(target, behaviour), "override()", at_tick, source)

    def overrides(self) -> list[BehaviourOverride]:
        """Return the overrides in force: ids of the vehicles, name and options of the behaviour."""
        self._engine.thread.refuse_elsewhere("overrides()")
        programs = self._engine.programs.values()
        return [override for program in programs for override in program.control.listed()]

    def routes(self) -> list[PlannedRoute]:
        """Return the paths and points that vehicles follow."""
        return self.routes_later()()

    def routes_later(self) -> Callable[[], list[PlannedRoute]]:
        """Return a function that computes the paths and points which vehicles follow now, for any thread to call."""
        self._engine.thread.refuse_elsewhere("routes()")
        own = [route for program in self._engine.programs.values() for route in program.control.routes()]
        ahead = [] if self._engine.mission is None else self._engine.mission.routes_ahead()
        return lambda: [*own, *(line for route in ahead for line in route.points())]


class MissionControl:
    """The mission of a simulation, `sim.mission`.

    The fields of `view()` (`time`, `tasks`, `zones`, `vehicles`, `finished`, `metrics`, `log`) are attributes. Changes
    take effect immediately or at `at_tick`; the mission reacts at its next update. Any thread may make them.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def view(self) -> "MissionView":
        """Return the state of the mission at this tick, immutable."""
        self._engine.thread.refuse_elsewhere("mission")
        mission = self._engine.mission
        assert mission is not None
        return mission.view()

    def __getattr__(self, name: str) -> Any:
        """Return a field of the view."""
        from paddock.wire.mission_results import MissionView

        if name not in MissionView._fields:
            raise AttributeError(f"a mission has no attribute {name!r}; fields: {', '.join(MissionView._fields)}")
        return getattr(self.view(), name)

    def apply(self, verb: str, /, *, at_tick: int | None = None, source: str = "", **arguments: Any) -> None:
        """Make a change by the name of its verb: add_task, move_task, remove_task, add_zone, remove_zone, ..."""
        self._engine.applier.apply_or_post(actions.MissionAction(verb, arguments), f"{verb}()", at_tick, source)

    def add_task(self, name: str, *, at_tick: int | None = None, **fields: Any) -> None:
        """Add a task: the fields of a scenario's task, such as `point={"at": [100, 50]}`."""
        self.apply("add_task", at_tick=at_tick, name=name, **fields)

    def add_zone(self, name: str, *, at_tick: int | None = None, **fields: Any) -> None:
        """Add a no-fly zone: the fields of a scenario's zone."""
        self.apply("add_zone", at_tick=at_tick, name=name, **fields)

    def remove_zone(self, zone: str, *, at_tick: int | None = None) -> None:
        """Open a no-fly zone again."""
        self.apply("remove_zone", at_tick=at_tick, zone=zone)

    def add_vehicle(self, name: str, *, at_tick: int | None = None, **fields: Any) -> None:
        """Add vehicles to the mission: the fields of a scenario's `vehicles` entry."""
        self.apply("add_vehicle", at_tick=at_tick, name=name, **with_files(fields))

    def damage(self, vehicle: str | int, *, at_tick: int | None = None) -> None:
        """Disable a vehicle, named or by id, permanently; others take over its tasks."""
        self.apply("damage", at_tick=at_tick, vehicle=vehicle)

    def move_task(self, task: str, x: float, y: float, *, at_tick: int | None = None) -> None:
        """Move a task to x, y (m)."""
        self.apply("move_task", at_tick=at_tick, task=task, x=x, y=y)

    def remove_task(self, task: str, *, at_tick: int | None = None) -> None:
        """Remove a task."""
        self.apply("remove_task", at_tick=at_tick, task=task)


class RaceControl:
    """The race of a simulation, `sim.race`."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def standings(self) -> Standings:
        """Return the standings at this tick: a row per car, the first one first, with laps, sectors and penalties."""
        self._engine.thread.refuse_elsewhere("race")
        return self._engine.parts.rules.standings()


def replayed(scenario: Scenario, log: Sequence[Any], ticks: int, seed: int | None = None) -> Simulation:
    """Return a simulation after that many ticks, with the logged actions applied at their ticks."""
    sim = Simulation(scenario)
    if seed is not None:
        sim.reset(seed)
    mailbox = sim.engine.mailbox
    for logged in log:  # a remote simulation has other objects
        posted = logged if isinstance(logged, actions.Posted) else actions.Posted.from_tree(logged._asdict())
        mailbox.post(posted.action, posted.tick, posted.source)
    sim.step(ticks)
    if mailbox.next_tick(ticks) == ticks:  # vehicles that were added or removed after the last tick
        sim.engine.applier.run(ticks)
    return sim
