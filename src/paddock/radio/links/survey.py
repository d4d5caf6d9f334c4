"""What a receiver would receive: coverage on a grid of places, the spectrum at one radio, the budget of one link.

A survey is made from copies, so that another thread can compute while the run goes on. Small-scale fading is left out
of coverage: it is the mean over a few wavelengths. Shadowing, terrain and obstacles are in it. Under a jammer with
bursts the mean SINR says little about packets: the packet error rate is that of packets which bursts hit or miss.

A budget has every gain and loss of a link, from the transmitter to the packets that arrive.
"""

from collections.abc import Callable, Sequence
from functools import lru_cache
from math import isclose
from typing import Any

import numpy as np

from paddock.compute.routine import routine
from paddock.errors import InvalidValueError
from paddock.radio.links.jamming import EVERY, HIGH, LOW, ON, PHASE, SPAN, band_share, find_bursts, level_rows
from paddock.radio.links.paths import (
    REFLECTED,
    Paths,
    PathTables,
    boost,
    extra_losses,
    farthest,
    largest_gain,
    pair_distance,
    pair_offset,
)
from paddock.radio.links.radios import CLASS, COLUMN, NEEDED_PER, Classes, Floats, Ints, Radios, turn
from paddock.radio.links.rows import link_error
from paddock.radio.links.table import (
    BURST,
    BURST_ROWS,
    SAME_CHANNEL,
    SHARE,
    antenna_gain,
    band_overlap,
    can_decode,
    model_loss,
    on_channel,
    pair_gain,
)
from paddock.radio.links.update import LinkUpdate
from paddock.radio.physics.propagation import GROUND_REFLECTION, LIGHT, LOG_DISTANCE, MODELS, loss_db
from paddock.radio.physics.signal import NO_POWER, WEAKEST, ber, capacity, decibels, expm1, per, power_ratio
from paddock.scenario.radio_types import SAME
from paddock.wire.radio_results import CoverageGrid, HeardLevels, LinkBudget, Links, Spectrum, SurveyLimits

LEVEL = np.array([[0.0], [0.0], [0.0], [1.0]])  # attitude of a receiver that no vehicle carries
NOWHERE = -7.0  # the owner of such a receiver
MOST_HEARD = 400  # transmitters in a spectrum: the nearest
MOST_SURVEYED = 200  # transmitters whose coverage is computed at a place: the nearest
PARTS = 8  # of an area in each direction: within one, the same transmitters are the nearest
SWEEP_STEPS = 64
RANGE_STEP = 1.02  # ratio of the distances that are tried for the range of a radio
NEAREST = 1e-2  # m: the shortest range
level_grid = routine(level_rows)
"""As the levels of jammers, on the calling thread: the threads of the run are not taken from it."""


