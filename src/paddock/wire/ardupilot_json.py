"""ArduPilot's SITL JSON interface: servo packets of 40 or 72 bytes one way, a line of JSON the other way.

ArduPilot does not parse the JSON: it searches for the keys and reads the number after `":`. Hence no spaces, no NaN,
`velocity` before `velocity_wind`, and sections (`windvane`, `battery`) that are complete or absent. All axes are
north-east-down and body forward-right-down.
"""

import struct
from collections.abc import Sequence
from math import isfinite
from typing import Any, NamedTuple

from paddock.errors import InvalidValueError
from paddock.wire.error import WireError
from paddock.wire.strict_json import loads

Buffer = bytes | bytearray | memoryview
Numbers = Sequence[float]

MAGIC_16 = 18458
MAGIC_32 = 29569
RANGEFINDERS = 6
RC_CHANNELS = 12
LONGEST_LINE = 65000  # bytes of ArduPilot's buffer, the longest line it can receive

_SERVOS = {40: (MAGIC_16, struct.Struct("<HHI16H")), 72: (MAGIC_32, struct.Struct("<HHI32H"))}


class ServoPacket(NamedTuple):
    """The servo outputs that the autopilot sends each frame."""

    frame_rate: int  # Hz: the requested time step
    frame_count: int  # +1 with every answered frame; 0 when the autopilot starts
    pwm: tuple[int, ...]  # us, 16 or 32 channels; 0: no output


class State(NamedTuple):
    """The reply of the physics; None is omitted from the line."""

    timestamp: float  # s
    gyro: Numbers  # 3: rad/s, body
    accel: Numbers  # 3: m/s2, body, specific force: (0, 0, -9.81) at rest
    position: Numbers  # 3: m north, east, down of home
    velocity: Numbers  # 3: m/s north, east, down
    quaternion: Numbers | None = None  # 4: w, x, y, z, body to north-east-down; this or the attitude
    attitude: Numbers | None = None  # 3: roll, pitch, yaw in rad
    velocity_wind: Numbers | None = None  # 3: m/s north, east, down: direction the wind blows to
    ranges: tuple[float | None, ...] = ()  # m, up to 6
    windvane: Numbers | None = None  # apparent direction (rad, 0 from ahead) and speed (m/s)
    airspeed: float | None = None  # m/s
    rc: tuple[int, ...] = ()  # us, up to 12
    battery: Numbers | None = None  # V, A
    no_time_sync: bool = False  # ArduPilot must not adopt the time step of the physics
    no_lockstep: bool = False  # ArduPilot must not wait for the physics


def decode_servos(datagram: Buffer) -> ServoPacket:
    """Decode one datagram; WireError with the reason `length`, `magic` or `value`."""
    size = len(datagram)
    if size not in _SERVOS:
        raise WireError("length", f"ArduPilot servos: a packet has 40 or 72 bytes, not {size}")
    valid, layout = _SERVOS[size]
    fields = layout.unpack(datagram)
    magic, rate, count = fields[:3]
    if magic != valid:
        raise WireError("magic", f"ArduPilot servos: magic {magic} instead of {valid} in a packet of {size} bytes")
    if rate == 0:
        raise WireError("value", "ArduPilot servos: frame_rate must be at least 1 Hz, not 0")
    return ServoPacket(rate, count, fields[3:])


def encode_servos(packet: ServoPacket) -> bytes:
    """Encode a packet: 40 bytes for up to 16 channels, 72 bytes for up to 32; the rest is 0."""
    channels = 16 if len(packet.pwm) <= 16 else 32
    magic, layout = _SERVOS[8 + 2 * channels]
    if packet.frame_rate == 0:
        raise InvalidValueError("this servo packet cannot be sent: frame_rate must be at least 1 Hz, not 0")
    try:
        padding = [0] * (channels - len(packet.pwm))
        return layout.pack(magic, packet.frame_rate, packet.frame_count, *packet.pwm, *padding)
    except struct.error as error:
        raise InvalidValueError(f"this servo packet cannot be sent: {error}") from error


_REQUIRED = {"gyro": 3, "accel_body": 3, "position": 3, "velocity": 3, "quaternion": 4, "attitude": 3}
"""Keys that must be finite, and their number of values."""
_START = (
    '\n{"timestamp":%r,"imu":{"gyro":[%r,%r,%r],"accel_body":[%r,%r,%r]},"position":[%r,%r,%r],"velocity":[%r,%r,%r],'
)
_QUATERNION = _START + '"quaternion":[%r,%r,%r,%r]'
_ATTITUDE = _START + '"attitude":[%r,%r,%r]'


def encode_state(state: State) -> bytes:
    """Encode a line with line breaks around it; optional values that are not finite are omitted, others an error."""
    turned = state.attitude if state.quaternion is None else state.quaternion
    if turned is None:
        raise InvalidValueError("this state cannot be sent as JSON: it has neither quaternion nor attitude")
    text, count = (_ATTITUDE, 16) if state.quaternion is None else (_QUATERNION, 17)
    # repr of a float is the shortest text that reads back equal
    timestamp, gyro, accel, position, velocity = state[:5]
    numbers = tuple(map(float, (timestamp, *gyro, *accel, *position, *velocity, *turned)))
    if len(numbers) != count or not _finite(numbers):
        raise _unsendable(state)
    return f"{text % numbers}{_optional(state)}}}\n".encode()


