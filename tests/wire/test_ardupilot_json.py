"""ArduPilot's servo packets against bytes packed by hand; its JSON against a parser that searches as ArduPilot does."""

import contextlib
import json
import math
import re
import struct
from collections.abc import Iterable
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddock.errors import InvalidValueError
from paddock.wire import WireError, ardupilot_json
from paddock.wire.ardupilot_json import (
    ServoPacket,
    SimulatorState,
    decode_servos,
    decode_state,
    encode_servos,
    encode_state,
)

FINITE = st.floats(-1e300, 1e300)
THREE = st.tuples(FINITE, FINITE, FINITE)
U16 = st.integers(0, 65535)
NUMBER = re.compile(r"\s*[-+]?(\d+\.?\d*([eE][-+]?\d+)?|\.\d+)")

REST = SimulatorState(
    1.5, (0.0, 0.0, 0.0), (0.0, 0.0, -9.80665), (1.0, -2.0, -3.0), (0.1, 0.2, 0.3), (1.0, 0.0, 0.0, 0.0)
)


class Written(float):
    """A number that was written to the nearest 1e-9, or with 14 digits and more where that is coarser."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, float) and abs(other / 2 - self / 2) <= max(2.6e-10, 2e-14 * abs(self))

    __hash__ = float.__hash__


def written(values: Iterable[float]) -> list[float]:
    return [Written(value) for value in values]


def atof(text: str) -> float:
    match = NUMBER.match(text)
    return float(match.group()) if match else 0.0


def search(line: str, section: str, key: str, count: int = 1) -> list[float] | None:
    """What ArduPilot's keytable finds: the first `section`, then the first `key` behind it, then two characters on."""
    at = line.find(section)
    if at < 0:
        return None
    at = line.find(key, at + len(section) + 1)
    if at < 0:
        return None
    rest = line[at + len(key) + 2 :]
    if count == 1:
        return [atof(rest)]
    assert rest.startswith("[")
    return [atof(part) for part in rest[1 : rest.index("]")].split(",")]


def test_sixteen_channels_as_packed_by_hand() -> None:
    packed = struct.pack("<HHI16H", 18458, 1200, 7, *range(1000, 1016))
    assert len(packed) == 40
    assert packed[:8] == bytes([0x1A, 0x48, 0xB0, 0x04, 7, 0, 0, 0])
    assert decode_servos(packed) == ServoPacket(1200, 7, tuple(range(1000, 1016)))
    assert encode_servos(ServoPacket(1200, 7, tuple(range(1000, 1016)))) == packed


def test_thirty_two_channels_as_packed_by_hand() -> None:
    packed = struct.pack("<HHI32H", 29569, 400, 2**32 - 1, *range(1000, 1032))
    assert len(packed) == 72
    assert decode_servos(packed) == ServoPacket(400, 2**32 - 1, tuple(range(1000, 1032)))
    assert encode_servos(ServoPacket(400, 2**32 - 1, tuple(range(1000, 1032)))) == packed


@given(
    st.integers(1, 65535),
    st.integers(0, 2**32 - 1),
    st.lists(U16, min_size=16, max_size=16) | st.lists(U16, min_size=32, max_size=32),
)
def test_servos_round_trip(rate: int, count: int, pwm: list[int]) -> None:
    packet = ServoPacket(rate, count, tuple(pwm))
    assert decode_servos(encode_servos(packet)) == packet


@given(st.binary(max_size=100))
def test_garbage_raises_only_wire_errors(data: bytes) -> None:
    with suppress(WireError):
        assert len(decode_servos(data).pwm) in (16, 32)


@pytest.mark.parametrize(
    ("data", "reason", "words"),
    [
        (b"", "length", "40 or 72 bytes, not 0"),
        (bytes(41), "length", "40 or 72 bytes, not 41"),
        (struct.pack("<HHI16H", 29569, 1200, 0, *[0] * 16), "magic", "magic 29569 instead of 18458"),
        (struct.pack("<HHI32H", 18458, 1200, 0, *[0] * 32), "magic", "magic 18458 instead of 29569"),
        (struct.pack("<HHI16H", 18458, 0, 0, *[0] * 16), "value", "frame_rate must be at least 1 Hz"),
    ],
)
def test_wrong_arguments_are_named(data: bytes, reason: str, words: str) -> None:
    with pytest.raises(WireError, match=words) as caught:
        decode_servos(data)
    assert caught.value.reason == reason