class RadioSurvey:
    """Transmitters, jammers and surroundings at one time."""

    def __init__(
        self,
        radios: Radios,
        classes: Classes,
        tables: PathTables,
        doing: Floats,
        heights: Callable[[Floats, Floats], Floats],
        on_air: Floats,
        time: float,
    ) -> None:
        """`doing` is what the jammers do, `on_air` (n,) the share of time with messages and commands.

        `heights` returns the ground (m) at places, from any thread. `time` is that of the run, s.
        """
        self.radios, self.tables, self.heights, self.time = radios, tables, heights, time
        self.table, self.doing = radios.table.copy(), doing.copy()
        self.classes = classes
        self.transmits = np.minimum(self.table[COLUMN.duty, : radios.n] + on_air, 1.0)  # share of time

    def coverage(
        self, transmitters: Sequence[int], receiver: int, x: float, y: float, size: float, side: int, height: float
    ) -> CoverageGrid:
        """Return the coverage of transmitters on a square of `size` m around x, y, for a receiver like this radio."""
        for name, value in (("x", x), ("y", y)):
            check_number("coverage", name, value, -SurveyLimits.FARTHEST, SurveyLimits.FARTHEST, "m")
        check_number("coverage", "size", size, SurveyLimits.SMALLEST, SurveyLimits.LARGEST, "m")
        check_number("coverage", "side", side, 2, SurveyLimits.MOST_VALUES)
        check_number("coverage", "height", height, SurveyLimits.LOWEST, SurveyLimits.HIGHEST, "m")
        cell = size / (side - 1)
        first_x, first_y = x - 0.5 * size, y - 0.5 * size
        places = np.meshgrid(first_x + cell * np.arange(side), first_y + cell * np.arange(side))
        x_at, y_at = (axis.ravel() for axis in places)
        heard = self.at(transmitters, receiver, np.stack([x_at, y_at, self.heights(x_at, y_at) + height]))
        power, sinr, jamming, per = (values.reshape(side, side) for values in heard[:4])
        column = self.table[:, receiver]
        noise, needed, sensitivity = column[[COLUMN.noise, COLUMN.needed, COLUMN.sensitivity]].tolist()
        levels = decibels(noise), needed, sensitivity
        return CoverageGrid(first_x, first_y, cell, side, height, power, sinr, jamming, per, *levels, self.time)

    def at(self, transmitters: Sequence[int], receiver: int, places: Floats) -> HeardLevels:
        """Return what a receiver like this radio would get at places (3, n), m.

        Of more than `MOST_SURVEYED` transmitters, the nearest to the middle of each of 8 x 8 parts of the area count.
        """
        asked = np.array(transmitters, np.int64)
        if len(asked) <= MOST_SURVEYED:
            return self._heard(asked, receiver, places)
        count = places.shape[1]
        power, sinr, jamming, per = np.zeros((4, count))
        levels = HeardLevels(power, sinr, jamming, per, np.zeros(count, np.int64))
        part_of = _parts(places[:2])
        for part in np.unique(part_of).tolist():
            rows = np.flatnonzero(part_of == part)
            apart = ((self.table[:3, asked] - places[:, rows].mean(axis=1)[:, None]) ** 2).sum(axis=0)
            near = np.sort(np.argsort(apart, kind="stable")[:MOST_SURVEYED])
            heard = self._heard(asked[near], receiver, np.ascontiguousarray(places[:, rows]))
            for values, own in zip(levels, heard, strict=True):
                values[rows] = own
            levels.best[rows] = np.where(heard.best >= 0, near[heard.best], -1)
        return levels

    def _heard(self, transmitters: Ints, receiver: int, places: Floats) -> HeardLevels:
        """Return what a receiver would get of these transmitters at places."""
        count = places.shape[1]
        sources = np.concatenate([transmitters, np.arange(self.radios.n, self.table.shape[1])])
        table = np.empty((len(self.table), count + len(sources)))
        table[:, :count] = self._receiver(receiver)
        table[:3, :count] = places
        table[COLUMN.height, :count] = places[2] - self.heights(places[0], places[1])
        table[:, count:] = self.table[:, sources]
        return self._rated(self._levels(table, count, len(sources)), table, count, len(transmitters))

    def _receiver(self, number: int) -> Floats:
        """Return the column of a radio like another one that stands upright anywhere."""
        column = self.table[:, number : number + 1].copy()
        turn(column, LEVEL)
        column[COLUMN.owner] = NOWHERE
        return column

    def _levels(self, table: Floats, count: int, sources: int) -> Floats:
        """Return the powers (mW) of the last columns at the first `count` ones, (sources, count)."""
        levels = np.zeros((sources, count))
        if sources and count:
            surroundings = *self.classes.without_fading(), self.radios.patterns, self.tables.at(table[:3])
            level_grid(table, count, False, *surroundings, levels)
        return levels

    def _rated(self, levels: Floats, table: Floats, count: int, heard: int) -> HeardLevels:
        noise = float(table[COLUMN.noise, 0])
        jamming, interference = np.zeros(count), np.zeros(count)
        for k in range(len(levels) - heard):
            share = band_share(table, 0, count + heard + k, k, self.doing) if k < self.doing.shape[1] else 0.0
            jamming += share * levels[heard + k]
        strongest, best = np.zeros(count), np.full(count, -1, np.int64)
        own = np.zeros(count)  # what the strongest one contributes to the interference
        for k in range(heard):
            share = max(float(band_overlap(table, 0, count + k)), 0.0) * float(table[COLUMN.duty, count + k])
            interference += share * levels[k]
            if can_decode(table, 0, count + k):
                stronger = levels[k] > strongest
                own, best = np.where(stronger, share * levels[k], own), np.where(stronger, k, best)
                strongest = np.maximum(strongest, levels[k])
        floor = noise + np.maximum(interference - own, 0.0) + jamming
        around = np.ascontiguousarray(np.delete(table, slice(count, count + heard), axis=1))
        errors = self._errors(around, strongest, floor, levels[heard:])
        return HeardLevels(_dbm(strongest), _dbm(strongest / floor), _dbm(jamming), errors, best)

    def _errors(self, table: Floats, signal: Floats, floor: Floats, jammers: Floats) -> Floats:
        """Return packet error rates of a signal over the mean of all else (n,), mW, bursts of jammers included.

        `table` has receivers, then jammers, whose powers (mW) at receivers are `jammers` (k, n).
        """
        bursts, errors = np.zeros((BURST_ROWS, len(signal))), np.ones(len(signal))
        if (self.doing[EVERY] > 0.0).any():
            find_bursts(table, self.doing, jammers, bursts)
        error_places(table, signal, floor, bursts, errors)
        return errors

    # spectrum ---------------------------------------------------------------------------------------------------------

    def spectrum(self, receiver: int, span: float | None = None, bins: int = 96) -> Spectrum:
        """Return the power by frequency at a radio, over `span` Hz around its band; by default four bandwidths."""
        check_number("spectrum", "bins", bins, 2, SurveyLimits.MOST_BINS)
        if span is not None:
            check_number("spectrum", "span", span, SurveyLimits.NARROWEST, SurveyLimits.WIDEST, "Hz")
        column = self.table[:, receiver]
        centre, width = float(column[COLUMN.frequency]), float(column[COLUMN.bandwidth])
        span = 4.0 * width if span is None else span
        low, high = centre - 0.5 * span, centre + 0.5 * span
        sources = np.concatenate([self._near(receiver, low, high), np.arange(self.radios.n, self.table.shape[1])])
        table = np.ascontiguousarray(self.table[:, np.concatenate([[receiver], sources])])  # of one layout: one kernel
        levels = self._levels(table, 1, len(sources))[:, 0]
        edges = np.linspace(low, high, bins + 1)
        floor = float(column[COLUMN.noise]) / width * (span / bins)
        power = np.full(bins, floor)
        jammers = self.table.shape[1] - self.radios.n
        for k, j in enumerate(sources.tolist()):
            at, band = float(self.table[COLUMN.frequency, j]), float(self.table[COLUMN.bandwidth, j])
            q = k - (len(sources) - jammers)
            if q < 0:
                power += levels[k] * float(self.transmits[j]) * _in_bins(edges, at, band)
            elif q < self.doing.shape[1]:
                power += levels[k] * self._jammed_bins(q, edges, at, band)
        return Spectrum(
            low, high, (centre - 0.5 * width, centre + 0.5 * width), _dbm(power), decibels(floor), self.time
        )

    def _near(self, receiver: int, low: float, high: float) -> Ints:
        """Return the nearest radios of others that transmit between two frequencies, in the order of their numbers."""
        table = self.table[:, : self.radios.n]
        centre, half = table[COLUMN.frequency], 0.5 * table[COLUMN.bandwidth]
        heard = (centre + half > low) & (centre - half < high) & (self.transmits > 0.0)
        heard &= table[COLUMN.owner] != table[COLUMN.owner, receiver]
        audible = np.flatnonzero(heard)
        apart = ((table[:3, audible] - table[:3, receiver : receiver + 1]) ** 2).sum(axis=0)
        return np.sort(audible[np.argsort(apart, kind="stable")[:MOST_HEARD]])

    def _jammed_bins(self, k: int, edges: Floats, at: float, band: float) -> Floats:
        """Return the share of a jammer's power in each bin, over the time until the next update."""
        share = float(self.doing[ON, k])
        if self.doing[HIGH, k] <= 0.0:
            return share * _in_bins(edges, at, band)
        low, high = float(self.doing[LOW, k]), float(self.doing[HIGH, k])
        steps = self.doing[PHASE, k] + self.doing[SPAN, k] * (np.arange(SWEEP_STEPS) + 0.5) / SWEEP_STEPS
        swept = low + (steps % 1.0) * (high - low)
        total: Floats = sum((_in_bins(edges, line, band) for line in swept.tolist()), np.zeros(len(edges) - 1))
        return share * total / SWEEP_STEPS


