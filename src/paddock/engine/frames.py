"""Named frames: the world, every vehicle, and frames mounted on them (a lidar on `red`, a map in the world)."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from typing import TYPE_CHECKING

import numpy as np

from paddock.engine.actions import FrameAction, Posted, check_fields
from paddock.engine.behaviours import PoseBlocks
from paddock.engine.clock_thread import ClockThread
from paddock.errors import InvalidValueError, PaddockError, UnknownNameError, unknown_name
from paddock.world.fleet import Fleet
from paddock.world.transforms import Transform
from paddock.world.world import World

if TYPE_CHECKING:
    from paddock.engine.applier import Applier

WORLD = "world"


@dataclass(eq=False, repr=False)
class NamedFrames:
    """The frames of a simulation, `sim.world.frames`."""

    world: World
    _poses: PoseBlocks
    _applier: "Applier"
    _thread: ClockThread

    def set(
        self,
        name: str,
        parent: str = WORLD,
        position: Sequence[float] = (0.0, 0.0, 0.0),
        quaternion: Sequence[float] = (0.0, 0.0, 0.0, 1.0),
        moving: bool = False,
    ) -> None:
        """Place a named frame in another (`world`, a vehicle, a frame), immediately; position in m, quaternion xyzw.

        A `moving` frame keeps a history and is stale soon after its last `set`; other frames keep their pose.
        """
        action = FrameAction(name, parent, list(map(float, position)), list(map(float, quaternion)), bool(moving))
        with self._thread.driving("frames.set()"):
            self._applier.apply(Posted(self.world.clock.tick, 0, action, ""))

    def transform(self, target: str, source: str, time: float | None = None) -> Transform:
        """Return the transform that takes points of frame `source` to frame `target`, now or at a simulation time (s).

        Vehicles have no history: another time needs two frames on the same vehicle, or in the world.
        """
        self._thread.refuse_elsewhere("frames.transform()")
        if time is not None and time != self.world.clock.time:
            world = self.world
            if not (isinstance(time, int | float | np.number) and isfinite(time)):
                raise InvalidValueError(f"transform(time=...) takes a finite time in s, not {time!r}")
            roots = [_root(world, frame) for frame in (target, source)]
            if roots[0] == roots[1]:
                return Transform() if target == source else world.transforms.lookup(target, source, float(time))
            vehicle = next(root for root in roots if root != WORLD)
            raise PaddockError(
                f"the pose of vehicle {vehicle!r} is known only now, at {world.clock.time:.3f} s, not at {time:.3f} s; "
                "keep snapshots to look back"
            )
        return self._to_world(target).inverse() @ self._to_world(source)

    def check(self, frame: str) -> None:
        """Raise PaddockError unless the frame exists and is not stale. Any thread may call this."""
        with self._applier.rebuilding:
            if (root := _root(self.world, frame)) != frame:
                self.world.transforms.lookup(root, frame, self.world.clock.time)

    def _to_world(self, frame: str) -> Transform:
        world, root = self.world, _root(self.world, frame)
        mounted = Transform() if root == frame else world.transforms.lookup(root, frame, world.clock.time)
        if root == WORLD:
            return mounted
        fleet, row = _one_vehicle(world, root)
        pose = self._poses(fleet.name)[:, fleet.ranks[row]]
        return Transform(pose[:3], pose[3:7]) @ mounted


def place_frame(world: World, frame: FrameAction) -> None:
    """Apply a frame action."""
    check_fields(frame, "frame.")
    name, parent = frame.name, frame.parent
    if name == WORLD or world.has(name):
        raise PaddockError(f"{name!r} is {'the world' if name == WORLD else 'a vehicle'}: give the frame another name")
    if parent != WORLD and parent not in world.transforms.names() and not world.has(parent):
        raise unknown_name("frame", parent, [WORLD, *world.transforms.names(), *world.fleets])
    pose = Transform(frame.position, frame.quaternion)
    if frame.moving:
        world.transforms.set_dynamic(name, parent, world.clock.time, pose)
    else:
        world.transforms.set_static(name, parent, pose)


def _root(world: World, frame: str) -> str:
    """Return the world or the vehicle that a frame is mounted on."""
    tree = world.transforms
    root = tree.root(frame) if frame in tree.names() else frame
    if root != WORLD:
        _one_vehicle(world, root)
    return root


def _one_vehicle(world: World, name: str) -> tuple[Fleet, int]:
    try:
        fleet, rows = world.find(name)
    except UnknownNameError:
        raise unknown_name("frame", name, [WORLD, *world.transforms.names(), *world.fleets]) from None
    if len(rows) != 1:
        raise PaddockError(f"{name!r} is a fleet of {len(rows)}: name one vehicle as the frame")
    return fleet, int(rows[0])
