"""Relays: a chain of positions between two radios whose worst link is as good as possible, and what behaviours receive.

Candidates are points of a grid over the ground between both ends. All links between them are predicted, with antennas,
terrain, obstacles, shadowing and noise, without small-scale fading and jammers. A link to an end has to hold where the
end is now and where it will be a little later: relays need time to move. Of the chains whose worst link is the best
(links with `enough` margin are all the same), the one is chosen whose links are best and whose relays move least.

Relays know their own positions and those of stations. A vehicle at an end of the chain is where it is (`sees: truth`),
or where the newest beacon that one of the relays has received reports it: they share what they receive.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy import empty, int64, zeros

from paddock.compute.math import log, maximum, minimum, sqrt
from paddock.compute.routine import parallel_range, parallel_routine, routine
from paddock.engine.behaviours import PoseBlocks
from paddock.engine.radio.roster import RadioRoster
from paddock.errors import PaddockError
from paddock.radio.links.jamming import WEAK
from paddock.radio.links.radios import COLUMN, Floats, Ints, turn
from paddock.radio.links.survey import LEVEL
from paddock.radio.links.table import level_db
from paddock.radio.packets.state import PREDICTED, TRUTH, FleetHeard
from paddock.radio.physics.signal import DECIBELS
from paddock.world.columns import Pose, column_index

if TYPE_CHECKING:
    from paddock.engine.radio.stage import RadioStage

DETOUR = 1.3  # ways over a candidate are at most this much longer than the straight one
STEPS = 8  # of the grid between the ends, about
FINEST = 16.0  # m between candidates, at least
MOST = 400  # candidates
SLACK = 0.5  # dB below the best worst link that a chain may be
METRES = 10.0  # m that a relay moves for 1 dB
NO_WAY = 1e12  # cost of a link that a chain may not have


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
            a: Any = int64(i)
            b: Any = int64(j)
            margins[i, j] = minimum(
                level_db(table, a, b, classes, of, patterns, paths, WEAK) - needed_dbm(table, a),
                level_db(table, b, a, classes, of, patterns, paths, WEAK) - needed_dbm(table, b),
            )
    for i in range(n):
        margins[i, i] = -WEAK
        for j in range(i):
            margins[j, i] = margins[i, j]


def needed_dbm(table: Any, i: int) -> float:
    """Return the least power (dBm) of a usable link at a receiver."""
    noise = DECIBELS * log(table[COLUMN.noise, i])
    return float(maximum(table[COLUMN.sensitivity, i], noise + table[COLUMN.needed, i]))


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
    widest = WEAK
    for i in range(m):
        widest = maximum(widest, minimum(worst[i], margins[i + 2, 1]))
    least = minimum(widest, enough) - SLACK
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
    return float(widest)


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
    roster: RadioRoster, ends: Floats, later: Floats, relay: Floats, places: Floats, present: Floats, enough: float
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
    links = *roster.classes.without_fading(), roster.radios.patterns, roster.tables.at(table[:3])
    predict_margins(table, n, *links, margins)
    for end in (0, 1):
        margins[end] = np.minimum(margins[end], margins[end + 2])
        margins[:, end] = np.minimum(margins[:, end], margins[:, end + 2])
    margins = np.ascontiguousarray(np.delete(np.delete(margins, (2, 3), axis=0), (2, 3), axis=1))
    worst = choose_chain(margins, places, np.ascontiguousarray(present), enough, chain)
    return np.ascontiguousarray(places[:, chain]), float(worst)


def rehearse_chain(roster: RadioRoster) -> None:
    """Compile the choice of chains, for few and for many candidates; nothing of the run changes."""
    column, present = np.repeat(roster.radios.table[:, :1], 2, axis=1), np.zeros((3, 2))
    for count in (2, MOST):
        places = FINEST * np.arange(3.0 * count).reshape(3, -1)
        placed_chain(roster, column, column, column[:, :1], places, present, 0.0)


# relays of a run ------------------------------------------------------------------------------------------------------
VELOCITY = [column_index(Pose)[name] for name in ("vx", "vy", "vz")]
SENT_VELOCITY = slice(8, 11)  # of a state that was heard, after time, position and attitude
APART = 3.0  # m of height between relays that share a place


@dataclass(frozen=True)
class RadioSenses:
    """The radio at one tick, for behaviours."""

    radio: "RadioStage"
    poses: PoseBlocks
    tick: int
    renew: bool  # whether places are chosen at this tick

    def __call__(self, fleet: str) -> FleetHeard:
        """Return what the vehicles of a fleet have heard."""
        return self.radio.channel.heard(fleet, tick=self.tick)

    def relays(self, fleet: str, rows: Ints, between: tuple[str, str], options: Any) -> Floats | None:
        """Return the places (3, n) of vehicles that are relays between two ends.

        None: not now, an end is gone, or no relay has heard of an end for `beacons.keep` s: they stay in their places.
        """
        stage = self.radio
        if not self.renew:
            return None
        roster, rows = stage.roster, stage.world.fleets[fleet].ranks[rows]  # as radios and poses are numbered
        try:
            ends = [stage.number_of(name) for name in between]
        except PaddockError:  # it was removed
            return None
        [part] = [part for part in roster.radios.parts if part.fleet == fleet]
        stage.locate()
        table = roster.radios.table
        first, last = (self._end(end, fleet, rows, options.sees) for end in zip(ends, between, strict=True))
        if first is None or last is None:
            return None
        now = np.concatenate([first[0], last[0]], axis=1)
        later = self._later(now, np.stack([first[1], last[1]], axis=1), options.ahead)
        ground = candidates(now[:2, 0], later[:2, 1])
        places = np.vstack([ground, stage.heights(ground[0], ground[1]) + options.height])
        relay = table[:, [part.first + int(rows[0]) * part.slots]].copy()
        turn(relay, LEVEL)
        relay[COLUMN.height] = options.height
        present = self.poses(fleet)[:3, rows]
        chosen, _ = placed_chain(roster, now, later, relay, places, present, options.enough)
        shared = (chosen[:2, 1:] == chosen[:2, :-1]).all(axis=0)
        chosen[2, 1:] += APART * np.cumsum(shared)
        return chosen

    def _end(self, end: tuple[int, str], fleet: str, rows: Ints, sees: float) -> tuple[Floats, Floats] | None:
        """Return the column (columns, 1) of the radio at an end, and its velocity (3,); None: nothing was heard.

        `end` is the number of the radio and the name of its vehicle or station.
        """
        number, name = end
        column = self.radio.roster.radios.table[:, [number]].copy()
        if name.partition("/")[0] in self.radio.roster.radios.stations:
            return column, np.zeros(3)
        if sees == TRUTH:
            own, at = self.radio.world.find(name)
            return column, self.poses(own.name)[VELOCITY, own.ranks[at[0]]]
        heard = self(fleet)
        state = newest_state(heard, rows, number - int(self.radio.roster.radios.slot[number]))
        if state is None:
            return None
        age, velocity = heard.time - float(state[0]), state[SENT_VELOCITY]
        column[:3, 0] = state[1:4] + (age * velocity if sees == PREDICTED else 0.0)
        column[COLUMN.height] = column[2] - self.radio.heights(column[0], column[1])
        turn(column, state[4:8, None])
        return column, velocity

    def _later(self, ends: Floats, velocities: Floats, ahead: float) -> Floats:
        """Return the columns of both ends, moved on at their velocities (3, 2) over the ground for `ahead` s."""
        later = ends.copy()
        later[:2] += ahead * velocities[:2]
        before, then = (self.radio.heights(columns[0], columns[1]) for columns in (ends, later))
        later[2] += then - before
        return later


def newest_state(heard: FleetHeard, rows: Ints, radio: int) -> Floats | None:
    """Return the newest state (11,) of a radio that any of the vehicles `rows` has heard and that still counts."""
    own = heard.first + rows * heard.slots
    about = heard.who[own] == radio
    sent = np.where(about, heard.states[own, :, 0], -np.inf)
    row, k = np.unravel_index(int(np.argmax(sent)), sent.shape)
    if heard.time - sent[row, k] > heard.keep:
        return None
    state: Floats = heard.states[own[row], k]
    return state
