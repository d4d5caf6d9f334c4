"""Named frames: the world, every vehicle, and what users mount on them (a lidar on `red`, a map in the world)."""

from __future__ import annotations

from math import isfinite

import numpy as np

from paddock.engine.actions import SetFrame
from paddock.engine.conduct import PoseBlocks
from paddock.errors import InvalidValueError, PaddockError, UnknownNameError, unknown_name
from paddock.world.fleet import Fleet
from paddock.world.transforms import Transform
from paddock.world.world import World

WORLD = "world"


def place_frame(world: World, frame: SetFrame) -> None:
    """Put a frame where the action says, for good or (a moving one) for now."""
    check_frame(world, frame.name, frame.parent)
    pose = Transform(frame.position, frame.quaternion)
    if frame.moving:
        world.transforms.set_dynamic(frame.name, frame.parent, world.clock.time, pose)
    else:
        world.transforms.set_static(frame.name, frame.parent, pose)


def check_frame(world: World, child: str, parent: str) -> None:
    """A new frame needs a name of its own and a parent that exists."""
    if child == WORLD or _is_vehicle(world, child):
        raise PaddockError(
            f"{child!r} is {'the world' if child == WORLD else 'a vehicle'}: give the frame another name"
        )
    if parent != WORLD and parent not in world.transforms.names() and not _is_vehicle(world, parent):
        raise unknown_name("frame", parent, [WORLD, *world.transforms.names(), *world.fleets])


def transform_between(
    world: World, poses: PoseBlocks, target: str, source: str, time: float | None = None
) -> Transform:
    """The transform that takes points of `source` to `target`, now or at another simulation time (s)."""
    if time is not None and time != world.clock.time:
        return _transform_at(world, target, source, time)
    return _to_world(world, poses, target).inverse() @ _to_world(world, poses, source)


def refuse_unusable(world: World, frame: str) -> None:
    """A frame must exist and not be stale. No pose is worked out: any thread may ask while no frame comes or goes."""
    if (root := _root(world, frame)) != frame:
        world.transforms.lookup(root, frame, world.clock.time)


def _to_world(world: World, poses: PoseBlocks, frame: str) -> Transform:
    root = _root(world, frame)
    mounted = Transform() if root == frame else world.transforms.lookup(root, frame, world.clock.time)
    return mounted if root == WORLD else _vehicle_pose(world, poses, root) @ mounted


def _transform_at(world: World, target: str, source: str, time: float) -> Transform:
    """Frames have a history, vehicles have none: both frames must hang on the same one, or in the world."""
    if not (isinstance(time, int | float | np.number) and isfinite(time)):
        raise InvalidValueError(f"transform(time=...) takes a finite time in s, not {time!r}")
    roots = [_root(world, frame) for frame in (target, source)]
    if roots[0] == roots[1]:
        return Transform() if target == source else world.transforms.lookup(target, source, float(time))
    vehicle = next(root for root in roots if root != WORLD)
    raise PaddockError(
        f"where vehicle {vehicle!r} is, is only known now, at {world.clock.time:.3f} s, not at {time:.3f} s; "
        "keep snapshots to look back"
    )


def _root(world: World, frame: str) -> str:
    """The world or the vehicle that a frame hangs on."""
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
        raise PaddockError(f"{name!r} is a fleet of {len(rows)}: name one member as the frame")
    return fleet, int(rows[0])


def _vehicle_pose(world: World, poses: PoseBlocks, name: str) -> Transform:
    fleet, row = _one_vehicle(world, name)
    pose = poses(fleet.name)[:, row]
    return Transform(pose[:3], pose[3:7])


def _is_vehicle(world: World, name: str) -> bool:
    try:
        world.find(name)
    except UnknownNameError:
        return False
    return True
