"""Radio: updates of all links, over terrain, against all pairs in NumPy, in a swarm; radio maps."""

from collections.abc import Iterator
from time import perf_counter
from typing import Any

import numpy as np

from paddock.bench.radio_maps import map_results
from paddock.bench.result import Bench, Result, best_time, measured
from paddock.bench.suites.swarm import swarm
from paddock.engine.simulation import Simulation
from paddock.radio.radios import COLUMN, Floats, Radios
from paddock.scenario import load_scenario

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
    yield from _terrain(HILLY // 10 if quick else HILLY)
    yield from _against_numpy(PAIRED // 4 if quick else PAIRED)
    yield from _swarm(RADIOS // 10 if quick else RADIOS)
    yield from map_results(quick)


def scene(count: int, world: dict[str, Any] | None = None, jammer: bool = False, **default: Any) -> Simulation:
    """Return radios at random heights over a square in which each hears LINKS others and a little more.

    A `jammer` in its middle transmits pulses that all of them receive.
    """
    side = REACH * (np.pi * count / (1.2 * LINKS)) ** 0.5
    box = {"low": [0.0, 0.0, 1.4 * HEIGHT], "high": [side, side, 2.0 * HEIGHT]}
    fleet = {"name": "d", "count": count, "model": "point", "spawn": {"random": box}, "radio": "t"}
    radio = {
        "types": {"t": SETTINGS},
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
    random, times = np.random.default_rng(1), sim.engine.pipeline.times
    n = sim.engine.world.vehicles
    sim.command("d", vx=random.normal(0.0, 5.0, n), vy=random.normal(0.0, 5.0, n))
    sim.step(20)  # all that is compiled has run
    best = float("inf")
    for _ in range(3):  # noise of the machine only adds time
        sim.engine.pipeline.reset_times()
        sim.step(10 * count)
        best = min(best, times["radio"].nanoseconds * 1e-9 / count)
    return best


def _links(count: int) -> Iterator[Result]:
    sim = scene(count)
    assert sim.radio is not None
    links = sim.radio.links()
    rate = 1.0 / stage_time(sim, 20)
    full = count == RADIOS
    yield measured("radio", f"{count} radios: links of each", len(links.peer) / count, "", f">= {LINKS}")
    yield measured("radio", f"{count} radios: updates of all links", rate, "per s", ">= 20" if full else None)
    rate = 1.0 / stage_time(scene(count, jammer=True), 20)
    yield measured("radio", f"{count} radios under a pulsed jammer: updates", rate, "per s", ">= 20" if full else None)


def _terrain(count: int) -> Iterator[Result]:
    """Radios low over hills, whose links are diffracted."""
    side = REACH * (np.pi * count / (1.2 * LINKS)) ** 0.5
    at = np.linspace(0.0, 2.0 * np.pi, 65)
    hills = 20.0 + 20.0 * np.sin(3.0 * at)[:, None] * np.cos(5.0 * at)[None]
    height_map = {"values": hills.tolist(), "cell": side / 64.0, "origin": [0.0, 0.0]}
    sim = scene(count, {"ground": {"height_map": height_map}}, model="free_space", terrain=True)
    rate = 1.0 / stage_time(sim, 20)
    case = f"{count} radios over hills: updates of all links"
    yield measured("radio", case, rate, "per s", ">= 10" if count == HILLY else None)


def _against_numpy(count: int) -> Iterator[Result]:
    sim = scene(count)
    each, radios = stage_time(sim, 20), sim.engine.radio.roster.radios
    pairs = best_time(lambda: all_pairs(radios), 3.0)
    yield measured("radio", f"{count} radios: all pairs in NumPy", 1e3 * pairs, "ms")
    ratio, target = pairs / each, ">= 50" if count == PAIRED else None
    yield measured("radio", f"{count} radios: speed over NumPy", ratio, "times", target)


def all_pairs(radios: Radios) -> tuple[Floats, Floats]:
    """Return SINR (dB) and packet error rate of every two radios in free space, as arrays of all pairs.

    Packets collide with those of radios with a duty that are strong enough; the mean power of others is noise.
    """
    from scipy.special import erfc

    table, n = radios.table, radios.n
    place, f, width = table[:3, :n], table[COLUMN.frequency, :n], table[COLUMN.bandwidth, :n]
    apart = np.sqrt(((place[:, :, None] - place[:, None, :]) ** 2).sum(axis=0))
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
    yield measured("radio", f"{count} drones: links of each", links, "")
    yield measured("radio", f"{count} drones: cost of radio at 10 Hz", costs[0], "%", "<= 20" if full else None)
    yield measured("radio", f"{count} drones: cost of radio with traffic by duty", costs[1], "%")


def _radio_share(sim: Simulation, saved: bytes) -> float:
    """Return the time of the stages of radio in a second, over all the rest of it."""
    sim.restore(saved)
    sim.step(24)  # without what a restored run computes once
    sim.engine.pipeline.reset_times()
    started = perf_counter()
    sim.step(240)
    total = perf_counter() - started
    radio = 1e-9 * sum(sim.engine.pipeline.times[name].nanoseconds for name in STAGES)
    return radio / (total - radio)


BENCH = Bench("radio: links of 10,000 radios, over terrain, in a swarm; fit, query and error of radio maps", run)
