"""Places for relays: a chain between two radios whose worst link is as good as possible.

Candidates are points of a grid over the ground between both ends. All links between them are predicted, with antennas,
terrain, obstacles, shadowing and noise, without small-scale fading and jammers. A link to an end has to hold where the
end is now and where it will be a little later: relays need time to move. Of the chains whose worst link is the best
(links with `enough` margin are all the same), the one is chosen whose links are best and whose relays move least.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy import empty, int64, zeros

from paddock.compute.math import log, maximum, minimum, sqrt
from paddock.compute.routine import parallel_range, parallel_routine, routine
from paddock.radio.jamming import WEAK
from paddock.radio.links import NEEDED, NOISE, SENSITIVITY, level_db
from paddock.radio.radios import COLUMN, Floats, Ints
from paddock.radio.signal import DECIBELS

DETOUR = 1.3  # ways over a candidate are at most this much longer than the straight one
STEPS = 8  # of the grid between the ends, about
FINEST = 16.0  # m between candidates, at least
MOST = 400  # candidates
SLACK = 0.5  # dB below the best worst link that a chain may be
METRES = 10.0  # m that a relay moves for 1 dB
NO_WAY = 1e12  # cost of a link that a chain may not have


class ChainLinks(NamedTuple):
    """What predicted links depend on besides places."""

    classes: Floats  # link classes, without fading
    of: Ints  # class by groups
    patterns: Floats
    paths: Any


def candidates(a: Floats, b: Floats) -> Floats:
    """Return places (2, m), in m, of a grid with fixed origin near the line between two ends (x, y)."""
    apart = float(np.sqrt(((a - b) ** 2).sum()))
    step = FINEST
    while STEPS * step < apart:
        step *= 2.0
    reach = 0.5 * (DETOUR * apart + 2.0 * step)
    middle = 0.5 * (a + b)
    low, high = np.floor((middle - reach) / step), np.ceil((middle + reach) / step)
    x, y = np.meshgrid(np.arange(low[0], high[0] + 1.0) * step, np.arange(low[1], high[1] + 1.0) * step)
    points = np.stack([x.ravel(), y.ravel()])
    way = sum(np.sqrt(((points - end[:, None]) ** 2).sum(axis=0)) for end in (a, b))
    return np.ascontiguousarray(points[:, np.flatnonzero(way <= DETOUR * apart + 2.0 * step)[:MOST]])


def margin_rows(table: Any, n: int, classes: Any, of: Any, patterns: Any, paths: Any, margins: Any) -> None:
    """Compute how far (dB) the weaker direction of every link is above what its receiver needs, (n, n)."""
    for i in parallel_range(n):
        for j in range(i):
            one: Any = int64(i)
            two: Any = int64(j)
            margins[i, j] = minimum(
                level_db(table, one, two, classes, of, patterns, paths, WEAK) - needed_dbm(table, one),
                level_db(table, two, one, classes, of, patterns, paths, WEAK) - needed_dbm(table, two),
            )
    for i in range(n):
        margins[i, i] = -WEAK
        for j in range(i):
            margins[j, i] = margins[i, j]


def needed_dbm(table: Any, i: int) -> float:
    """Return the least power (dBm) of a usable link at a receiver."""
    noise = DECIBELS * log(table[NOISE, i])
    return float(maximum(table[SENSITIVITY, i], noise + table[NEEDED, i]))


def chain_rows(margins: Any, places: Any, present: Any, enough: float, chain: Any) -> float:
    """Choose a candidate for each relay, in the order of the chain; return the margin (dB) of the worst link.

    Candidates are 2, 3, ... of `margins` with `places` (3, m); the ends are 0 and 1. `present` (3, k) m.
    """
    m, k = places.shape[1], present.shape[1]
    worst, after = empty(m), empty(m)
    for i in range(m):
        worst[i] = margins[0, i + 2]
    for _ in range(1, k):  # the best worst link of chains that end at each candidate
        for i in range(m):
            best = WEAK
            for j in range(m):
                best = maximum(best, minimum(worst[j], margins[j + 2, i + 2]))
            after[i] = best
        worst, after = after, worst
    found = WEAK
    for i in range(m):
        found = maximum(found, minimum(worst[i], margins[i + 2, 1]))
    least = minimum(found, enough) - SLACK
    cost, total, came = empty(m), empty(m), zeros((k, m), int64)
    for i in range(m):
        cost[i] = link_cost(margins[0, i + 2], enough, least) + moved(places, i, present, 0)
    for h in range(1, k):
        for i in range(m):
            total[i] = 2.0 * NO_WAY
            for j in range(m):
                way = cost[j] + link_cost(margins[j + 2, i + 2], enough, least)
                if way < total[i]:
                    total[i], came[h, i] = way, j
            total[i] += moved(places, i, present, h)
        cost, total = total, cost
    last, lowest = 0, 4.0 * NO_WAY
    for i in range(m):
        way = cost[i] + link_cost(margins[i + 2, 1], enough, least)
        if way < lowest:
            last, lowest = i, way
    for back in range(k):
        chain[k - 1 - back] = last
        last = came[k - 1 - back, last]
    return float(found)


def link_cost(margin: float, enough: float, least: float) -> float:
    """Return the cost (m) of a link: what it lacks to `enough`; very high below the least margin."""
    return METRES * maximum(enough - margin, 0.0) + (0.0 if margin >= least else NO_WAY)


def moved(places: Any, i: int, present: Any, h: int) -> float:
    """Return the distance (m) of a relay to a candidate."""
    dx, dy, dz = places[0, i] - present[0, h], places[1, i] - present[1, h], places[2, i] - present[2, h]
    return float(sqrt(dx * dx + dy * dy + dz * dz))


predict_margins = parallel_routine(margin_rows, items=lambda table, n, *_: n)
choose_chain = routine(chain_rows)


def placed_chain(
    ends: Floats, later: Floats, relay: Floats, places: Floats, present: Floats, links: ChainLinks, enough: float
) -> tuple[Floats, float]:
    """Return the places (3, k) of relays, in m, and the margin (dB) of the worst link of their chain.

    `ends` and `later` (columns, 2), now and then, and `relay` (columns, 1) are of a table of radios; the relays are at
    `present` (3, k) now.
    """
    m = places.shape[1]
    table = np.concatenate([ends, later, np.repeat(relay, m, axis=1)], axis=1)
    table[:3, 4:] = places
    table[COLUMN.owner] = -8.0 - np.arange(m + 4)  # each is another vehicle
    n = m + 4
    margins, chain = np.zeros((n, n)), np.zeros(present.shape[1], np.int64)
    predict_margins(table, n, *links, margins)
    for end in (0, 1):
        margins[end] = np.minimum(margins[end], margins[end + 2])
        margins[:, end] = np.minimum(margins[:, end], margins[:, end + 2])
    margins = np.ascontiguousarray(np.delete(np.delete(margins, (2, 3), axis=0), (2, 3), axis=1))
    worst = choose_chain(margins, places, np.ascontiguousarray(present), enough, chain)
    return np.ascontiguousarray(places[:, chain]), float(worst)
