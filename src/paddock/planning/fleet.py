"""All agents and tasks as arrays, so that one compiled search can look at them together."""

from __future__ import annotations

from typing import NamedTuple

from paddock.planning.tours import Jobs
from paddock.planning.ways import Detours, Ints, Mover
from paddock.world.columns import Floats


class Fleet(NamedTuple):
    """a agents of k classes, t tasks. Arrays of detours have no corners where there are no zones."""

    movers: Floats  # (a, fields of Mover)
    kind: Ints  # (a,) the class of each agent
    entry: Floats  # (k, t, 3) and so on: Jobs of each class
    leave: Floats  # (k, t, 3)
    z: Floats  # (k, t)
    cover: Floats  # (k, t)
    opens: Floats  # (k, t)
    closes: Floats  # (k, t)
    edges: Floats  # (e, 4) and so on: Walls of zones
    parts: Ints  # (p + 1,)
    bounds: Floats  # (p, 3)
    start: Floats  # (a, 3) and so on: Detours of each agent
    from_start: Floats  # (a, v)
    leave_ways: Floats  # (k, t, v)
    entry_sights: Floats  # (k, t, v)
    home_sights: Floats  # (a, v)


def mover_of(fleet: Fleet, agent: int) -> Mover:
    """One agent."""
    v = fleet.movers[agent]
    return Mover(
        v[0],
        v[1],
        v[2],
        v[3],
        v[4],
        v[5],
        v[6],
        v[7],
        v[8],
        v[9],
        v[10],
        v[11],
        v[12],
        v[13],
        v[14],
        v[15],
        v[16],
        v[17],
        v[18],
    )


def jobs_of(fleet: Fleet, agent: int) -> Jobs:
    """The tasks as an agent sees them."""
    k = fleet.kind[agent]
    return Jobs(fleet.entry[k], fleet.leave[k], fleet.z[k], fleet.cover[k], fleet.opens[k], fleet.closes[k])


def detours_of(fleet: Fleet, agent: int) -> Detours:
    """What zones add to its ways."""
    k, edges, parts, bounds = fleet.kind[agent], fleet.edges, fleet.parts, fleet.bounds
    start, way, home = fleet.start[agent], fleet.from_start[agent], fleet.home_sights[agent]
    return Detours(edges, parts, bounds, start, way, fleet.leave_ways[k], fleet.entry_sights[k], home)
