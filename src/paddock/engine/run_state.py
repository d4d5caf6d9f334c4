"""The state of a run: one tree of parts, held by `Run`.

A stage that has a state adds its part here; it reads `run.state.part.field` when it runs, and keeps no arrays.
"""

from typing import TYPE_CHECKING, Any

from paddock.contact.bodies import ContactState
from paddock.engine.actions import MailboxState
from paddock.engine.events import EventState
from paddock.engine.race_state import RaceState
from paddock.engine.radio.roster import RadioState
from paddock.world.columns import Environment, Floats
from paddock.world.parts import child, fresh, part, rows, text, value
from paddock.world.world import World, WorldState, started

if TYPE_CHECKING:  # planning is imported for a mission only
    from paddock.engine.fleets import PreparedSpawn
    from paddock.engine.mission.run import MissionRun
    from paddock.engine.program import FleetProgram

MOST_LOST = 10_000  # targets


@part
class RunState(WorldState):
    """The state of a run."""

    rate: float = value(1.0, low=0.0, unit="Hz")
    mailbox: MailboxState = child(MailboxState, settled=False)
    events: EventState = child(EventState)
    lost_targets: list[str] = rows(str, longest=MOST_LOST)  # fleets (overrides: `fleet number`) whose loss was reported
    failure: str = text()  # why the run has ended
    discarded: int = value(0, low=0, high=2**53)  # vehicles removed because their state was not finite
    contact: ContactState | None = child()  # with contact
    race: RaceState | None = child()  # with rules
    radio: RadioState | None = child()  # with radio
    mission: Any = child()  # with a mission: its MissionRunState, of a package that is imported for a mission only
    autopilots: Any = child(settled=False)  # with built-in autopilots: their AutopilotsState


class Run(World):
    """The world of a simulation: the state of its run, and what was built for the vehicles of that state."""

    state: RunState

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.programs: dict[str, FleetProgram] = {}  # of the fleets, by name
        self.mission: MissionRun | None = None
        self.queued_spawns: dict[int, PreparedSpawn] = {}  # built vehicles of queued actions, by number of the action

    def new_state(self, environment: Floats, seed: int) -> RunState:
        """Return the state of a run without vehicles at tick 0."""
        state = fresh(RunState, environment=Environment)
        state.rate = self.clock.rate
        return started(state, self.clock, environment, seed)

    def add(self, program: "FleetProgram") -> None:
        """Add a fleet under an unused name."""
        self.add_fleet(program.fleet)
        self.programs = dict(sorted({**self.programs, program.fleet.name: program}.items()))

    def discard(self, name: str) -> None:
        """Remove a fleet that has no vehicles any more, its radio channels and its part in the mission."""
        self.state.fleets = {key: fleet for key, fleet in self.fleets.items() if key != name}
        self.programs = {key: program for key, program in self.programs.items() if key != name}
        channels = {} if self.state.radio is None else self.state.radio.channels
        for key in [key for key in channels if key.partition("/")[0] == name]:
            del channels[key]
        if self.mission is not None:
            self.mission.execution.fleet_removed(name)

    def swap(self, other: World) -> None:
        """Take the state of another run and what was built for it; that one must not be used any longer."""
        assert isinstance(other, Run)
        super().swap(other)
        self.programs, self.mission, self.queued_spawns = other.programs, other.mission, other.queued_spawns