def _unsendable(state: State) -> InvalidValueError:
    """Return the error for missing or invalid required values."""
    if not isfinite(state.timestamp):
        return InvalidValueError(f"this state cannot be sent as JSON: timestamp is {state.timestamp}, not a number")
    given = zip(_REQUIRED.items(), (*state[1:5], state.quaternion, state.attitude), strict=True)
    known = [(key, count, values) for (key, count), values in given if values is not None]
    key, count, values = next(one for one in known if len(one[2]) != one[1] or not _finite(one[2]))
    return InvalidValueError(
        f"this state cannot be sent as JSON: {key} must be {count} finite numbers, not {list(values)}"
    )


def _optional(state: State) -> str:
    """Return the optional values, in the order that ArduPilot's search needs."""
    found = ""
    if state.velocity_wind is not None and _finite(state.velocity_wind):
        found += ',"velocity_wind":[{!r},{!r},{!r}]'.format(*map(float, state.velocity_wind))
    for k, distance in enumerate(state.ranges[:RANGEFINDERS], 1):
        if distance is not None and isfinite(distance):
            found += f',"rng_{k}":{float(distance)!r}'
    if state.windvane is not None and _finite(state.windvane):
        found += ',"windvane":{{"direction":{!r},"speed":{!r}}}'.format(*map(float, state.windvane))
    if state.airspeed is not None and isfinite(state.airspeed):
        found += f',"airspeed":{float(state.airspeed)!r}'
    if state.rc:
        channels = ",".join(f'"rc_{k}":{int(pwm)}' for k, pwm in enumerate(state.rc[:RC_CHANNELS], 1))
        found += f',"rc":{{{channels}}}'
    if state.battery is not None and _finite(state.battery):
        found += ',"battery":{{"voltage":{!r},"current":{!r}}}'.format(*map(float, state.battery))
    if state.no_time_sync:
        found += ',"no_time_sync":1'
    return found + ',"no_lockstep":1' if state.no_lockstep else found


def _finite(values: Sequence[float]) -> bool:
    return all(map(isfinite, values))


def decode_state(data: Buffer) -> State:
    """Decode the newest complete line; the order of keys, spaces and unknown keys do not matter."""
    if len(data) > LONGEST_LINE:
        raise WireError("length", f"ArduPilot JSON: a line has at most {LONGEST_LINE} bytes, not {len(data)}")
    lines = [line for line in bytes(data).split(b"\n") if line.strip()]
    members = loads(lines[-1]) if lines else None
    if not isinstance(members, dict):
        raise WireError("json", "ArduPilot JSON: a line is an object with timestamp, imu, position, velocity, ...")
    imu = _section(members, "imu")
    found: dict[str, Any] = {}
    if "quaternion" not in members and "attitude" not in members:
        raise WireError("value", "ArduPilot JSON: quaternion or attitude is missing")
    turned, count = ("quaternion", 4) if "quaternion" in members else ("attitude", 3)
    for section, first, second in (("windvane", "direction", "speed"), ("battery", "voltage", "current")):
        if section in members:
            inside = _section(members, section)
            found[section] = _read(inside, first), _read(inside, second)
    ranges = [_read(members, key) if (key := f"rng_{k + 1}") in members else None for k in range(RANGEFINDERS)]
    while ranges and ranges[-1] is None:
        ranges.pop()
    rc = _section(members, "rc") if "rc" in members else {}
    return State(
        timestamp=_read(members, "timestamp"),
        gyro=_vector(imu, "gyro", 3),
        accel=_vector(imu, "accel_body", 3),
        position=_vector(members, "position", 3),
        velocity=_vector(members, "velocity", 3),
        **{turned: _vector(members, turned, count)},
        velocity_wind=_vector(members, "velocity_wind", 3) if "velocity_wind" in members else None,
        ranges=tuple(ranges),
        airspeed=_read(members, "airspeed") if "airspeed" in members else None,
        rc=tuple(int(_read(rc, name)) for k in range(RC_CHANNELS) if (name := f"rc_{k + 1}") in rc),
        no_time_sync=bool(members.get("no_time_sync")),
        no_lockstep=bool(members.get("no_lockstep")),
        **found,
    )


def _section(members: dict[str, Any], key: str) -> dict[str, Any]:
    inside = members.get(key)
    if not isinstance(inside, dict):
        raise WireError("value", f"ArduPilot JSON: {key} must be an object")
    return inside


def _read(members: dict[str, Any], key: str) -> float:
    value = members.get(key)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise WireError("value", f"ArduPilot JSON: {key} must be a number")
    return float(value)


def _vector(members: dict[str, Any], key: str, count: int) -> Any:
    values: Any = members.get(key)
    right = isinstance(values, list) and len(values) == count
    if not right or any(isinstance(value, bool) or not isinstance(value, int | float) for value in values):
        raise WireError("value", f"ArduPilot JSON: {key} must be a list of {count} numbers")
    return tuple(map(float, values))
