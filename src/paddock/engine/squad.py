"""Some vehicles of a fleet that were told something together: what it was, and what they remember."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from paddock.engine.conduct import give_slots
from paddock.engine.plan import Plan
from paddock.scenario import BehaviourChoice
from paddock.world.columns import Floats, defaults_of
from paddock.world.fleet import Ints


class Squad:
    """Those to whom one order was given. A company decides for them, and keeps their memory among its own."""

    def __init__(self, choice: BehaviourChoice, plan: Plan, rows: Ints) -> None:
        """`rows` of their fleet, ascending; lists of options are in that order."""
        self.choice = choice
        self.plan = plan
        self.rows = rows
        self.memory: Floats = np.repeat(defaults_of(plan.rule.memory)[:, None], len(rows), axis=1)  # (columns, n)
        give_slots(plan, self.memory)

    def keep(self, staying: NDArray[np.bool_], rows: Ints) -> None:
        """Only those where `staying` is true go on, in these rows of the fleet."""
        self.choice = choice_of(self.choice, self.plan, np.flatnonzero(staying))
        self.plan = self.plan.of(np.flatnonzero(staying))
        self.rows = rows
        self.memory = self.memory[:, staying]
        give_slots(self.plan, self.memory)

    def save(self) -> dict[str, Any]:
        """What they were told and what they remember."""
        return {"behaviour": self.choice.model_dump(mode="json"), "memory": self.memory}

    def remember(self, memory: Floats) -> None:
        """What was saved."""
        self.memory[:] = memory


def choice_of(choice: BehaviourChoice, plan: Plan, places: Ints) -> BehaviourChoice:
    """What some of the vehicles were told, those at these places of the plan's lists."""
    if not plan.one_by_one:
        return choice
    chosen = places.tolist()
    options = {
        name: [value[k] for k in chosen] if isinstance(value, list) else value for name, value in choice.options.items()
    }
    return choice.model_copy(update={"options": options})
