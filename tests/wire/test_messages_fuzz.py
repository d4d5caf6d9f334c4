"""Protobuf decoders under damaged and random bytes: only WireError or a value, and no memory leak."""

import math
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pytest
from outcomes import count_outcomes

from paddock.wire import WireError
from paddock.wire.messages import markers, requests, states
from paddock.wire.messages.requests import Direct
from paddock.wire.results import ActionRecord, EventRecord

FEW, MANY = 5_000, 100_000  # inputs for each decoder
REASONS = {"protobuf", "type", "length", "count", "value", "json", "utf8"}
ROSTER = states.RosterMessage(
    3, (states.FleetMessage("red", "car", "car.bicycle", ("x", "y"), np.array([7, 8]), np.array([0, 1]), False),)
)
UPDATE = states.StateUpdate(9, 0.5, 1.0, 0, 3, (np.arange(4.0).reshape(2, 2),), ROSTER)
MARKER = markers.MarkerMessage("plan", 1, "line_strip", vertices=np.ones((2, 3), np.float32), label="a", ttl=2.0)
BODIES = (
    requests.Hello("notebook"),
    Direct("run", {"until": 30.0, "pace": 1.0}),
    Direct("claim", {"vehicles": ["red"]}),
    Direct(
        "command",
        {"target": "red", "inputs": {"steer": 0.1, "mode": "angle", "vx": np.ones(3)}, "at_tick": 4, "timeout": 0.5},
    ),
    Direct("command_many", {"ids": np.array([1, 2]), "inputs": {"vx": np.ones(2)}}),
    Direct("control", {"tick": 10, "commands": {"red": {"steer": 0.2}, 7: {"brake": 1.0}}}),
    Direct("put_markers", {"markers": [{name: getattr(MARKER, name) for name in requests.MARKER_FIELDS}]}),
    Direct("delete_markers", {"namespace": "plan", "number": [1, 2]}),
    requests.Call("spawn", {"fields": {"pose": [0, 0, 1.5], "at": np.ones(3), "far": math.inf}}, b"blob"),
)
ANSWERS = (
    requests.Error("unknown_name", "unknown vehicle"),
    requests.Welcome("0.1", "client-1", 1000.0, 0, 2.0),
    requests.ResultMessage({"imu": {"ax": np.ones(4), "ids": np.arange(3)}}, b"blob"),
    requests.ControlRequestMessage(9, 0.5, ("red",), UPDATE),
)
ACTION = ActionRecord(4, 1, "alice", "control", {"target": np.array([1, 2]), "inputs": {"steer": np.ones(2)}})
DECODERS: dict[str, tuple[Callable[[bytes], Any], tuple[bytes, ...]]] = {
    "request": (
        requests.decode_request,
        tuple(requests.encode_request(requests.RequestMessage(5, b, "t")) for b in BODIES),
    ),
    "reply": (requests.decode_reply, tuple(requests.encode_reply(requests.Reply(5, 6, 0.5, b)) for b in ANSWERS)),
    "state update": (states.decode_state_update, (states.encode_state_update(UPDATE),)),
    "state": (
        states.decode_state,
        (states.encode_state(states.StateMessage(9, 0.5, 0, 3, UPDATE.blocks, "single", ROSTER)),),
    ),
    "roster": (states.decode_roster, (states.encode_roster(ROSTER),)),
    "markers": (
        markers.decode_marker_command,
        (markers.encode_marker_command(markers.PutMarkers((MARKER, MARKER))),),
    ),
    "action": (states.decode_action, (states.encode_action(ACTION),)),
    "state hash": (states.decode_state_hash, (states.encode_state_hash(states.StateHash(9, 0, "ab12")),)),
    "run start": (
        states.decode_run_start,
        (states.encode_run_start(states.RunStart(1, 7, {"seed": 7}, {"paddock": "0.1"}, "reset", b"s")),),
    ),
    "event": (
        states.decode_event,
        (states.encode_event(EventRecord(1, 2, "spawned", "red", "one")),),
    ),
}


def mutated(message: bytes, n: int, random: np.random.Generator) -> Iterable[bytes]:
    """Copies with up to three bytes changed, some of them cut short."""
    rows = np.tile(np.frombuffer(message, np.uint8), (n, 1))
    for _ in range(3):
        chosen = random.random(n) < 0.5
        rows[chosen, random.integers(0, rows.shape[1], n)[chosen]] = random.integers(0, 256, chosen.sum())
    ends = np.where(random.random(n) < 0.8, rows.shape[1], random.integers(0, rows.shape[1], n))
    data = rows.tobytes()
    starts = range(0, len(data), rows.shape[1])
    return (data[start : start + end] for start, end in zip(starts, ends.tolist(), strict=True))


def noise(n: int, random: np.random.Generator) -> Iterable[bytes]:
    """Random bytes."""
    pool = random.bytes(1 << 20)
    starts, sizes = random.integers(0, len(pool) - 64, n).tolist(), random.integers(0, 64, n).tolist()
    return (pool[start : start + size] for start, size in zip(starts, sizes, strict=True))


@pytest.mark.parametrize("count", [FEW, pytest.param(MANY, marks=pytest.mark.soak)])
@pytest.mark.parametrize("name", DECODERS)
def test_damaged_and_random_bytes(name: str, count: int) -> None:
    decoder, valid = DECODERS[name]
    for message in valid:
        decoder(message)  # sound before it is damaged
    random = np.random.default_rng(len(name))
    outcomes = count_outcomes(decoder, noise(count // 5, random))
    each = -(-(count - count // 5) // len(valid))
    for message in valid:
        outcomes += count_outcomes(decoder, mutated(message, each, random))
    assert outcomes.total() >= count
    assert outcomes.keys() <= REASONS | {"value read"}
    assert outcomes["protobuf"] > count // 20 and outcomes["value read"] > count // 20


def test_sound_requests_only_hold_finite_numbers() -> None:
    random = np.random.default_rng(1)
    read = 0
    arguments = {"target": "red", "inputs": {"steer": 0.1, "vx": np.ones(3)}}
    command = requests.encode_request(requests.RequestMessage(1, Direct("command", arguments)))
    for data in mutated(command, FEW, random):
        try:
            body = requests.decode_request(data).body
        except WireError:
            continue
        if isinstance(body, Direct) and body.operation.startswith("command"):
            read += 1
            assert all(
                np.isfinite(value).all() for value in body.arguments["inputs"].values() if not isinstance(value, str)
            )
    assert read > 250


@pytest.mark.usefixtures("young_heap")
@pytest.mark.parametrize("name", ["request", "reply", "markers"])
def test_refusals_keep_no_memory(name: str, keeps_no_memory: Callable[[Callable[[], object]], bool]) -> None:
    decoder, valid = DECODERS[name]
    inputs = [data for message in valid for data in mutated(message, 150, np.random.default_rng(2))]
    assert keeps_no_memory(lambda: count_outcomes(decoder, inputs))
