"""Every decoder against damaged bytes: it raises only WireError, and keeps no memory.

The inputs are mutated valid messages and random bytes, made in batches from a fixed seed.
"""

import gc
import json
import math
import tracemalloc
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from paddock.wire import WireError, rpc
from paddock.wire.stream.columns import Block, decode_columns, decode_commands, encode_columns, encode_commands
from paddock.wire.stream.drawing import (
    MarkerKind,
    MarkerRecord,
    decode_lines,
    decode_markers,
    decode_spheres,
    encode_lines,
    encode_markers,
    encode_spheres,
)
from paddock.wire.stream.frames import (
    EventRecord,
    Splitter,
    Tick,
    decode_events,
    decode_tick,
    encode_events,
    encode_tick,
)
from paddock.wire.stream.positions import (
    Poses,
    decode_fpv,
    decode_poses,
    decode_positions,
    decode_telemetry,
    encode_fpv,
    encode_poses,
    encode_positions,
    encode_telemetry,
)

INPUTS = [8_000, pytest.param(150_000, marks=pytest.mark.soak)]
BATCH = 1_000
WAYS = 8
LENGTHS = np.array([0, 1, 2, 3, 255, 256, 65535, 2**31 - 1, 2**31, 2**32 - 1], "<u4").view("u1").reshape(-1, 4)
JSON_BYTES = b'{}[]",:0123456789eE+-.\\/ untrfalsjopcmhdi2\x00\xff\xc3\n'


