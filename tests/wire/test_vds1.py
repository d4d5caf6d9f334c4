"""VDS1 against bytes packed by hand and zlib's CRC32."""

import math
import struct
import zlib
from itertools import accumulate

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddock.errors import InvalidValueError
from paddock.wire import WireError
from paddock.wire.vds1 import (
    CMD_RECORD,
    COOKIE_RECORD,
    STATE_NAMES,
    STATE_RECORD,
    SUBSCRIBE_RECORD,
    CarCommand,
    CarState,
    Cookie,
    Subscribe,
    decode,
    decode_states,
    encode_command,
    encode_cookie,
    encode_states,
    encode_subscribe,
)

U32 = st.integers(0, 2**32 - 1)
FINITE = st.floats(allow_nan=False, allow_infinity=False)


def sealed(body: bytes) -> bytes:
    """The bytes with their CRC32 behind them."""
    return body + struct.pack("<I", zlib.crc32(body))


def header(kind: int, magic: int = 0x56445331, version: int = 4) -> bytes:
    return struct.pack("<IHHIId", magic, version, kind, 17, 3, 2.5)


def command_body(
    steer: float = 0.1,
    throttle: float = 0.5,
    brake: float = 0.0,
    gear: int = 1,
    handbrake: int = 0,
    aux: tuple[float, float] = (math.nan, math.nan),
) -> bytes:
    return struct.pack("<dddiB3xdd", steer, throttle, brake, gear, handbrake, *aux)


COMMAND = sealed(header(1) + command_body())
STATE = sealed(header(2) + struct.pack("<51d", *range(51)))
SUBSCRIBE = sealed(header(3))
COOKIE = sealed(header(16))


def test_sizes_and_offsets_of_the_specification() -> None:
    assert (CMD_RECORD.size, STATE_RECORD.size, SUBSCRIBE_RECORD.size, COOKIE_RECORD.size) == (76, 436, 28, 28)
    offsets = {name: offset for name, (_, offset) in CMD_RECORD.dtype.fields.items()}  # type: ignore[union-attr]
    assert [offsets[name] for name in ("steer", "throttle", "brake", "gear", "handbrake", "pad")] == [
        24,
        32,
        40,
        48,
        52,
        53,
    ]
    assert [offsets[name] for name in ("aux_accel", "aux_speed", "crc")] == [56, 64, 72]
    assert STATE_RECORD.dtype.fields is not None
    assert (STATE_RECORD.fields[6].label, *STATE_RECORD.dtype.fields["x"]) == ("f64", np.dtype("<f8"), 24)
    assert (STATE_RECORD.fields[-1].label, *STATE_RECORD.dtype.fields["crc"]) == ("u32", np.dtype("<u4"), 432)


def test_the_51_values_have_the_order_of_the_specification() -> None:
    groups = {
        "x y z": 3,
        "roll pitch yaw": 3,
        "vx vy vz": 3,
        "roll_rate pitch_rate yaw_rate": 3,
        "ax ay": 2,
        "wheel_spin": 4,
        "steer_applied": 1,
        "wheel_radius": 1,
        "load": 4,
        "rack_torque": 1,
        "slip_ratio": 4,
        "slip_angle": 4,
        "suspension": 4,
        "measured_ax measured_ay measured_yaw_rate measured_steer measured_x measured_y": 6,
        "force_x": 4,
        "force_y": 4,
    }
    ends = list(accumulate(groups.values()))
    assert ends[-1] == len(STATE_NAMES) == 51
    for (group, size), end in zip(groups.items(), ends, strict=True):
        wheels = [f"{group}_{wheel}" for wheel in ("fl", "fr", "rl", "rr")]
        assert list(STATE_NAMES[end - size : end]) == (wheels if size == 4 else group.split())


