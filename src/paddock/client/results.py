"""Results of operations in the types that a local simulation returns.

A result whose entry names a class is read as that class; the table at the end has those with another form on the wire.
"""

from base64 import b64decode
from collections.abc import Callable
from functools import cache
from math import inf, nan
from types import NoneType, UnionType
from typing import Any, NamedTuple, Union, get_args, get_origin, get_type_hints

import numpy as np
from numpy.typing import NDArray

from paddock.track.standings import standings_from
from paddock.wire.messages.requests import MARKER_FIELDS
from paddock.wire.messages.states import ActionMessage, EventMessage
from paddock.wire.mission_results import view_from
from paddock.wire.operations import Operation
from paddock.wire.radio_results import Received
from paddock.world.markers import Marker, PlacedMarker
from paddock.world.transforms import Transform

# other types are imported where they are used: their modules take long to import


@cache
def reader_of(operation: Operation) -> Callable[[Any], Any] | None:
    """Return the function that reads the result of an operation; None if that is returned as it is."""
    if operation.name in OTHER_FORMS:
        return OTHER_FORMS[operation.name]
    kind = operation.result
    return (lambda value: typed(kind, value)) if _has_class(kind) else None


def _has_class(kind: Any) -> bool:
    return hasattr(kind, "_fields") or any(map(_has_class, get_args(kind)))


def typed(kind: Any, value: Any) -> Any:
    """Return a value of the wire as one of a type: named tuples, tuples, lists, objects; null as None or NaN."""
    origin, inner = get_origin(kind), get_args(kind)
    if origin in (UnionType, Union):
        return None if value is None else typed(next(one for one in inner if one is not NoneType), value)
    if hasattr(kind, "_fields"):
        hints = get_type_hints(kind)
        return kind(**{name: typed(hints[name], one) for name, one in value.items()})
    if origin is list:
        return [typed(inner[0], one) for one in value]
    if origin is dict:
        return {name: typed(inner[1], one) for name, one in value.items()}
    if origin is tuple:
        return tuple(value)
    return nan if kind is float and value is None else value


class RemoteOverride(NamedTuple):
    """An override in effect: a behaviour that replaces that of the vehicles' entry."""

    ids: NDArray[np.int64]
    behaviour: str
    options: dict[str, Any]


class RemoteRoute(NamedTuple):
    """A line that vehicles follow, or a point that they go to."""

    fleet: str
    ids: NDArray[np.int64]
    behaviour: str
    closed: bool  # the last point joins the first
    points: NDArray[np.float64]  # (k, 3) m


def _placed_marker(tree: dict[str, Any]) -> PlacedMarker:
    marker = Marker(**{name: tree[name] for name in MARKER_FIELDS})
    return PlacedMarker(marker, tree["since"], inf if tree["expires"] is None else tree["expires"], tree["source"])


def _track(tree: dict[str, Any] | None) -> Any:
    from paddock.track.loading import track_from

    return None if tree is None else track_from(tree)


def _received(tree: dict[str, Any]) -> Received:
    data = b64decode(tree["data"]) if tree["base64"] else tree["data"]
    return Received(**{name: one for name, one in tree.items() if name != "base64"} | {"data": data})


def _links(tree: dict[str, Any]) -> Any:
    from paddock.radio.links.table import Links

    return Links(**tree | {"peer": tree["peer"].astype(np.int32), "up": tree["up"].astype(np.uint8)})


def _coverage(tree: dict[str, Any]) -> Any:
    from paddock.radio.links.survey import CoverageGrid

    side = tree["side"]
    grids = {name: np.array(tree[name]).reshape(side, side) for name in ("power", "sinr", "jamming", "per")}
    return CoverageGrid(**{name: tree[name] for name in CoverageGrid._fields} | grids)


def _levels(tree: dict[str, Any]) -> Any:
    from paddock.radio.links.survey import HeardLevels

    return HeardLevels(**{name: np.array(one, np.int64 if name == "best" else None) for name, one in tree.items()})


def _assignment(tree: dict[str, Any]) -> Any:
    from paddock.planning.consensus_radio import Agreement

    return tree["tasks"], Agreement(**tree["agreement"])


def _spectrum(tree: dict[str, Any]) -> Any:
    from paddock.radio.links.survey import Spectrum

    arrays = {"band": tuple(tree["band"]), "power": np.array(tree["power"])}
    return Spectrum(**{name: tree[name] for name in Spectrum._fields} | arrays)


OTHER_FORMS: dict[str, Callable[[Any], Any]] = {
    "overrides": lambda trees: [RemoteOverride(**tree) for tree in trees],
    "routes": lambda trees: [RemoteRoute(**tree) for tree in trees],
    "events": lambda trees: [EventMessage(**tree) for tree in trees],
    "log": lambda trees: [ActionMessage(**tree) for tree in trees],
    "placed_markers": lambda trees: list(map(_placed_marker, trees)),
    "transform": lambda tree: Transform(tree["position"], tree["quaternion"]),
    "track": _track,
    "standings": lambda tree: standings_from(tree) if tree else None,
    "mission_view": lambda tree: view_from(tree) if tree else None,
    "radio_received": lambda trees: list(map(_received, trees)),
    "radio_links": _links,
    "coverage": _coverage,
    "spectrum": _spectrum,
    "radio_levels": _levels,
    "radio_assign": _assignment,
    "radio_noise": np.array,
}
"""Operation -> function that reads its result."""
