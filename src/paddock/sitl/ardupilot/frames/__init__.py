"""The frames that ArduPilot may fly or drive here, one file each."""

from __future__ import annotations

from paddock.errors import unknown_name
from paddock.sitl.ardupilot.frame import Frame
from paddock.sitl.ardupilot.frames import copter, copter_plus, plane, rover, rover_skid

FRAMES: dict[str, Frame] = {
    module.FRAME.name: module.FRAME for module in (copter, copter_plus, rover, rover_skid, plane)
}
"""By the name that users write."""


def find_frame(name: str) -> Frame:
    """The frame of that name; an unknown one is refused with the nearest name."""
    if name not in FRAMES:
        raise unknown_name("ArduPilot frame", name, FRAMES)
    return FRAMES[name]
