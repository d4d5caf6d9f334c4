"""Radio maps: queries, fits, and errors on held-out samples against other methods.

The samples are those of a simulated town with a transmitter, whose true field is known.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np
from numpy import empty
from numpy.typing import NDArray

from paddock.bench.result import Result, best_time, measured
from paddock.compute.routine import parallel_range, parallel_routine
from paddock.compute.splats import Floats
from paddock.radio.diffraction import Ground
from paddock.radio.fading import (
    SHADOW_WAVES,
    set_shadow_phasors,
    shadow_db,
    shadow_sum,
    shadow_waves,
)
from paddock.radio.maps import RadioSamples, fit_map
from paddock.radio.obstacle_groups import Buildings, buildings_of
from paddock.radio.obstruction import obstruction_db
from paddock.radio.propagation import log_distance_db
from paddock.scenario.scenery import Obstacle
from paddock.world.obstacles import Obstacles, obstacles_of

HELD_OUT = 2000
GP_MOST = 2000  # samples that the Gaussian process gets: its cost grows with the cube of their number
GP_TUNED = 500  # samples on which its kernel is optimised
NEIGHBOURS, POWER = 12, 3.0  # of inverse distance: the best of those tried


def map_results(quick: bool) -> Iterator[Result]:
    """Measure queries per second, the time of a fit, and errors relative to other methods."""
    count, points = (1_500, 100_000) if quick else (20_000, 2_000_000)
    town = build_town(1)
    samples = town.samples(count + HELD_OUT)
    train, held = samples.chosen(slice(count)), samples.chosen(slice(count, None))
    fit_map(train.chosen(slice(50)))  # compiles
    started = perf_counter()
    found = fit_map(train)
    seconds = perf_counter() - started
    yield measured("radio", f"map: fit of {count:,} samples", seconds, "s", None if quick else "<= 20")
    yield measured("radio", "map: splats", found.map.splats, "")
    low, high = np.array([-0.5 * SIZE, -0.5 * SIZE, 0.0]), np.array([0.5 * SIZE, 0.5 * SIZE, CEILING])
    places = np.random.default_rng(3).uniform(low, high, (points, 3))
    rate = points / best_time(lambda: found.map.query(places)) / 1e6
    what = "map: points with gradient and uncertainty"
    yield measured("radio", what, rate, "M/s", None if quick else ">= 5")
    error = rms(found.map.query(held.position).power - held.dbm)
    yield measured("radio", "map: error of held-out samples", error, "dB")
    for name, method in other_methods().items():
        yield measured(
            "radio", f"map: error over {name}", error / rms(method(train, held.position) - held.dbm), "", "<= 0.9"
        )


def other_methods() -> dict[str, Callable[[RadioSamples, Floats], Floats]]:
    """Return the methods that maps are compared with: (samples, places) -> dBm; without those that are missing."""
    methods: dict[str, Callable[[RadioSamples, Floats], Floats]] = {}
    methods |= {"nearest neighbour": nearest_neighbour, "inverse distance": inverse_distance}
    try:
        import sklearn  # noqa: F401
    except ImportError:
        return methods
    return {**methods, f"Gaussian process ({GP_MOST} samples)": gaussian_process}


def nearest_neighbour(samples: RadioSamples, places: Floats) -> Floats:
    """Return the power of the nearest sample."""
    from scipy.spatial import cKDTree

    return samples.dbm[cKDTree(samples.position).query(places)[1]]


def inverse_distance(samples: RadioSamples, places: Floats) -> Floats:
    """Return the mean of the nearest samples, weighted by a power of the inverse distance."""
    from scipy.spatial import cKDTree

    distance, near = cKDTree(samples.position).query(places, NEIGHBOURS)
    weight = 1.0 / np.maximum(distance, 1e-9) ** POWER
    return np.asarray((weight * samples.dbm[near]).sum(axis=1) / weight.sum(axis=1))


def gaussian_process(samples: RadioSamples, places: Floats, most: int = GP_MOST, rough: bool = True) -> Floats:
    """Return the mean of scikit-learn's Gaussian process, with the lengths of its kernel and the noise optimised.

    `rough`: an exponential kernel, which suits shadowing; otherwise a Gaussian one, scikit-learn's usual choice.
    """
    import warnings

    from sklearn.exceptions import ConvergenceWarning
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import RBF, ConstantKernel, Matern, WhiteKernel

    lengths = [60.0, 60.0, 30.0]
    shape: Any = Matern(lengths, (1.0, 1e5), nu=0.5) if rough else RBF(lengths, (1.0, 1e5))
    kernel = ConstantKernel(1.0, (1e-2, 1e4)) * shape + WhiteKernel(0.05, (1e-6, 1e1))
    some = samples.chosen(np.random.default_rng(4).permutation(len(samples.dbm))[:most])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        tuned = GaussianProcessRegressor(kernel, normalize_y=True).fit(some.position[:GP_TUNED], some.dbm[:GP_TUNED])
        whole = GaussianProcessRegressor(tuned.kernel_, optimizer=None, normalize_y=True)
    return np.asarray(whole.fit(some.position, some.dbm).predict(places))


def rms(errors: Any) -> float:
    """Return the root mean square."""
    return float(np.sqrt(np.mean(np.square(errors))))


SIZE, CEILING, PITCH = 600.0, 60.0, 60.0  # m: edge of the town, highest sample, distance of streets
FREQUENCY, TRANSMITTED, EXPONENT = 2.4e9, 30.0, 2.2  # Hz, dBm, path loss in the open
SIGMA, CORRELATION = 4.0, 30.0  # dB and m: shadowing by what the town does not model
NOISE = 1.0  # dB: error of a measurement


def town_power(places: Floats, mast: Floats, waves: Floats, buildings: Buildings, ground: Ground) -> Floats:
    """Return the received power (dBm) at places (n, 3) of a transmitter on a mast."""
    found = empty(places.shape[0])
    for n in parallel_range(places.shape[0]):
        x, y, z = places[n, 0], places[n, 1], places[n, 2]
        dx, dy, dz = x - mast[0], y - mast[1], z - mast[2]
        apart = (dx * dx + dy * dy + dz * dz) ** 0.5
        loss = log_distance_db(max(apart, 1.0), FREQUENCY, EXPONENT, 1.0)
        loss += obstruction_db(
            mast[0], mast[1], mast[2], x, y, z, FREQUENCY, buildings, ground, False, False, 0.0
        )  # fmt: skip
        phasors = empty((2, 2, SHADOW_WAVES))
        set_shadow_phasors(waves, phasors, 0, mast[0], mast[1], mast[2], CORRELATION)
        set_shadow_phasors(waves, phasors, 1, x, y, z, CORRELATION)
        found[n] = TRANSMITTED - loss - shadow_db(shadow_sum(phasors, 0, 1), apart, SIGMA, CORRELATION)
    return found


powers = parallel_routine(town_power)


@dataclass(frozen=True)
class Town:
    """Buildings, a transmitter on the highest of those in the middle, and the field of its power."""

    seed: int
    obstacles: Obstacles
    transmitter: Floats  # (3,) m
    buildings: Buildings

    def power(self, places: Floats) -> Floats:
        """Return the true received power (dBm) at places (n, 3)."""
        waves = shadow_waves(self.seed, 1)
        given = np.ascontiguousarray(places), self.transmitter, waves
        flat = Ground(0.0, np.zeros((1, 9)), np.zeros((1, 1)), np.zeros((1, 1)))
        return powers(*given, self.buildings, flat)

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
    return Town(seed, obstacles, mast, buildings_of(obstacles))
