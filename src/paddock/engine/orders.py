"""The orders of a fleet: which vehicles do something else than their entry says, and what."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from paddock.engine.company import Company, company_key
from paddock.engine.conduct import PoseBlocks
from paddock.engine.plan import Plan
from paddock.engine.squad import Squad
from paddock.scenario import BehaviourChoice
from paddock.scenario.vehicle import EXTERNAL
from paddock.world.fleet import Ints
from paddock.world.world import World

if TYPE_CHECKING:
    from paddock.engine.program import FleetProgram

OWN = 0
"""Mark of a vehicle that does what its entry says."""
COMMANDED = -1
"""Mark of a vehicle that takes commands although its entry has a behaviour."""

Noted = Callable[[str, str | None], None]
"""(who: a fleet, or a fleet and the number of an order; the name of a target that has gone) after each decision."""


class Given(NamedTuple):
    """An order that is being followed."""

    ids: Ints
    behaviour: str
    options: dict[str, Any]


class FleetOrders:
    """One fleet's orders; there is none where nobody has any."""

    def __init__(self, program: FleetProgram) -> None:
        self.program = program
        self.marks = np.zeros(program.fleet.n, np.int64)  # of each vehicle: OWN, COMMANDED, or the number of its order
        self.rows: Ints = np.empty(0, np.int64)  # of those with any order
        self.squads: dict[int, Squad] = {}  # by the number of their order, ascending
        self._companies: dict[Hashable, Company] = {}  # those that decide together
        self._stale: set[Hashable] = set()  # of them, those whose squads have changed since

    @property
    def acting(self) -> bool:
        """Whether any order has to be decided on."""
        return bool(self.squads)

    def run(self, world: World, poses: PoseBlocks, dt: float, noted: Noted) -> None:
        """The fleet's own rule for those without an order, then one rule of orders after the other."""
        program, fleet = self.program, self.program.fleet
        if program.conduct is not None:
            held = np.take(fleet.command, self.rows, axis=1)
            noted(fleet.name, program.conduct.run(world, poses, program.parameters, dt))
            fleet.command[:, self.rows] = held
        for company in self._formed():
            lost = company.run(world, poses, dt)
            if company.conduct.target is not None or not company.told:
                company.told = True
                for number in company.numbers:
                    noted(f"{fleet.name} {number}", lost)

    def _formed(self) -> Iterable[Company]:
        """Everybody with an order of a rule, in the order of their first orders' numbers."""
        if self._stale:
            members: dict[Hashable, dict[int, Squad]] = {}
            for number, squad in self.squads.items():
                members.setdefault(company_key(number, squad.plan), {})[number] = squad
            self._companies = {
                key: Company(self.program, squads) if key in self._stale else self._companies[key]
                for key, squads in members.items()
            }
            self._stale.clear()
        return self._companies.values()

    def release(self, rows: Ints, mark: int = OWN) -> None:
        """These follow no order of a rule any more; those told together with them go on."""
        concerned = np.unique(self.marks[rows])
        self.marks[rows] = mark
        for number in concerned[concerned > OWN].tolist():
            old = self.squads[number].rows
            staying = self.marks[old] == number
            self._reduce(number, staying, old[staying])
        self.rows = np.flatnonzero(self.marks)

    def assign(self, rows: Ints, choice: BehaviourChoice, plan: Plan) -> None:
        """These follow a rule from now on, together."""
        self.release(rows)
        number = max(self.squads, default=0) + 1
        self._enlist(number, Squad(choice, plan, rows))
        self.marks[rows] = number
        self.rows = np.flatnonzero(self.marks)

    def _enlist(self, number: int, squad: Squad) -> None:
        self.squads[number] = squad
        self._stale.add(company_key(number, squad.plan))

    def _reduce(self, number: int, staying: NDArray[np.bool_], rows: Ints) -> None:
        """Of a squad only some stay, in these rows; it ends with the last."""
        squad = self.squads[number]
        self._stale.add(company_key(number, squad.plan))
        if not staying.any():
            del self.squads[number]
        else:
            squad.keep(staying, rows)

    def admit(self, count: int) -> None:
        """So many vehicles have joined, without an order."""
        self.marks = np.append(self.marks, np.zeros(count, np.int64))

    def keep(self, rows: Ints) -> None:
        """Vehicles have left, and with them their orders; these rows stay."""
        moved = np.full(len(self.marks), -1, np.int64)  # old row -> new row
        moved[rows] = np.arange(len(rows))
        self.marks = self.marks[rows]
        for number in list(self.squads):
            found = moved[self.squads[number].rows]
            self._reduce(number, found >= 0, found[found >= 0])
        self.rows = np.flatnonzero(self.marks)

    def given(self) -> Iterator[Given]:
        """Every order that is being followed."""
        ids = self.program.fleet.ids
        if (self.marks == COMMANDED).any():
            yield Given(ids[self.marks == COMMANDED], EXTERNAL, {})
        for squad in self.squads.values():
            yield Given(ids[squad.rows], squad.choice.name, dict(squad.choice.options))

    def save(self) -> dict[str, Any]:
        """Who has which order, and what their rules remember."""
        return {"marks": self.marks, "squads": {str(number): squad.save() for number, squad in self.squads.items()}}

    def restore(self, saved: Mapping[str, Any], plans: Mapping[int, tuple[BehaviourChoice, Plan]]) -> None:
        """Exactly what was saved; `plans` are what its behaviours stand for."""
        self.marks = np.array(saved["marks"], np.int64)
        self.rows = np.flatnonzero(self.marks)
        for number, (choice, plan) in sorted(plans.items()):
            squad = Squad(choice, plan, np.flatnonzero(self.marks == number))
            squad.remember(saved["squads"][str(number)]["memory"])
            self._enlist(number, squad)
