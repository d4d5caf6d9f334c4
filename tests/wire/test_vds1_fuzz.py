"""VDS1 decoders under damaged and random datagrams: only WireError or a value, and no memory leak."""

import math
import zlib
from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray
from outcomes import count_outcomes

from paddock.wire import WireError
from paddock.wire.vds1 import (
    CarCommand,
    Subscribe,
    decode,
    decode_states,
    encode_command,
    encode_states,
    encode_subscribe,
)

Bytes = NDArray[np.uint8]
REASONS = {"length", "magic", "version", "type", "crc", "value"}
VALID = (
    encode_command(CarCommand(1, 2, 3.0, 0.1, 0.2, 0.3)),
    encode_subscribe(Subscribe(1)),
    encode_states([1], [2], 3.0, np.linspace(-1.0, 1.0, 51)[:, None])[0].tobytes(),
)


def mutated(message: bytes, n: int, random: np.random.Generator) -> Bytes:
    """(n, m) copies with up to four bytes changed."""
    rows = np.tile(np.frombuffer(message, np.uint8), (n, 1))
    for _ in range(4):
        chosen = random.random(n) < 0.5
        rows[chosen, random.integers(0, rows.shape[1], n)[chosen]] = random.integers(0, 256, chosen.sum())
    return rows


def repaired(rows: Bytes) -> list[bytes]:
    """Datagrams with the CRC32 that belongs to them, so that later checks are reached, too."""
    bodies = [row.tobytes() for row in rows[:, :-4]]
    return [body + zlib.crc32(body).to_bytes(4, "little") for body in bodies]


def cut(rows: Bytes, random: np.random.Generator) -> list[bytes]:
    """Datagrams with ends missing."""
    return [row[:end].tobytes() for row, end in zip(rows, random.integers(0, rows.shape[1], len(rows)), strict=True)]


def noise(n: int, random: np.random.Generator) -> list[bytes]:
    """Random bytes, many of a valid length."""
    sizes = random.choice([0, 1, 24, 28, 28, 76, 76, 76, 436, 500], n)
    pool = random.bytes(1 << 20)
    starts = random.integers(0, len(pool) - 500, n)
    return [pool[start : start + size] for start, size in zip(starts.tolist(), sizes.tolist(), strict=True)]


@pytest.mark.parametrize("inputs", [4_000, pytest.param(70_000, marks=pytest.mark.soak)])
@pytest.mark.parametrize("message", VALID, ids=["CMD", "SUBSCRIBE", "STATE"])
def test_damaged_datagrams(message: bytes, inputs: int) -> None:
    random = np.random.default_rng(len(message))
    rows = mutated(message, inputs, random)
    outcomes = count_outcomes(decode, (row.tobytes() for row in rows))
    outcomes += count_outcomes(decode, repaired(rows))
    outcomes += count_outcomes(decode, cut(rows, random))
    assert outcomes.total() == 3 * inputs
    assert outcomes.keys() <= REASONS | {"value read"}
    expected = {"length", "magic", "version", "type", "crc", "value read"}
    assert outcomes.keys() >= expected | ({"value"} if len(message) == 76 else set())


def test_random_datagrams() -> None:
    random = np.random.default_rng(5)
    outcomes = count_outcomes(decode, noise(6_000, random))
    assert outcomes.keys() <= REASONS and outcomes["magic"] > 1_000


def test_commands_that_are_read_are_sound() -> None:
    random = np.random.default_rng(6)
    read = 0
    for datagram in repaired(mutated(VALID[0], 4_000, random)):
        try:
            command = decode(datagram)
        except WireError:
            continue
        read += 1
        assert isinstance(command, CarCommand)
        assert all(map(math.isfinite, command[3:6])) and command.gear in (-1, 0, 1)
    assert read > 200


def test_damaged_batches_of_states() -> None:
    random = np.random.default_rng(7)
    batch = encode_states(np.arange(8), np.arange(8), 0.0, np.ones((51, 8)))
    rows = mutated(batch.tobytes(), 1000, random)
    outcomes = count_outcomes(decode_states, (row.tobytes() for row in rows))
    outcomes += count_outcomes(decode_states, cut(rows, random))
    assert outcomes.keys() == {"length", "magic", "version", "type", "crc", "value read"}


@pytest.mark.usefixtures("young_heap")
def test_refusals_keep_no_memory(keeps_no_memory: Callable[[Callable[[], object]], bool]) -> None:
    inputs = [row.tobytes() for row in mutated(VALID[0], 800, np.random.default_rng(8))]
    assert keeps_no_memory(lambda: count_outcomes(decode, inputs))
