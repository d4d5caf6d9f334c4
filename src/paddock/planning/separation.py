"""Separation in plans: aircraft that would meet fly in different height layers; what still meets is reported."""

from collections.abc import Collection, Sequence
from dataclasses import replace
from math import ceil, floor, inf, isnan, nan

import numpy as np
from numpy import empty
from numpy.typing import NDArray

from paddock.compute.routine import routine
from paddock.planning.costs import Costs
from paddock.planning.coverage.shapes import InfeasibleError
from paddock.planning.mission.vehicles import STATUS_ON, STATUSES
from paddock.planning.paths.path import Path, Pose, Segment, along_rows
from paddock.planning.problem import Vehicle
from paddock.planning.routes import Meeting, Route, late_task, predictable, route_of
from paddock.planning.tours import Ints
from paddock.world.columns import Floats

LAYERS = 8
MARGIN = 1.25  # layers are this much farther apart than required, as no vehicle holds its height exactly
FINE, COARSE = 0.5, 2.0
"""s between the moments at which distances between vehicles are looked at: as a rule, and at most."""
MOST = 2_000_000  # poses that are looked at for that
BLOCK = 32  # moments that are skipped together where two vehicles are far apart
CHORD = 1.0  # m by which a turn between two of these moments may be nearer than the straight line
AIRBORNE = tuple(STATUSES.index(status) for status in ("transit", "busy", "returning"))


def pause(seconds: float, vehicles: int) -> float | None:
    """Return the time step (s) for the separation of a number of vehicles; None: too many samples, or too coarse."""
    least = seconds * vehicles / MOST
    return None if vehicles < 2 or seconds <= 0.0 or least > COARSE else max(least, FINE)


def spacing_of_layers(count: int, height: float) -> float:
    """Return the metres from one layer to the next for so many aircraft; above 8 with room for two in between."""
    return MARGIN * height * (1.0 if count <= LAYERS else 2.0)


def poses_on(vehicle: Vehicle, route: Route, times: Floats) -> tuple[Floats, NDArray[np.int8]]:
    """Return the poses (k, 4) of a vehicle on its route at ascending times (s), and its status by index in STATUSES."""
    poses, statuses = np.tile(np.array(vehicle.pose), (len(times), 1)), np.zeros(len(times), dtype=np.int8)
    first, last = (times[0], times[-1]) if len(times) else (inf, -inf)
    if legs := [leg for leg in route.legs if leg.ends > leg.begins and leg.ends >= first and leg.begins <= last]:
        paths = [leg.path if leg.path.segments else Path([standing(leg.path.start)]) for leg in legs]
        rows, counts = np.concatenate([path.table for path in paths]), [len(path.segments) for path in paths]
        places = np.concatenate([path.ends for path in paths])  # m flown on its leg at the end of each segment
        leg_of = np.repeat(np.arange(len(legs)), counts)
        begins, ends = (np.array([getattr(leg, name) for leg in legs]) for name in ("begins", "ends"))
        speed = np.array([path.flown for path in paths]) / (ends - begins)
        before = np.concatenate([[0.0], places[:-1]])
        before[np.cumsum([0, *counts[:-1]])] = 0.0
        until = np.maximum.accumulate(begins[leg_of] + places / speed[leg_of])
        k = np.minimum(np.searchsorted(until, times), len(until) - 1)
        flown = np.clip((times - begins[leg_of[k]]) * speed[leg_of[k]] - before[k], 0.0, None)
        found = along_rows(rows[k], np.minimum(flown * rows[k, 10] / np.sqrt(1.0 + rows[k, 6] ** 2), rows[k, 4]))
        kinds = np.array([STATUSES.index(STATUS_ON[leg.kind]) for leg in legs], np.int8)
        under_way = (times >= begins[leg_of[k]]) & (times <= ends[leg_of[k]])
        poses[under_way], statuses[under_way] = found[under_way], kinds[leg_of[k]][under_way]
    if route.legs:
        poses[times > route.ends] = route.legs[-1].end
    statuses[times > route.ends] = STATUSES.index("home" if route.legs else "idle")
    return poses, statuses