@pytest.mark.parametrize(
    "packet", [ServoPacket(70000, 0, (0,)), ServoPacket(1, -1, (0,)), ServoPacket(0, 0, (0,)), ServoPacket(1, 0, (-1,))]
)
def test_invalid_states_are_refused(packet: ServoPacket) -> None:
    with pytest.raises(InvalidValueError, match="servo packet cannot be sent"):
        encode_servos(packet)


def test_the_line_has_the_documented_bytes() -> None:
    assert encode_state(REST) == (
        b'\n{"timestamp":1.5,"imu":{"gyro":[0.0,0.0,0.0],"accel_body":[0.0,0.0,-9.80665]},"position":[1.0,-2.0,-3.0],'
        b'"velocity":[0.1,0.2,0.3],"quaternion":[1.0,0.0,0.0,0.0]}\n'
    )


@given(FINITE, THREE, THREE, THREE, THREE, st.tuples(FINITE, FINITE, FINITE, FINITE))
def test_a_search_finds_every_required_number(
    timestamp: float,
    gyro: tuple[float, float, float],
    accel: tuple[float, float, float],
    position: tuple[float, float, float],
    velocity: tuple[float, float, float],
    quaternion: tuple[float, float, float, float],
) -> None:
    line = encode_state(
        SimulatorState(timestamp, gyro, accel, position, velocity, quaternion, velocity_wind=(7.0, 8.0, 9.0))
    )
    text = line.decode()
    assert " " not in text and text[0] == text[-1] == "\n" and text.count("\n") == 2
    assert search(text, "", "timestamp") == written([timestamp])
    assert search(text, "imu", "gyro", 3) == written(gyro)
    assert search(text, "imu", "accel_body", 3) == written(accel)
    assert search(text, "", "position", 3) == written(position)
    assert search(text, "", "velocity", 3) == written(velocity)
    assert search(text, "", "velocity_wind", 3) == [7.0, 8.0, 9.0]
    assert search(text, "", "quaternion", 4) == written(quaternion)
    assert json.loads(text)["timestamp"] == written([timestamp])[0]


def test_a_search_finds_exactly_the_optional_numbers_sent() -> None:
    state = REST._replace(
        ranges=(1.25, None, 3.5),
        windvane=(0.5, 6.5),
        airspeed=21.0,
        rc=tuple(range(1001, 1013)),
        battery=(12.5, 3.25),
        no_time_sync=True,
        no_lockstep=True,
    )
    text = encode_state(state).decode()
    assert search(text, "", "rng_1") == [1.25] and search(text, "", "rng_3") == [3.5]
    assert search(text, "", "rng_2") is None and search(text, "", "rng_4") is None
    assert search(text, "windvane", "direction") == [0.5] and search(text, "windvane", "speed") == [6.5]
    assert search(text, "", "airspeed") == [21.0]
    assert [search(text, "rc", f"rc_{k}") for k in range(1, 13)] == [[1000.0 + k] for k in range(1, 13)]
    assert search(text, "battery", "voltage") == [12.5] and search(text, "battery", "current") == [3.25]
    assert search(text, "", "no_time_sync") == [1.0] and search(text, "", "no_lockstep") == [1.0]
    plain = encode_state(REST).decode()
    absent = ("attitude", "velocity_wind", "rng_1", "airspeed", "latitude", "rpm", "no_time_sync", "no_lockstep")
    assert all(search(plain, "", key) is None for key in absent)
    assert all(search(plain, section, "") is None for section in ("windvane", "battery", "rc", "motor"))


def test_required_values_that_are_not_finite_are_refused_and_optional_ones_left_out() -> None:
    for field in ("gyro", "accel", "position", "velocity"):
        with pytest.raises(InvalidValueError, match=f"{field.replace('accel', 'accel_body')} must be finite, not nan"):
            encode_state(REST._replace(**{field: (0.0, math.nan, 0.0)}))
    with pytest.raises(InvalidValueError, match="timestamp must be finite, not inf"):
        encode_state(REST._replace(timestamp=math.inf))
    with pytest.raises(InvalidValueError, match="neither quaternion nor attitude"):
        encode_state(REST._replace(quaternion=None))
    odd = REST._replace(
        ranges=(math.nan, math.inf), airspeed=math.nan, battery=(12.0, math.nan), windvane=(0.0, math.nan)
    )
    assert encode_state(odd) == encode_state(REST)


