"""VDS1 version 4, the datagrams of the driving interface: CMD (76 bytes), STATE (436), SUBSCRIBE and COOKIE (28).

All start with the same 24 bytes and end with a CRC32 of everything before it. World ENU, body x forward, y left, z up;
wheels in the order front left, front right, rear left, rear right.
"""

import math
import struct
from functools import cache
from typing import Any, NamedTuple
from zlib import crc32

import numpy as np
from numpy.typing import ArrayLike, NDArray

from paddock.errors import InvalidValueError
from paddock.wire import WireError
from paddock.wire.layout import Field, Record

Buffer = bytes | bytearray | memoryview
Floats = NDArray[np.float64]
Records = NDArray[np.void]

MAGIC = 0x56445331
VERSION = 4
CMD, STATE, SUBSCRIBE = 1, 2, 3
COOKIE = 16  # an addition of Paddock, as all types from 16 on
NAMES = {CMD: "CMD", STATE: "STATE", SUBSCRIBE: "SUBSCRIBE", COOKIE: "COOKIE"}  # the types of messages

HEADER = (
    Field("magic", "<u4", "", f"0x{MAGIC:08X}"),
    Field("version", "<u2", "", f"{VERSION}"),
    Field("type", "<u2", "", ", ".join(f"{number} {name}" for number, name in NAMES.items())),
    Field("sequence", "<u4", "", "counter of the sender for this vehicle; SUBSCRIBE, COOKIE: half of a cookie"),
    Field("vehicle", "<u4", "", "id of the vehicle; SUBSCRIBE, COOKIE: the other half"),
    Field("time", "<f8", "s", "simulation time"),
)
CRC = Field("crc", "<u4", "", "CRC32 (IEEE, as zlib) of all bytes before it")


def _wheels(name: str, unit: str, meaning: str) -> tuple[Field, ...]:
    return tuple(Field(f"{name}_{wheel}", "<f8", unit, meaning) for wheel in ("fl", "fr", "rl", "rr"))


STATE_VALUES = (
    Field("x", "<f8", "m", "position east"),
    Field("y", "<f8", "m", "position north"),
    Field("z", "<f8", "m", "position up"),
    Field("roll", "<f8", "rad", "about the forward axis"),
    Field("pitch", "<f8", "rad", "about the left axis, positive nose down"),
    Field("yaw", "<f8", "rad", "heading, counter-clockwise from east"),
    Field("vx", "<f8", "m/s", "velocity forward"),
    Field("vy", "<f8", "m/s", "velocity to the left"),
    Field("vz", "<f8", "m/s", "velocity along the body's up axis"),
    Field("roll_rate", "<f8", "rad/s", "body rate about the forward axis"),
    Field("pitch_rate", "<f8", "rad/s", "body rate about the left axis"),
    Field("yaw_rate", "<f8", "rad/s", "body rate about the up axis"),
    Field("ax", "<f8", "m/s2", "acceleration forward"),
    Field("ay", "<f8", "m/s2", "acceleration to the left"),
    *_wheels("wheel_spin", "rad/s", "rotation of the wheel"),
    Field("steer_applied", "<f8", "rad", "road-wheel angle, positive to the left"),
    Field("wheel_radius", "<f8", "m", "rolling radius"),
    *_wheels("load", "N", "force on the ground"),
    Field("rack_torque", "<f8", "N m", "of the steering"),
    *_wheels("slip_ratio", "", "longitudinal slip"),
    *_wheels("slip_angle", "rad", "lateral slip"),
    *_wheels("suspension", "m", "deflection of the suspension"),
    Field("measured_ax", "<f8", "m/s2", "acceleration forward, as a sensor gives it"),
    Field("measured_ay", "<f8", "m/s2", "acceleration to the left, as a sensor gives it"),
    Field("measured_yaw_rate", "<f8", "rad/s", "as a sensor gives it"),
    Field("measured_steer", "<f8", "rad", "road-wheel angle, as a sensor gives it"),
    Field("measured_x", "<f8", "m", "position east, as the satellite receiver gives it"),
    Field("measured_y", "<f8", "m", "position north, as the satellite receiver gives it"),
    *_wheels("force_x", "N", "force along the wheel"),
    *_wheels("force_y", "N", "force across the wheel, to the left"),
)
"""The 51 numbers of a STATE, in their order."""
STATE_NAMES = tuple(field.name for field in STATE_VALUES)

