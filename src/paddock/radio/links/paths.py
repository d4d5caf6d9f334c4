"""Paths between antennas: link classes, their reach, and what lies on the way besides the model of propagation.

A link class is the propagation between two groups of radios. `Paths` has the tables of terrain, obstacles, shadowing
and fading that compiled code needs; `PathTables` keeps them up to date.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import xxhash

from paddock.compute.math import PI, sqrt
from paddock.compute.philox import signed
from paddock.errors import InvalidValueError
from paddock.radio.links.radios import (
    CLASS,
    COLUMN,
    Classes,
    FleetRadios,
    Floats,
    Ints,
    RadioGroup,
    Radios,
    group_names,
    radios_of,
)
from paddock.radio.physics.antennas import KINDS
from paddock.radio.physics.fading import (
    FADINGS,
    NAKAGAMI,
    NONE,
    RICIAN,
    SHADOW_GAIN,
    SHADOW_WAVES,
    WAVES,
    diffuse,
    fading_gain_db,
    fading_phasors,
    fading_waves,
    shadow_db,
    shadow_phasors,
    shadow_sum,
    shadow_waves,
)
from paddock.radio.physics.obstacles import buildings_of
from paddock.radio.physics.obstruction import obstruction_db
from paddock.radio.physics.propagation import (
    BASE_HIGH,
    BASE_LOW,
    CITIES,
    FREE_SPACE,
    GROUND_REFLECTION,
    LIGHT,
    LOG_DISTANCE,
    MOBILE_HIGH,
    MOBILE_LOW,
    MODELS,
    TWO_RAY,
    VALIDITY,
    Position,
    TerrainTables,
    loss_db,
    relief_peaks,
    terrain_db,
)
from paddock.radio.physics.signal import decibels, power_ratio
from paddock.scenario import Scenario
from paddock.scenario.radio import JammerSection, LinkSettings, RadioSection
from paddock.world.scenery import Scenery
from paddock.world.solids import NO_OBSTACLES

EXPONENT, REFERENCE = 3.0, 1.0  # of log_distance, unless given
REFLECTED = 6.03  # dB: two rays in phase
UPFADE = 12.1  # dB: the waves of a radio in phase
FARTHEST = 1e7  # m


def classes_of(section: RadioSection, groups: Sequence[RadioGroup]) -> Classes:
    """Return the link classes, and the one between every two groups: the first that matches both ends."""
    settings: list[LinkSettings] = [*section.links, section.default]
    table = np.stack([_class(link) for link in settings], axis=1)
    shadowed = table[CLASS.sigma] > 0.0
    table[CLASS.field, shadowed] = np.arange(int(shadowed.sum()))
    of = np.full((len(groups), len(groups)), len(settings) - 1, np.int64)
    for k in range(len(section.links) - 1, -1, -1):
        ends = section.links[k].between
        a, b = (np.array([name in (g.owner, g.type) for g in groups], bool) for name in ends)
        of[a[:, None] & b[None] | b[:, None] & a[None]] = k
    return Classes(table, of)


def _class(link: LinkSettings) -> Floats:
    values = np.zeros(len(CLASS))
    values[CLASS.model] = MODELS[link.model]
    values[CLASS.exponent] = link.exponent or EXPONENT
    values[CLASS.reference] = link.reference or REFERENCE
    values[CLASS.city] = CITIES.get(link.model, {}).get(link.city or "small", 0)
    values[CLASS.distance] = 1.0
    if link.shadowing is not None:
        values[CLASS.sigma], values[CLASS.distance] = link.shadowing.sigma, link.shadowing.distance
    if link.fading is not None:
        values[CLASS.fading], values[CLASS.parameter] = FADINGS[link.fading.kind], link.fading.parameter or 0.0
    values[CLASS.terrain], values[CLASS.obstacles] = link.terrain, link.obstacles
    values[CLASS.ground] = link.model not in ("free_space", "log_distance")
    return values


Bands = Sequence[tuple[float, float]]
"""Ranges (Hz) of the centre frequency of a transmission: of both ends, which agree where it does not sweep."""


def bands_of(group: RadioGroup, jammer: JammerSection | None) -> Bands:
    """Return where a group transmits: its channel, the channels that it hops between, or the sweep of its jammer."""
    radio = group.radio
    if jammer is not None and jammer.sweep is not None:
        return [jammer.sweep]
    if radio.hopping is not None:
        return [(at, at) for at in map(radio.centre_of, radio.hopping.channels)]
    return [(radio.centre, radio.centre)]


def check_frequencies(
    scenario: Scenario, groups: Sequence[RadioGroup], classes: Classes, changes: Mapping[str, Bands] | None = None
) -> None:
    """Raise InvalidValueError at its place if a model is used outside its range of frequencies.

    `changes` has the frequencies to which groups are about to be tuned, by `group_names`.
    """
    section = scenario.radio
    assert section is not None
    settings: list[LinkSettings] = [*section.links, section.default]
    limits = np.array([(0.0, np.inf) if link.extrapolate else VALIDITY[link.model].frequency for link in settings])
    if not np.isfinite(limits[:, 1]).any():
        return
    jammers = {jammer.name: jammer for jammer in section.jammers}
    named, known = zip(group_names(groups), groups, strict=True), changes or {}
    bands = [np.array(known.get(name) or bands_of(group, jammers.get(group.owner))) for name, group in named]
    for i, a in enumerate(groups):
        for j, b in enumerate(groups[: i + 1]):
            k = int(classes.of[i, j])
            half = 0.5 * (a.radio.bandwidth + b.radio.bandwidth)
            wrong = _outside(bands[i], bands[j], half, *limits[k].tolist())
            if wrong is None:
                continue
            own = k < len(section.links)
            where = scenario.at("radio", "links", k, "model") if own else scenario.at("radio", "default", "model")
            (low, high), model = VALIDITY[settings[k].model].frequency, settings[k].model
            used = f"{wrong[1] / 1e6:g} MHz of {(a, b)[wrong[0]].owner!r}"
            raise InvalidValueError(
                f"{where}: {model} is valid from {low / 1e6:g} to {high / 1e6:g} MHz, not for the {used}; "
                "set extrapolate: true to use it all the same"
            )


def _outside(first: Floats, second: Floats, half: float, low: float, high: float) -> tuple[int, float] | None:
    """Return which of two bands (k, 2) lies outside a range (Hz) where they meet, and the frequency that does."""
    meet = (first[:, None, 0] - second[None, :, 1] < half) & (second[None, :, 0] - first[:, None, 1] < half)
    for side, band, used in ((0, first, meet.any(axis=1)), (1, second, meet.any(axis=0))):
        ends = band[used].ravel()
        wrong = ends[(ends < low) | (ends > high)]
        if len(wrong):
            return side, float(wrong[0])
    return None


def check_setup(scenario: Scenario) -> None:
    """Raise InvalidValueError at its place if the radios of a scenario cannot be built."""
    assert scenario.radio is not None
    ids = np.zeros(1, np.int64)
    radios = radios_of(scenario.radio, [FleetRadios(entry.name, ids, ids, entry.radio) for entry in scenario.vehicles])
    check_frequencies(scenario, radios.groups, classes_of(scenario.radio, radios.groups))


def boost(values: Floats) -> float:
    """Return how far (dB) the power of a link class may exceed that of its model: reflection, shadowing, fading."""
    fading, parameter = int(values[CLASS.fading]), float(values[CLASS.parameter])
    above = REFLECTED if values[CLASS.model] == GROUND_REFLECTION else 0.0
    above += SHADOW_GAIN * float(values[CLASS.sigma])
    if fading == RICIAN:  # the direct wave and the scattered ones in phase
        scattered = power_ratio(0.5 * (UPFADE - max(parameter, 0.0)))
        above += min(UPFADE, 2.0 * decibels(1.0 + scattered))
    elif fading == NAKAGAMI and parameter < 1.0:
        above += UPFADE / parameter  # deeper fades, and higher peaks, than Rayleigh's
    elif fading:
        above += UPFADE
    return above


def reaches(radios: Radios, classes: Classes, threshold: Floats) -> Floats:
    """Return the distance (m) beyond which no transmitter of a group exceeds a receiver's threshold (dBm).

    Shape (groups, groups): receivers x transmitters. Terrain, obstacles and polarisation only add loss.
    """
    count = len(np.unique(radios.table[COLUMN.group, : radios.n]))
    distances = np.zeros((count, count))
    first = [int(np.argmax(radios.table[COLUMN.group] == g)) for g in range(count)]
    peaks = [largest_gain(radios.table[:, k], radios.patterns) for k in first]
    for i in range(count):
        for j in range(count):
            transmitter = radios.table[:, first[j]]
            values = classes.table[:, classes.of[i, j]]
            allowed = transmitter[COLUMN.power] + peaks[i] + peaks[j] - threshold[first[i]] + boost(values)
            distances[i, j] = farthest(values, float(allowed), float(transmitter[COLUMN.frequency]))
    return distances


def largest_gain(column: Floats, patterns: Floats) -> float:
    """Return the gain (dBi) of an antenna in its best direction."""
    pattern = patterns[int(column[COLUMN.pattern])].max() if column[COLUMN.antenna] == KINDS["pattern"] else 0.0
    return float(column[COLUMN.peak] + pattern)


def farthest(values: Floats, allowed: float, frequency: float) -> float:
    """Return the distance (m) up to which a link class may lose less than `allowed` dB; at most FARTHEST."""
    model = int(values[CLASS.model])
    free = LIGHT / (4.0 * PI * frequency) * power_ratio(0.5 * min(allowed, 400.0))
    if model in (FREE_SPACE, TWO_RAY, GROUND_REFLECTION) or allowed <= 0.0:
        return float(min(free, FARTHEST))
    exponent, reference, city = (float(values[k]) for k in (CLASS.exponent, CLASS.reference, CLASS.city))
    if model == LOG_DISTANCE:
        near = loss_db(model, reference, frequency, 1.0, 1.0, exponent, reference, 0)
        if allowed <= near:
            return float(min(free, FARTHEST))
        return float(min(reference * power_ratio(min(allowed - near, 400.0) / exponent), FARTHEST))
    heights = [(base, mobile) for base in (BASE_LOW, BASE_HIGH) for mobile in (MOBILE_LOW, MOBILE_HIGH)]
    low, high = 0.0, min(free, FARTHEST)
    for _ in range(60):
        middle = 0.5 * (low + high)
        least = min(loss_db(model, middle, frequency, *pair, exponent, reference, int(city)) for pair in heights)
        low, high = (middle, high) if least < allowed else (low, middle)
    return float(high)


# tables of paths ------------------------------------------------------------------------------------------------------


class Paths(NamedTuple):
    """Tables of the surroundings, and of fading at the places of all antennas."""

    phasors: Floats  # (n, 2, WAVES) of fading, by number of the antenna
    shadows: Floats  # (fields, n, 2, SHADOW_WAVES) of shadowing
    ground_z: float  # m; from here on as `TerrainTables`
    terrain: Floats
    relief: Floats
    peaks: Floats
    cells: Floats  # from here on as `Buildings`: loops in threads take no tuples of tuples
    starts: Floats
    items: Floats
    solids: Floats
    cover: Ints
    rates: Floats
    group: Ints
    first: Ints
    members: Ints
    boxes: int
    begin: Ints
    corners: Floats


def antenna_place(table: Any, k: int) -> Position:
    """Return the place of an antenna, m."""
    return table[COLUMN.x, k], table[COLUMN.y, k], table[COLUMN.z, k]


def pair_offset(table: Any, i: int, j: int) -> Position:
    """Return the vector (m) from antenna i to antenna j."""
    return (
        table[COLUMN.x, j] - table[COLUMN.x, i],
        table[COLUMN.y, j] - table[COLUMN.y, i],
        table[COLUMN.z, j] - table[COLUMN.z, i],
    )


def pair_distance(table: Any, i: int, j: int) -> float:
    """Return the distance (m) between two antennas."""
    dx, dy, dz = pair_offset(table, i, j)
    return sqrt(dx * dx + dy * dy + dz * dz)


def extra_losses(table: Any, i: int, j: int, classes: Any, c: int, paths: Any) -> tuple[float, float, float, float]:
    """Return what a path loses (dB) over terrain and by obstacles, and gains by shadowing and fading."""
    shadowing, fading = random_gains(table, i, j, classes, c, paths)
    diffraction, blocked = blocking(table, i, j, classes, c, paths)
    return diffraction, blocked, shadowing, fading


def random_gains(table: Any, i: int, j: int, classes: Any, c: int, paths: Any) -> tuple[float, float]:
    """Return the gains (dB) of shadowing and of fading."""
    shadowing, fading = 0.0, 0.0
    kind = int(classes[CLASS.fading, c])
    if classes[CLASS.sigma, c] > 0.0 or kind != NONE:
        apart = pair_distance(table, i, j)
        if classes[CLASS.sigma, c] > 0.0:
            total = shadow_sum(paths.shadows[int(classes[CLASS.field, c])], i, j)
            shadowing = shadow_db(total, apart, classes[CLASS.sigma, c], classes[CLASS.distance, c])
        if kind != NONE:
            re, im = diffuse(paths.phasors, i, j)
            number = 2.0 * PI / LIGHT * table[COLUMN.frequency, j]
            fading = fading_gain_db(kind, classes[CLASS.parameter, c], number * apart, re, im)
    return shadowing, fading


def blocking(table: Any, i: int, j: int, classes: Any, c: int, paths: Any) -> tuple[float, float]:
    """Return the losses (dB) by diffraction over terrain, and what obstacles add to it."""
    a, b, frequency = antenna_place(table, i), antenna_place(table, j), table[COLUMN.frequency, j]
    terrain, beyond_flat = classes[CLASS.terrain, c] != 0.0, classes[CLASS.ground, c] != 0.0
    diffraction, blocked = 0.0, 0.0
    if terrain:
        ground = TerrainTables(paths.ground_z, paths.terrain, paths.relief, paths.peaks)
        diffraction = terrain_db(a, b, frequency, ground, beyond_flat)
    if classes[CLASS.obstacles, c] != 0.0:
        blocked = obstruction_db(a, b, frequency, paths, paths, terrain, beyond_flat, diffraction)
    return diffraction, blocked


class PathTables:
    """The tables of all paths of a roster of radios."""

    def __init__(self, radios: Radios, classes: Classes, scenery: Scenery | None, ground_z: float, seed: int) -> None:
        self.radios, self.seed = radios, seed
        n = len(radios.streams)
        used = classes.table
        self._fading = bool((used[CLASS.fading] != NONE).any())
        self._waves = np.zeros((n if self._fading else 0, 4, WAVES))
        if self._fading and n:
            fading_waves(signed(seed), radios.streams, self._waves)
        self.fields = [  # of shadowing: waves, and the distance (m) of its correlation
            (
                shadow_waves(signed(seed), signed(xxhash.xxh3_64_intdigest(b"shadowing %d" % k))),
                float(used[CLASS.distance, c]),
            )
            for k, c in enumerate(np.flatnonzero(used[CLASS.sigma] > 0.0).tolist())
        ]
        self._shadows = np.zeros((max(len(self.fields), 1), n if self.fields else 1, 2, SHADOW_WAVES))
        self._phasors = np.zeros((n if self._fading else 1, 2, WAVES))
        self.set_scenery(scenery, ground_z)

    def set_scenery(self, scenery: Scenery | None, ground_z: float) -> None:
        """Take the tables of the world; small ones without scenery, because compiled code wants arrays."""
        flat = np.zeros((1, 9)), np.zeros((1, 1))
        terrain, relief = flat if scenery is None else scenery.ground.tables[:2]
        buildings: Any = buildings_of(NO_OBSTACLES if scenery is None else scenery.obstacles)
        ground = np.array(terrain), np.array(relief), relief_peaks(relief)  # copies: writable arrays compile once
        self.paths = Paths(self._phasors, self._shadows, ground_z, *ground, *buildings)

    def place(self, table: Floats | None = None) -> None:
        """Follow the antennas to where they are now, or to where they are in another table."""
        table = self.radios.table if table is None else table
        if self._fading and table.shape[1]:
            numbers = 2.0 * np.pi / LIGHT * table[COLUMN.frequency]
            fading_phasors(self._waves, np.ascontiguousarray(table[:3]), numbers, self._phasors)
        self._shade(table[:3], self._shadows)

    def _shade(self, places: Floats, shadows: Floats) -> None:
        for k, (waves, distance) in enumerate(self.fields):
            shadow_phasors(waves, np.ascontiguousarray(places), distance, shadows[k])

    def at(self, places: Floats) -> Paths:
        """Return the paths between antennas at other places (3, n), in m, without fading."""
        shadows = np.zeros((max(len(self.fields), 1), places.shape[1] if self.fields else 1, 2, SHADOW_WAVES))
        self._shade(places, shadows)
        return self.paths._replace(phasors=np.zeros((1, 2, WAVES)), shadows=shadows)