def _parts(places: Floats) -> Ints:
    """Return the part of their area, 8 x 8 of them, to which places (2, n) belong."""
    low, high = places.min(axis=1, initial=np.inf), places.max(axis=1, initial=-np.inf)
    steps = np.floor(PARTS * (places - low[:, None]) / np.maximum(high - low, 1e-9)[:, None])
    x, y = np.minimum(steps, PARTS - 1).astype(np.int64)
    return np.asarray(PARTS * y + x)


def _error_places(table: Any, signal: Any, floor: Any, bursts: Any, errors: Any) -> None:
    """Set the packet error rates of signals at receivers that get one."""
    for i in range(len(signal)):
        if signal[i] > 0.0:
            errors[i] = link_error(table, i, signal[i], floor[i], bursts)


error_places = routine(_error_places)


def radio_ranges(radios: Radios, classes: Classes) -> Floats:
    """Return the distance (m), by group, up to which the radio that it reaches farthest has a usable link.

    It is that of the mean loss of their link class, at the heights of the first radios of both groups. Terrain,
    obstacles, shadowing, fading and interference are not in it. Vehicles count to stations and stations to vehicles,
    where there are both.
    """
    groups, first = np.unique(radios.table[COLUMN.group, : radios.n].astype(np.int64), return_index=True)
    table, carried = radios.table[:, first], first < radios.carried
    gains = [largest_gain(column, radios.patterns) for column in table.T]
    limits = np.maximum(table[COLUMN.sensitivity], 10.0 * np.log10(table[COLUMN.noise]) + table[COLUMN.needed])
    heights = np.maximum(np.round(table[COLUMN.height]), 0.0)
    ranges = np.zeros(len(radios.groups))
    for g, group in enumerate(groups.tolist()):
        tuned = np.abs(table[COLUMN.frequency] - table[COLUMN.frequency, g]) <= SAME_CHANNEL * table[COLUMN.bandwidth]
        able = tuned & (table[COLUMN.waveform] == table[COLUMN.waveform, g])
        others = able & (carried != carried[g])
        peers = set()
        for h in np.flatnonzero(others if others.any() else able).tolist():
            allowed = float(table[COLUMN.power, g] + gains[g] + gains[h] - limits[h])
            peers.add((int(classes.of[group, groups[h]]), round(allowed, 6), float(heights[h])))
        frequency, height = float(table[COLUMN.frequency, g]), float(heights[g])
        for k, allowed, other in peers:
            values = tuple(classes.table[[CLASS.model, CLASS.exponent, CLASS.reference, CLASS.city], k].tolist())
            ranges[group] = max(ranges[group], _model_range(*values, allowed, frequency, height, other))
    return ranges


