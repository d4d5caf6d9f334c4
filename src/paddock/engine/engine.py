"""The assembled run behind a `Simulation`: world, fleets, tick, and the thread that drives them.

`sim.engine` is for code that needs the internals of a run: endpoints, autopilots, recorders, tests. A part receives its
dependencies in its constructor, so the order of construction below is the order of dependency.
"""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from paddock.compute.prepare import Progress, prepare_kernels
from paddock.engine.actions import NEXT_TICK, POSTABLE, Action, ActionLog, Mailbox, Posted
from paddock.engine.applier import Applier
from paddock.engine.barrier import Autopilots, Claims
from paddock.engine.build import environment_values, new_world
from paddock.engine.clock_thread import ClockThread
from paddock.engine.commands import next_timeout
from paddock.engine.contact import ContactStage
from paddock.engine.events import EventLog
from paddock.engine.fleets import Fleets, PreparedSpawn
from paddock.engine.frames import NamedFrames
from paddock.engine.markers import MarkerBoard
from paddock.engine.motion import MOTIONS
from paddock.engine.overrides import FleetOverrides, saved_setups
from paddock.engine.pacing import Pacer
from paddock.engine.pipeline import PublishStage
from paddock.engine.race import RulesStage
from paddock.engine.radio.stage import RadioStage
from paddock.engine.tick import MissionStage, assemble_tick
from paddock.errors import InvalidValueError, NotFiniteError, PaddockError, printable, unknown_name
from paddock.scenario import Scenario
from paddock.world.archive import check_equal, check_types, digest, unpack
from paddock.world.transforms import TransformTree

if TYPE_CHECKING:  # planning is imported for a mission only
    from paddock.engine.mission.run import MissionRun

AUTOPILOTS, FMUS = "autopilots", "fmus"  # keys of a saved state
STATE_KEYS = frozenset(
    {"scenario", "rate", "entries", "world", "mailbox", "events", "lost_targets", "sensors"}
    | {"orders", "mission", "failure", "contact", "race", "radio", AUTOPILOTS, FMUS}  # where the run has them
)

STATE_TYPES = ("bool", "int64", "int32", "float64", "uint8")  # of its arrays; bytes are those of FMUs
SENSED_TYPES = ("float32", "float64")  # of the arrays of sensors


class PreparedRun(NamedTuple):
    """A state that is built and checked, perhaps outside the thread that ticks, and may replace that of a run."""

    how: str  # reset or restore
    twin: "Engine"  # holds it
    load_autopilots: Callable[[], None]  # after the world
    made_for: tuple[Scenario, int]  # the scenario of the run, and the number of autopilots that have joined