def standing(at: Pose) -> Segment:
    """Return the place of a leg on which a vehicle waits: a segment of next to no length."""
    return Segment(*at, 1e-9)


def raised(vehicle: Vehicle, lift: float) -> Vehicle:
    """Return a vehicle that travels `lift` metres above its own height; before it sets out it starts there, too."""
    if lift == vehicle.lift:
        return vehicle
    more, (x, y, z, heading), (*base, home_z, home_heading) = lift - vehicle.lift, vehicle.pose, vehicle.home
    height = vehicle.travels_at
    start = (x, y, z + more if z == height and not vehicle.under_way else z, heading)
    home = (base[0], base[1], home_z + more if home_z == height else home_z, home_heading)
    return replace(vehicle, pose=start, home=home, height=height + more, lift=lift)


def separated(
    costs: Costs, orders: Sequence[Sequence[int]], routes: Sequence[Route], fixed: Collection[int]
) -> tuple[tuple[Vehicle, ...], list[Route], tuple[Meeting, ...]]:
    """Return vehicles and routes in layers in which none meet, and those that still do; `fixed` keep their routes.

    A vehicle takes the lowest layer that is free of meetings; with `spread`, the one with the fewest vehicles first.
    """
    kept, vehicles, found = costs.problem.separation, costs.problem.vehicles, list(routes)
    spread = kept is not None and kept.spread  # then those without tasks are in the air, too
    who = [k for k, route in enumerate(routes) if (route.legs or spread) and vehicles[k].moves != "ground"]
    who.sort(key=lambda k: (k not in fixed, k))
    begin = min((vehicles[k].ready for k in who), default=0.0)
    end = max((routes[k].ends for k in who), default=0.0)
    step = pause(end - begin, len(who))
    if kept is None or step is None:
        return vehicles, found, ()
    first, count = floor(begin / step), ceil(end / step) - floor(begin / step) + 1  # moments: whole steps since 0 s
    places = np.array([_places(vehicles[k], routes[k], step, first, count) for k in who])
    reach, near = kept.distance + CHORD, np.zeros((len(who), len(who)), np.int64)
    first_meetings(places, reach, inf, near)
    layers = [n * spacing_of_layers(len(who), kept.height) for n in range(LAYERS)]
    chosen = list(vehicles)
    for row, k in enumerate(who):
        lifts = [chosen[other].lift for other in who[:row]]
        met = [lift for lift, moment in zip(lifts, near[row].tolist(), strict=False) if moment >= 0]
        options = sorted(layers, key=lambda lift: (lifts.count(lift) if spread else 0, lift))
        own = [vehicles[k].lift] if k in fixed or vehicles[k].under_way else []
        tried = own if k in fixed else own + options
        free = (lift for lift in tried if all(abs(lift - other) >= kept.height for other in met))
        chosen[k] = raised(vehicles[k], next(free, tried[0]))
    lifted = Costs(replace(costs.problem, vehicles=tuple(chosen)), costs.covered, costs.transits)
    for row, k in enumerate(who):
        if chosen[k] is not vehicles[k]:
            found[k], chosen[k] = _rebuilt(lifted, k, orders[k]) or (routes[k], vehicles[k])
            if predictable(costs, k, orders[k]):  # the same, only higher
                places[row, :, 2] += chosen[k].lift - vehicles[k].lift
            else:
                places[row] = _places(chosen[k], found[k], step, first, count)
    first_meetings(places, reach, kept.height, near)
    pairs = ((row, other) for row in range(len(who)) for other in range(row) if near[row, other] >= 0)
    named = (
        Meeting(vehicles[who[b]].name, vehicles[who[a]].name, float(step * (first + near[a, b]))) for a, b in pairs
    )
    return tuple(chosen), found, tuple(named)


