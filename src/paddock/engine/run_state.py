"""The state of a run: one tree of parts, held by `Run`, the world of the engine.

A stage adds its part here. Its stage reads `run.state.part.field` when it runs.
"""

from typing import Any

from paddock.contact.reported import ContactState
from paddock.engine.actions import MailboxState
from paddock.engine.events import EventState
from paddock.track.race_state import RaceState
from paddock.world.columns import Environment, Floats
from paddock.world.parts import child, fresh, part, plain, text, value
from paddock.world.world import World, WorldState, started


@part
class RunState(WorldState):
    """The state of a run."""

    rate: float = value(1.0, unit="Hz")
    scenario: str = text(hashed=False, settled=False)  # digest of the scenario
    mailbox: MailboxState = child(MailboxState, settled=False)
    events: EventState = child(EventState)
    lost_targets: set[str] = plain(set, sorted, lambda tree: set(map(str, tree)))  # fleets whose loss is reported
    failure: str = text()  # why the run has ended
    contact: ContactState | None = child()
    race: RaceState | None = child()