def mutated(seeds: list[bytes], rng: np.random.Generator, alphabet: bytes, inputs: int) -> Iterator[bytes]:
    """Batches of inputs, a way of breaking for each; every batch starts from one of the seeds."""
    for number in range(inputs // BATCH):
        seed, other = seeds[number // WAYS % len(seeds)], seeds[rng.integers(len(seeds))]
        yield from _batch(number % WAYS, seed, other, rng, alphabet)


def _batch(way: int, seed: bytes, other: bytes, rng: np.random.Generator, alphabet: bytes) -> Iterator[bytes]:
    size = len(seed)
    rows = np.tile(np.frombuffer(seed, np.uint8), (BATCH, 1))
    cuts, ends = rng.integers(0, size + 1, BATCH).tolist(), rng.integers(0, len(other) + 1, BATCH).tolist()
    tails = [bytes(tail) for tail in rng.integers(0, 256, (BATCH, 24), np.uint8)]
    if way == 0:
        _flip_bits(rows, rng)
    if way in (1, 2):
        _change_bytes(rows, rng, alphabet, 1 + 4 * (way - 1))
    if way == 3:
        _attack_lengths(rows, rng)
    if way == 4:
        return (bytes(row[:cut]) for row, cut in zip(rows, cuts, strict=True))
    if way == 5:
        return (seed + tail[: cut % 24 + 1] for tail, cut in zip(tails, cuts, strict=True))
    if way == 6:
        return (seed[:cut] + other[end:] for cut, end in zip(cuts, ends, strict=True))
    if way == 7:
        noise = rng.choice(np.frombuffer(alphabet, np.uint8), (BATCH, 64))
        return (bytes(row[: cut % 65]) for row, cut in zip(noise, cuts, strict=True))
    return map(bytes, rows)


def _places(rows: np.ndarray, rng: np.random.Generator, each: int, room: int = 1) -> tuple[np.ndarray, np.ndarray]:
    return np.arange(BATCH)[:, None], rng.integers(0, rows.shape[1] - room + 1, (BATCH, each))


def _flip_bits(rows: np.ndarray, rng: np.random.Generator) -> None:
    rows[_places(rows, rng, 2)] ^= np.left_shift(1, rng.integers(0, 8, (BATCH, 2))).astype(np.uint8)


def _change_bytes(rows: np.ndarray, rng: np.random.Generator, alphabet: bytes, each: int) -> None:
    rows[_places(rows, rng, each)] = rng.choice(np.frombuffer(alphabet, np.uint8), (BATCH, each))


def _attack_lengths(rows: np.ndarray, rng: np.random.Generator) -> None:
    """Put a tempting length over four bytes: of the count in half of the inputs, anywhere in the others."""
    row, start = _places(rows, rng, 1, 4)
    start[: BATCH // 2] = 0
    rows[row, start + np.arange(4)] = rng.choice(LENGTHS, BATCH)


@dataclass(frozen=True)
class Target:
    """A decoder, valid messages for it, and, where the bytes of a message are unique, its encoder."""

    decode: Callable[[bytes], Any]
    seeds: list[bytes]
    again: Callable[[Any], bytes] | None = None
    alphabet: bytes = bytes(range(256))


def _payload(frame: memoryview) -> bytes:
    return bytes(frame[5:])


def _split(data: bytes) -> None:
    """All of the bytes through a splitter with narrow limits, in three pieces cut where the bytes themselves say."""
    splitter = Splitter(4096, 512)
    a, b = sorted((sum(data[:7]) % (len(data) + 1), sum(data[-7:]) % (len(data) + 1)))
    for piece in (data[:a], data[a:b], data[b:]):
        for _ in splitter.feed(piece):
            pass
        assert splitter.held <= 4096


def _lines() -> list[bytes]:
    call = rpc.request(7, "spawn_robots", {"robots": [{"id": 1, "x": 1.5, "name": "rät\n"}], "deep": [[[{"a": []}]]]})
    batch = b"[" + rpc.notification("ping").strip() + b"," + rpc.result("a", [1, -2.5e-3, None, True]).strip() + b"]"
    surrogates = b'{"jsonrpc":"2.0","method":"\\ud83d\\ude00","id":18446744073709551615,"params":{"a":1e300}}'
    deep = json.dumps({"jsonrpc": "2.0", "method": "m", "params": [[[[[[[[]]]] * 3]]] * 4]}).encode()
    return [call.strip(), batch, rpc.failure(None, -32601, "unknown", {"a": 1}).strip(), surrogates, deep]


def _targets() -> dict[str, Target]:
    three = np.arange(9.0).reshape(3, 3)
    poses = Poses(np.arange(3), np.arange(21.0).reshape(7, 3))
    fpv = encode_fpv([1, 2], 1, 1, np.ones((2, 4)), np.ones((2, 3)), np.ones((2, 3)), 16.8, 0.5)
    marker = MarkerRecord("plan", 3, MarkerKind.TEXT, frame="map", text="grün", points=three.astype(np.float32))
    markers = [[marker], [marker, MarkerRecord("", 0, MarkerKind.CAR, expires=math.inf)], []]
    events = [[EventRecord(1, 2, "spawned", "red", "at the start")], [EventRecord(k, k, "a", "ü") for k in range(4)]]
    commands = [([1, 2, 3], ["steer", "throttle"], three[:, :2]), ([9], ["vx"], [[1.0]]), ([], ["é"], np.zeros((0, 1)))]
    columns = [[Block(0, three), Block(1, np.empty((2, 0)))], [], [Block(0, three[:1])]]
    ticks = [_payload(encode_tick(Tick(k, 0.5, 1.7e9, 1, 5))) for k in (0, 2**40)]
    frames = [bytes(fpv), bytes(encode_events(events[1])), b'{"a":1}\n' + bytes(encode_positions([poses])) + b"[1]\n"]
    return {
        "positions": Target(decode_positions, [_payload(encode_positions([poses]))]),
        "poses": Target(decode_poses, [_payload(encode_poses([poses]))]),
        "columns": Target(decode_columns, [_payload(encode_columns(3, blocks)) for blocks in columns]),
        "telemetry": Target(decode_telemetry, [_payload(encode_telemetry([1, 2, 3], 1, 1, 0.5, 3))]),
        "lines": Target(decode_lines, [_payload(encode_lines(three, three, (1, 2, 3, 4), 0.1))]),
        "spheres": Target(decode_spheres, [_payload(encode_spheres(three, 2.0, (1, 2, 3, 4)))]),
        "tick": Target(decode_tick, ticks, lambda tick: _payload(encode_tick(tick))),
        "fpv": Target(decode_fpv, [_payload(fpv)]),
        "markers": Target(
            decode_markers, [_payload(encode_markers(m)) for m in markers], lambda m: _payload(encode_markers(m))
        ),
        "events": Target(
            decode_events, [_payload(encode_events(e)) for e in events], lambda e: _payload(encode_events(e))
        ),
        "commands": Target(
            decode_commands, [_payload(encode_commands(*c)) for c in commands], lambda c: _payload(encode_commands(*c))
        ),
        "splitter": Target(_split, frames),
        "rpc": Target(rpc.parse, _lines(), alphabet=JSON_BYTES),
    }


TARGETS = _targets()


def outcomes(target: Target, inputs: Iterator[bytes]) -> tuple[int, int]:
    """How many inputs were taken and how many refused; anything but WireError goes through."""
    taken = refused = 0
    for data in inputs:
        try:
            value = target.decode(data)
        except WireError:
            refused += 1
            continue
        taken += 1
        if target.again and taken % 16 == 0:
            assert target.again(value) == data
    return taken, refused


@pytest.mark.parametrize("inputs", INPUTS)
@pytest.mark.parametrize("name", TARGETS)
def test_decoders_raise_only_wire_errors(name: str, inputs: int) -> None:
    target = TARGETS[name]
    taken, refused = outcomes(target, mutated(target.seeds, np.random.default_rng(2026), target.alphabet, inputs))
    assert taken > inputs // 100 and refused > inputs // 100  # neither all garbage nor all harmless
    assert taken + refused == inputs


def _memory(target: Any, inputs: list[bytes]) -> tuple[int, int]:
    """(kept, peak) bytes of decoding these once."""
    tracemalloc.start()
    try:
        outcomes(target, iter(inputs))
        gc.collect()
        return tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()


@pytest.mark.usefixtures("young_heap")
@pytest.mark.parametrize("name", TARGETS)
def test_decoders_allocate_little_and_keep_nothing(name: str) -> None:
    target, rng = TARGETS[name], np.random.default_rng(7)
    inputs = [
        data
        for way in range(WAYS)
        for data in [*_batch(way, target.seeds[0], target.seeds[-1], rng, target.alphabet)][:40]
    ]
    outcomes(target, iter(inputs))  # caches fill
    rounds = [_memory(target, inputs) for _ in range(2)]
    kept, peak = (min(figures) for figures in zip(*rounds, strict=True))
    assert kept < 8_000 and peak < 200_000  # bytes, over 320 inputs
