"""ArduPilot's SITL JSON interface: servo packets of 40 or 72 bytes one way, a line of JSON the other way.

ArduPilot does not parse the JSON: it searches for the keys and reads the number after `":`. Hence no spaces, no NaN,
`velocity` before `velocity_wind`, and sections (`windvane`, `battery`) that are complete or absent. All axes are
north-east-down and body forward-right-down.
"""

import re
import struct
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from paddock.compute.routine import routine
from paddock.errors import InvalidValueError
from paddock.wire import WireError
from paddock.wire.json_document import loads

Buffer = bytes | bytearray | memoryview
Numbers = Sequence[float]
Bytes = NDArray[np.uint8]
Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

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


class SimulatorState(NamedTuple):
    """The reply of the physics; None is omitted from the line."""

    timestamp: float  # s
    gyro: Numbers  # 3: rad/s, body
    accel: Numbers  # 3: m/s2, body, specific force: (0, 0, -9.81) at rest
    position: Numbers | None  # 3: m north, east, down of home; this or `place`
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
    place: Numbers | None = None  # 3: latitude and longitude (deg), altitude above mean sea level (m)


def decode_servos(datagram: Buffer) -> ServoPacket:
    """Decode one datagram; WireError with the reason `length`, `magic` or `value`."""
    size = len(datagram)
    if size not in _SERVOS:
        raise WireError("length", f"ArduPilot servos: a packet has 40 or 72 bytes, not {size}")
    valid, layout = _SERVOS[size]
    magic, rate, count, *pwm = layout.unpack(datagram)
    if magic != valid:
        raise WireError("magic", f"ArduPilot servos: magic {magic} instead of {valid} in a packet of {size} bytes")
    if rate == 0:
        raise WireError("value", "ArduPilot servos: frame_rate must be at least 1 Hz, not 0")
    return ServoPacket(rate, count, tuple(pwm))


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


DECIMALS = 9
"""Numbers are written with the nearest multiple of 1e-9: 1 nm, 1 ns. ArduPilot computes with coarser ones."""
LARGEST_FIXED = 1e9  # from here on, with an exponent and 17 digits


class LinePart(NamedTuple):
    """A part of the line; each `%` is a number. It is omitted if one of them is not finite, or cannot be sent."""

    text: str
    required: bool = False


START = LinePart(
    '\n{"timestamp":%,"imu":{"gyro":[%,%,%],"accel_body":[%,%,%]},"position":[%,%,%],"velocity":[%,%,%]', required=True
)
START_AT_PLACE = LinePart(
    '\n{"timestamp":%,"imu":{"gyro":[%,%,%],"accel_body":[%,%,%]},"latitude":%,"longitude":%,"altitude":%,'
    '"velocity":[%,%,%]',
    required=True,
)
PLACE = ("latitude", "longitude", "altitude")
QUATERNION = LinePart(',"quaternion":[%,%,%,%]', required=True)
ATTITUDE = LinePart(',"attitude":[%,%,%]', required=True)
WIND = LinePart(',"velocity_wind":[%,%,%]')
RANGES = tuple(LinePart(f',"rng_{k + 1}":%') for k in range(RANGEFINDERS))
WINDVANE = LinePart(',"windvane":{"direction":%,"speed":%}')
AIRSPEED = LinePart(',"airspeed":%')
BATTERY = LinePart(',"battery":{"voltage":%,"current":%}')


class LineWriter:
    """Writes lines with the same sections; `tail` is constant text before the end of the line."""

    def __init__(self, sections: Sequence[LinePart], tail: str = "") -> None:
        ends = [(part.text, part.text.count("%"), part.required) for part in (*sections, LinePart(f"{tail}}}\n"))]
        self._text = np.frombuffer("".join(text for text, _, _ in ends).encode(), np.uint8)
        self._sections = np.array([(len(text), count, required) for text, count, required in ends])
        self.count = int(self._sections[:, 1].sum())  # numbers in a line
        self._line = np.empty(len(self._text) + NUMBER_BYTES * self.count, np.uint8)
        self._fill = fill_line.direct()

    def write(self, numbers: Floats) -> bytes:
        """Return the line with these numbers; InvalidValueError if some are missing or a required one is not finite."""
        if len(numbers) != self.count:
            raise InvalidValueError(
                f"this state cannot be sent as JSON: it has {len(numbers)} numbers, not {self.count}"
            )
        size = self._fill(self._text, self._sections, numbers, self._line)
        if size < 0:
            before = bytes(self._text).decode().split("%")[:-size]  # the text up to the number
            key = re.findall(r'"(\w+)":\[?%*$', "%".join(before).replace("%,", "%"))[0]
            raise InvalidValueError(
                f"this state cannot be sent as JSON: {key} must be finite, not {numbers[-size - 1]}"
            )
        return self._line[:size].tobytes()


def write_line(text: Bytes, sections: Ints, numbers: Floats, line: Bytes) -> int:
    """Write a line: the text with a number for each `%`; return its size, or -k if required number k is not finite.

    `sections`, one row each: bytes of the text, numbers, whether they are required.
    """
    size = at = number = 0
    for k in range(len(sections)):
        length, count, required = sections[k, 0], sections[k, 1], sections[k, 2]
        known = True
        for j in range(number, number + count):
            if not abs(numbers[j]) <= LARGEST:
                known = False
                if required:
                    return -j - 1
        for i in range(at, at + length if known else at):
            if text[i] == PERCENT:
                size = write_number(numbers[number], line, size)
                number += 1
            else:
                line[size] = text[i]
                size += 1
        number += 0 if known else count
        at += length
    return size