CMD_RECORD = Record(
    "CMD",
    (
        *HEADER,
        Field("steer", "<f8", "rad", "road-wheel angle, positive to the left"),
        Field("throttle", "<f8", "", "accelerator pedal, 0 to 1"),
        Field("brake", "<f8", "", "brake pedal, 0 to 1"),
        Field("gear", "<i4", "", "1 forward, 0 neutral, -1 reverse"),
        Field("handbrake", "u1", "", "1 pulled, 0 not"),
        Field("pad", "u1", "", "0; ignored by readers", 3),
        Field("aux_accel", "<f8", "m/s2", "wanted acceleration; NaN: unused"),
        Field("aux_speed", "<f8", "m/s", "wanted speed; NaN: unused"),
        CRC,
    ),
)
STATE_RECORD = Record("STATE", (*HEADER, *STATE_VALUES, CRC))
SUBSCRIBE_RECORD = Record("SUBSCRIBE", (*HEADER, CRC))
COOKIE_RECORD = Record("COOKIE", (*HEADER, CRC))
RECORDS = {CMD: CMD_RECORD, STATE: STATE_RECORD, SUBSCRIBE: SUBSCRIBE_RECORD, COOKIE: COOKIE_RECORD}

_BULK = Record("STATE", (*HEADER, Field("values", "<f8", "", "", len(STATE_VALUES)), CRC))
_HEAD = struct.Struct("<IHHIId")
_CHECK = struct.Struct("<I")
_CMD_BODY = struct.Struct("<dddiB3xdd")
_STATE_BODY = struct.Struct(f"<{len(STATE_VALUES)}d")
_SIZES = {kind: record.size for kind, record in RECORDS.items()}
_VALID_SIZES = frozenset(_SIZES.values())
COMPILED_FROM = 64
"""Datagrams from which checksums are compiled; for fewer, zlib is as fast, and Numba is not imported."""


class CarCommand(NamedTuple):
    """A command for a vehicle; `time` is the client's."""

    sequence: int
    vehicle: int
    time: float  # s
    steer: float  # rad, + left
    throttle: float
    brake: float
    gear: int = 1  # 1, 0, -1
    handbrake: bool = False
    aux_accel: float | None = None  # m/s2; None: unused
    aux_speed: float | None = None  # m/s; None: unused


class CarState(NamedTuple):
    """One vehicle at one time."""

    sequence: int
    vehicle: int
    time: float  # s
    values: tuple[float, ...]  # (51,) in the order of STATE_VALUES

    def named(self) -> dict[str, float]:
        """Return the values by name."""
        return dict(zip(STATE_NAMES, self.values, strict=True))


class Subscribe(NamedTuple):
    """A request to receive STATE, which renews the subscription; it may echo a cookie."""

    sequence: int
    vehicle: int = 0
    time: float = 0.0  # s


class Cookie(NamedTuple):
    """The server's question whether the sender receives at its address: 64 bits, to be echoed."""

    sequence: int
    vehicle: int
    time: float = 0.0  # s

    @property
    def echo(self) -> Subscribe:
        """The answer, to be sent from the same address."""
        return Subscribe(self.sequence, self.vehicle, self.time)


def decode(datagram: Buffer) -> CarCommand | CarState | Subscribe | Cookie:
    """Decode one datagram; WireError with the reason `length`, `magic`, `version`, `type`, `crc` or `value`."""
    size = len(datagram)
    if size not in _VALID_SIZES:
        raise WireError("length", f"VDS1: a datagram has 28, 76 or 436 bytes, not {size}")
    magic, version, kind, sequence, vehicle, time = _HEAD.unpack_from(datagram)
    if magic != MAGIC or version != VERSION or _SIZES.get(kind) != size:
        raise _misfit(magic, version, kind, size)
    if crc32(memoryview(datagram)[:-4]) != _CHECK.unpack_from(datagram, size - 4)[0]:
        raise WireError("crc", f"VDS1 {NAMES[kind]}: the CRC32 does not match the {size - 4} bytes before it")
    if kind == CMD:
        return _command(sequence, vehicle, time, _CMD_BODY.unpack_from(datagram, _HEAD.size))
    if kind == STATE:
        return CarState(sequence, vehicle, time, _STATE_BODY.unpack_from(datagram, _HEAD.size))
    return (Subscribe if kind == SUBSCRIBE else Cookie)(sequence, vehicle, time)


def _misfit(magic: int, version: int, kind: int, size: int) -> WireError:
    """Return the first problem of a header."""
    if magic != MAGIC:
        return WireError("magic", f"VDS1: magic 0x{magic:08X} instead of 0x{MAGIC:08X}")
    if version != VERSION:
        return WireError("version", f"VDS1: unsupported version {version}, expected {VERSION}")
    if kind not in NAMES:
        valid = ", ".join(f"{number} {name}" for number, name in NAMES.items())
        return WireError("type", f"VDS1: unknown type {kind}; valid: {valid}")
    return WireError("length", f"VDS1 {NAMES[kind]} has {_SIZES[kind]} bytes, not {size}")


