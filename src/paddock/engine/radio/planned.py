"""Links along planned routes: which vehicles of a plan would be in contact with a station, where and when.

The radio of a run is updated at the planned places of all vehicles at equal times, with their jammers, interference and
hysteresis, without small-scale fading. Vehicles without a route stay where they start.
"""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from paddock.compute.math import sincos
from paddock.compute.twin import vectorised
from paddock.engine.build import admit, build_program, new_world
from paddock.engine.events import EventLog
from paddock.engine.radio.links import linked_pairs, radios_in_contact
from paddock.engine.radio.stage import RadioStage
from paddock.engine.run_state import Run
from paddock.errors import PaddockError
from paddock.planning.solver.layers import poses_on
from paddock.planning.solver.routes import Plan
from paddock.radio.links.radios import COLUMN, Floats, Ints
from paddock.radio.links.table import NO_SINR, sinr_of
from paddock.scenario import Scenario
from paddock.scenario.radio import RadioSection
from paddock.track.loading import declared_fleets

STEP = 1.0  # s between the times that are looked at, at least
MOST_TIMES, FEWEST_TIMES = 1000, 100
MOST_PLACES = 2_000_000  # vehicles x times
Bools = NDArray[np.bool_]


class RouteContact(NamedTuple):
    """The contact of a vehicle with stations on its route."""

    vehicle: str
    direct: float  # share of the time of its route with a usable link to a station
    contact: float  # share with a usable path to a station over other radios
    lowest_sinr: float | None  # dB, of the best link from a station; None: no station uses its channel
    lowest_at: float  # s
    lowest_place: tuple[float, float, float]  # m
    longest_gap: float  # s without contact


class PlannedJammer(NamedTuple):
    """A jammer at the start of a plan."""

    name: str
    x: float  # m
    y: float  # m
    vehicle: str | None  # that carries it
    enabled: bool  # whether it follows its schedule; otherwise it is switched off


class PlannedLinks(NamedTuple):
    """Links of the vehicles of a plan with routes and radios, at equal times."""

    names: tuple[str, ...]
    times: Floats  # (t,) s
    step: float  # s
    places: Floats  # (n, t, 3) m
    under_way: Bools  # (n, t)
    sinr: Floats  # (n, t) dB, of the best link from a station; NO_SINR: no station uses its channel
    needed: Floats  # (n,) dB, SINR from which on a link is usable
    direct: Bools  # (n, t) a link to a station is usable in both directions
    reached: Bools  # (n, t) there is a usable path to a station
    stations: tuple[tuple[str, float, float], ...]  # name, x and y (m)
    jammers: tuple[PlannedJammer, ...]

    def contacts(self) -> list[RouteContact]:
        """Return the figures of each vehicle."""
        return [self._contact(k) for k in range(len(self.names))]

    def _contact(self, k: int) -> RouteContact:
        under_way = np.flatnonzero(self.under_way[k])
        sinr, reached = self.sinr[k, under_way], self.reached[k, under_way]
        worst = int(under_way[np.argmin(sinr)])
        lowest = None if self.sinr[k, worst] <= NO_SINR else float(self.sinr[k, worst])
        edges = np.flatnonzero(np.diff(np.concatenate([[1], reached.astype(np.int64), [1]])))
        gap = float((edges[1::2] - edges[::2]).max(initial=0)) * self.step
        x, y, z = self.places[k, worst].tolist()
        shares = float(self.direct[k, under_way].mean()), float(reached.mean())
        return RouteContact(self.names[k], *shares, lowest, float(self.times[worst]), (x, y, z), gap)


def planned_links(
    scenario: Scenario, plan: Plan, progress: Callable[[float], object] = lambda share: None
) -> PlannedLinks:
    """Predict the links of a plan; PaddockError if there is no station, or no vehicle with a route has a radio."""
    section = scenario.radio
    if section is None:
        raise PaddockError("no link figures: there is no radio; add a section `radio: {}` to the scenario")
    if not section.stations:
        raise PaddockError(f"{scenario.at('radio')}: no link figures: there is no station; add `stations` to `radio`")
    fitted = {entry.name for entry in scenario.vehicles if entry.radio}
    pairs = zip(plan.problem.vehicles, plan.routes, strict=True)
    routes = [(vehicle, route) for vehicle, route in pairs if route.legs and vehicle.name.partition("[")[0] in fitted]
    if not routes:
        raise PaddockError("no link figures: no vehicle with a route has a radio; add `radio: default` to its entry")
    names = tuple(vehicle.name for vehicle, _ in routes)
    flight = _PlannedFlight(scenario, _step(plan.makespan, sum(entry.count for entry in scenario.vehicles)), names)
    jammers = flight.jammers()
    rate, period = scenario.clock.rate, flight.stage.period
    ticks = period * np.arange(int(plan.makespan * rate / period) + 1)
    times = ticks / rate
    poses = np.stack([poses_on(vehicle, route, times)[0] for vehicle, route in routes])  # (n, t, 4)
    driven = np.flatnonzero([vehicle.moves == "ground" for vehicle, _ in routes])
    x, y = poses[driven, :, 0], poses[driven, :, 1]
    poses[driven, :, 2] = flight.stage.heights(x.ravel(), y.ravel()).reshape(x.shape)
    sinr, direct, reached = np.zeros((3, len(routes), len(times)))
    for k, tick in enumerate(ticks.tolist()):
        sinr[:, k], direct[:, k], reached[:, k] = flight.update(tick, poses[:, k])
        progress((k + 1) / len(ticks))
    begins = np.array([[route.legs[0].begins] for _, route in routes])
    ends = np.array([[route.ends] for _, route in routes])
    stations = tuple((station.name, station.position[0], station.position[1]) for station in section.stations)
    columns = poses[:, :, :3], (times >= begins) & (times <= ends), sinr, flight.needed, direct > 0.5, reached > 0.5
    return PlannedLinks(names, times, period / rate, *columns, stations, jammers)


