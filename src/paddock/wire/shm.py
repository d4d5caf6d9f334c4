"""The layout of the shared memory that carries stream frames; `world/frame_ring.py` writes and reads it."""

from __future__ import annotations

from paddock.wire.layout import Field, Record

CONTROL = Record(
    "control segment",
    (
        Field("magic", "<u8", "", 'the letters "PDKFRAME"'),
        Field("version", "<u8", "", "1"),
        Field("token", "<u8", "", "drawn anew by every writer"),
        Field("generation", "<u8", "", "of the current data segment; 0 before the first group"),
        Field("pid", "<u8", "", "process of the writer"),
        Field("birth", "<u8", "", "when that process started, in the system's clock ticks"),
        Field("closed", "<u8", "", "1 once the writer has ended"),
    ),
)
DATA = Record(
    "data segment",
    (
        Field("magic", "<u8", "", "as in the control segment"),
        Field("version", "<u8", "", "1"),
        Field("token", "<u8", "", "as in the control segment"),
        Field("generation", "<u8", "", "which one this is"),
        Field("slots", "<u8", "", "how many"),
        Field("stride", "<u8", "B", "from one slot to the next"),
        Field("first", "<u8", "B", "where the first slot begins"),
        Field("room", "<u8", "B", "for the frames of a group"),
        Field("latest", "<u8", "", "number of the newest whole group; 0 before the first"),
        Field("retired", "<u8", "", "1 once there is a newer generation"),
    ),
)
SLOT = Record(
    "slot",
    (
        Field("lock", "<u8", "", "2 s of group s, 2 s + 1 while it is written"),
        Field("size", "<u8", "B", "of the frames"),
        Field("tick", "<u8", "", "ticks since the start of the run"),
        Field("sim_time", "<f8", "s", "simulation time"),
        Field("wall_time", "<f8", "s", "when the simulation published it, since 1970 (UTC)"),
        Field("run", "<u4", "", "+1 with every reset"),
        Field("roster", "<u4", "", "+1 when vehicles come or go"),
    ),
)
