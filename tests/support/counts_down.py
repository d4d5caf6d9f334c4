"""A user's behaviour that fails: after some decisions it divides by zero."""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

from paddock.behaviour.rule import Rule
from paddock.compute.math import select
from paddock.vehicles.model import Desire
from paddock.world.columns import Column


class CountOptions(NamedTuple):
    """When a count ends, and what divides by zero then."""

    after: Annotated[float, Column("", "decisions until then", 1.0, 1e6)] = 1e6
    keeps: Annotated[float, Column("0/1", "1: the memory divides, 0: only the desire", 0.0, 1.0)] = 1.0


class Count(NamedTuple):
    """Decisions so far, and a quotient."""

    made: Annotated[float, Column("", "decisions")] = 0.0
    left: Annotated[float, Column("", "quotient")] = 0.0


def count_down(me: Any, m: Any, o: Any, urge: Any, target: Any, path: Any, dt: float) -> tuple[Desire, Count]:
    """Go east; divide by the decisions that are left."""
    left = 1.0 / (o.after - m.made - 1.0)
    kept = select(o.keeps > 0.5, left, 0.0)
    return Desire(2.0, select(o.keeps > 0.5, kept, left), 0.0, 10.0), Count(m.made + 1.0, kept)


RULE = Rule("Go east", CountOptions, count_down, Count)
