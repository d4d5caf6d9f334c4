"""Changes of frame as matrices, the way encoders take them; world/frames.py says what they are."""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

from paddock.wire.stream.positions import Change
from paddock.world.frames import conversion, convert_position, convert_quaternion
from paddock.world.rotation import quaternion_conjugate, quaternion_multiply

NATIVE = "enu"


@cache
def change_to(frame: str) -> Change:
    """From ENU to a frame: its columns are what becomes of the unit vectors."""
    position = convert_position(np.eye(3), NATIVE, frame).T
    quaternion = convert_quaternion(np.eye(4), NATIVE, frame).T
    return Change.of(position.astype(np.float64), quaternion.astype(np.float64))


def units_per_metre(frame: str) -> float:
    """Length units of a frame."""
    return conversion(NATIVE, frame).scale


def turned_in_body(quaternion: NDArray[np.float64], frame: str) -> NDArray[np.float64]:
    """The attitude (4,) of something in a vehicle's axes, both taken to the body axes of a frame."""
    turn = conversion(NATIVE, frame).body.quaternion
    return np.asarray(quaternion_multiply(quaternion_multiply(turn, quaternion), quaternion_conjugate(turn)))