@given(THREE, st.lists(FINITE | st.none(), max_size=6), FINITE, st.booleans())
def test_states_round_trip(
    attitude: tuple[float, float, float], ranges: list[float | None], airspeed: float, free: bool
) -> None:
    while ranges and ranges[-1] is None:
        ranges.pop()
    state = REST._replace(quaternion=None, attitude=attitude, ranges=tuple(ranges), airspeed=airspeed, no_lockstep=free)
    decoded = decode_state(encode_state(state))
    assert decoded.attitude == tuple(written(attitude)) and decoded.airspeed == Written(airspeed)
    assert [distance is None for distance in decoded.ranges] == [distance is None for distance in ranges]
    assert [d for d in decoded.ranges if d is not None] == written(d for d in ranges if d is not None)
    assert decoded._replace(attitude=attitude, airspeed=airspeed, ranges=tuple(ranges)) == state


def test_a_place_on_earth_stands_for_the_position() -> None:
    """As ArduPilot reads it: `latitude`, `longitude` and `altitude` together, before `position`; one alone does not."""
    home = (-35.363261800, 149.165230001, 584.25)
    line = encode_state(REST._replace(position=None, place=home, no_lockstep=True))
    assert b'"latitude":-35.3632618,"longitude":149.165230001,"altitude":584.25,"velocity"' in line
    state = decode_state(line)
    assert (state.place, state.position, state.no_lockstep) == (home, None, True)
    both = decode_state(line.replace(b'"velocity"', b'"position":[1,2,3],"velocity"'))
    assert (both.place, both.position) == (home, (1.0, 2.0, 3.0))
    with pytest.raises(WireError, match="position must be a list of 3 numbers"):
        decode_state(line.replace(b'"altitude"', b'"height"'))
    with pytest.raises(WireError, match="longitude must be a number"):
        decode_state(line.replace(b"149.165230001", b'"x"'))
    with pytest.raises(InvalidValueError, match="neither position nor place"):
        encode_state(REST._replace(position=None))


@given(st.integers(-(10**15), 10**15))
def test_numbers_with_nine_decimals_are_exact_and_as_short_as_python_writes_them(billionths: int) -> None:
    value = billionths / 1e9
    text = encode_state(REST._replace(timestamp=value)).decode().partition(":")[2].partition(",")[0]
    assert float(text) == value
    whole, _, decimals = f"{value:.9f}".partition(".")
    assert text == f"{whole}.{decimals.rstrip('0') or '0'}"


def test_the_compiled_writer_gives_the_bytes_of_the_plain_one(monkeypatch: pytest.MonkeyPatch) -> None:
    odd = (-1e-12, 1234567.125, 3e17, 5e-10, -0.1, 999999999.9999999)
    states = [REST._replace(timestamp=value, ranges=(value,), airspeed=math.nan) for value in odd]
    lines = [encode_state(state) for state in states]
    monkeypatch.setattr(ardupilot_json, "fill_line", ardupilot_json.fill_line.plain)
    assert [encode_state(state) for state in states] == lines


def test_a_reader_is_tolerant() -> None:
    line = (
        b'{ "velocity": [1, 2, 3], "imu": {"accel_body": [0, 0, -9.8], "gyro": [0.1, 0.2, 0.3], "more": 1}, "new": {},'
        b' "quaternion": [1, 0, 0, 0], "attitude": [0, 0, 0], "position": [4, 5, 6], "timestamp": 2 }'
    )
    state = decode_state(b"\n" + encode_state(REST) + line + b"\n")
    assert state.timestamp == 2.0 and state.velocity == (1.0, 2.0, 3.0) and state.gyro == (0.1, 0.2, 0.3)
    assert state.quaternion == (1.0, 0.0, 0.0, 0.0) and state.attitude is None


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (b"", "a line is an object"),
        (b"[1]", "a line is an object"),
        (b'{"timestamp":', "not JSON"),
        (b'{"timestamp":1}', "imu must be an object"),
        (b"\xff\xff", "not UTF-8"),
        (encode_state(REST).replace(b"0.1", b"NaN"), "NaN"),
        (encode_state(REST).replace(b"0.1", b'"a"'), "velocity must be a list of 3 numbers"),
        (encode_state(REST).replace(b"0.1,", b""), "velocity must be a list of 3 numbers"),
        (encode_state(REST).replace(b'"quaternion"', b'"rotation"'), "quaternion or attitude is missing"),
        (b" " * 70000, "at most 65000 bytes"),
    ],
)
def test_a_broken_line_is_a_wire_error(line: bytes, words: str) -> None:
    with pytest.raises(WireError, match=words):
        decode_state(line)


@given(st.binary(max_size=300))
def test_any_bytes_are_a_state_or_a_wire_error(data: bytes) -> None:
    with contextlib.suppress(WireError):
        decode_state(data)
