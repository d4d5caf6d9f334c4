"""Markers as the messages that subscribers are sent."""

from __future__ import annotations

from typing import Any

from paddock.wire.messages.markers import (
    ClearMarkers,
    DeleteMarkers,
    Marker,
    MarkerCommand,
    PutMarkers,
    ShowMarkers,
)


def marker_of(tree: dict[str, Any], time: float) -> Marker:
    """A marker as the hub knows it, with what is left of its time (s)."""
    expires = tree["expires"]
    return Marker(
        namespace=tree["namespace"],
        id=tree["id"],
        kind=tree["kind"],
        position=tuple(tree["position"]),
        quaternion=tuple(tree["quaternion"]),
        scale=tuple(tree["scale"]),
        color=tuple(tree["color"]),
        vertices=tree["vertices"],
        label=tree["label"],
        frame=tree["frame"],
        ttl=None if expires is None else max(expires - time, 1e-9),
    )


def marker_commands(content: dict[str, Any], time: float) -> list[MarkerCommand]:
    """What the simulation tells of its markers."""
    commands: list[MarkerCommand] = []
    if "namespace" in content:
        commands.append(ShowMarkers(content["namespace"], content["visible"]))
    gone: dict[str, list[int]] = {}
    for namespace, number in content.get("removed", ()):
        gone.setdefault(namespace, []).append(number)
    commands += [DeleteMarkers(namespace, tuple(numbers)) for namespace, numbers in gone.items()]
    if content.get("cleared"):
        commands.append(ClearMarkers())
    if content.get("put"):
        commands.append(PutMarkers(tuple(marker_of(tree, time) for tree in content["put"])))
    return commands
