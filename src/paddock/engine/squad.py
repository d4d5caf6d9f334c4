"""Some vehicles of a fleet that follow a rule of their own: gathered, decided for, and their commands put back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from paddock.engine.conduct import MEMORY, Conduct, PoseBlocks
from paddock.engine.plan import Plan
from paddock.scenario import BehaviourChoice
from paddock.world.columns import Floats
from paddock.world.fleet import Fleet, Ints
from paddock.world.world import World

if TYPE_CHECKING:
    from paddock.engine.program import FleetProgram


class Squad:
    """Those whom an order was given together. Their state is copied side by side, so that one launch serves them."""

    def __init__(self, program: FleetProgram, choice: BehaviourChoice, plan: Plan, rows: Ints) -> None:
        """`rows` of the program's fleet, ascending."""
        self.program = program
        self.choice = choice
        self.rows = rows
        fleet = program.fleet
        self.crew = Fleet(fleet.name, fleet.state_fields, fleet.command_fields, len(rows))
        self.crew.n = len(rows)
        self.conduct = Conduct(plan, program.model, self.crew, program.varying)
        self.conduct.admit(slice(0, len(rows)))

    def run(self, world: World, poses: PoseBlocks, dt: float) -> str | None:
        """Decide for all of them; returns the name of a target that has gone."""
        fleet, crew, n = self.program.fleet, self.crew, self.crew.n
        crew.state[:, :n] = np.take(fleet.state, self.rows, axis=1)
        crew.command[:, :n] = np.take(fleet.command, self.rows, axis=1)
        parameters = self.program.parameters_of(self.rows)
        lost = self.conduct.run(world, poses, parameters, dt, (fleet.n, self.rows))
        fleet.command[:, self.rows] = crew.command[:, :n]
        return lost

    def compile(self) -> None:
        """Have the machine code of their rule ready. Any thread may call this."""
        self.conduct.compile(self.program.parameters_of(self.rows))

    def keep(self, staying: Any, rows: Ints) -> None:
        """Only those where `staying` (a mask) is true go on, in these rows of the fleet."""
        self.crew.keep(np.flatnonzero(staying))
        self.rows = rows
        self.conduct.assign_slots()

    def save(self) -> dict[str, Any]:
        """What they were told and what they remember."""
        memory = self.crew.tables[MEMORY][:, : self.crew.n]
        return {"behaviour": self.choice.model_dump(mode="json"), "memory": memory}

    def remember(self, memory: Floats) -> None:
        """What was saved."""
        self.crew.tables[MEMORY][:, : self.crew.n] = memory