def _places(vehicle: Vehicle, route: Route, step: float, first: int, count: int) -> Floats:
    """Return x, y, z (count, 3) of a vehicle at whole steps (s) from the `first` on, NaN while it is not under way."""
    found = np.full((count, 3), np.nan)
    if not route.legs:
        return found
    begin, until = ceil(route.legs[0].begins / step), floor(route.ends / step) + 1
    if step not in route.sampled:  # routes that stand are looked at again after each event
        poses, statuses = poses_on(vehicle, route, step * np.arange(begin, until, dtype=np.float64))
        route.sampled[step] = np.where(np.isin(statuses, AIRBORNE)[:, None], poses[:, :3], np.nan)
    skip = max(first - begin, 0)
    part = route.sampled[step][skip : skip + count]
    found[begin + skip - first : begin + skip - first + len(part)] = part
    return found


def _rebuilt(costs: Costs, vehicle: int, order: Sequence[int]) -> tuple[Route, Vehicle] | None:
    """Return the route in another layer; None where that is impossible, too long or too late."""
    who = costs.problem.vehicles[vehicle]
    try:
        route = route_of(costs, vehicle, order)
    except InfeasibleError:
        return None
    return (route, who) if route.flown <= who.range * (1.0 + 1e-9) and late_task(costs, route) is None else None


def _first_meetings(places: Floats, distance: float, height: float, found: Ints) -> None:
    """Write the first moment at which two are too near (n, n; the later one first), -1: never; -1 stays.

    Between two moments both move straight: the nearest that they are across, and the nearest in height. Blocks of
    moments in which two are far from each other are skipped.
    """
    boxes = empty((len(places), (places.shape[1] + BLOCK - 1) // BLOCK, 4))
    for row in range(len(places)):
        enclose(places[row], boxes[row])
        for other in range(row):
            moment, found[row, other] = found[row, other], -1
            for block in range(boxes.shape[1] if moment >= 0 else 0):
                if not apart(boxes[row, block], boxes[other, block], distance):
                    found[row, other] = first_meeting(places[row], places[other], block, distance, height)
                if found[row, other] >= 0:
                    break


def moments_of(block: int, count: int) -> tuple[int, int]:
    """Return the first moment of a block, which is the last of the block before, and the end."""
    return max(block * BLOCK - 1, 0), min((block + 1) * BLOCK, count)


def enclose(places: Floats, boxes: Floats) -> None:
    """Write the least x and y and the largest x and y of the moments of each block (blocks, 4)."""
    for block in range(len(boxes)):
        low_x, low_y, high_x, high_y = inf, inf, -inf, -inf
        first, end = moments_of(block, len(places))
        for k in range(first, end):
            x, y = places[k, 0], places[k, 1]
            if not isnan(x):
                low_x, low_y, high_x, high_y = min(low_x, x), min(low_y, y), max(high_x, x), max(high_y, y)
        boxes[block, 0], boxes[block, 1], boxes[block, 2], boxes[block, 3] = low_x, low_y, high_x, high_y


def apart(one: Floats, other: Floats, distance: float) -> bool:
    """Return whether two boxes are farther apart than a distance; empty ones are."""
    across = max(one[0] - other[2], other[0] - one[2])
    along = max(one[1] - other[3], other[1] - one[3])
    far: bool = max(across, along) > distance
    return far


def first_meeting(one: Floats, other: Floats, block: int, distance: float, height: float) -> int:
    """Return the first moment of a block at which two are too near; -1: none."""
    below, dx, dy = inf, nan, nan
    first, end = moments_of(block, len(one))
    for k in range(first, end):
        x, y = one[k, 0] - other[k, 0], one[k, 1] - other[k, 1]
        level, z = x * x + y * y, abs(one[k, 2] - other[k, 2])
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
