"""Named frames: the world, every vehicle, and what users mount on them (a lidar on `red`, a map in the world)."""

from __future__ import annotations

from paddock.engine.actions import SetFrame
from paddock.engine.conduct import PoseBlocks
from paddock.errors import PaddockError, UnknownNameError, unknown_name
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


def transform_between(world: World, poses: PoseBlocks, target: str, source: str) -> Transform:
    """The transform that takes points of `source` to `target`, now."""
    return _to_world(world, poses, target).inverse() @ _to_world(world, poses, source)


def _to_world(world: World, poses: PoseBlocks, frame: str) -> Transform:
    tree = world.transforms
    root = tree.root(frame) if frame in tree.names() else frame
    mounted = Transform() if root == frame else tree.lookup(root, frame, world.clock.time)
    return mounted if root == WORLD else _vehicle_pose(world, poses, root) @ mounted


def _vehicle_pose(world: World, poses: PoseBlocks, name: str) -> Transform:
    try:
        fleet, rows = world.find(name)
    except UnknownNameError:
        raise unknown_name("frame", name, [WORLD, *world.transforms.names(), *world.fleets]) from None
    if len(rows) != 1:
        raise PaddockError(f"{name!r} is a fleet of {len(rows)}: name one member as the frame")
    pose = poses(fleet.name)[:, int(rows[0])]
    return Transform(pose[:3], pose[3:7])


def _is_vehicle(world: World, name: str) -> bool:
    try:
        world.find(name)
    except UnknownNameError:
        return False
    return True
