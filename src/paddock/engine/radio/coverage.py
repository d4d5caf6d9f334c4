"""Coverage of a scenario: the best station's power and SINR at many places, with terrain, obstacles and jammers."""

from typing import Any, NamedTuple

import numpy as np
from numpy import int64

from paddock.compute.routine import parallel_range, parallel_routine
from paddock.engine.simulation import Simulation
from paddock.errors import InvalidValueError, PaddockError, unknown_name
from paddock.radio.jamming import add_jamming
from paddock.radio.links import level_db
from paddock.radio.radios import COLUMN, Floats, Ints
from paddock.scenario import Scenario
from paddock.scenario.vehicle import VehicleEntry
from paddock.world.obstacles import Obstacles

RECEIVERS = "coverage_receivers"
MOST_PLACES = 50_000
WEAKEST = -300.0  # dBm: terrain and obstacles count for every station


class Coverage(NamedTuple):
    """What a receiver hears of the stations at each of n places."""

    power: Floats  # (n,) dBm of the best station
    sinr: Floats  # (n,) dB, against noise and jammers
    best: Ints  # (n,) number of that station, as in `stations`
    stations: list[str]
    places: Floats  # (stations, 3) m
    obstacles: Obstacles | None


def best_levels(
    table: Any, first: int, sources: Any, classes: Any, of: Any, patterns: Any, paths: Any, power: Any, best: Any
) -> None:
    """Write the power (dBm) of the strongest of the sources at receivers from number `first` on, and which it is."""
    for i in parallel_range(power.size):
        for k in range(sources.size):
            receiver: Any = int64(first + i)
            level = level_db(table, receiver, sources[k], classes, of, patterns, paths, WEAKEST)
            if k == 0 or level > power[i]:
                power[i], best[i] = level, k


strongest = parallel_routine(best_levels)


def coverage_of(scenario: Scenario, places: Floats, receiver: str | None = None, source: str | None = None) -> Coverage:
    """Return the coverage at places (n, 3) in m at the start of a run, without small-scale fading.

    `receiver`: type of the radio there, by default that of the first station; `source`: only this station.
    """
    section = scenario.radio
    if section is None:
        raise PaddockError("the scenario has no radio: add a section `radio: {}`")
    if not section.stations:
        raise PaddockError("the scenario has no radio stations: add them to `radio.stations`")
    if len(places) > MOST_PLACES:
        raise InvalidValueError(f"coverage has at most {MOST_PLACES:,} places, not {len(places):,}")
    kind = section.stations[0].radio[0].type if receiver is None else receiver
    if kind not in section.known_types:
        raise unknown_name("radio type", kind, section.known_types)
    calm = {"fading": None}
    still = section.model_copy(
        update={
            "default": section.default.model_copy(update=calm),
            "links": tuple(one.model_copy(update=calm) for one in section.links),
        }
    )
    grid = {"grid": {"spacing": 1.0, "z": 1000.0}}
    entry = {
        "name": RECEIVERS,
        "model": "quad",
        "count": len(places),
        "spawn": grid,
        "radio": {"type": kind, "duty": 0.0},
    }
    vehicles = (*scenario.vehicles, VehicleEntry.model_validate(entry))
    sim = Simulation(
        scenario.model_copy(update={"radio": still, "vehicles": vehicles, "contact": None}), prepared=False
    )
    return _computed(sim, np.asarray(places, np.float64), source)


def _computed(sim: Simulation, places: Floats, source: str | None) -> Coverage:
    stage = sim.engine.radio
    stage.locate()
    roster = stage.roster
    radios, classes = roster.radios, roster.classes
    part = next(one for one in radios.parts if one.fleet == RECEIVERS)
    rows = slice(part.first, part.first + len(places))
    radios.table[:3, rows] = places.T
    radios.table[COLUMN.height, rows] = places[:, 2] - np.asarray(sim.engine.world.heights(places[:, 0], places[:, 1]))
    roster.tables.place()
    numbers = [radios.carried + k for k, name in enumerate(radios.stations) if source in (None, name)]
    if not numbers:
        raise unknown_name("station", str(source), radios.stations)
    sources, power, best = np.array(numbers), np.empty(len(places)), np.zeros(len(places), np.int64)
    strongest(radios.table, part.first, sources, classes.table, classes.of, radios.patterns, roster.paths, power, best)
    jamming = np.zeros(radios.n)
    if len(roster.jammers):
        doing = roster.jammers.act(0.0, stage.period / sim.engine.world.clock.rate, classes, roster.paths)
        add_jamming(radios.table, doing, roster.jammers.levels(classes, roster.paths), jamming)
    against = radios.table[COLUMN.noise, rows] + jamming[rows]
    scenery = sim.engine.world.scenery
    obstacles = None if scenery is None else scenery.obstacles
    names = [radios.stations[k - radios.carried] for k in numbers]
    return Coverage(power, power - 10.0 * np.log10(against), best, names, radios.table[:3, numbers].T.copy(), obstacles)
