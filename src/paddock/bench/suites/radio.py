"""Radio: updates of all links, over terrain, against all pairs in NumPy, in a swarm; radio maps.

Radio maps are measured by queries, fits, and errors on held-out samples against other methods. The samples are those of
a simulated town with a transmitter, whose true field is known.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np
from numpy import empty
from numpy.typing import NDArray

from paddock.bench.result import Bench, Result, best_time, measured
from paddock.bench.suites.swarm import swarm
from paddock.compute.routine import routine
from paddock.engine.simulation import Simulation
from paddock.radio.links.radios import COLUMN, Floats, Radios
from paddock.radio.maps import RadioSamples, fit_map
from paddock.radio.physics.fading import SHADOW_WAVES, set_shadow_phasors, shadow_db, shadow_sum, shadow_waves
from paddock.radio.physics.obstacles import Buildings, buildings_of
from paddock.radio.physics.obstruction import obstruction_db
from paddock.radio.physics.propagation import TerrainTables, log_distance_db
from paddock.scenario import load_scenario
from paddock.scenario.scenery import Obstacle
from paddock.world.solids import HIGH, LENGTH, WIDTH, Obstacles, X, Y, obstacles_of

RADIOS, HILLY, PAIRED = 10_000, 1_000, 2_000
LINKS = 30  # of each radio, at least
HEIGHT = 30.0  # m
SETTINGS = {"bandwidth": 2e6, "power": 10.0, "sensitivity": -70.0, "duty": 0.05}
HYSTERESIS, MARGIN = 3.0, 3.0  # dB
PULSES = {"name": "red", "kind": "pulsed", "power": 30.0, "period": 0.01, "duty": 0.3}
STAGES = ("radio", "messages", "deception", "telemetry", "heartbeats")
REACH = 140.3  # m: such radios hear each other, free space costs 83 dB


def run(quick: bool) -> Iterator[Result]:
    """Measure updates, and ticks of a swarm with and without radio."""
    yield from _links(RADIOS // 10 if quick else RADIOS)
    yield from _beacons(RADIOS // 10 if quick else RADIOS)
    yield from _terrain(HILLY // 10 if quick else HILLY)
    yield from _against_numpy(PAIRED // 4 if quick else PAIRED)
    yield from _swarm(RADIOS // 10 if quick else RADIOS)
    yield from map_results(quick)


def scene(
    count: int, world: dict[str, Any] | None = None, jammer: bool = False, beacons: float = 0.0, **default: Any
) -> Simulation:
    """Return radios at random heights over a square in which each hears LINKS others and a little more.

    A `jammer` in its middle transmits pulses that all of them receive. With `beacons` (Hz) they send those instead of
    traffic by their duty.
    """
    side = REACH * (np.pi * count / (1.2 * LINKS)) ** 0.5
    box = {"low": [0.0, 0.0, 1.4 * HEIGHT], "high": [side, side, 2.0 * HEIGHT]}
    fleet = {"name": "d", "count": count, "model": "point", "spawn": {"random": box}, "radio": "t"}
    radio = {
        "types": {"t": {**SETTINGS, "duty": 0.0 if beacons else SETTINGS["duty"]}},
        "messages": {"beacons": {"rate": beacons} if beacons else None},
        "hysteresis": HYSTERESIS,
        "margin": MARGIN,
        "default": default or {"model": "free_space"},
    }
    if jammer:
        radio["jammers"] = [{**PULSES, "position": [0.5 * side, 0.5 * side, 2.0 * HEIGHT]}]
    scenario = {"clock": {"rate": 100}, "world": world or {}, "radio": radio, "vehicles": [fleet]}
    return Simulation(load_scenario(scenario))


def stage_time(sim: Simulation, count: int) -> float:
    """Return the mean time (s) of the stage of radio over that many updates, while all vehicles move at random."""
    random, times = np.random.default_rng(1), sim.engine.stages.pipeline.times
    n = sim.engine.world.vehicles
    sim.command("d", vx=random.normal(0.0, 5.0, n), vy=random.normal(0.0, 5.0, n))
    sim.step(20)  # all that is compiled has run
    best = float("inf")
    for _ in range(3):  # noise of the machine only adds time
        sim.engine.stages.pipeline.reset_times()
        sim.step(10 * count)
        best = min(best, times["radio"].nanoseconds * 1e-9 / count)
    return best


def _links(count: int) -> Iterator[Result]:
    sim = scene(count)
    assert sim.radio is not None
    links = sim.radio.links()
    rate = 1.0 / stage_time(sim, 20)
    full = count == RADIOS
    yield measured(f"{count} radios: links of each", len(links.peer) / count, "", f">= {LINKS}")
    yield measured(f"{count} radios: updates of all links", rate, "per s", ">= 20" if full else None)
    rate = 1.0 / stage_time(scene(count, jammer=True), 20)
    yield measured(f"{count} radios under a pulsed jammer: updates", rate, "per s", ">= 20" if full else None)


def _beacons(count: int) -> Iterator[Result]:
    """Beacons of all radios at 1 Hz: the time of links and packets, per update of the links."""
    sim = scene(count, beacons=1.0)
    stage_time(sim, 10)
    times = sim.engine.stages.pipeline.times
    each = sum(times[name].nanoseconds for name in ("radio", "messages")) * 1e-6 / 10
    yield measured(f"{count} radios with beacons of 1 Hz: an update and its packets", each, "ms")


def _terrain(count: int) -> Iterator[Result]:
    """Radios low over hills, whose links are diffracted."""
    side = REACH * (np.pi * count / (1.2 * LINKS)) ** 0.5
    at = np.linspace(0.0, 2.0 * np.pi, 65)
    hills = 20.0 + 20.0 * np.sin(3.0 * at)[:, None] * np.cos(5.0 * at)[None]
    height_map = {"values": hills.tolist(), "cell": side / 64.0, "origin": [0.0, 0.0]}
    sim = scene(count, {"ground": {"height_map": height_map}}, model="free_space", terrain=True)
    rate = 1.0 / stage_time(sim, 20)
    case = f"{count} radios over hills: updates of all links"
    yield measured(case, rate, "per s", ">= 10" if count == HILLY else None)


def _against_numpy(count: int) -> Iterator[Result]:
    sim = scene(count)
    each, radios = stage_time(sim, 20), sim.engine.radio.roster.radios
    pairs = best_time(lambda: all_pairs(radios), 3.0)
    yield measured(f"{count} radios: all pairs in NumPy", 1e3 * pairs, "ms")
    ratio, target = pairs / each, ">= 50" if count == PAIRED else None
    yield measured(f"{count} radios: speed over NumPy", ratio, "times", target)


def all_pairs(radios: Radios) -> tuple[Floats, Floats]:
    """Return SINR (dB) and packet error rate of every two radios in free space, as arrays of all pairs.

    Packets collide with those of radios with a duty that are strong enough; the mean power of others is noise.
    """
    from scipy.special import erfc

    table, n = radios.table, radios.n
    position, f, width = table[:3, :n], table[COLUMN.frequency, :n], table[COLUMN.bandwidth, :n]
    apart = np.sqrt(((position[:, :, None] - position[:, None, :]) ** 2).sum(axis=0))
    loss = 20.0 * np.log10(np.maximum(4.0 * np.pi / 299_792_458.0 * apart * f, 1.0))
    power = 10.0 ** (0.1 * (table[COLUMN.power, :n] - loss))
    top = np.minimum((f + width / 2)[:, None], (f + width / 2)[None])
    bottom = np.maximum((f - width / 2)[:, None], (f - width / 2)[None])
    part = power * np.clip(top - bottom, 0.0, None) / width * table[COLUMN.duty, :n]
    np.fill_diagonal(part, 0.0)
    noise = table[COLUMN.noise, :n]
    ratio = power / (noise[:, None] + part.sum(axis=1)[:, None] - part)
    duty, bits = table[COLUMN.duty, :n], table[COLUMN.bits, :n]
    airtime = bits * table[COLUMN.spread, :n] / width
    harms = power * 10.0 ** (-0.1 * table[COLUMN.fatal, :n, None]) - noise[:, None]
    steady, load = np.zeros((n, n)), np.zeros((n, n))
    for i in range(n):
        each = -np.log1p(-duty) + airtime[i] * duty / ((1.0 - duty) * airtime)
        each[i] = 0.0
        order = np.argsort(power[i])
        weaker = np.searchsorted(power[i], harms[i], sorter=order)
        steady[i] = np.concatenate([[0.0], np.cumsum(part[i, order])])[weaker]
        load[i] = (each.sum() - np.concatenate([[0.0], np.cumsum(each[order])]))[weaker] - each
    errors = 0.5 * erfc(np.sqrt(power / (noise[:, None] + steady) * table[COLUMN.spread, :n, None]))
    return 10.0 * np.log10(ratio), 1.0 - (1.0 - errors) ** bits[:, None] * np.exp(-load)


def _swarm(count: int) -> Iterator[Result]:
    """Quadrotors that flock, with radio at 10 Hz: what radio adds to a second.

    Its time and that of the rest are from the same second: where the speed of a machine changes, two runs cannot be
    compared.
    """
    plain = swarm(count) | {"every": {"behaviour": 1}}
    [fleet] = plain["vehicles"]
    spacing = 5.0  # m, between drones of the swarm
    reach = spacing * (1.2 * LINKS / np.pi) ** 0.5
    sensitivity = SETTINGS["power"] + HYSTERESIS - 40.05 - 20.0 * np.log10(reach)
    full, costs = count == RADIOS, []
    for duty in (0.0, SETTINGS["duty"]):
        radio = {**SETTINGS, "sensitivity": float(sensitivity), "duty": duty}
        section = {"types": {"t": radio}, "rate": 10.0, "margin": MARGIN}
        sim = Simulation(load_scenario(plain | {"radio": section, "vehicles": [fleet | {"radio": "t"}]}))
        sim.step(24)
        saved = sim.save()  # the flock contracts: later drones have more links
        costs.append(100.0 * float(np.median([_radio_share(sim, saved) for _ in range(5 if full else 1)])))
        assert sim.radio is not None
        links = len(sim.radio.links().peer) / count
    yield measured(f"{count} drones: links of each", links, "")
    yield measured(f"{count} drones: cost of radio at 10 Hz", costs[0], "%", "<= 20" if full else None)
    yield measured(f"{count} drones: cost of radio with traffic by duty", costs[1], "%")


def _radio_share(sim: Simulation, saved: bytes) -> float:
    """Return the time of the stages of radio in a second, over all the rest of it."""
    sim.restore(saved)
    sim.step(24)  # without what a restored run computes once
    sim.engine.stages.pipeline.reset_times()
    started = perf_counter()
    sim.step(240)
    total = perf_counter() - started
    radio = 1e-9 * sum(sim.engine.stages.pipeline.times[name].nanoseconds for name in STAGES)
    return radio / (total - radio)


BENCH = Bench("radio: links of 10,000 radios, over terrain, in a swarm; fit, query and error of radio maps", run)


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
    fit = fit_map(train)
    yield measured(f"map: fit of {count:,} samples", perf_counter() - started, "s", None if quick else "<= 20")
    yield measured("map: splats", fit.map.splats, "")
    low, high = np.array([-0.5 * SIZE, -0.5 * SIZE, 0.0]), np.array([0.5 * SIZE, 0.5 * SIZE, CEILING])
    places = np.random.default_rng(3).uniform(low, high, (points, 3))
    rate = points / best_time(lambda: fit.map.query(places)) / 1e6
    yield measured("map: points with gradient and uncertainty", rate, "M/s", None if quick else ">= 5")
    error = rms(fit.map.query(held.position).power - held.dbm)
    yield measured("map: error of held-out samples", error, "dB")
    yield from error_results(train, held, error, quick)


def error_results(train: RadioSamples, held: RadioSamples, error: float, quick: bool) -> Iterator[Result]:
    """Compare an error (dB) at held-out places with other methods; few samples have no target."""
    for name, method in other_methods().items():
        ratio = error / rms(method(train, held.position) - held.dbm)
        yield measured(f"map: error over {name}", ratio, "", None if quick else "<= 0.9")


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


def town_power(places: Floats, mast: Floats, waves: Floats, buildings: Buildings, ground: TerrainTables) -> Floats:
    """Return the received power (dBm) at places (n, 3) of a transmitter on a mast."""
    losses = empty(places.shape[0])
    for n in range(places.shape[0]):
        x, y, z = places[n, 0], places[n, 1], places[n, 2]
        dx, dy, dz = x - mast[0], y - mast[1], z - mast[2]
        apart = (dx * dx + dy * dy + dz * dz) ** 0.5
        loss = log_distance_db(max(apart, 1.0), FREQUENCY, EXPONENT, 1.0)
        top = mast[0], mast[1], mast[2]
        loss += obstruction_db(top, (x, y, z), FREQUENCY, buildings, ground, False, False, 0.0)
        phasors = empty((2, 2, SHADOW_WAVES))
        set_shadow_phasors(waves, phasors, 0, mast[0], mast[1], mast[2], CORRELATION)
        set_shadow_phasors(waves, phasors, 1, x, y, z, CORRELATION)
        losses[n] = TRANSMITTED - loss - shadow_db(shadow_sum(phasors, 0, 1), apart, SIGMA, CORRELATION)
    return losses


powers = routine(town_power)


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
        flat = TerrainTables(0.0, np.zeros((1, 9)), np.zeros((1, 1)), np.zeros((1, 1)))
        return powers(np.ascontiguousarray(places), self.transmitter, waves, self.buildings, flat)

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
        inside = np.zeros(len(places), bool)
        for x, y, top, length, width in self.obstacles.table[:, [X, Y, HIGH, LENGTH, WIDTH]]:
            near = (abs(places[:, 0] - x) < length) & (abs(places[:, 1] - y) < width)
            inside |= near & (places[:, 2] < top)
        return inside


def build_town(seed: int) -> Town:
    """Return a town: buildings of concrete, 8 to 40 m high, on four of five lots of a grid of streets."""
    random = np.random.default_rng([seed, 1])
    entries = []
    for x in np.arange(-0.5 * (SIZE - PITCH), 0.5 * SIZE, PITCH):
        for y in np.arange(-0.5 * (SIZE - PITCH), 0.5 * SIZE, PITCH):
            built, length, width, height, east, north = random.uniform(size=6)
            if built < 0.8:
                position = float(x - 6.0 + 12.0 * east), float(y - 6.0 + 12.0 * north), 0.0
                size = float(16.0 + 22.0 * length), float(16.0 + 22.0 * width), float(8.0 + 32.0 * height)
                entries.append(Obstacle.model_validate({"box": {"center": position, "size": size}}))
    obstacles = obstacles_of(tuple(entries), lambda x, y: np.zeros_like(x))
    middle = obstacles.table[np.hypot(obstacles.table[:, X], obstacles.table[:, Y]) < 0.25 * SIZE]
    highest = middle[np.argmax(middle[:, HIGH])]
    mast = np.array([highest[X], highest[Y], highest[HIGH] + 6.0])
    return Town(seed, obstacles, mast, buildings_of(obstacles))