@lru_cache(maxsize=4096)
def _model_range(
    model: float,
    exponent: float,
    reference: float,
    city: float,
    allowed: float,
    frequency: float,
    height: float,
    other_height: float,
) -> float:
    """Return the largest distance (m) at which a model loses at most `allowed` dB, between antennas at two heights."""
    values = np.zeros(len(CLASS))
    values[[CLASS.model, CLASS.exponent, CLASS.reference, CLASS.city]] = model, exponent, reference, city
    reflected = REFLECTED if model == GROUND_REFLECTION else 0.0
    high = farthest(values, allowed + reflected, frequency)

    def within(distance: float) -> bool:
        return loss_db(int(model), distance, frequency, height, other_height, exponent, reference, int(city)) <= allowed

    if high <= 0.0 or within(high):
        return high
    low = high / RANGE_STEP
    while low > NEAREST and not within(low):  # from far to near: the loss of reflected waves does not only rise
        low, high = low / RANGE_STEP, low
    if low <= NEAREST:
        return 0.0
    for _ in range(40):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if within(middle) else (low, middle)
    return low


def check_number(what: str, name: str, value: Any, low: float, high: float, unit: str = "") -> None:
    """Raise InvalidValueError if a number is not within a range; without a unit, it is a whole number."""
    kinds = (int, float, np.integer, np.floating) if unit else (int, np.integer)
    if isinstance(value, bool) or not isinstance(value, kinds) or not low <= value <= high:
        kind = "number" if unit else "whole number"
        raise InvalidValueError(
            f"{what}: {name} must be a {kind} from {low:g} to {high:g}{f' {unit}' if unit else ''}, not {value!r:.40}"
        )


def _in_bins(edges: Floats, frequency: float, bandwidth: float) -> Floats:
    """Return the share of a transmission that falls between each two edges (Hz)."""
    low, high = frequency - 0.5 * bandwidth, frequency + 0.5 * bandwidth
    common: Floats = np.minimum(edges[1:], high) - np.maximum(edges[:-1], low)
    return np.maximum(common, 0.0) / bandwidth


