"""Operations on what vehicles are told to do instead of what their entry says."""

from __future__ import annotations

from concurrent.futures import Future
from typing import Any

from paddock.engine.actions import OverrideAction
from paddock.serve.live.group import Group
from paddock.serve.operations import operation
from paddock.serve.trust import known_names, refuse_foreign_behaviour


class Ordering(Group):
    """Orders take effect between two ticks."""

    @operation
    def order(
        self, client: str, target: str | int | list[int] | list[str | int], behaviour: str | dict[str, Any] | None
    ) -> Future[Any]:
        """Tell vehicles what to do: a behaviour, `external` (take commands), or None (back to what the entry says)."""
        refuse_foreign_behaviour(behaviour, known_names(self.sim))
        return self.stage.aside(lambda: self._give(client, OverrideAction(target, behaviour)))

    def _give(self, client: str, given: OverrideAction) -> Future[Any]:
        """Refused, and compiled, before the thread that ticks hears of it: it has better things to do."""
        order = self.sim.engine.applier.checked_override(given)
        return self.stage.errand(lambda: self.sim.override(order.target, order.behaviour, source=client))

    @operation
    def orders(self, client: str) -> Future[Any]:
        """The orders that are being followed."""
        return self.stage.glance(lambda: [given._asdict() for given in self.sim.overrides()])

    @operation
    def routes(self, client: str) -> Future[Any]:
        """Where vehicles are to go, in the axes of the world."""
        return self.stage.glance(lambda: [route._asdict() for route in self.sim.routes()])
