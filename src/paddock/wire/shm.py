"""The layout of the shared memory that carries stream frames; `world/ring.py` writes and reads it."""

from paddock.wire.layout import Field, Record
from paddock.wire.stream.frames import TICK

CONTROL = Record(
    "control segment",
    (
        Field("magic", "<u8", "", 'the letters "PDKFRAME"'),
        Field("version", "<u8", "", "1"),
        Field("token", "<u8", "", "random number of the writer"),
        Field("generation", "<u8", "", "of the current data segment; 0 before the first group"),
        Field("pid", "<u8", "", "process of the writer"),
        Field("birth", "<u8", "", "start of that process, in the system's clock ticks"),
        Field("closed", "<u8", "", "1 once the writer has ended"),
    ),
)
DATA = Record(
    "data segment",
    (
        Field("magic", "<u8", "", "as in the control segment"),
        Field("version", "<u8", "", "1"),
        Field("token", "<u8", "", "as in the control segment"),
        Field("generation", "<u8", "", "of this segment"),
        Field("slots", "<u8", "", "number of slots"),
        Field("stride", "<u8", "B", "from one slot to the next"),
        Field("first", "<u8", "B", "offset of the first slot"),
        Field("room", "<u8", "B", "for the frames of a group"),
        Field("latest", "<u8", "", "number of the newest complete group; 0 before the first"),
        Field("retired", "<u8", "", "1 once there is a newer generation"),
    ),
)
SLOT = Record(
    "slot",
    (
        Field("lock", "<u8", "", "2 s of group s, 2 s + 1 while it is written"),
        Field("size", "<u8", "B", "of the frames"),
        *TICK.fields,
    ),
)
SLOT_META = Record("slot without its lock", SLOT.fields[1:]).packer