class Engine:
    """All parts of one simulation. One thread drives it at a time; any thread may `post`."""

    def __init__(self, scenario: Scenario, device: str = "cpu", prepared: bool = True, populated: bool = True) -> None:
        """Without `prepared` nothing is planned or compiled yet: `prepare` or the first tick does it.

        Without `populated` there are no vehicles and no mission: a saved state follows.
        """
        if device not in MOTIONS:
            raise unknown_name("device", device, MOTIONS)
        self.scenario = scenario
        self.events = EventLog()
        self.log = ActionLog()
        self.mailbox = Mailbox()
        self.world = world = new_world(scenario)
        kinematic = scenario.mission is not None and scenario.mission.execute == "kinematic"
        self.mission_stage = MissionStage(world.clock, kinematic, scenario.every.behaviour)
        self.fleets = Fleets(scenario, world, self.events, device, self.mission_stage.fleet_built)
        self.programs = self.fleets.programs
        self.contact = ContactStage(scenario, world, self.programs, self.events)
        self.rules = RulesStage(scenario, world, self.programs, self.events, self.contact)
        self.publisher = PublishStage(world, self.programs, scenario.every.snapshot, self.rules.show)
        self.poses = self.publisher.poses
        self.radio = RadioStage(scenario, world, self.programs, self.events, self.poses, self.mission_stage.damaged)
        self.fleets.emptied.append(self.radio.forget)
        self.autopilots = Autopilots()
        self.claims = Claims(self.autopilots)
        self.applier = Applier(
            *(world, self.fleets, self.events, self.log, self.claims),
            *(self.mission_stage, self.publisher, self.contact, self.rules, self.radio),
        )
        self.thread = ClockThread(self.claims.wake)
        self.stages = assemble_tick(scenario, self.applier, self.mailbox, self.thread)
        self.pipeline, self.barrier = self.stages.pipeline, self.stages.barrier
        pace, longest = scenario.clock.pace, self.barrier.longest_slice
        self.pacer = Pacer(world.clock, self.advance, pace, self.thread, longest, self._between_slices)
        self.frames = NamedFrames(world, self.poses, self.applier, self.thread)
        self.markers = MarkerBoard(self.frames.check, self._time_after_reset)  # not part of the state
        self.on_restart: list[Callable[[str], None]] = [self.markers.restart]  # called with "reset" or "restore"
        self.on_close: list[Callable[[], None]] = []  # called when the simulation is closed
        self.on_idle: list[Callable[[], None]] = []  # called between slices of a run, also while it is paused
        self._prepared = self._compiled = False
        self._digest: tuple[Scenario, str] | None = None  # of a scenario
        if populated:
            self._populate(prepared)

    @property
    def mission(self) -> "MissionRun | None":
        """The mission of the present run; None without one."""
        return self.mission_stage.mission

    def post(self, action: Action, at_tick: int | None = None, source: str = "") -> None:
        """Check an action and queue it for the next tick or `at_tick`. Any thread may call this."""
        if not isinstance(action, POSTABLE):
            raise PaddockError(f"only {', '.join(kind.__name__ for kind in POSTABLE)} can be posted, not {action!r}")
        tick = NEXT_TICK if at_tick is None else self._future_tick(at_tick)
        version = self.applier.version
        action = self.applier.checked(action)
        self.mailbox.refuse_if_full()
        self.mailbox.post(action, tick, source, version)

    def command(self, target: Any, inputs: Mapping[str, Any], at_tick: int | None = None, source: str = "") -> None:
        """Check a command and queue it, as `post` does. Any thread may call this."""
        tick = NEXT_TICK if at_tick is None else self._future_tick(at_tick)
        version = self.applier.version
        action = self.applier.checked_command(target, inputs)
        self.mailbox.refuse_if_full()
        self.mailbox.post(action, tick, source, version)

    def _future_tick(self, at_tick: int) -> int:
        tick, now = whole_number("at_tick takes a whole number of ticks >= 0", at_tick, 2**62), self.world.clock.tick
        if tick < now:
            raise InvalidValueError(f"at_tick {tick} is in the past: the run is at tick {now}")
        return tick

    def apply(self, action: Action, verb: str, source: str = "", prepared: PreparedSpawn | None = None) -> str:
        """Apply an action now; refused while another thread drives. Return the name of a spawned fleet."""
        with self.thread.driving(verb):
            return self.applier.apply(Posted(self.world.clock.tick, 0, action, source), prepared)

    def apply_or_post(
        self,
        action: Action,
        verb: str,
        at_tick: int | None = None,
        source: str = "",
        checked_at: tuple[int, ...] = (),
    ) -> None:
        """Check an action, unless `checked_at` is the present version, and apply it now; or post it for `at_tick`."""
        if at_tick is not None:
            self.post(action, at_tick, source)
            return
        if checked_at != self.applier.version:
            action = self.applier.checked(action)
        self.thread.call(lambda: self.apply(action, verb, source), verb)

    def prepare(self, progress: Progress | None = None) -> None:
        """Plan the mission, compile the kernels and take the first sensor readings; no effect if done."""
        with self.thread.driving("prepare()"):
            self._make_ready(progress)

    def advance(self, ticks: int) -> None:
        """Advance by that many ticks, prepared if need be; NotFiniteError if `on_nan: stop` ends the run."""
        if not (self._prepared and self._compiled):
            self._make_ready()
        guard = self.stages.guard
        if guard.failure:
            guard.look_again()
        self.pipeline.advance(ticks)
        if guard.failure:
            raise NotFiniteError(f"the run has ended: {guard.failure}")

    def _make_ready(self, progress: Progress | None = None) -> None:
        if not self._prepared:
            self._begin(progress)
            self.publisher.forget()
        if not self._compiled:
            self._compile(progress)

    def saved_state(self) -> dict[str, Any]:
        """Return everything that changes in a run, and the digest of its scenario."""
        states = self.autopilots.states
        held = {} if states is None else {AUTOPILOTS: states.save()}
        fmus = {name: p.fmus.save(p.fleet) for name, p in self.programs.items() if p.fmus is not None}
        held |= {FMUS: fmus} if fmus else {}  # not hashed: their bytes may contain addresses
        return {"scenario": self._scenario_digest(), **self._changing_state(), **held}

    def _scenario_digest(self) -> str:
        if self._digest is None or self._digest[0] is not self.scenario:
            self._digest = self.scenario, scenario_digest(self.scenario)
        return self._digest[1]

    def hashed_state(self) -> dict[str, Any]:
        """Return the state without the counts of resets and fleet changes: equal runs have equal hashes."""
        tree = self.settled_state()
        tree["mailbox"] = self.mailbox.save(self.world.clock.tick)
        held = {} if self.autopilots.states is None else self.autopilots.states.hashed()
        return {**tree, AUTOPILOTS: held} if held else tree

    def settled_state(self) -> dict[str, Any]:
        """Return the hashed state of the world: without queued actions and autopilots, because a replay queues actions
        from the start and has no autopilots.
        """
        tree = self._changing_state()
        tree["world"] = {name: value for name, value in tree["world"].items() if name not in ("run", "roster")}
        del tree["mailbox"]
        return tree

    def _changing_state(self) -> dict[str, Any]:
        """Return world, queued actions, events, sensors, and the entries from which the fleets can be built again."""
        programs, tick = self.programs, self.world.clock.tick
        for program in programs.values():
            for sensor in program.sensors.values():
                sensor.arrive(tick)  # so that reading the sensors has no effect on the state
        overrides = {name: program.overrides.save() for name, program in programs.items() if program.overrides}
        failure = self.stages.guard.failure
        return {
            **({"orders": overrides} if overrides else {}),  # the key of earlier saved states
            **({} if self.mission is None else {"mission": self.mission.save()}),
            **({"failure": failure} if failure else {}),
            **({} if self.contact.settings is None else {"contact": self.contact.save()}),
            **({"race": self.rules.save()} if self.rules.active else {}),
            **({"radio": self.radio.save()} if self.radio.active else {}),
            "rate": self.world.clock.rate,
            "entries": {name: program.entry_text for name, program in programs.items()},
            "world": self.world.save(),
            "mailbox": self.mailbox.save(tick),
            "events": self.events.save(),
            "lost_targets": sorted(self.stages.behave.lost),
            "sensors": {
                name: {kind: sensor.save() for kind, sensor in program.sensors.items()}
                for name, program in programs.items()
            },
        }

    def restore(self, saved: bytes | dict[str, Any]) -> None:
        """Load a saved state, which may be unpacked, if it is valid: saving it again gives the same.

        On an error, the state is as before.
        """
        with self.thread.driving("restore()"):
            self._take_over(self.prepare_restore(saved))

    def prepare_restore(self, saved: bytes | dict[str, Any], apart: bool = False) -> PreparedRun:
        """Build the state of a saved run and check it; nothing is changed.

        `apart`: the run continues in another thread, and the state is a client's. Kernels are compiled, and vehicles
        that are queued are built. A state that would end the run, because it diverges within a second, is refused.
        """
        made_for, tree = (self.scenario, self.autopilots.joins), self._checked_state(saved)
        states, twin = self.autopilots.states, Engine(self.scenario, self.fleets.device, populated=False)
        twin._digest = self._digest
        try:
            load = (lambda: None) if states is None else states.prepare(tree.get(AUTOPILOTS), tree["world"]["tick"])
            twin._load(tree)
            found = twin.saved_state()
            found |= {key: tree[key] for key in (AUTOPILOTS, FMUS) if key in tree}  # checked by those that load them
            check_equal(tree, found, "saved state")
        except PaddockError as error:
            if str(error).isprintable():
                raise
            raise PaddockError(printable(str(error))) from None  # with control characters of the saved state
        except Exception as error:  # a crafted state may fail in any way
            why = printable(str(error).partition("\n")[0])
            raise PaddockError(f"the saved state is not valid: {type(error).__name__}: {why}") from None
        if apart:
            prepare_kernels((pair for program in twin.programs.values() for pair in program.kernels()), apart=True)
            twin.applier.prepare_queued(twin.mailbox.queued)
            if self.scenario.on_nan == "stop" and not twin.stages.guard.failure:
                twin.stages.guard.move.refuse_diverging()
        twin._prepared = True
        return PreparedRun("restore", twin, load, made_for)

    def prepare_reset(self, seed: int | None = None) -> PreparedRun:
        """Build the vehicles of the scenario at tick 0 and plan its mission, while another thread continues the run."""
        made_for, scenario = (self.scenario, self.autopilots.joins), self.scenario
        if seed is not None:
            scenario = scenario.model_copy(update={"seed": seed})
        twin = Engine(scenario, self.fleets.device, prepared=False)
        prepare_kernels((pair for program in twin.programs.values() for pair in program.kernels()), apart=True)
        twin.prepare()
        return PreparedRun("reset", twin, lambda: None, made_for)

    def take_over(self, prepared: PreparedRun) -> None:
        """Replace the present state by a prepared one; refused if the scenario or its autopilots have changed since."""
        with self.thread.driving(f"{prepared.how}()"):
            self._take_over(prepared)

    def _take_over(self, prepared: PreparedRun) -> None:
        how, twin, load_autopilots, made_for = prepared
        with self.applier.rebuilding:
            if made_for[0] is not self.scenario or made_for[1] != self.autopilots.joins:
                raise PaddockError(f"{how} refused: the run changed while its state was being built; try again")
            run, roster, self.scenario = self.world.run, self.world.roster_version, twin.scenario
            self.programs.clear()
            self.programs.update(twin.programs)
            self.world.take_over(twin.world)
            self.mailbox.take_over(twin.mailbox)
            self.stages.behave.lost = twin.stages.behave.lost
            self.stages.guard.failure = twin.stages.guard.failure
            self.contact.take_over(twin.contact)
            self.rules.take_over(twin.rules)
            self.radio.take_over(twin.radio)
            self.mission_stage.mission = twin.mission
            if twin.mission is not None:
                twin.mission.attach(self.world, self.fleets, self.events, self.poses, self.radio)
            self.applier.take_over(twin.applier)
            self._prepared = True
            if how == "restore":
                self.events.take_over(twin.events)
                load_autopilots()
                self.log.restart(self.world.clock.tick)
            else:
                self.world.run, self.world.roster_version = run + 1, roster + 1
                self.stages.guard.discarded = 0
                self.log.clear()
                self.events.clear()
                for event in twin.events.since():
                    self.events.report(event.tick, event.kind, event.subject, event.detail)
            for listener in self.on_restart:
                listener(how)

    def _checked_state(self, saved: bytes | dict[str, Any]) -> dict[str, Any]:
        """Decode a saved state; PaddockError unless it belongs to this scenario."""
        if not isinstance(saved, bytes | bytearray | memoryview | dict):
            raise PaddockError(f"restore() takes what save() returned, not {type(saved).__name__}")
        tree, rate = saved if isinstance(saved, dict) else unpack(saved), self.world.clock.rate
        sensed, rest = _apart(tree)
        check_types(rest, STATE_TYPES, "saved state")
        check_types(sensed, SENSED_TYPES, "saved state, sensors")
        if tree.get("rate") != rate:
            raise PaddockError(f"saved with ticks at {tree.get('rate')!r} Hz, this simulation has {rate:g}")
        if tree.get("scenario") != self._scenario_digest():
            if tree.get("scenario") != scenario_digest(self.scenario, links=True):
                raise PaddockError("saved in another scenario: load that one and restore there")
            tree = tree | {"scenario": self._scenario_digest()}
        if self.autopilots.states is None:  # a replay has the commands of its autopilots instead
            tree.pop(AUTOPILOTS, None)
        else:
            self.autopilots.states.refuse_restore()
        return tree

    def _load(self, tree: dict[str, Any]) -> None:
        overrides = {
            name: (saved, saved_setups(saved, self.world.track)) for name, saved in tree.get("orders", {}).items()
        }
        mission = self.new_mission(tree["world"]["seed"])
        if mission is not None:
            mission.expect(tree["mission"])
        self.fleets.rebuild(tree["entries"])
        self.world.restore(tree["world"])
        for name, program in self.programs.items():
            if program.fmus is not None:
                program.fmus.load(program, tree.get(FMUS, {}).get(name))
            program.overrides = FleetOverrides(program) if name in overrides else None
            if program.overrides is not None:
                program.overrides.restore(*overrides[name])
        if mission is not None:
            mission.restore(tree["mission"])
        self.mailbox.restore(tree["mailbox"])
        self.events.restore(tree["events"])
        self.stages.behave.lost = set(tree["lost_targets"])
        self.stages.guard.failure = tree.get("failure", "")
        if self.contact.settings is not None:
            self.contact.restore(tree["contact"])
        if self.rules.active:
            self.rules.restore(tree["race"])
        if self.radio.active:
            self.radio.restore(tree["radio"])
            if mission is not None and mission.link is not None:
                mission.link.check_saved()
        for program in self.programs.values():
            program.expires_from = next_timeout(program)
        for name, sensors in tree["sensors"].items():
            for kind, saved in sensors.items():
                sensor, fleet = self.programs[name].sensors[kind], self.world.fleets[name]
                sensor.restore(saved, self.world.clock.tick)
                if sensor.n > fleet.n:
                    raise PaddockError(f"saved sensor {kind!r} of {name!r} has {sensor.n} vehicles, not {fleet.n}")
        for fleet in () if self.stages.guard.failure else self.world.fleets.values():
            fleet.check_values()

    def reset(self, seed: int | None = None) -> None:
        """Start a new run at tick 0."""
        with self.thread.driving("reset()"), self.applier.rebuilding:
            if seed is not None:
                self.scenario = self.scenario.model_copy(update={"seed": seed})
            world = self.world
            self.fleets.clear()
            world.clock.tick, world.next_id, world.used_ids = 0, 1, []
            world.seed = self.scenario.seed
            self.stages.behave.lost.clear()
            self.stages.guard.failure, self.stages.guard.discarded = "", 0
            world.run += 1
            world.roster_version += 1
            world.environment[:] = environment_values(self.scenario)
            world.transforms = TransformTree()
            for part in (
                self.mailbox,
                self.events,
                self.log,
                self.applier.prepared,
                self.contact,
                self.rules,
                self.radio,
            ):
                part.clear()
            self._populate(prepared=True)
            for listener in self.on_restart:
                listener("reset")

    def close(self) -> None:
        """Stop the run, cancel requests and release claims. A closed engine cannot tick."""
        self.thread.closed = True
        self.pacer.stop()
        self.thread.close()
        for claim in self.claims.active:
            claim.release()
        while self.on_close:
            self.on_close.pop()()

    def new_mission(self, seed: int) -> "MissionRun | None":
        """Start another run of the scenario's mission, before the fleets are built; None without a mission."""
        if self.scenario.mission is None:
            return None
        from paddock.engine.mission.run import MissionRun

        scenario = self.scenario if seed == self.scenario.seed else self.scenario.model_copy(update={"seed": seed})
        run = MissionRun(scenario, self.world, self.fleets, self.events, self.poses, self.radio)
        self.mission_stage.mission = run
        return run

    def _populate(self, prepared: bool) -> None:
        """Add all vehicles of the scenario at tick 0."""
        self.new_mission(self.scenario.seed)
        self.fleets.populate()
        self.applier.forget()
        self._prepared = False
        if prepared:
            self._begin()

    def _begin(self, progress: Progress | None = None) -> None:
        if self.mission is not None:
            self.mission.begin()
        if any(program.sensors for program in self.programs.values()):
            self._compile(progress)
        self.contact.check_start()
        self.rules.begin()
        self.stages.sense.run(self.world.clock.tick)
        self.radio.begin()
        self._prepared = True

    def _compile(self, progress: Progress | None = None) -> None:
        prepare_kernels((pair for program in self.programs.values() for pair in program.kernels()), progress)
        self._compiled = True

    def _between_slices(self) -> None:
        """Serve other threads between two slices of ticks."""
        self.publisher.serve()
        self.thread.serve()
        for call in self.on_idle:
            call()

    def _time_after_reset(self) -> float:
        """Return the simulation time, s, after waiting for a reset that is going on."""
        with self.applier.rebuilding:
            return self.world.clock.time


