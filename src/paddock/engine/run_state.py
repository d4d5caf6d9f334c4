"""The state of a run: one tree of parts, held by `Run`.

A stage that has a state adds its part here; it reads `run.state.part.field` when it runs, and keeps no arrays.
"""

from typing import Any

from paddock.contact.bodies import ContactState
from paddock.engine.actions import MailboxState
from paddock.engine.events import EventState
from paddock.engine.race_state import RaceState
from paddock.engine.radio.roster import RadioState
from paddock.world.columns import Environment, Floats
from paddock.world.parts import child, fresh, part, rows, text, value
from paddock.world.world import World, WorldState, started

MOST_LOST = 10_000  # targets


@part
class RunState(WorldState):
    """The state of a run."""

    scenario: str = text(hashed=False, settled=False)  # digest of the scenario
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
    """The world of a simulation, which holds the state of its run."""

    state: RunState

    def new_state(self, environment: Floats, seed: int) -> RunState:
        """Return the state of a run without vehicles at tick 0."""
        state = fresh(RunState, environment=Environment)
        state.rate = self.clock.rate
        return started(state, self.clock, environment, seed)
