"""The legs of a route as rows of a table."""

from __future__ import annotations

from math import ceil

from paddock.planning.exchange import to_places
from paddock.planning.plans import Leg, Plan, Route
from paddock.planning.report.words import clock, course, latitude, longitude
from paddock.world.geodesy import Origin

HEADS = ("", "leg", "begins", "ends", "distance", "heading", "height", "east", "north")
LEG_NUMBERS = (0, 2, 3, 4, 5, 6, 7, 8, 9, 10)


def leg_heads(origin: Origin | None) -> tuple[str, ...]:
    """The heads of the columns; latitude and longitude where the world lies somewhere."""
    return HEADS if origin is None else (*HEADS, "latitude", "longitude")


def leg_rows(route: Route, plan: Plan, origin: Origin | None) -> list[tuple[str, ...]]:
    """A row for each leg; places are where it ends."""
    kinds = {task.name: task.shape.kind for task in plan.problem.tasks}
    legs = shown_legs(route)
    places = [] if origin is None else to_places([leg.end[:2] for leg in legs], origin).tolist()
    return [_row(k, leg, kinds, tuple(places[k]) if places else None) for k, leg in enumerate(legs)]


def leg_classes(route: Route, plan: Plan) -> list[str]:
    """What is done stands out."""
    points = {task.name for task in plan.problem.tasks if task.shape.kind == "point"}
    done = (leg.kind == "coverage" or (leg.kind == "transit" and leg.task in points) for leg in shown_legs(route))
    return ["do" if does else "" for does in done]


def shown_legs(route: Route) -> list[Leg]:
    """All but points, which take no time: the way there tells of them."""
    return [leg for leg in route.legs if leg.kind != "coverage" or leg.ends > leg.begins or leg.flown > 0.0]


def _row(k: int, leg: Leg, kinds: dict[str, str], place: tuple[float, ...] | None) -> tuple[str, ...]:
    x, y, z, heading = leg.end
    cells = (f"{k + 1}", _what(leg, kinds), clock(leg.begins), clock(leg.ends), f"{leg.flown:,.0f} m", course(heading))
    where = (f"{z:,.0f} m", f"{_steady(x):,.0f} m", f"{_steady(y):,.0f} m")
    return (*cells, *where) if place is None else (*cells, *where, latitude(place[0]), longitude(place[1]))


def _what(leg: Leg, kinds: dict[str, str]) -> str:
    if leg.kind == "return":
        return "return to base"
    if leg.kind == "wait":
        return f"wait for {leg.task} to open"
    kind = kinds.get(str(leg.task), "")
    if leg.kind == "transit":
        return f"to {leg.task} (point)" if kind == "point" else f"to {leg.task}"
    return f"{leg.task} ({kind})"


def _steady(metres: float) -> float:
    """Rounded to metres without a negative nought."""
    return ceil(metres - 0.5) + 0.0
