"""Frames 0x02 and 0x11: telemetry of every vehicle, 17 bytes each, and the first-person state of drones, 56 bytes."""

from enum import IntFlag
from functools import partial

from paddock.wire.layout import Field, Record
from paddock.wire.stream.frames import FrameType, decode_table, encode_table


class TelemetryFlag(IntFlag):
    """The bits of `flags`."""

    JAMMED = 1
    ACTIVE = 2
    ARMED = 4
    COLLIDED = 8


TELEMETRY = Record(
    "telemetry",
    (
        Field("id", "<i4", "", "vehicle, 0 to 2^31 - 1"),
        Field("battery", "<f4", "", "charge left, 0 to 1"),
        Field("health", "<f4", "", "0 to 1"),
        Field("signal", "<f4", "", "radio link, 0 to 1"),
        Field("flags", "u1", "", "bit 0 jammed, 1 active, 2 armed, 3 collided"),
    ),
)


encode_telemetry = partial(encode_table, FrameType.TELEMETRY, TELEMETRY)
"""`encode_telemetry(ids, battery, health, signal, flags)`; all but the ids may be one number for all."""
decode_telemetry = partial(decode_table, record=TELEMETRY)


FPV_STATE = Record(
    "fpv state",
    (
        Field("id", "<i4", "", "vehicle, 0 to 2^31 - 1"),
        Field("mode", "u1", "", "flight mode"),
        Field("armed", "u1", "", "1 armed, 0 not"),
        Field("pad", "<u2", "", "0; ignored by readers"),
        Field("sticks", "<f4", "", "throttle 0 to 1; roll, pitch, yaw -1 to 1", 4),
        Field("velocity", "<f4", "m/s", "vx, vy, vz, world, in the subscriber's frame", 3),
        Field("rates", "<f4", "rad/s", "wx, wy, wz about the body's axes", 3),
        Field("voltage", "<f4", "V", "of the battery"),
        Field("charge", "<f4", "", "of the battery, 0 to 1"),
    ),
)


encode_fpv = partial(encode_table, FrameType.FPV_STATE, FPV_STATE)
"""`encode_fpv(ids, mode, armed, sticks, velocity, rates, voltage, charge)`, columns as in the record."""
decode_fpv = partial(decode_table, record=FPV_STATE)