def test_messages_packed_by_hand_are_read() -> None:
    assert decode(COMMAND) == CarCommand(17, 3, 2.5, 0.1, 0.5, 0.0, 1, False, None, None)
    assert decode(STATE) == CarState(17, 3, 2.5, tuple(map(float, range(51))))
    assert decode(SUBSCRIBE) == Subscribe(17, 3, 2.5)
    cookie = decode(COOKIE)
    assert isinstance(cookie, Cookie) and cookie == (17, 3, 2.5) and encode_subscribe(cookie.echo) == SUBSCRIBE
    assert decode(memoryview(bytearray(COMMAND))) == decode(COMMAND)
    used = decode(sealed(header(1) + command_body(-0.2, 0.0, 1.0, -1, 1, (1.5, 20.0))))
    assert used == CarCommand(17, 3, 2.5, -0.2, 0.0, 1.0, -1, True, 1.5, 20.0)


def test_padding_is_ignored() -> None:
    body = bytearray(header(1) + command_body())
    body[53:56] = b"\x01\x02\x03"
    assert decode(sealed(bytes(body))) == decode(COMMAND)


def test_messages_are_packed_as_by_hand() -> None:
    assert encode_command(CarCommand(17, 3, 2.5, 0.1, 0.5, 0.0)) == COMMAND
    assert encode_subscribe(Subscribe(17, 3, 2.5)) == SUBSCRIBE
    assert encode_cookie(Cookie(17, 3, 2.5)) == COOKIE
    assert encode_states([3], [17], 2.5, np.arange(51.0)[:, None])[0].tobytes() == STATE


@pytest.mark.parametrize(
    ("reason", "datagram"),
    [
        ("length", b""),
        ("length", COMMAND[:-1]),
        ("length", COMMAND + b"\0"),
        ("length", sealed(header(1))),
        ("length", sealed(header(3) + command_body())),
        ("magic", sealed(header(1, magic=0x31534456) + command_body())),
        ("version", sealed(header(1, version=3) + command_body())),
        ("version", sealed(header(9, version=5))),
        ("type", sealed(header(0))),
        ("type", sealed(header(4) + command_body())),
        ("crc", COMMAND[:-1] + bytes([COMMAND[-1] ^ 1])),
        ("crc", COMMAND[:30] + bytes([COMMAND[30] ^ 128]) + COMMAND[31:]),
        ("crc", STATE[:-4] + bytes(4)),
        ("value", sealed(header(1) + command_body(steer=math.nan))),
        ("value", sealed(header(1) + command_body(throttle=math.inf))),
        ("value", sealed(header(1) + command_body(brake=-math.inf))),
        ("value", sealed(header(1) + command_body(gear=2))),
        ("value", sealed(header(1) + command_body(gear=-(2**31)))),
        ("value", sealed(header(1) + command_body(handbrake=2))),
        ("value", sealed(header(1) + command_body(aux=(math.inf, 0.0)))),
        ("value", sealed(header(1) + command_body(aux=(0.0, -math.inf)))),
    ],
)
def test_every_error_has_its_reason(reason: str, datagram: bytes) -> None:
    with pytest.raises(WireError) as caught:
        decode(datagram)
    assert caught.value.reason == reason


def test_errors_list_the_valid_values() -> None:
    with pytest.raises(WireError, match=r"unknown type 9; valid: 1 CMD, 2 STATE, 3 SUBSCRIBE, 16 COOKIE"):
        decode(sealed(header(9)))
    with pytest.raises(WireError, match=r"STATE has 436 bytes, not 28"):
        decode(sealed(header(2)))
    with pytest.raises(WireError, match=r"gear 7 one of -1, 0, 1"):
        decode(sealed(header(1) + command_body(gear=7)))


COMMANDS = st.builds(
    CarCommand,
    U32,
    U32,
    FINITE,
    FINITE,
    FINITE,
    FINITE,
    st.integers(-1, 1),
    st.booleans(),
    st.none() | FINITE,
    st.none() | FINITE,
)


@given(COMMANDS)
def test_a_command_round_trips(command: CarCommand) -> None:
    assert decode(encode_command(command)) == command


@given(st.builds(Subscribe, U32, U32, FINITE))
def test_a_subscription_round_trips(subscribe: Subscribe) -> None:
    assert decode(encode_subscribe(subscribe)) == subscribe


