"""Earlier spellings of verbs of a simulation. They work and issue a DeprecationWarning that names the new one."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from paddock.engine.actions import MissionAction, Target
from paddock.engine.frames import WORLD
from paddock.engine.overrides import Override
from paddock.world.markers import Marker
from paddock.world.transforms import Transform

if TYPE_CHECKING:
    from paddock.engine.engine import Engine


INSIDE = {
    **{name: name for name in ("world", "mailbox", "barrier", "publisher", "applier", "pipeline", "pacer", "prepare")},
    **{"driver": "thread", "errands": "thread", "stage": "mission_stage", "roster": "fleets", "post": "post"},
    **{"restarted": "on_restart", "closing": "on_close", "idling": "on_idle"},
}


def _warn(old: str, new: str) -> None:
    warnings.warn(f"Simulation.{old}() is deprecated: use {new}()", DeprecationWarning, stacklevel=3)


class DeprecatedVerbs:
    """Base class of `Simulation` with its earlier spellings."""

    engine: Engine

    def __getattr__(self, name: str) -> Any:
        """Return a part of the engine by its earlier name."""
        if name in INSIDE:
            return getattr(self.engine, INSIDE[name])
        raise AttributeError(f"'Simulation' object has no attribute {name!r}")

    def order(self, target: Target, behaviour: Any, *, at_tick: int | None = None, source: str = "") -> None:
        """Use `override`."""
        _warn("order", "override")
        self.override(target, behaviour, at_tick=at_tick, source=source)

    def orders(self) -> list[Override]:
        """Use `overrides`."""
        _warn("orders", "overrides")
        found: list[Override] = self.overrides()
        return found

    def mark(self, *markers: Marker, source: str = "") -> None:
        """Use `markers.put`."""
        _warn("mark", "markers.put")
        self.engine.markers.put(*markers, source=source)

    def unmark(self, namespace: str | None = None, id: int | None = None) -> None:
        """Use `markers.remove`."""
        _warn("unmark", "markers.remove")
        self.engine.markers.remove(namespace, id)

    def show_markers(self, namespace: str, visible: bool = True) -> None:
        """Use `markers.show`."""
        _warn("show_markers", "markers.show")
        self.engine.markers.show(namespace, visible)

    def set_frame(
        self,
        name: str,
        parent: str = WORLD,
        position: Sequence[float] = (0.0, 0.0, 0.0),
        quaternion: Sequence[float] = (0.0, 0.0, 0.0, 1.0),
        moving: bool = False,
    ) -> None:
        """Use `frames.set`."""
        _warn("set_frame", "frames.set")
        self.engine.frames.set(name, parent, position, quaternion, moving)

    def transform(self, target: str, source: str, time: float | None = None) -> Transform:
        """Use `frames.transform`."""
        _warn("transform", "frames.transform")
        return self.engine.frames.transform(target, source, time)

    def direct(self, verb: str, /, *, at_tick: int | None = None, source: str = "", **arguments: Any) -> None:
        """Use `mission.apply`."""
        _warn("direct", "mission.apply")
        self.engine.apply_or_post(MissionAction(verb, arguments), f"{verb}()", at_tick, source)

    def add_task(self, name: str, **fields: Any) -> None:
        """Use `mission.add_task`."""
        _warn("add_task", "mission.add_task")
        self.engine.apply_or_post(MissionAction("add_task", {"name": name, **fields}), "add_task()")

    def add_zone(self, name: str, **fields: Any) -> None:
        """Use `mission.add_zone`."""
        _warn("add_zone", "mission.add_zone")
        self.engine.apply_or_post(MissionAction("add_zone", {"name": name, **fields}), "add_zone()")

    def add_vehicle(self, name: str, **fields: Any) -> None:
        """Use `mission.add_vehicle`."""
        _warn("add_vehicle", "mission.add_vehicle")
        self.engine.apply_or_post(MissionAction("add_vehicle", {"name": name, **fields}), "add_vehicle()")

    def damage(self, vehicle: str) -> None:
        """Use `mission.damage`."""
        _warn("damage", "mission.damage")
        self.engine.apply_or_post(MissionAction("damage", {"vehicle": vehicle}), "damage()")

    def move_task(self, task: str, x: float, y: float) -> None:
        """Use `mission.move_task`."""
        _warn("move_task", "mission.move_task")
        self.engine.apply_or_post(MissionAction("move_task", {"task": task, "x": x, "y": y}), "move_task()")

    def remove_task(self, task: str) -> None:
        """Use `mission.remove_task`."""
        _warn("remove_task", "mission.remove_task")
        self.engine.apply_or_post(MissionAction("remove_task", {"task": task}), "remove_task()")
