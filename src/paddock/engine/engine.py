"""The assembled run behind a `Simulation`: its parts, the tick, and the thread that drives them.

`sim.engine` is for code that needs the internals of a run: endpoints, autopilots, recorders, tests. A reset or restore
builds a state with parts of its own, and then swaps it.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from paddock.compute.prepare import Progress
from paddock.engine.actions import Mailbox
from paddock.engine.applier import Applier
from paddock.engine.barrier import Autopilots, Claims
from paddock.engine.clock_thread import ClockThread
from paddock.engine.fmu_motion import close_fmus, single_fmus_stopped
from paddock.engine.motion import MOTIONS
from paddock.engine.pacing import Pacer
from paddock.engine.program import FleetProgram
from paddock.engine.run_parts import RunParts
from paddock.engine.tick import assemble_tick
from paddock.errors import NotFiniteError, PaddockError, printable, unknown_name
from paddock.scenario import Scenario
from paddock.world.archive import digest, unpack
from paddock.world.parts import refusing
from paddock.world.state import HASHED, save
from paddock.world.state import digest as digest_of_parts

if TYPE_CHECKING:  # planning is imported for a mission only
    from paddock.engine.mission.run import MissionRun


class PreparedRun(NamedTuple):
    """A state that is built and checked, perhaps outside the thread that ticks, and may replace that of a run."""

    how: str  # reset or restore
    parts: RunParts  # hold it
    made_for: tuple[Scenario, int]  # the scenario of the run, and the number of autopilots that have joined


@dataclass(eq=False)
class RunListeners:
    """Functions that are called with a run; programs add theirs."""

    restart: list[Callable[[str], None]] = field(default_factory=list)  # with "reset" or "restore"
    close: list[Callable[[], None]] = field(default_factory=list)  # when the simulation is closed
    idle: list[Callable[[], None]] = field(default_factory=list)  # between slices of a run, also while it is paused


class Engine:
    """All parts of one simulation. One thread drives it at a time; any thread may post actions (`applier.post`)."""

    def __init__(self, scenario: Scenario, device: str = "cpu", prepared: bool = True) -> None:
        """Without `prepared` nothing is planned or compiled yet: `prepare` or the first tick does it."""
        if device not in MOTIONS:
            raise unknown_name("device", device, MOTIONS)
        self.scenario = scenario
        self.parts = parts = RunParts(scenario, device)
        self.world, self.events, self.fleets, self.radio = parts.world, parts.events, parts.fleets, parts.radio
        self.publisher = parts.publisher
        self.mailbox = Mailbox(self.world)
        self.claims = Claims(Autopilots())
        self.thread = ClockThread(self.claims.wake)
        self.applier = Applier(parts, self.mailbox, self.thread, self.claims)
        self.stages = assemble_tick(parts, self.applier, self.mailbox, self.thread)
        pace, longest, publisher = scenario.clock.pace, self.stages.barrier.longest_slice, self.publisher
        self.pacer = Pacer(
            *(self.world.clock, self.advance, pace, self.thread, longest, self._between_slices, publisher.watch)
        )
        self.listeners = RunListeners()
        self._prepared = self._compiled = False
        self._digest: tuple[Scenario, str] | None = None  # of a scenario
        parts.populate()
        if prepared:
            self._begin()

    @property
    def programs(self) -> dict[str, FleetProgram]:
        """The programs of all fleets, by name."""
        return self.world.programs

    @property
    def mission(self) -> "MissionRun | None":
        """The mission of the present run; None without one."""
        return self.world.mission

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
            self.parts.compile(progress)
            self._compiled = True
        self.radio.prepare(progress)

    def _begin(self, progress: Progress | None = None) -> None:
        self.parts.begin(progress)
        self._prepared = True

    def saved_state(self) -> dict[str, Any]:
        """Return the state as a tree; its arrays are valid until the next tick."""
        self._read_back()
        return {"scenario": self._scenario_digest(), **save(self.world.state)}

    def state_hash(self, scope: str = HASHED) -> str:
        """Return a hex digest of the state: equal runs have equal hashes.

        `SETTLED`: without queued actions and autopilots, because a replay queues actions from the start and has no
        autopilots.
        """
        self._read_back()
        return digest_of_parts(self.world.state, scope)

    def _read_back(self) -> None:
        """Read what a GPU holds; a run that has not been prepared begins."""
        if not self._prepared:
            self._make_ready()
        for fleet in self.world.fleets.values():
            _ = fleet.state

    def _scenario_digest(self) -> str:
        if self._digest is None or self._digest[0] is not self.scenario:
            self._digest = self.scenario, scenario_digest(self.scenario)
        return self._digest[1]

    def restore(self, saved: bytes | dict[str, Any]) -> None:
        """Replace the state by a saved one, which may be unpacked. On an error, the state is as before."""
        with self.thread.driving("restore()"):
            with single_fmus_stopped(self.programs):
                prepared = self.prepare_restore(saved)
            self._swap(prepared)

    def reset(self, seed: int | None = None) -> None:
        """Start a new run at tick 0. On an error, the state is as before."""
        with self.thread.driving("reset()"):
            with single_fmus_stopped(self.programs):
                prepared = self.prepare_reset(seed, apart=False)
            self._swap(prepared)

    def prepare_restore(self, saved: bytes | dict[str, Any], apart: bool = False) -> PreparedRun:
        """Build the state of a saved run and check it; nothing is changed.

        `apart`: the run continues in another thread, and the state is a client's. Kernels are compiled, and vehicles
        that are queued are built. A state that would end the run, because it diverges within a second, is refused.
        """
        made_for, tree = (self.scenario, self.claims.autopilots.joins), self._checked_state(saved)
        parts = RunParts(self.scenario, self.fleets.device)
        with refusing("saved state"):
            if self.claims.autopilots.states is not None and "autopilots" in tree:
                self.claims.autopilots.states.add_part(parts.world.state)
            parts.load(tree)
        if apart:
            parts.compile(apart=True)
            parts.fleets.prepare_queued()
            if self.scenario.on_nan == "stop" and not parts.world.state.failure:
                parts.move.refuse_diverging()
        return PreparedRun("restore", parts, made_for)

    def prepare_reset(self, seed: int | None = None, apart: bool = True) -> PreparedRun:
        """Build the vehicles of the scenario at tick 0 and plan its mission; `apart`: the run continues meanwhile."""
        made_for, scenario = (self.scenario, self.claims.autopilots.joins), self.scenario
        if seed is not None:
            scenario = scenario.model_copy(update={"seed": seed})
        parts = RunParts(scenario, self.fleets.device)
        parts.populate()
        parts.begin(apart=apart)
        return PreparedRun("reset", parts, made_for)

    def take_over(self, prepared: PreparedRun) -> None:
        """Replace the present state by a prepared one; refused if the scenario or its autopilots have changed since."""
        with self.thread.driving(f"{prepared.how}()"):
            self._swap(prepared)

    def _swap(self, prepared: PreparedRun) -> None:
        how, parts, made_for = prepared
        with self.applier.rebuilding:
            if made_for[0] is not self.scenario or made_for[1] != self.claims.autopilots.joins:
                raise PaddockError(f"{how} refused: the run changed while its state was being built; try again")
            before, state, log = self.world.programs, parts.world.state, self.applier.log
            if how == "reset":
                state.run, state.roster_version = self.world.run + 1, self.world.roster_version + 1
            self.scenario = parts.scenario
            with self.mailbox.lock:
                self.world.swap(parts.world)
            if self.world.mission is not None:
                self.world.mission.host.move_to(self.parts.mission_host())
            close_fmus(before)
            self._prepared = True
            log.restart(None if how == "reset" else state.clock.tick)
            if how == "reset":
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
        saved_rate, scenario = tree.get("rate"), tree.pop("scenario", None)
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

    def close(self) -> None:
        """Stop the run, cancel requests and release claims. A closed engine cannot tick."""
        self.thread.closed = True
        self.pacer.stop()
        self.thread.close()
        for claim in self.claims.active:
            claim.release()
        while self.listeners.close:
            self.listeners.close.pop()()

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
