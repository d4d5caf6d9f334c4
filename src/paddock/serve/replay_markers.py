"""The markers of a recording as it is played: what was done with them by the time that is shown."""

from __future__ import annotations

from bisect import bisect_right
from typing import Any

from paddock.errors import PaddockError
from paddock.serve.marking import FIELDS
from paddock.wire.messages.markers import ClearMarkers, DeleteMarkers, MarkerCommand, PutMarkers, ShowMarkers

ROUNDING = 1e-6
"""s by which recorded times may differ from samples' times."""


class ReplayedMarkers:
    """Tells changes as pushes; a jump backwards clears everything and tells it again."""

    def __init__(self, recorded: list[tuple[float, MarkerCommand]]) -> None:
        """Commands with their times, in s from the beginning of the recording."""
        self._times = [at for at, _ in recorded]
        self._commands = [command for _, command in recorded]
        self._told = 0
        self._position = 0.0

    def up_to(self, position: float, time: float) -> list[dict[str, Any]]:
        """What has changed when a position (s of the recording) is shown, whose simulation time is `time` (s)."""
        goal = bisect_right(self._times, position + ROUNDING)
        changes: list[dict[str, Any]] = []
        if position < self._position:  # also those that have expired since are there again
            changes, self._told = [{"cleared": True}], 0
        for k in range(self._told, goal):
            changes += _changes(self._commands[k], time - (position - self._times[k]))
        self._told, self._position = goal, position
        return changes


def _changes(command: MarkerCommand, at: float) -> list[dict[str, Any]]:
    """A command given at a simulation time (s), as `marking.change_tree` would tell it."""
    match command:
        case PutMarkers(markers):
            trees = [{name: getattr(marker, name) for name in FIELDS} for marker in markers]
            return [{"put": [{**tree, "expires": None if tree["ttl"] is None else at + tree["ttl"]} for tree in trees]}]
        case DeleteMarkers(namespace, ids):
            return [{"removed": [(namespace, number) for number in ids]}]
        case ShowMarkers(namespace, visible):
            return [{"namespace": namespace, "visible": visible}]
        case ClearMarkers():
            return [{"cleared": True}]
    raise PaddockError(f"unknown marker command {command!r}")