def write_number(value: float, line: Bytes, size: int) -> int:
    """Write a finite number at an index of the line; return the index behind it."""
    if value < 0.0:
        line[size] = MINUS
        size += 1
        value = -value
    exponent = 0
    while value >= LARGEST_FIXED:
        value /= 10.0
        exponent += 1
    billionths = int(value * 1e9 + 0.5)
    whole, part = billionths // 1_000_000_000, billionths % 1_000_000_000
    digits = 1
    power = 10
    while whole >= power:
        power *= 10
        digits += 1
    for k in range(size + digits - 1, size - 1, -1):
        line[k] = ZERO + whole % 10
        whole //= 10
    line[size + digits] = POINT
    size += digits + 1
    last = 1  # digits behind the point, without trailing zeros
    for k in range(DECIMALS - 1, -1, -1):
        digit = part % 10
        part //= 10
        line[size + k] = ZERO + digit
        if digit and last == 1:
            last = k + 1
    size += last
    if exponent:
        line[size] = EXPONENT
        line[size + 1], line[size + 2], line[size + 3] = (
            ZERO + exponent // 100,
            ZERO + exponent // 10 % 10,
            ZERO + exponent % 10,
        )
        size += 4
    return size


PERCENT, MINUS, POINT, ZERO, EXPONENT = b"%-.0e"
LARGEST = 1.7976931348623157e308
NUMBER_BYTES = 26  # sign, 10 digits, point, 9 decimals, exponent
fill_line = routine(write_line)


@lru_cache(maxsize=64)
def line_writer(sections: tuple[LinePart, ...], tail: str) -> LineWriter:
    """Return the writer of lines with these sections."""
    return LineWriter(sections, tail)


def encode_state(state: SimulatorState) -> bytes:
    """Encode a line with line breaks around it; optional values that are not finite are omitted, others an error."""
    turned = state.attitude if state.quaternion is None else state.quaternion
    if turned is None:
        raise InvalidValueError("this state cannot be sent as JSON: it has neither quaternion nor attitude")
    optional = (
        (WIND, state.velocity_wind),
        *(
            (section, distance if distance is None else (distance,))
            for section, distance in zip(RANGES, state.ranges, strict=False)
        ),
        (WINDVANE, state.windvane),
        (AIRSPEED, state.airspeed if state.airspeed is None else (state.airspeed,)),
        (BATTERY, state.battery),
    )
    where = state.position if state.place is None else state.place
    if where is None:
        raise InvalidValueError("this state cannot be sent as JSON: it has neither position nor place")
    parts = [
        (
            START if state.place is None else START_AT_PLACE,
            (state.timestamp, *state.gyro, *state.accel, *where, *state.velocity),
        ),
        (ATTITUDE if state.quaternion is None else QUATERNION, turned),
        *((section, values) for section, values in optional if values is not None),
    ]
    numbers = np.array([value for _, values in parts for value in values], np.float64)
    return line_writer(tuple(section for section, _ in parts), _tail(state)).write(numbers)


def _tail(state: SimulatorState) -> str:
    """Return the members of the line that are whole numbers."""
    channels = ",".join(f'"rc_{k}":{int(pwm)}' for k, pwm in enumerate(state.rc[:RC_CHANNELS], 1))
    text = f',"rc":{{{channels}}}' if channels else ""
    flags = {"no_time_sync": state.no_time_sync, "no_lockstep": state.no_lockstep}
    return text + "".join(f',"{name}":1' for name, on in flags.items() if on)


def decode_state(data: Buffer) -> SimulatorState:
    """Decode the newest complete line; the order of keys, spaces and unknown keys do not matter."""
    if len(data) > LONGEST_LINE:
        raise WireError("length", f"ArduPilot JSON: a line has at most {LONGEST_LINE} bytes, not {len(data)}")
    lines = [line for line in bytes(data).split(b"\n") if line.strip()]
    members = loads(lines[-1]) if lines else None
    if not isinstance(members, dict):
        raise WireError("json", "ArduPilot JSON: a line is an object with timestamp, imu, position, velocity, ...")
    imu = _section(members, "imu")
    pairs: dict[str, Any] = {}
    if "quaternion" not in members and "attitude" not in members:
        raise WireError("value", "ArduPilot JSON: quaternion or attitude is missing")
    turned, count = ("quaternion", 4) if "quaternion" in members else ("attitude", 3)
    for section, first, second in (("windvane", "direction", "speed"), ("battery", "voltage", "current")):
        if section in members:
            inside = _section(members, section)
            pairs[section] = _read(inside, first), _read(inside, second)
    ranges = [_read(members, key) if (key := f"rng_{k + 1}") in members else None for k in range(RANGEFINDERS)]
    while ranges and ranges[-1] is None:
        ranges.pop()
    rc = _section(members, "rc") if "rc" in members else {}
    place = tuple(_read(members, key) for key in PLACE) if members.keys() >= set(PLACE) else None  # else ignored
    return SimulatorState(
        timestamp=_read(members, "timestamp"),
        gyro=_vector(imu, "gyro", 3),
        accel=_vector(imu, "accel_body", 3),
        position=None if place is not None and "position" not in members else _vector(members, "position", 3),
        velocity=_vector(members, "velocity", 3),
        **{turned: _vector(members, turned, count)},
        velocity_wind=_vector(members, "velocity_wind", 3) if "velocity_wind" in members else None,
        ranges=tuple(ranges),
        airspeed=_read(members, "airspeed") if "airspeed" in members else None,
        rc=tuple(int(_read(rc, name)) for k in range(RC_CHANNELS) if (name := f"rc_{k + 1}") in rc),
        no_time_sync=bool(members.get("no_time_sync")),
        no_lockstep=bool(members.get("no_lockstep")),
        place=place,
        **pairs,
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