def _command(sequence: int, vehicle: int, time: float, body: tuple[Any, ...]) -> CarCommand:
    steer, throttle, brake, gear, handbrake, aux_accel, aux_speed = body
    finite = math.isfinite(steer) and math.isfinite(throttle) and math.isfinite(brake)
    if not finite or not -1 <= gear <= 1 or handbrake > 1 or math.isinf(aux_accel) or math.isinf(aux_speed):
        raise WireError(
            "value",
            f"VDS1 CMD for vehicle {vehicle}: steer {steer}, throttle {throttle}, brake {brake} must be finite, "
            f"gear {gear} one of -1, 0, 1, handbrake {handbrake} 0 or 1, aux {aux_accel}, {aux_speed} finite or NaN",
        )
    accel = None if aux_accel != aux_accel else aux_accel
    speed = None if aux_speed != aux_speed else aux_speed
    return CarCommand(sequence, vehicle, time, steer, throttle, brake, gear, handbrake == 1, accel, speed)


def encode_command(command: CarCommand) -> bytes:
    """Encode a CMD, 76 bytes."""
    accel = math.nan if command.aux_accel is None else command.aux_accel
    speed = math.nan if command.aux_speed is None else command.aux_speed
    try:
        head = _HEAD.pack(MAGIC, VERSION, CMD, *command[:3])
        body = *command[3:8], accel, speed
        packed = head + _CMD_BODY.pack(*body)
        _command(*command[:3], body)
    except (struct.error, WireError) as error:
        raise InvalidValueError(f"this command cannot be sent: {error}") from error
    return packed + _CHECK.pack(crc32(packed))


def encode_subscribe(subscribe: Subscribe) -> bytes:
    """Encode a SUBSCRIBE, 28 bytes."""
    return _encode_header(SUBSCRIBE, subscribe, "subscription")


def encode_cookie(cookie: Cookie) -> bytes:
    """Encode a COOKIE, 28 bytes."""
    return _encode_header(COOKIE, cookie, "cookie")


def _encode_header(kind: int, message: Subscribe | Cookie, what: str) -> bytes:
    try:
        packed = _HEAD.pack(MAGIC, VERSION, kind, *message)
    except struct.error as error:
        raise InvalidValueError(f"this {what} cannot be sent: {error}") from error
    return packed + _CHECK.pack(crc32(packed))


def encode_states(ids: ArrayLike, sequences: ArrayLike, time: float, values: ArrayLike) -> NDArray[np.uint8]:
    """Return (n, 436) bytes, one STATE per row: `ids` and `sequences` (n,) whole numbers, `values` (51, n)."""
    columns = np.asarray(values, np.float64)
    n = np.size(ids)
    if columns.shape != (len(STATE_VALUES), n):
        raise InvalidValueError(f"STATE: values have shape ({len(STATE_VALUES)}, {n}), not {columns.shape}")
    records = np.empty(n, _BULK.dtype)
    records["magic"], records["version"], records["type"], records["time"] = MAGIC, VERSION, STATE, time
    records["vehicle"] = _whole(ids, n, "ids")
    records["sequence"] = _whole(sequences, n, "sequences")
    records["values"] = columns.T
    rows = records.view(np.uint8).reshape(n, _BULK.size)
    records["crc"] = _checksums(rows)
    return rows


def _whole(values: ArrayLike, n: int, what: str) -> NDArray[Any]:
    array = np.asarray(values)
    if array.shape != (n,) or (n and (array.dtype.kind not in "iu" or array.min() < 0 or array.max() >= 1 << 32)):
        raise InvalidValueError(f"STATE: {what} must be {n} whole numbers from 0 to 2^32 - 1")
    return array


def decode_states(datagrams: NDArray[np.uint8] | Buffer) -> Records:
    """Return records (n,) with the fields of a STATE, a view of n consecutive STATE datagrams."""
    flat = np.frombuffer(datagrams, np.uint8)
    if len(flat) % STATE_RECORD.size:
        raise WireError("length", f"VDS1: {len(flat)} bytes are not a number of STATE of {STATE_RECORD.size} bytes")
    records = flat.view(STATE_RECORD.dtype)
    checks = _checksums(flat.reshape(-1, STATE_RECORD.size))
    for field, valid in (("magic", MAGIC), ("version", VERSION), ("type", STATE), ("crc", checks)):
        right = records[field] == valid
        if not right.all():
            raise WireError(field, f"VDS1: datagram {int(np.argmin(right))} of {len(right)} STATE has a wrong {field}")
    return records


def _checksums(rows: NDArray[np.uint8]) -> NDArray[np.uint32]:
    """Return the CRC32 (n,) of all but the last four bytes of each row."""
    if len(rows) < COMPILED_FROM:
        return np.array([crc32(row[:-4]) for row in rows], np.uint32)
    from paddock.wire.compiled import crc32_rows

    checksums = np.empty(len(rows), np.uint32)
    crc32_rows(rows, rows.shape[1] - 4, _remainders(), checksums)
    return checksums


@cache
def _remainders() -> NDArray[np.uint32]:
    """Return the remainders (256,) of all bytes by the CRC32 polynomial, bits reflected."""
    remainders = np.arange(256, dtype=np.uint32)
    for _ in range(8):
        remainders = np.where(remainders & 1, np.uint32(0xEDB88320), np.uint32(0)) ^ (remainders >> np.uint32(1))
    return remainders
