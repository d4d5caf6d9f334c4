"""Separation in plans: aircraft that would meet fly in different height layers; what still meets is reported."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from math import ceil, floor, inf, isnan, nan
from typing import NamedTuple

import numpy as np
from numpy import empty
from numpy.typing import NDArray

from paddock.compute.routine import routine
from paddock.planning.geometry.path import Path, Segment, along_rows
from paddock.planning.geometry.shapes import InfeasibleError
from paddock.planning.solver.costs import Costs
from paddock.planning.solver.problem import Vehicle
from paddock.planning.solver.routes import STATUS_ON, STATUSES, Meeting, Route, in_time, predictable, route_of
from paddock.planning.solver.tours import Ints
from paddock.world.columns import Floats

LAYERS = 8
DELAYS = (0.0, 10.0, 20.0, 40.0, 80.0, 160.0)  # s by which a vehicle may depart later, where no layer is free
ROUNDS, MOST_OPTIONS, MOST_TRIED = 4, 400, 2000
"""Rounds over all pairs that meet, flights that are built for them, and changes that are tried."""
MARGIN = 1.25  # layers are this much farther boxes_apart than required, as no vehicle holds its height exactly
FINE, COARSE = 0.5, 2.0
"""s between the moments at which distances between vehicles are looked at: as a rule, and at most."""
MOST = 2_000_000  # poses that are looked at for that
BLOCK = 32  # moments that are skipped together where two vehicles are far boxes_apart
WAIT = 1e-9  # m: length of a segment that stands for a wait in place
CHORD = 1.0  # m by which a turn between two of these moments may be nearer than the straight line
AIRBORNE = tuple(STATUSES.index(status) for status in ("transit", "busy", "returning"))


def time_step(seconds: float, vehicles: int) -> float | None:
    """Return the time step (s) for the separation of a number of vehicles; None: too many samples, or too coarse."""
    least = seconds * vehicles / MOST
    return None if vehicles < 2 or seconds <= 0.0 or least > COARSE else max(least, FINE)


def layer_spacing(count: int, height: float) -> float:
    """Return the metres from one layer to the next for so many aircraft; above 8 with room for two in between."""
    return MARGIN * height * (1.0 if count <= LAYERS else 2.0)


def poses_on(vehicle: Vehicle, route: Route, times: Floats) -> tuple[Floats, NDArray[np.int8]]:
    """Return the poses (k, 4) of a vehicle on its route at ascending times (s), and its status by index in STATUSES."""
    poses, statuses = np.tile(np.array(vehicle.pose), (len(times), 1)), np.zeros(len(times), dtype=np.int8)
    first, last = (times[0], times[-1]) if len(times) else (inf, -inf)
    if legs := [leg for leg in route.legs if leg.ends > leg.begins and leg.ends >= first and leg.begins <= last]:
        paths = [leg.path if leg.path.segments else Path([Segment(*leg.path.start, WAIT)]) for leg in legs]
        rows, counts = np.concatenate([path.table for path in paths]), [len(path.segments) for path in paths]
        stations = np.concatenate([path.ends for path in paths])  # m flown on its leg at the end of each segment
        leg_of = np.repeat(np.arange(len(legs)), counts)
        begins, ends = (np.array([getattr(leg, name) for leg in legs]) for name in ("begins", "ends"))
        speed = np.array([path.flown for path in paths]) / (ends - begins)
        before = np.concatenate([[0.0], stations[:-1]])
        before[np.cumsum([0, *counts[:-1]])] = 0.0
        until = np.maximum.accumulate(begins[leg_of] + stations / speed[leg_of])
        k = np.minimum(np.searchsorted(until, times), len(until) - 1)
        flown = np.clip((times - begins[leg_of[k]]) * speed[leg_of[k]] - before[k], 0.0, None)
        on_route = along_rows(rows[k], np.minimum(flown * rows[k, 10] / np.sqrt(1.0 + rows[k, 6] ** 2), rows[k, 4]))
        kinds = np.array([STATUSES.index(STATUS_ON[leg.kind]) for leg in legs], np.int8)
        under_way = (times >= begins[leg_of[k]]) & (times <= ends[leg_of[k]])
        poses[under_way], statuses[under_way] = on_route[under_way], kinds[leg_of[k]][under_way]
    if route.legs:
        poses[times > route.ends] = route.legs[-1].end
    statuses[times > route.ends] = STATUSES.index("home" if route.legs else "idle")
    return poses, statuses


def raised(vehicle: Vehicle, lift: float) -> Vehicle:
    """Return a vehicle that travels `lift` metres above its own height; before it sets out it starts there, too."""
    if lift == vehicle.lift:
        return vehicle
    more, (x, y, z, heading), (*base, home_z, home_heading) = lift - vehicle.lift, vehicle.pose, vehicle.home
    height = vehicle.travels_at
    start = (x, y, z + more if z == height and not vehicle.under_way else z, heading)
    home = (base[0], base[1], home_z + more if home_z == height else home_z, home_heading)
    return replace(vehicle, pose=start, home=home, height=height + more, lift=lift)


def assign_layers(
    costs: Costs, orders: Sequence[Sequence[int]], routes: Sequence[Route], fixed: Collection[int]
) -> tuple[tuple[Vehicle, ...], list[Route], tuple[Meeting, ...]]:
    """Return vehicles and routes in layers in which none meet, and those that still do; `fixed` keep their routes.

    A vehicle takes the lowest layer that is free of meetings; with `spread`, the one with the fewest vehicles first.
    Those that then meet, as they climb or sink to tasks, are tried in other layers, and later.
    """
    separation, vehicles = costs.problem.separation, costs.problem.vehicles
    spread = separation is not None and separation.spread  # then those without tasks are in the air, too
    flying = [k for k, route in enumerate(routes) if (route.legs or spread) and vehicles[k].moves != "ground"]
    flying.sort(key=lambda k: (k not in fixed, k))
    begin = min((vehicles[k].ready for k in flying), default=0.0)
    end = max((routes[k].ends for k in flying), default=0.0)
    step = time_step(end - begin, len(flying))
    if separation is None or step is None:
        return vehicles, list(routes), ()
    air = Airspace(costs, orders, routes, flying, step, (begin, end))
    chosen: list[float] = []
    for row, k in enumerate(flying):
        meeting_lifts = [lift for lift, moment in zip(chosen, air.near[row].tolist(), strict=False) if moment >= 0]
        options = sorted(air.layers, key=lambda lift: (chosen.count(lift) if spread else 0, lift))
        own = [vehicles[k].lift] if k in fixed or vehicles[k].under_way else []
        tried = own if k in fixed else own + options
        free = (lift for lift in tried if all(abs(lift - other) >= separation.height for other in meeting_lifts))
        chosen.append(next(free, tried[0]))
    for row, lift in enumerate(chosen):
        if lift != vehicles[flying[row]].lift and (flight := air.option(row, lift)) is not None:
            air.take(row, flight)
    air.find_meetings(separation.height)
    air.resolve({row for row, k in enumerate(flying) if k not in fixed})
    new_routes, new_vehicles = list(routes), list(vehicles)
    for k, flight in zip(flying, air.flights, strict=True):
        new_vehicles[k], new_routes[k] = flight
    return tuple(new_vehicles), new_routes, air.meetings()


class Flight(NamedTuple):
    """A vehicle in its layer, and its route."""

    vehicle: Vehicle
    route: Route


class Airspace:
    """The flights (n) of a plan at the same moments; each can be tried in another layer or with a later departure."""

    def __init__(
        self, costs: Costs, orders: Sequence[Sequence[int]], routes: Sequence[Route], flying: Sequence[int],
        step: float, times: tuple[float, float],
    ) -> None:  # fmt: skip
        """Sample the flights.

        orders, routes: of all vehicles; flying: the indices of those in the air; step: s between moments; times: s,
        of the first begin and the last end.
        """
        assert costs.problem.separation is not None
        self.costs, self.separation, self.step = costs, costs.problem.separation, step
        self.orders = [orders[k] for k in flying]
        self.planned = [Flight(costs.problem.vehicles[k], routes[k]) for k in flying]
        self.flights = list(self.planned)
        self.layers = [n * layer_spacing(len(flying), self.separation.height) for n in range(LAYERS)]
        self.alike = [predictable(costs, k, orders[k]) for k in flying]  # in each layer
        self.first = floor(times[0] / step)  # moments are whole steps since 0 s
        self.count = ceil((times[1] + DELAYS[-1]) / step) - self.first + 2
        self.positions = np.full((len(flying) + 1, self.count, 3), np.nan)  # the last one is tried
        for row, flight in enumerate(self.flights):
            self.positions[row] = self._positions(row, flight)
        self.near = np.zeros(
            (len(flying) + 1, len(flying) + 1), np.int64
        )  # [row, earlier row]: first meeting; -1: none
        self.options: dict[tuple[int, float, float], Flight | None] = {}
        self.tried = 0  # changes
        self.find_meetings(inf)

    def find_meetings(self, height: float) -> None:
        """Find the first meeting of each pair, with less than `height` (m) between them."""
        self.near[:-1], self.near[-1] = 0, -1
        first_meetings(self.positions, self.separation.distance + CHORD, height, self.near)

    def option(self, row: int, lift: float, delay: float = 0.0) -> Flight | None:
        """Return a flight in a layer (m), and later (s); None: impossible, too long, too late, or one too many."""
        key, (planned, _) = (row, lift, delay), self.planned[row]
        if lift == planned.lift and not delay:
            return self.planned[row]
        if key not in self.options and len(self.options) < MOST_OPTIONS + len(self.flights):
            vehicle = replace(raised(planned, lift), departs=planned.ready + delay if delay else planned.departs)
            flight = _rebuild(self.costs, vehicle, self.orders[row])
            late = flight is not None and flight.route.ends > self.step * (self.first + self.count - 2)
            self.options[key] = None if late else flight
        return self.options.get(key)

    def _positions(self, row: int, flight: Flight) -> Floats:
        lifted = flight.vehicle.lift - self.planned[row].vehicle.lift
        same = self.alike[row] and flight.vehicle.departs == self.planned[row].vehicle.departs  # only higher
        points = _positions(*(self.planned[row] if same else flight), self.step, self.first, self.count)
        points[:, 2] += lifted if same else 0.0
        return points

    def take(self, row: int, flight: Flight) -> None:
        """Exchange the flight of a vehicle."""
        self.flights[row], self.positions[row] = flight, self._positions(row, flight)

    def change(self, row: int, flight: Flight) -> None:
        """Exchange the flight of a vehicle, and find out whom it meets."""
        self.take(row, flight)
        self.positions[-1] = self.positions[row]
        meetings = np.full_like(self.near, -1)
        meetings[-1] = 0
        meetings[-1, row] = meetings[-1, -1] = -1
        first_meetings(self.positions, self.separation.distance + CHORD, self.separation.height, meetings)
        self.near[row, :row], self.near[row + 1 : -1, row] = meetings[-1, :row], meetings[-1, row + 1 : -1]

    def pairs(self) -> list[tuple[int, int]]:
        """Return the pairs of flights that meet, the later row first."""
        return [(int(a), int(b)) for a, b in np.argwhere(np.tril(self.near[:-1, :-1] >= 0, -1))]

    def meetings(self) -> tuple[Meeting, ...]:
        """Return the vehicles that meet, and when they first do."""
        names, times = [flight.vehicle.name for flight in self.flights], self.step * (self.first + self.near)
        return tuple(Meeting(names[b], names[a], float(times[a, b])) for a, b in self.pairs())

    def resolve(self, free: Collection[int]) -> None:
        """Exchange flights of the rows `free` as long as fewer meet."""
        for _ in range(ROUNDS):
            before = self.pairs()
            for a, b in before:
                rows = [row for row in (a, b) if row in free]
                for delay in DELAYS:
                    if self.near[a, b] >= 0:
                        self._separate(rows, delay)
            if len(self.pairs()) == len(before):
                break

    def _separate(self, rows: Sequence[int], delay: float) -> None:
        """Make the change to these flights, with a delay (s) of one of them, with which the fewest pairs meet."""
        lifts = {row: self.flights[row].vehicle.lift for row in rows}
        swaps = [{a: (lifts[b], delay), b: (lifts[a], 0.0)} for a, b in (rows, rows[::-1])] if len(rows) == 2 else []
        best, least = None, (len(self.pairs()), -1.0, 0.0)
        for way in swaps + [{row: (lift, delay)} for row in rows for lift in self.layers]:
            flights = {row: flight for row, how in way.items() if (flight := self.option(row, *how)) is not None}
            if len(flights) < len(way) or self.tried >= MOST_TRIED:
                continue
            alone, trial = self._try_flights(flights)
            if trial < least:
                best, least = flights, trial
            if alone and not self.separation.spread:  # the first one is the lowest
                break
        for row, flight in (best or {}).items():
            self.change(row, flight)

    def _try_flights(self, flights: Mapping[int, Flight]) -> tuple[bool, tuple[int, float, float]]:
        """Return whether other flights meet none, how many pairs meet and share a layer, and the height (m) of all."""
        before = {row: (self.flights[row], self.positions[row].copy()) for row in flights}
        near, self.tried = self.near.copy(), self.tried + 1
        for row, flight in flights.items():
            self.change(row, flight)
        pairs, lifts = self.pairs(), [flight.vehicle.lift for flight in self.flights]
        shared_layers = sum(lifts.count(lift) for lift in lifts) if self.separation.spread else 0
        for row, saved in before.items():
            self.flights[row], self.positions[row] = saved
        self.near = near
        return not any(row in pair for pair in pairs for row in flights), (len(pairs), float(shared_layers), sum(lifts))


def _positions(vehicle: Vehicle, route: Route, step: float, first: int, count: int) -> Floats:
    """Return x, y, z (count, 3) of a vehicle at whole steps (s) from the `first` on, NaN while it is not under way.

    At the steps before it begins and after it ends it is where it begins and ends.
    """
    points = np.full((count, 3), np.nan)
    if not route.legs:
        return points
    begin, until = floor(route.legs[0].begins / step), ceil(route.ends / step) + 1
    if step not in route.sampled:  # routes that stand are looked at again after each event
        moments = np.clip(step * np.arange(begin, until, dtype=np.float64), route.legs[0].begins, route.ends)
        poses, statuses = poses_on(vehicle, route, moments)
        route.sampled[step] = np.where(np.isin(statuses, AIRBORNE)[:, None], poses[:, :3], np.nan)
    skip = max(first - begin, 0)
    part = route.sampled[step][skip : skip + count]
    points[begin + skip - first : begin + skip - first + len(part)] = part
    return points


def _rebuild(costs: Costs, vehicle: Vehicle, order: Sequence[int]) -> Flight | None:
    """Return the flight of a vehicle that was changed; None where that is impossible, too long or too late."""
    costs_alone = Costs(replace(costs.problem, vehicles=(vehicle,)), costs.covered, costs.transits)
    try:
        route = route_of(costs_alone, 0, order)
    except InfeasibleError:
        return None
    return Flight(vehicle, route) if in_time(costs_alone, 0, route) else None


def _first_meetings(points: Floats, distance: float, height: float, meetings: Ints) -> None:
    """Write the first moment at which two are too near (n, n; the later one first), -1: never; -1 stays.

    Between two moments both move straight: the nearest that they are across, and the nearest in height. Blocks of
    moments in which two are far from each other are skipped.
    """
    boxes = empty((len(points), (points.shape[1] + BLOCK - 1) // BLOCK, 4))
    for row in range(len(points)):
        enclose(points[row], boxes[row])
        for other in range(row):
            moment, meetings[row, other] = meetings[row, other], -1
            for block in range(boxes.shape[1] if moment >= 0 else 0):
                if not boxes_apart(boxes[row, block], boxes[other, block], distance):
                    meetings[row, other] = first_meeting(points[row], points[other], block, distance, height)
                if meetings[row, other] >= 0:
                    break


def moments_of(block: int, count: int) -> tuple[int, int]:
    """Return the first moment of a block, which is the last of the block before, and the end."""
    return max(block * BLOCK - 1, 0), min((block + 1) * BLOCK, count)


def enclose(points: Floats, boxes: Floats) -> None:
    """Write the least x and y and the largest x and y of the moments of each block (blocks, 4)."""
    for block in range(len(boxes)):
        low_x, low_y, high_x, high_y = inf, inf, -inf, -inf
        first, end = moments_of(block, len(points))
        for k in range(first, end):
            x, y = points[k, 0], points[k, 1]
            if not isnan(x):
                low_x, low_y, high_x, high_y = min(low_x, x), min(low_y, y), max(high_x, x), max(high_y, y)
        boxes[block, 0], boxes[block, 1], boxes[block, 2], boxes[block, 3] = low_x, low_y, high_x, high_y


def boxes_apart(box: Floats, other: Floats, distance: float) -> bool:
    """Return whether two boxes are farther boxes_apart than a distance; empty ones are."""
    across = max(box[0] - other[2], other[0] - box[2])
    along = max(box[1] - other[3], other[1] - box[3])
    far: bool = max(across, along) > distance
    return far


def first_meeting(track: Floats, other: Floats, block: int, distance: float, height: float) -> int:
    """Return the first moment of a block at which two are too near; -1: none."""
    below, dx, dy = inf, nan, nan
    first, end = moments_of(block, len(track))
    for k in range(first, end):
        x, y = track[k, 0] - other[k, 0], track[k, 1] - other[k, 1]
        level, z = x * x + y * y, abs(track[k, 2] - other[k, 2])
        if not isnan(dx) and level < inf:
            along = (x - dx) * (x - dx) + (y - dy) * (y - dy)
            share = min(max(-(dx * (x - dx) + dy * (y - dy)) / max(along, 1e-12), 0.0), 1.0)
            nx, ny = dx + share * (x - dx), dy + share * (y - dy)
            level = min(level, nx * nx + ny * ny)
        if level < distance * distance and (below if below < z else z) < height:
            return k
        dx, dy, below = x, y, z
    return -1


first_meetings = routine(_first_meetings)
