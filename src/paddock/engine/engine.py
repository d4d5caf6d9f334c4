"""The assembled run behind a `Simulation`: world, fleets, tick, and the thread that drives them.

`sim.engine` is for code that needs the internals of a run: endpoints, autopilots, recorders, tests. A part receives its
dependencies in its constructor, so the order of construction below is the order of dependency.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from paddock.compute.prepare import Progress, prepare_kernels
from paddock.engine.actions import ActionLog, Mailbox
from paddock.engine.applier import Applier
from paddock.engine.barrier import Autopilots, Claims
from paddock.engine.build import environment_values, new_world
from paddock.engine.clock_thread import ClockThread
from paddock.engine.contact import ContactStage
from paddock.engine.events import EventLog
from paddock.engine.fleets import Fleets
from paddock.engine.motion import MOTIONS
from paddock.engine.pacing import Pacer
from paddock.engine.pipeline import PublishStage
from paddock.engine.race import RulesStage
from paddock.engine.radio.stage import RadioStage
from paddock.engine.run_state import RunState
from paddock.engine.tick import MissionStage, assemble_tick
from paddock.errors import NotFiniteError, PaddockError, printable, unknown_name
from paddock.scenario import Scenario
from paddock.world.archive import digest, unpack
from paddock.world.parts import refusing
from paddock.world.state import HASHED, load, save
from paddock.world.state import digest as digest_of_parts
from paddock.world.world import Clock

if TYPE_CHECKING:  # planning is imported for a mission only
    from paddock.engine.mission.run import MissionRun


class PreparedRun(NamedTuple):
    """A state that is built and checked, perhaps outside the thread that ticks, and may replace that of a run."""

    how: str  # reset or restore
    draft: "Engine"  # holds it
    made_for: tuple[Scenario, int]  # the scenario of the run, and the number of autopilots that have joined


@dataclass(eq=False)
class RunListeners:
    """Functions that are called with a run; programs add theirs."""

    restart: list[Callable[[str], None]] = field(default_factory=list)  # with "reset" or "restore"
    close: list[Callable[[], None]] = field(default_factory=list)  # when the simulation is closed
    idle: list[Callable[[], None]] = field(default_factory=list)  # between slices of a run, also while it is paused


class Engine:
    """All parts of one simulation. One thread drives it at a time; any thread may post actions (`applier.post`)."""

    def __init__(self, scenario: Scenario, device: str = "cpu", prepared: bool = True, populated: bool = True) -> None:
        """Without `prepared` nothing is planned or compiled yet: `prepare` or the first tick does it.

        Without `populated` there are no vehicles and no mission: a saved state follows.
        """
        if device not in MOTIONS:
            raise unknown_name("device", device, MOTIONS)
        self.scenario = scenario
        self.world = world = new_world(scenario)
        self.events = EventLog(world)
        self.mailbox = Mailbox(world)
        kinematic = scenario.mission is not None and scenario.mission.execute == "kinematic"
        mission = MissionStage(world.clock, kinematic, scenario.every.behaviour)
        self.fleets = Fleets(scenario, world, self.events, device, mission.fleet_built)
        self.programs = self.fleets.programs
        contact = ContactStage(scenario, world, self.programs, self.events)
        rules = RulesStage(scenario, world, self.programs, self.events, contact)
        self.publisher = PublishStage(world, self.programs, scenario.every.snapshot, rules.show)
        self.radio = RadioStage(scenario, world, self.programs, self.events, self.publisher.poses, mission.damaged)
        self.fleets.emptied += [self.radio.forget, mission.fleet_removed]
        self.claims = Claims(Autopilots())
        self.thread = ClockThread(self.claims.wake)
        self.applier = Applier(
            *(world, self.mailbox, self.thread, self.fleets, self.events, ActionLog(), self.claims),
            *(mission, self.publisher, contact, rules, self.radio),
        )
        self.stages = assemble_tick(scenario, self.applier, self.mailbox, self.thread)
        pace, longest = scenario.clock.pace, self.stages.barrier.longest_slice
        self.pacer = Pacer(
            *(world.clock, self.advance, pace, self.thread, longest, self._between_slices, self.publisher.watch)
        )
        self.listeners = RunListeners()
        self._prepared = self._compiled = False
        self._digest: tuple[Scenario, str] | None = None  # of a scenario
        self._add_parts(world.state)
        if populated:
            self._populate(prepared)

    @property
    def mission(self) -> "MissionRun | None":
        """The mission of the present run; None without one."""
        return self.stages.mission.mission

    def prepare(self, progress: Progress | None = None) -> None:
        """Plan the mission, compile the kernels and take the first sensor readings; no effect if done."""
        with self.thread.driving("prepare()"):
            self._make_ready(progress)

    def advance(self, ticks: int) -> None:
        """Advance by that many ticks, prepared if need be; NotFiniteError if `on_nan: stop` ends the run."""
        if not (self._prepared and self._compiled):
            self._make_ready()
        if self.world.state.failure:
            self.stages.guard.clear_failure_if_finite()
        self.stages.pipeline.advance(ticks)
        if self.world.state.failure:
            raise NotFiniteError(f"the run has ended: {self.world.state.failure}")

    def _make_ready(self, progress: Progress | None = None) -> None:
        if not self._prepared:
            self._begin(progress)
            self.publisher.forget()
        if not self._compiled:
            self._compile(progress)
        self.radio.prepare(progress)

    def _add_parts(self, state: RunState) -> None:
        """Add the parts of the stages to the state of a run that begins."""
        state.contact, state.race = self.stages.contact.fresh(), self.stages.rules.fresh()
        state.radio = self.radio.fresh()

    def saved_state(self) -> dict[str, Any]:
        """Return the state as a tree; its arrays are valid until the next tick."""
        self._complete()
        return save(self.world.state)

    def state_hash(self, scope: str = HASHED) -> str:
        """Return a hex digest of the state: equal runs have equal hashes.

        `SETTLED`: without queued actions and autopilots, because a replay queues actions from the start and has no
        autopilots.
        """
        self._complete()
        return digest_of_parts(self.world.state, scope)

    def _complete(self) -> None:
        """Complete the state: plan a mission that has not begun, number the actions that have arrived, and fetch what
        a GPU and the autopilots hold.
        """
        self.world.state.scenario = self._scenario_digest()
        if self.mission is not None:
            self.mission.begin()
        self.mailbox.collect(self.world.clock.tick)
        if self.radio.messages is not None:
            self.radio.messages.fitted()
        for fleet in self.world.fleets.values():
            _ = fleet.state
        if self.claims.autopilots.states is not None:
            self.claims.autopilots.states.write()

    def _scenario_digest(self) -> str:
        if self._digest is None or self._digest[0] is not self.scenario:
            self._digest = self.scenario, scenario_digest(self.scenario)
        return self._digest[1]

    def restore(self, saved: bytes | dict[str, Any]) -> None:
        """Replace the state by a saved one, which may be unpacked. On an error, the state is as before."""
        with self.thread.driving("restore()"):
            self._take_over(self.prepare_restore(saved))

    def prepare_restore(self, saved: bytes | dict[str, Any], apart: bool = False) -> PreparedRun:
        """Build the state of a saved run and check it; nothing is changed.

        `apart`: the run continues in another thread, and the state is a client's. Kernels are compiled, and vehicles
        that are queued are built. A state that would end the run, because it diverges within a second, is refused.
        """
        made_for, tree = (self.scenario, self.claims.autopilots.joins), self._checked_state(saved)
        draft = Engine(self.scenario, self.fleets.device, populated=False)
        with refusing("saved state"):
            if self.claims.autopilots.states is not None and "autopilots" in tree:
                self.claims.autopilots.states.add_part(draft.world.state)
            draft._load(tree)
        if apart:
            prepare_kernels((pair for program in draft.programs.values() for pair in program.kernels()), apart=True)
            draft.applier.prepare_queued(draft.mailbox.queued)
            if self.scenario.on_nan == "stop" and not draft.world.state.failure:
                draft.stages.guard.move.refuse_diverging()
        draft._prepared = True
        return PreparedRun("restore", draft, made_for)

    def prepare_reset(self, seed: int | None = None) -> PreparedRun:
        """Build the vehicles of the scenario at tick 0 and plan its mission, while another thread continues the run."""
        made_for, scenario = (self.scenario, self.claims.autopilots.joins), self.scenario
        if seed is not None:
            scenario = scenario.model_copy(update={"seed": seed})
        draft = Engine(scenario, self.fleets.device, prepared=False)
        prepare_kernels((pair for program in draft.programs.values() for pair in program.kernels()), apart=True)
        draft.prepare()
        return PreparedRun("reset", draft, made_for)

    def take_over(self, prepared: PreparedRun) -> None:
        """Replace the present state by a prepared one; refused if the scenario or its autopilots have changed since."""
        with self.thread.driving(f"{prepared.how}()"):
            self._take_over(prepared)

    def _take_over(self, prepared: PreparedRun) -> None:
        how, draft, made_for = prepared
        with self.applier.rebuilding:
            if made_for[0] is not self.scenario or made_for[1] != self.claims.autopilots.joins:
                raise PaddockError(f"{how} refused: the run changed while its state was being built; try again")
            run, roster, self.scenario = self.world.run, self.world.roster_version, draft.scenario
            self.programs.clear()
            self.programs.update(draft.programs)
            self.mailbox.clear()
            self.world.adopt(draft.world)
            self.stages.mission.mission = draft.mission
            if draft.mission is not None:
                draft.mission.attach(self.world, self.fleets, self.events, self.publisher.poses, self.radio)
            self.applier.prepared = draft.applier.prepared
            self.applier.forget()
            self._prepared = True
            if how == "restore":
                self.applier.log.restart(self.world.clock.tick)
            else:
                self.world.state.run, self.world.state.roster_version = run + 1, roster + 1
                self.applier.log.clear()
                self.events.notify()
            if self.claims.autopilots.states is not None:
                self.claims.autopilots.states.read()
            for listener in self.listeners.restart:
                listener(how)

    def _checked_state(self, saved: bytes | dict[str, Any]) -> dict[str, Any]:
        """Decode a saved state; PaddockError unless it belongs to this scenario."""
        if not isinstance(saved, bytes | bytearray | memoryview | dict):
            raise PaddockError(f"restore() takes what save() returned, not {type(saved).__name__}")
        tree, rate = dict(saved) if isinstance(saved, dict) else unpack(saved), self.world.clock.rate
        saved_rate, scenario = tree.get("rate"), tree.get("scenario")
        if type(saved_rate) is not float or saved_rate != rate:
            shown = printable(repr(saved_rate))[:40]
            raise PaddockError(f"saved with ticks at {shown} Hz, this simulation has {rate:g}")
        if type(scenario) is not str or scenario != self._scenario_digest():
            raise PaddockError("saved in another scenario: load that one and restore there")
        if self.claims.autopilots.states is None:  # a replay has the commands of its autopilots instead
            tree.pop("autopilots", None)
        else:
            self.claims.autopilots.states.refuse_restore()
        return tree

    def _load(self, tree: dict[str, Any]) -> None:
        """Build the fleets of a saved state, and load it into them."""
        mission = self._new_mission(tree["seed"])
        if mission is not None:
            mission.take_part(tree["mission"])
        self.fleets.rebuild(tree["fleets"])
        ended = isinstance(tree["failure"], str) and tree["failure"]
        load(self.world.state, tree, limited=not ended)
        self.stages.rules.check()
        self.fleets.renew()
        if self.radio.active:
            self.radio.check()
        if mission is not None:
            mission.rebuild()

    def reset(self, seed: int | None = None) -> None:
        """Start a new run at tick 0."""
        with self.thread.driving("reset()"), self.applier.rebuilding:
            if seed is not None:
                self.scenario = self.scenario.model_copy(update={"seed": seed})
            run, roster = self.world.run, self.world.roster_version
            self.fleets.close()
            state = self.world.new_state(environment_values(self.scenario), self.scenario.seed)
            state.clock, state.run, state.roster_version = Clock(self.world.clock.rate), run + 1, roster + 1
            self._add_parts(state)
            self.world.replace(state)
            for part in (self.mailbox, self.applier.log, self.applier.prepared):
                part.clear()
            self._populate(prepared=True)
            if self.claims.autopilots.states is not None:
                self.claims.autopilots.states.read()
            for listener in self.listeners.restart:
                listener("reset")

    def close(self) -> None:
        """Stop the run, cancel requests and release claims. A closed engine cannot tick."""
        self.thread.closed = True
        self.pacer.stop()
        self.thread.close()
        for claim in self.claims.active:
            claim.release()
        while self.listeners.close:
            self.listeners.close.pop()()

    def _new_mission(self, seed: int) -> "MissionRun | None":
        """Start another run of the scenario's mission, before the fleets are built; None without a mission."""
        if self.scenario.mission is None:
            return None
        from paddock.engine.mission.run import MissionRun

        scenario = self.scenario if seed == self.scenario.seed else self.scenario.model_copy(update={"seed": seed})
        run = MissionRun(scenario, self.world, self.fleets, self.events, self.publisher.poses, self.radio)
        self.stages.mission.mission, self.world.state.mission = run, run.state
        return run

    def _populate(self, prepared: bool) -> None:
        """Add all vehicles of the scenario at tick 0."""
        self._new_mission(self.scenario.seed)
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
        self.stages.contact.check_start()
        self.stages.rules.begin()
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
        for call in self.listeners.idle:
            call()


def scenario_digest(scenario: Scenario) -> str:
    """Return a digest of a scenario that ignores its seed, its endpoints and the order of its vehicles."""
    tree = scenario.to_dict(defaults=True)
    for immaterial in ("seed", "serve", "record"):
        tree.pop(immaterial, None)
    if tree.get("sitl"):
        for immaterial in ("mavlink", "listen", "logs"):
            tree["sitl"].pop(immaterial, None)
    tree["vehicles"] = {entry["name"]: entry for entry in tree.get("vehicles", [])}
    return digest(tree)