def _apart(tree: Any) -> tuple[dict[str, Any], Any]:
    """Return the arrays of the sensors of a saved state, by fleet and sensor, and the state without them."""
    if not isinstance(tree, dict) or not isinstance(tree.get("sensors"), dict):
        return {}, tree
    sensed: dict[str, Any] = {}
    others: dict[str, Any] = {}
    for fleet, sensors in tree["sensors"].items():
        known = sensors if isinstance(sensors, dict) else {}
        saved = {name: one for name, one in known.items() if isinstance(one, dict) and "arrays" in one}
        sensed[fleet] = {name: one["arrays"] for name, one in saved.items()}
        bare = {name: {key: one[key] for key in one if key != "arrays"} for name, one in saved.items()}
        others[fleet] = {**known, **bare} if known else sensors
    return sensed, {**tree, "sensors": others}


def scenario_digest(scenario: Scenario, links: bool = False) -> str:
    """Return a digest of a scenario that ignores its seed, its endpoints and the order of its vehicles.

    `links`: with the connections and logs of its autopilots, as in states saved by earlier versions.
    """
    tree = scenario.to_dict(defaults=True)
    for immaterial in ("seed", "serve", "record"):
        tree.pop(immaterial, None)
    if tree.get("sitl"):
        over_radio = tree["sitl"]["mavlink"].pop("via", None)
        for pilots in tree["sitl"]["pilots"]:
            if pilots.get("via") is None:
                pilots.pop("via", None)
        for immaterial in () if links else ("mavlink", "listen", "logs"):
            tree["sitl"].pop(immaterial, None)
        if over_radio is not None:
            tree["sitl"]["via"] = over_radio
    if tree["on_nan"] == "stop":  # the default: states saved before this field existed stay valid
        del tree["on_nan"]
    tree["vehicles"] = {entry["name"]: entry for entry in tree.get("vehicles", [])}
    for entry in tree["vehicles"].values():
        for later in ("fmu", "radio", "via"):  # as above
            if not entry.get(later):
                entry.pop(later, None)
    return digest(tree)


def whole_number(rule: str, value: Any, high: int | None = None, low: int = 0) -> int:
    """Return the value as an int; InvalidValueError with the rule unless it is a whole number in range."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < low or (high or value) < value:
        raise InvalidValueError(f"{rule}, not {value!r}")
    return int(value)