def _dbm(powers: Any) -> Floats:
    """Return mW as dBm, and ratios as dB."""
    levels: Floats = 10.0 * np.log10(np.maximum(powers, WEAKEST))
    return levels


MOST_OUTSIDE = -NO_POWER  # dB: nothing is in the band at all
MODEL_NAMES = {number: name for name, number in MODELS.items()}


def link_budget(
    radios: Radios, classes: Classes, paths: Paths, links: Links, i: int, j: int, names: tuple[str, str]
) -> LinkBudget:
    """Return the budget from radio j to radio i at the present positions.

    links: those of the last update, of which interference, jamming and collisions are taken
    names: of the transmitter and the receiver

    Errors are those of packets that a jammer hits now and then. Of a transmission that it cannot decode, and over a
    link that is down, the receiver gets power in its band and no packets.
    """
    table: Any = radios.table
    c = int(classes.of[int(table[COLUMN.group, i]), int(table[COLUMN.group, j])])
    dx, dy, dz = map(float, pair_offset(table, i, j))
    own = antenna_gain(table, i, dx, dy, dz, radios.patterns)
    other = antenna_gain(table, j, -dx, -dy, -dz, radios.patterns)
    polarisation = own + other - pair_gain(table, i, j, radios.patterns)
    loss = model_loss(table, i, j, classes.table, c)
    diffraction, obstacles, shadowing, fading = extra_losses(table, i, j, classes.table, c, paths)
    power = float(table[COLUMN.power, j])
    received = power + own + other - polarisation - loss - diffraction - obstacles + shadowing + fading
    share = band_overlap(table, i, j)
    noise, jamming, bursts = float(table[COLUMN.noise, i]), float(links.jamming[i]), links.bursts
    in_band, collided = power_ratio(received) * max(share, 0.0), 0.0
    others = max(float(links.interference[i]) - in_band * float(table[COLUMN.duty, j]), 0.0)
    mismatch, outside, entry = _mismatch(table, i, j), 0.0, _entry(links, i, j)
    if mismatch:
        outside = 0.0 - decibels(share) if share > 0.0 else MOST_OUTSIDE
        received -= outside
    elif entry >= 0 and links.collisions.shape[1]:  # interference is that of radios that are always on
        calm, load = links.collisions[:, entry].tolist()
        others = max(power_ratio(float(links.power[entry]) - calm) - noise - jamming, 0.0)
        collided = -expm1(-load)
    floor, signal = noise + others + jamming, power_ratio(received)
    errors = 0.5 if mismatch else ber(int(table[COLUMN.modulation, i]), signal / floor * float(table[COLUMN.spread, i]))
    lost = 1.0 if mismatch else per(errors, float(table[COLUMN.bits, i]))
    share_of_time, up = float(bursts[SHARE, i]), entry >= 0 and bool(links.up[entry])
    decoded = up
    if share_of_time > 0.0 and not mismatch:
        lost = link_error(table, i, signal, floor, bursts)
        quiet = max(floor - float(bursts[BURST, i]) * share_of_time, 1e-300)
        between = ber(int(table[COLUMN.modulation, i]), signal / quiet * float(table[COLUMN.spread, i]))
        clear = per(between, float(table[COLUMN.bits, i])) <= NEEDED_PER
        decoded = decoded or (entry >= 0 and clear and received >= float(table[COLUMN.sensitivity, i]))
    lost = 1.0 - (1.0 - lost) * (1.0 - collided) if decoded else 1.0
    return LinkBudget(
        *(*names, pair_distance(table, i, j), float(table[COLUMN.frequency, j]), power),
        *(other, own, polarisation, MODEL_NAMES[int(classes.table[CLASS.model, c])], loss),
        *(diffraction, obstacles, shadowing, fading, received, float(table[COLUMN.sensitivity, i])),
        *(decibels(noise), decibels(others), decibels(jamming), decibels(signal / floor)),
        *(float(table[COLUMN.needed, i]), errors, lost),
        capacity=0.0 if mismatch else capacity(float(table[COLUMN.bandwidth, i]), signal / floor),
        up=up,
        outside=outside,
        mismatch=mismatch,
        burst_share=share_of_time,
        burst_sinr=decibels(signal / (floor + bursts[BURST, i] * (1.0 - share_of_time))) if share_of_time else 0.0,
        collided=collided,
        throughput=(1.0 - lost) * float(table[COLUMN.bandwidth, j] / table[COLUMN.spread, j]),
    )