def _step(seconds: float, vehicles: int) -> float:
    """Return the time (s) from one update to the next."""
    return max(STEP, seconds / max(FEWEST_TIMES, min(MOST_TIMES, MOST_PLACES // vehicles)))


class _PlannedFlight:
    """The radio of a scenario with vehicles at planned places."""

    def __init__(self, scenario: Scenario, step: float, names: tuple[str, ...]) -> None:
        """`step` is the time (s) between updates, `names` are the vehicles that have routes."""
        assert scenario.radio is not None
        scenario = scenario.model_copy(update={"radio": _means(scenario.radio, step), "mission": None})
        world = new_world(scenario)
        _populate(world, scenario)
        programs = world.programs.items()
        self.blocks = {name: program.pose_block(0).copy() for name, program in programs if program.fleet.n}
        self.stage = RadioStage(scenario, world, EventLog(world), self.blocks.__getitem__)
        radios = self.stage.roster.radios
        members = [world.find(name) for name in names]
        self.rows: dict[str, tuple[Ints, Ints]] = {}  # fleet -> rows of its vehicles with routes, and their numbers
        for fleet in dict.fromkeys(member.name for member, _ in members):
            own = [k for k, (member, _) in enumerate(members) if member.name == fleet]
            self.rows[fleet] = np.array([members[k][1][0] for k in own]), np.array(own)
        self.first = np.flatnonzero(radios.slot == 0)
        radio = {part.fleet: (part.first, part.slots) for part in radios.parts}
        numbers = [radio[fleet.name][0] + int(rows[0]) * radio[fleet.name][1] for fleet, rows in members]
        self.needed: Floats = radios.table[COLUMN.needed, numbers]
        self.node = np.searchsorted(self.first, numbers)  # of each vehicle among all vehicles and stations

    def jammers(self) -> tuple[PlannedJammer, ...]:
        """Return the jammers where they are; those whose vehicle does not exist are left out."""
        views = [(view, view.position) for view in self.stage.jammer_views()]
        return tuple(PlannedJammer(view.name, *at[:2], view.vehicle, view.on) for view, at in views if at is not None)

    def update(self, tick: int, poses: Floats) -> tuple[Floats, Floats, Floats]:
        """Update the links with vehicles at poses (n, 4); return SINR, usable link and usable path to a station."""
        for fleet, (rows, own) in self.rows.items():
            block, (x, y, z, heading) = self.blocks[fleet], poses[own].T
            block[:3, rows] = x, y, z
            sine, cosine = vectorised(sincos)(0.5 * heading)
            block[3:7, rows] = 0.0 * x, 0.0 * x, sine, cosine
        self.stage.run(tick)
        links, radios = self.stage.links, self.stage.roster.radios
        n, carried = radios.n, radios.carried
        sinr, direct = np.full(n, NO_SINR), np.zeros(n)
        receiver = np.repeat(np.arange(n), np.diff(links.start))
        of_station = links.peer >= carried
        np.maximum.at(sinr, receiver[of_station], sinr_of(links)[of_station])
        self._fill(sinr)
        direct[linked_pairs(links, carried) % n] = 1.0  # the lower number of each pair with a station
        reached = radios_in_contact(radios, links)
        best, linked, joined = (np.maximum.reduceat(each, self.first)[self.node] for each in (sinr, direct, reached))
        return best, linked, joined

    def _fill(self, sinr: Floats) -> None:
        """Compute the SINR of radios too far away for the table of links, against noise, stations and jammers."""
        radios, survey = self.stage.roster.radios, self.stage.survey()
        stations = range(radios.carried, radios.n)
        for part in radios.parts:
            for first in range(part.first, part.first + part.slots):
                own = slice(first, part.first + part.n * part.slots, part.slots)
                heard = survey.at(stations, first, radios.table[:3, own])
                sinr[own] = np.where(sinr[own] > NO_SINR, sinr[own], np.maximum(heard.sinr, NO_SINR))


def _means(section: RadioSection, step: float) -> RadioSection:
    """Return the section without small-scale fading, beacons and spoofers, with an update every `step` s."""
    links = tuple(link.model_copy(update={"fading": None}) for link in section.links)
    quiet = {"default": section.default.model_copy(update={"fading": None}), "links": links}
    messages = section.messages.model_copy(update={"beacons": None})
    return section.model_copy(update={**quiet, "rate": 1.0 / step, "messages": messages, "spoofers": ()})


def _populate(world: Run, scenario: Scenario) -> None:
    """Add all fleets at their start, without behaviours, sensors and links of commands."""
    bare = {"behaviour": None, "driver": None, "sensors": (), "via": None, "contact": None}
    declared = [fleet for fleet in declared_fleets(scenario) if not fleet.obstacles]
    for entry, where, _ in sorted(declared, key=lambda fleet: (fleet.entry.id is None, fleet.entry.name)):
        place = partial(scenario.at, *where)
        plain = entry.model_copy(update=bare)
        program = build_program(world, scenario, plain, place)
        admit(world, program, plain, place)
        world.add(program)
