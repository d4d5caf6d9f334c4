"""A simulated town with a transmitter: samples of received power for radio maps, with the true field known."""

from dataclasses import dataclass

import numpy as np
from numpy import empty
from numpy.typing import NDArray

from paddock.compute.routine import parallel_range, parallel_routine
from paddock.compute.splats import Floats
from paddock.radio.diffraction import material_rates, obstacles_db
from paddock.radio.fading import (
    SHADOW_WAVES,
    set_shadow_phasors,
    shadow_db,
    shadow_sum,
    shadow_waves,
)
from paddock.radio.maps.samples import RadioSamples
from paddock.radio.propagation import log_distance_db
from paddock.scenario.scenery import Obstacle
from paddock.world.obstacles import Obstacles, obstacles_of

SIZE, CEILING, PITCH = 600.0, 60.0, 60.0  # m: edge of the town, highest sample, distance of streets
FREQUENCY, POWER, EXPONENT = 2.4e9, 30.0, 2.2  # Hz, dBm, path loss in the open
SIGMA, CORRELATION = 4.0, 30.0  # dB and m: shadowing by what the town does not model
NOISE = 1.0  # dB: error of a measurement


def town_power(
    places: Floats, mast: Floats, waves: Floats,
    cells: Floats, starts: Floats, items: Floats, boxes: Floats, rounds: Floats, rates: Floats,
) -> Floats:  # fmt: skip
    """Return the received power (dBm) at places (n, 3) of a transmitter on a mast."""
    found = empty(places.shape[0])
    for n in parallel_range(places.shape[0]):
        x, y, z = places[n, 0], places[n, 1], places[n, 2]
        dx, dy, dz = x - mast[0], y - mast[1], z - mast[2]
        apart = (dx * dx + dy * dy + dz * dz) ** 0.5
        loss = log_distance_db(max(apart, 1.0), FREQUENCY, EXPONENT, 1.0)
        loss += obstacles_db(
            mast[0], mast[1], mast[2], x, y, z, FREQUENCY, cells, starts, items, boxes, rounds, rates
        )  # fmt: skip
        phasors = empty((2, 2, SHADOW_WAVES))
        set_shadow_phasors(waves, phasors, 0, mast[0], mast[1], mast[2], CORRELATION)
        set_shadow_phasors(waves, phasors, 1, x, y, z, CORRELATION)
        found[n] = POWER - loss - shadow_db(shadow_sum(phasors, 0, 1), apart, SIGMA, CORRELATION)
    return found


powers = parallel_routine(town_power)


@dataclass(frozen=True)
class Town:
    """Buildings, a transmitter on the highest of those in the middle, and the field of its power."""

    seed: int
    obstacles: Obstacles
    transmitter: Floats  # (3,) m
    rates: Floats

    def power(self, places: Floats) -> Floats:
        """Return the true received power (dBm) at places (n, 3)."""
        waves = shadow_waves(self.seed, 1)
        cells, starts, items, boxes, rounds = self.obstacles.tables
        given = np.ascontiguousarray(places), self.transmitter, waves
        return powers(*given, cells, starts, items, boxes, rounds, self.rates)

    def samples(self, count: int, noise: float = NOISE) -> RadioSamples:
        """Return measurements at random places in the open, up to CEILING, with an error of `noise` dB."""
        random = np.random.default_rng([self.seed, 2])
        low, high = np.array([-0.5 * SIZE, -0.5 * SIZE, 1.5]), np.array([0.5 * SIZE, 0.5 * SIZE, CEILING])
        places = np.zeros((0, 3))
        while len(places) < count:
            drawn = random.uniform(low, high, (count, 3))
            places = np.concatenate([places, drawn[~self._inside(drawn)]])
        places = places[:count]
        return RadioSamples.of(places, self.power(places) + noise * random.normal(size=count))

    def _inside(self, places: Floats) -> NDArray[np.bool_]:
        """Return whether places lie inside a building."""
        found = np.zeros(len(places), bool)
        for x, y, _, top, _, _, length, width, _ in self.obstacles.boxes:
            near = (abs(places[:, 0] - x) < length) & (abs(places[:, 1] - y) < width)
            found |= near & (places[:, 2] < top)
        return found


def build_town(seed: int) -> Town:
    """Return a town: buildings of concrete, 8 to 40 m high, on four of five lots of a grid of streets."""
    random = np.random.default_rng([seed, 1])
    entries = []
    for x in np.arange(-0.5 * (SIZE - PITCH), 0.5 * SIZE, PITCH):
        for y in np.arange(-0.5 * (SIZE - PITCH), 0.5 * SIZE, PITCH):
            built, length, width, height, east, north = random.uniform(size=6)
            if built < 0.8:
                place = float(x - 6.0 + 12.0 * east), float(y - 6.0 + 12.0 * north), 0.0
                size = float(16.0 + 22.0 * length), float(16.0 + 22.0 * width), float(8.0 + 32.0 * height)
                entries.append(Obstacle.model_validate({"box": {"center": place, "size": size}}))
    obstacles = obstacles_of(tuple(entries), lambda x, y: np.zeros_like(x))
    middle = obstacles.boxes[np.hypot(obstacles.boxes[:, 0], obstacles.boxes[:, 1]) < 0.25 * SIZE]
    highest = middle[np.argmax(middle[:, 3])]
    mast = np.array([highest[0], highest[1], highest[3] + 6.0])
    return Town(seed, obstacles, mast, material_rates(entries))