@given(st.integers(0, 40), st.integers(0, 2**32 - 1), FINITE)
def test_states_round_trip(n: int, seed: int, time: float) -> None:
    random = np.random.default_rng(seed)
    ids, sequences = random.integers(0, 2**32, (2, n))
    values = random.integers(0, 2**64, (51, n), dtype=np.uint64).view(np.float64)  # any bits, NaN among them
    datagrams = encode_states(ids, sequences, time, values)
    assert datagrams.shape == (n, 436) and datagrams.dtype == np.uint8
    for form in (datagrams, datagrams.tobytes()):
        states = decode_states(form)
        assert states["vehicle"].tolist() == ids.tolist() and states["sequence"].tolist() == sequences.tolist()
        assert (states["time"] == time).all()
        for row, name in enumerate(STATE_NAMES):
            assert states[name].tobytes() == values[row].tobytes()
    for row in range(n):
        state = decode(datagrams[row].tobytes())
        assert isinstance(state, CarState)
        assert np.array(state.values).tobytes() == values[:, row].tobytes()
        assert zlib.crc32(datagrams[row, :-4].tobytes()) == int(states["crc"][row])


def test_a_state_by_names() -> None:
    state = decode(STATE)
    assert isinstance(state, CarState)
    assert state.named()["yaw"] == 5.0 and state.named()["force_y_rr"] == 50.0


@pytest.mark.parametrize(
    ("reason", "change"),
    [("magic", (0, 1)), ("version", (4, 9)), ("type", (6, 1)), ("crc", (100, 1)), ("crc", (433, 1))],
)
def test_one_bad_state_among_many_is_named(reason: str, change: tuple[int, int]) -> None:
    datagrams = encode_states(np.arange(5), np.arange(5), 0.0, np.zeros((51, 5)))
    datagrams[3, change[0]] ^= change[1]
    with pytest.raises(WireError, match=f"datagram 3 of 5 STATE has a wrong {reason}") as caught:
        decode_states(datagrams)
    assert caught.value.reason == reason


def test_half_a_state_is_refused() -> None:
    with pytest.raises(WireError) as caught:
        decode_states(STATE + STATE[:200])
    assert caught.value.reason == "length"


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (CarCommand(-1, 1, 0.0, 0.0, 0.0, 0.0), "cannot be sent"),
        (CarCommand(0, 2**32, 0.0, 0.0, 0.0, 0.0), "cannot be sent"),
        (CarCommand(0, 1, 0.0, math.nan, 0.0, 0.0), "steer nan"),
        (CarCommand(0, 1, 0.0, 0.0, 0.0, 0.0, 3), "gear 3 one of -1, 0, 1"),
        (CarCommand(0, 1, 0.0, 0.0, 0.0, 0.0, aux_speed=math.inf), "finite or NaN"),
    ],
)
def test_unreadable_values_are_not_sent(command: CarCommand, message: str) -> None:
    with pytest.raises(InvalidValueError, match=message):
        encode_command(command)


def test_states_that_do_not_fit_are_not_sent() -> None:
    with pytest.raises(InvalidValueError, match=r"values have shape \(51, 2\), not \(50, 2\)"):
        encode_states([1, 2], [0, 0], 0.0, np.zeros((50, 2)))
    with pytest.raises(InvalidValueError, match="ids must be 2 whole numbers"):
        encode_states([-1, 2], [0, 0], 0.0, np.zeros((51, 2)))
    with pytest.raises(InvalidValueError, match="sequences must be 2 whole numbers"):
        encode_states([1, 2], [0, 2**32], 0.0, np.zeros((51, 2)))
    with pytest.raises(InvalidValueError, match="sequences must be 2 whole numbers"):
        encode_states([1, 2], [0.5, 1.0], 0.0, np.zeros((51, 2)))
    with pytest.raises(InvalidValueError, match="this subscription cannot be sent"):
        encode_subscribe(Subscribe(-1))
