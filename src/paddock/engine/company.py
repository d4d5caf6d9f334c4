"""Squads of a fleet that decide together: gathered, decided for in one launch, and their commands put back."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import TYPE_CHECKING

import numpy as np

from paddock.engine.conduct import MEMORY, Apart, Conduct, PoseBlocks
from paddock.engine.plan import Plan
from paddock.engine.squad import Squad
from paddock.world.fleet import Fleet
from paddock.world.world import World

if TYPE_CHECKING:
    from paddock.engine.program import FleetProgram


def company_key(number: int, plan: Plan) -> Hashable:
    """Equal for squads that one launch can serve: of one target and a rule by which each decides for itself."""
    return (plan.rule.name, plan.target) if plan.rule.solitary else number


class Company:
    """Squads under one rule. Their state is copied side by side; their options may differ from vehicle to vehicle."""

    def __init__(self, program: FleetProgram, squads: Mapping[int, Squad]) -> None:
        """`squads` by their numbers, ascending, at least one; they keep their memories here from now on."""
        self.program = program
        self.numbers = tuple(squads)
        self.rows = np.concatenate([squad.rows for squad in squads.values()])
        fleet, count = program.fleet, len(self.rows)
        self.crew = Fleet(fleet.name, fleet.state_fields, fleet.command_fields, count)
        self.crew.n = count
        members = list(squads.values())
        plan = members[0].plan
        apart = _apart(members) if plan.rule.solitary else None
        self.conduct = Conduct(plan.of_one(), program.model, self.crew, program.varying, apart)
        self._take_memories(members)
        self.told = False  # whether it was said once whether its target is there

    def _take_memories(self, squads: list[Squad]) -> None:
        memory = self.crew.tables[MEMORY]
        np.concatenate([squad.memory for squad in squads], axis=1, out=memory)
        first = 0
        for squad in squads:
            squad.memory = memory[:, first : first + len(squad.rows)]
            first += len(squad.rows)

    def run(self, world: World, poses: PoseBlocks, dt: float) -> str | None:
        """Decide for all of them; returns the name of a target that has gone."""
        fleet, crew = self.program.fleet, self.crew
        np.take(fleet.state, self.rows, axis=1, out=crew.state)
        np.take(fleet.command, self.rows, axis=1, out=crew.command)
        parameters = self.program.parameters_of(self.rows)
        lost = self.conduct.run(world, poses, parameters, dt, (fleet.n, self.rows))
        fleet.command[:, self.rows] = crew.command
        return lost

    def compile(self) -> None:
        """Have the machine code of their rule ready. Any thread may call this."""
        self.conduct.compile(self.program.parameters_of(self.rows))


def _apart(squads: list[Squad]) -> Apart:
    tables = [squad.plan.table(len(squad.rows)) for squad in squads]
    places = [np.arange(len(squad.rows)) for squad in squads]
    return Apart(np.ascontiguousarray(np.concatenate(tables, axis=1)), np.concatenate(places))