def _entry(links: Links, i: int, j: int) -> int:
    """Return the place of the link from radio j in the row of receiver i, -1: it does not hear it."""
    first, last = int(links.start[i]), int(links.start[i + 1])
    at = first + int(np.searchsorted(links.peer[first:last], j))
    return at if at < last and links.peer[at] == j else -1


def _mismatch(table: Any, i: int, j: int) -> str:
    """Return why receiver i cannot decode transmitter j whatever its power; empty if it can."""
    if not on_channel(table, i, j):
        return "other channel"
    if table[COLUMN.waveform, j] == table[COLUMN.waveform, i]:
        return ""
    if table[COLUMN.modulation, j] != table[COLUMN.modulation, i]:
        return "other modulation"
    alike = isclose(table[COLUMN.bandwidth, j], table[COLUMN.bandwidth, i], rel_tol=SAME)
    return "other bit rate" if alike else "other bandwidth"


# what pruning leaves out --------------------------------------------------------------------------------------------
FAR_CELLS = 40  # along the longest axis, in which far transmitters are counted, at most
MOST_CELLS = 800  # with radios


def far_interference(update: LinkUpdate) -> Floats:
    """Return at most how much power (mW) of transmitters beyond its reach each receiver gets in its band, (n,).

    Radios are counted in cells. All transmitters of a cell count as if they stood at its nearest edge to the cell of
    the receiver, or at the reach where that is farther, in the best directions of both antennas; those of cells that
    are within reach as a whole do not count.
    """
    table, n = update.radios.table, update.radios.n
    if not table[COLUMN.duty, :n].any():
        return np.zeros(n)
    place = table[:3, :n]
    low, high = place.min(axis=1, initial=np.inf), place.max(axis=1, initial=-np.inf)
    extent, along = float((high - low).max(initial=0.0)) if n else 1.0, FAR_CELLS
    while True:
        size = max(extent / along, 1e-6)
        at = np.floor((place - low[:, None]) / size).astype(np.int64) if n else np.zeros((3, 0), np.int64)
        cells, cell = np.unique(at, axis=1, return_inverse=True)
        if cells.shape[1] <= MOST_CELLS:
            break
        along = max(1, along * 2 // 3)
    cell = cell.reshape(-1)
    step = np.abs(cells[:, :, None] - cells[:, None, :])
    nearest = size * np.sqrt((np.maximum(step - 1, 0) ** 2).sum(axis=0))
    farthest = size * np.sqrt(((step + 1) ** 2).sum(axis=0))
    group = table[COLUMN.group, :n].astype(np.int64)
    far = np.zeros(n)
    for g in np.unique(group):
        mine = np.flatnonzero(group == g)
        bound = np.zeros(cells.shape[1])
        for h in np.unique(group):
            theirs = np.flatnonzero(group == h)
            duty = np.bincount(cell[theirs], weights=table[COLUMN.duty, theirs], minlength=cells.shape[1])
            reach = update.reach[g, h]
            level = _largest_levels(update, int(mine[0]), int(theirs[0]), np.maximum(nearest, reach))
            bound += np.where(farthest > reach, level, 0.0) @ duty
        far[mine] = bound[cell[mine]]
    return far


def _largest_levels(update: LinkUpdate, i: int, j: int, distance: Floats) -> Floats:
    """Return the largest power (mW) of radio j in the band of radio i at distances (m)."""
    table, classes = update.radios.table, update.classes
    values = classes.table[:, classes.of[int(table[COLUMN.group, i]), int(table[COLUMN.group, j])]]
    best = sum(largest_gain(table[:, k], update.radios.patterns) for k in (i, j)) + boost(values)
    wave = 4.0 * np.pi * table[COLUMN.frequency, j] / LIGHT
    reference, exponent = values[CLASS.reference], values[CLASS.exponent]
    if values[CLASS.model] == LOG_DISTANCE:
        near = np.maximum(wave * np.minimum(distance, reference), 1.0) ** 2
        loss = near * (np.maximum(distance, reference) / reference) ** exponent
    else:
        loss = np.maximum(wave * distance, 1.0) ** 2
    share: float = max(float(band_overlap(table, i, j)), 0.0)
    return share * 10.0 ** (0.1 * (table[COLUMN.power, j] + best)) / loss  # type: ignore[no-any-return]
