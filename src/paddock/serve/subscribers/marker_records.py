"""Markers of the hub's mirror as frames 0x12, in a subscriber's axes and units.

What hangs in the world is told in the world's axes; what hangs in any other frame, in the body axes that go with them.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import inf
from typing import TYPE_CHECKING, Any

import numpy as np

from paddock.errors import InvalidValueError
from paddock.serve.subscribers.change import NATIVE, turned_in_body
from paddock.wire.stream.drawing import NO_FLAGS, MarkerFlag, MarkerKind, MarkerRecord, encode_markers
from paddock.world.frames import conversion

if TYPE_CHECKING:
    from paddock.serve.mirror import Key, Mirror

WORLD = "world"


def known_markers(mirror: Mirror, keys: Iterable[Key], frame: str) -> memoryview | None:
    """The markers of these keys that are there; None if none of them is."""
    with np.errstate(over="ignore"):  # found and left out below
        records = [_record(mirror.markers[key], mirror, frame) for key in keys if key in mirror.markers]
        try:
            return encode_markers(records) if records else None
        except InvalidValueError:
            fitting = list(filter(_fits, records))
            return encode_markers(fitting) if fitting else None


def deleted_markers(content: dict[str, Any]) -> memoryview | None:
    """What a change of the board takes away; None if nothing."""
    gone = [
        MarkerRecord(name, number, MarkerKind.POINTS, MarkerFlag.DELETE) for name, number in content.get("removed", ())
    ]
    if content.get("cleared"):
        gone.append(MarkerRecord("", 0, MarkerKind.POINTS, MarkerFlag.DELETE_ALL))
    return encode_markers(gone) if gone else None


def shown_markers(mirror: Mirror, content: dict[str, Any]) -> list[Key]:
    """The markers that a change of the board puts, shows or hides."""
    if "namespace" in content:
        return [key for key in mirror.markers if key[0] == content["namespace"]]
    return [(tree["namespace"], tree["id"]) for tree in content.get("put", ())]


def _fits(record: MarkerRecord) -> bool:
    """Whether float32 can hold its numbers: one of 1e38 m has none in cm."""
    try:
        encode_markers([record])
    except InvalidValueError:
        return False
    return True


def _record(tree: dict[str, Any], mirror: Mirror, frame: str) -> MarkerRecord:
    change = conversion(NATIVE, frame)
    kind = MarkerKind[tree["kind"].upper()]
    in_world = tree["frame"] == WORLD
    turn = np.asarray(tree["quaternion"], np.float64)
    position = change.position(tree["position"]) if in_world else change.body_vector(tree["position"])
    quaternion = change.quaternion(turn) if in_world else turned_in_body(turn, frame)
    scale = 1.0 if kind is MarkerKind.MESH else change.scale
    return MarkerRecord(
        tree["namespace"],
        tree["id"],
        kind,
        MarkerFlag.HIDDEN if tree["namespace"] in mirror.hidden else NO_FLAGS,
        tuple(round(255 * part) for part in tree["color"]),
        tuple(scale * size for size in tree["scale"]),
        tuple(position.tolist()),
        tuple(quaternion.tolist()),
        inf if tree["expires"] is None else tree["expires"],
        "" if in_world else tree["frame"],
        tree["label"],
        change.body_vector(np.asarray(tree["vertices"], np.float32).reshape(-1, 3)),
    )
