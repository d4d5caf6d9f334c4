"""Operations on what vehicles are told to do instead of what their entry says."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import Future
from typing import Any

from paddock.engine.actions import Order
from paddock.errors import unknown_name
from paddock.serve.live.group import Group
from paddock.serve.live.trust import known_names
from paddock.serve.operations import operation


class Ordering(Group):
    """Orders take effect between two ticks."""

    @operation
    def order(
        self, client: str, target: str | int | list[int] | list[str | int], behaviour: str | dict[str, Any] | None
    ) -> Future[Any]:
        """Tell vehicles what to do: a behaviour, `external` (take commands), or None (back to what the entry says)."""
        self._refuse_foreign(behaviour)
        # refused, and compiled, here: the thread that ticks has better things to do
        order = self.sim.applier.checked_order(Order(target, behaviour))
        return self.stage.errand(lambda: self.sim.order(order.target, order.behaviour, source=client))

    @operation
    def orders(self, client: str) -> Future[Any]:
        """The orders that are being followed."""
        return self.stage.glance(lambda: [given._asdict() for given in self.sim.orders()])

    @operation
    def routes(self, client: str) -> Future[Any]:
        """Where vehicles are to go, in the axes of the world."""
        return self.stage.glance(lambda: [route._asdict() for route in self.sim.routes()])

    def _refuse_foreign(self, behaviour: str | Mapping[str, Any] | None) -> None:
        """A name that is no plug-in's would be imported as a module: only who owns the machine may do that."""
        known = known_names(self.sim)["behaviour"]
        for name in [behaviour] if isinstance(behaviour, str) else behaviour or ():
            if name not in known:
                raise unknown_name("behaviour", name, known, "order")
