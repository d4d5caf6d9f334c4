"""Radio maps: queries, fits, and errors on held-out samples of a simulated town against other methods."""

from collections.abc import Callable, Iterator
from time import perf_counter
from typing import Any

import numpy as np

from paddock.bench.radio_town import CEILING, SIZE, build_town
from paddock.bench.result import Result, best_time, measured
from paddock.compute.splats import Floats
from paddock.radio.maps import RadioSamples, fit_map

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
