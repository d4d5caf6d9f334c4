"""The Protobuf messages: round trips of every one, bytes written by hand, and refusals."""

import dataclasses
import math
import struct
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

import paddock
from paddock.engine.actions import CommandAction as EngineControl
from paddock.engine.actions import Posted
from paddock.errors import InvalidValueError, UnknownNameError
from paddock.wire import WireError
from paddock.wire import messages_pb2 as pb
from paddock.wire.messages.markers import (
    KINDS,
    MarkerMessage,
    PutMarkers,
    decode_marker_command,
    encode_marker_command,
)
from paddock.wire.messages.requests import (
    Call,
    ControlAck,
    ControlRequestMessage,
    Direct,
    Done,
    Error,
    Goodbye,
    Heartbeat,
    Hello,
    Reply,
    RequestMessage,
    ResultMessage,
    Welcome,
    decode_reply,
    decode_request,
    encode_reply,
    encode_request,
    request_id,
)
from paddock.wire.messages.states import (
    REASONS,
    ActionRecord,
    EventRecord,
    FleetMessage,
    RosterMessage,
    RunStart,
    StateHash,
    StateMessage,
    StateUpdate,
    arranged,
    decode_action,
    decode_event,
    decode_roster,
    decode_run_start,
    decode_state,
    decode_state_hash,
    decode_state_update,
    encode_action,
    encode_event,
    encode_roster,
    encode_run_start,
    encode_state,
    encode_state_hash,
    encode_state_update,
)
from paddock.wire.stream.drawing import MarkerKind
from paddock.world.layout import FleetLayout, Layout

U64, U32, ID = st.integers(0, 2**64 - 1), st.integers(0, 2**32 - 1), st.integers(0, 2**31 - 1)
FINITE = st.floats(allow_nan=False, allow_infinity=False)
POSITIVE = st.floats(0.0, 1e300)
TEXT = st.text(max_size=20)
DOUBLES = npst.arrays(np.float64, st.integers(0, 9), elements=FINITE)


def same(a: Any, b: Any) -> bool:
    """Equal in every bit: types, arrays and NaN too; tuples may come back as lists."""
    if isinstance(a, np.ndarray):
        return isinstance(b, np.ndarray) and (a.shape, a.dtype) == (b.shape, b.dtype) and a.tobytes() == b.tobytes()
    if isinstance(a, Mapping):
        return isinstance(b, Mapping) and a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    if dataclasses.is_dataclass(a):
        return type(a) is type(b) and all(same(getattr(a, f.name), getattr(b, f.name)) for f in dataclasses.fields(a))
    if isinstance(a, list | tuple):
        kinds = type(a) is type(b) or not hasattr(a, "_fields")
        return kinds and len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, float):
        return isinstance(b, float) and struct.pack("<d", a) == struct.pack("<d", b)
    return type(a) is type(b) and a == b


# values of every kind ------------------------------------------------------------------------------------------------

NAN = st.sampled_from([math.nan, math.inf, -math.inf])
ARRAYS = npst.arrays(np.float64, npst.array_shapes(min_dims=1, max_dims=3, min_side=0, max_side=4))
WHOLE_ARRAYS = npst.arrays(np.int64, st.integers(0, 5), elements=st.integers(-(2**53), 2**53))
LEAVES = st.none() | st.booleans() | st.integers(-(2**63), 2**63) | FINITE | NAN | TEXT | ARRAYS | WHOLE_ARRAYS
KEYS = TEXT.filter(lambda key: not key.startswith("$"))
TREES = st.recursive(LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3))
OBJECTS = st.dictionaries(KEYS, TREES, max_size=4)
PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers(0, 9) | FINITE | NAN | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
)
INPUTS = st.dictionaries(TEXT, FINITE | TEXT | DOUBLES, max_size=4)
VECTOR, FOUR = st.tuples(FINITE, FINITE, FINITE), st.tuples(FINITE, FINITE, FINITE, FINITE)
SINGLES = st.floats(allow_nan=False, allow_infinity=False, width=32)
FIELDS = tuple(MarkerMessage.__dataclass_fields__)
MARKERS = st.builds(
    MarkerMessage,
    namespace=TEXT,
    id=U32,
    kind=st.sampled_from(KINDS),
    position=VECTOR,
    quaternion=FOUR,
    scale=VECTOR,
    color=FOUR,
    vertices=npst.arrays(np.float32, st.tuples(st.integers(0, 4), st.just(3)), elements=SINGLES),
    label=TEXT,
    frame=st.text(min_size=1, max_size=9),
    ttl=st.none() | st.floats(1e-9, 1e9),
)
COMMANDS = st.dictionaries(TEXT | ID, INPUTS, max_size=3)
NAMES = st.lists(TEXT, max_size=3)
TREES_OF_MARKERS = st.lists(MARKERS.map(lambda field: {name: getattr(field, name) for name in FIELDS}), max_size=3)


def direct(operation: str, **arguments: Any) -> Any:
    return st.fixed_dictionaries(arguments).map(lambda match: Direct(operation, match))


BODIES = st.one_of(
    st.builds(Hello, TEXT, U32),
    st.sampled_from([Heartbeat(), Goodbye()]),
    st.sampled_from([Direct(name, {}) for name in ("pause", "resume", "stop", "metadata", "release")]),
    direct("reset", seed=st.none() | U64),
    direct("run", until=st.none() | FINITE, pace=st.none() | POSITIVE),
    direct("step", ticks=U64),
    direct(
        "step_synchronously",
        ticks=U64,
        control=st.none() | st.fixed_dictionaries({"tick": U64, "commands": COMMANDS}),
    ),
    direct("set_pace", pace=POSITIVE),
    direct("claim", vehicles=NAMES),
    direct("command", target=TEXT | ID, inputs=INPUTS, at_tick=st.none() | U64, timeout=st.none() | POSITIVE),
    direct(
        "command_many",
        ids=npst.arrays(np.int64, st.integers(0, 5), elements=ID),
        inputs=INPUTS,
        timeout=st.none() | POSITIVE,
    ),
    direct("control", tick=U64, commands=COMMANDS),
    direct("put_markers", markers=TREES_OF_MARKERS),
    direct("delete_markers", namespace=TEXT, number=st.lists(U32, max_size=4)),
    direct("delete_markers", namespace=st.none() | TEXT),
    direct("show_markers", namespace=TEXT, visible=st.booleans()),
    st.builds(Call, TEXT, OBJECTS, st.binary(max_size=20)),
)
EVENTS = st.builds(EventRecord, U64, U64, TEXT, TEXT, TEXT)


@st.composite
def rosters(draw: Callable[..., Any]) -> RosterMessage:
    fleets = []
    for name in draw(st.lists(TEXT, max_size=3, unique=True)):
        n = draw(st.integers(0, 5))
        numbers = npst.arrays(np.int64, n, elements=ID)
        columns = tuple(draw(st.lists(TEXT, max_size=5, unique=True)))
        single = draw(st.booleans()) and n < 2
        fleets.append(FleetMessage(name, draw(TEXT), draw(TEXT), columns, draw(numbers), draw(numbers), single))
    return RosterMessage(draw(U64), tuple(fleets))


def blocks_of(roster: RosterMessage, seed: int, dtype: str) -> tuple[Any, ...]:
    """Blocks of any bits."""
    random = np.random.default_rng(seed)
    shapes = [(len(fleet.columns), len(fleet.ids)) for fleet in roster.fleets]
    return tuple(np.frombuffer(random.bytes(math.prod(s) * np.dtype(dtype).itemsize), dtype).reshape(s) for s in shapes)


@st.composite
def updates(draw: Callable[..., Any]) -> StateUpdate:
    roster = draw(rosters())
    blocks = blocks_of(roster, draw(U32), "<f8")
    known = draw(st.booleans())
    position = draw(U64), draw(FINITE), draw(FINITE), draw(U64)
    return StateUpdate(*position, roster.number, blocks, None if known else roster)


def flat(update: Any) -> Any:
    """As it arrives: the blocks have one axis."""
    return update._replace(blocks=tuple(block.ravel() for block in update.blocks))


# round trips ---------------------------------------------------------------------------------------------------------


@given(U64, BODIES, TEXT)
def test_requests_round_trip(number: int, body: Any, token: str) -> None:
    request = RequestMessage(number, body, token)
    assert same(request, decode_request(encode_request(request)))


@given(
    st.one_of(
        st.builds(Error, TEXT, TEXT),
        st.just(Done()),
        st.builds(Welcome, TEXT, TEXT, POSITIVE, U64, POSITIVE, U32, U32),
        st.builds(ControlAck, U64),
        st.builds(ResultMessage, TREES, st.binary(max_size=20)),
        EVENTS,
    ),
    U64,
    FINITE,
)
def test_replies_round_trip(body: Any, number: int, time: float) -> None:
    reply = Reply(number, number // 2, time, body)
    assert same(reply, decode_reply(encode_reply(reply)))


@given(updates(), st.floats(0.0, allow_nan=False), st.lists(TEXT, max_size=3))
def test_states_round_trip_alone_and_in_replies(update: StateUpdate, deadline: float, vehicles: list[str]) -> None:
    assert same(flat(update), decode_state_update(encode_state_update(update)))
    assert same(flat(update), decode_reply(encode_reply(Reply(0, 1, 0.0, update))).body)
    request = ControlRequestMessage(update.tick, deadline, tuple(vehicles), update)
    decoded = decode_reply(encode_reply(Reply(0, 1, 0.0, request))).body
    assert same(request._replace(state=flat(update)), decoded)


@given(rosters(), st.sampled_from([("double", "<f8"), ("single", "<f4")]), U32, st.booleans())
def test_recorded_states_round_trip_in_their_precision(
    roster: RosterMessage, form: tuple[str, str], seed: int, known: bool
) -> None:
    blocks = blocks_of(roster, seed, form[1])
    state = StateMessage(5, 0.25, 1, roster.number, blocks, form[0], None if known else roster)
    decoded = decode_state(encode_state(state))
    assert same(flat(state), decoded)
    assert same(blocks, arranged(decoded.blocks, roster))


@given(rosters())
def test_rosters_round_trip(roster: RosterMessage) -> None:
    assert same(roster, decode_roster(encode_roster(roster)))


@given(st.lists(MARKERS, max_size=4))
def test_markers_round_trip(markers: list[MarkerMessage]) -> None:
    command = PutMarkers(tuple(markers))
    assert same(command, decode_marker_command(encode_marker_command(command)))


@given(U64, U64, TEXT, TEXT, OBJECTS)
def test_actions_round_trip(tick: int, sequence: int, source: str, kind: str, tree: Any) -> None:
    action = ActionRecord(tick, sequence, source, kind, tree)
    assert same(action, decode_action(encode_action(action)))


@given(
    EVENTS,
    st.builds(StateHash, U64, U64, st.text("0123456789abcdef")),
    st.builds(
        RunStart,
        U64,
        U64,
        PLAIN,
        st.dictionaries(KEYS, PLAIN, max_size=3),
        st.sampled_from(REASONS),
        st.binary(max_size=9),
    ),
)
def test_records_round_trip(event: EventRecord, state_hash: StateHash, start: RunStart) -> None:
    assert same(event, decode_event(encode_event(event)))
    assert same(state_hash, decode_state_hash(encode_state_hash(state_hash)))
    assert same(start, decode_run_start(encode_run_start(start)))


def test_a_posted_action_of_the_engine_survives() -> None:
    ids, steer = np.array([3, 4, 7]), np.array([0.1, -0.2, math.pi])
    posted = Posted(12, 3, EngineControl(ids, {"steer": steer, "brake": 0.5}, 0.25), "alice")
    back = Posted.from_tree(decode_action(encode_action(ActionRecord(**posted.to_tree())))._asdict())
    assert (back.tick, back.sequence, back.source) == (12, 3, "alice")
    assert same(dataclasses.asdict(posted.action), dataclasses.asdict(back.action))


def test_a_snapshot_is_rebuilt_without_loss() -> None:
    entries = [
        {"name": "red", "model": "car.bicycle", "speed": 12, "sensors": ["imu"]},
        {"name": "scouts", "model": "quad", "count": 20, "spawn": {"grid": {"spacing": 3, "z": 20}}},
    ]
    with paddock.load({"vehicles": entries}) as sim:
        sim.step(50)
        sim.remove("scouts[3]")
        sim.step(1)
        sent = sim.snapshot()
    layouts = [{name: getattr(fleet, name) for name in FleetMessage._fields} for fleet in sent.layout.fleets]
    roster = RosterMessage(sent.roster, tuple(FleetMessage(**fields) for fields in layouts))
    blocks = tuple(fleet.block for fleet in sent)
    update = StateUpdate(sent.tick, sent.time, 0.0, sent.run, sent.roster, blocks, roster)
    got = decode_state_update(encode_state_update(update))
    assert got.roster is not None
    fleets = tuple(FleetLayout(n=len(fleet.ids), **fleet._asdict()) for fleet in got.roster.fleets)
    assert Layout(fleets, got.roster_number) == sent.layout
    assert (got.tick, got.sim_time, got.run) == (sent.tick, sent.time, sent.run)
    assert [block.tobytes() for block in arranged(got.blocks, got.roster)] == [block.tobytes() for block in blocks]


# bytes from elsewhere ------------------------------------------------------------------------------------------------


def test_a_step_has_the_bytes_of_protobuf() -> None:
    # id = 1 (tag 0x08), admin = 12 (tag 0x62), in it step = 5 (tag 0x2a), in it ticks = 1 (tag 0x08) of 300
    written = bytes([0x08, 7, 0x62, 5, 0x2A, 3, 0x08, 0xAC, 0x02])
    assert encode_request(RequestMessage(7, Direct("step", {"ticks": 300}))) == written
    assert decode_request(written) == RequestMessage(7, Direct("step", {"ticks": 300}))


def test_a_command_has_the_bytes_of_protobuf() -> None:
    number = struct.pack("<Bd", 0x09, 0.5)  # Input.number = 1, 64 bits
    entry = bytes([0x0A, 5]) + b"steer" + bytes([0x12, len(number)]) + number  # of the map: key = 1, value = 2
    command = bytes([0x0A, 3]) + b"red" + bytes([0x22, len(entry)]) + entry  # name = 1, inputs = 4
    written = bytes([0x08, 1, 0x6A, len(command)]) + command  # id = 1, command = 13
    arguments = {"target": "red", "inputs": {"steer": 0.5}}
    assert encode_request(RequestMessage(1, Direct("command", arguments))) == written
    decoded = Direct("command", {**arguments, "at_tick": None, "timeout": None})
    assert decode_request(written) == RequestMessage(1, decoded)


def test_blocks_are_float64_little_endian_in_c_order() -> None:
    block = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    for form in (block, np.asfortranarray(block)):
        message = pb.StateUpdate.FromString(encode_state_update(StateUpdate(1, 0.1, 2.0, 0, 4, (form,))))
        assert message.blocks[0] == struct.pack("<6d", 1, 2, 3, 4, 5, 6)
    message = pb.State.FromString(encode_state(StateMessage(1, 0.1, 0, 4, (block,), "single")))
    assert message.blocks[0] == struct.pack("<6f", 1, 2, 3, 4, 5, 6)


def test_a_marker_with_nothing_given_has_the_defaults() -> None:
    put = pb.MarkerCommand(put=pb.MarkerArray(markers=[pb.Marker(namespace="a", id=1)]))
    assert same(decode_marker_command(put.SerializeToString()), PutMarkers((MarkerMessage("a", 1, "points"),)))
    assert [kind.name.lower() for kind in MarkerKind] == list(KINDS)


def test_generated_code_matches_the_proto_file(tmp_path: Path) -> None:
    from grpc_tools import protoc

    package = Path(pb.__file__).parent
    root, name = package.parent.parent, "paddock/wire/messages.proto"
    assert protoc.main(["protoc", f"-I{root}", f"--python_out={tmp_path}", f"--pyi_out={tmp_path}", name]) == 0
    made = tmp_path / "paddock/wire"
    assert _lines(made / "messages_pb2.py", "DESCRIPTOR = ") == _lines(package / "messages_pb2.py", "DESCRIPTOR = ")
    version = "# Protobuf Python Version: "  # of the compiler: another one writes other bytes around the descriptor
    if _lines(made / "messages_pb2.py", version) == _lines(package / "messages_pb2.py", version):
        for name in ("messages_pb2.py", "messages_pb2.pyi"):
            assert (made / name).read_bytes() == (package / name).read_bytes(), f"{name} is stale: see messages.proto"


def _lines(path: Path, start: str) -> list[str]:
    lines = [line for line in path.read_text().splitlines() if line.startswith(start)]
    assert len(lines) == 1
    return lines


# refusals ------------------------------------------------------------------------------------------------------------


def values(*numbers: float, shape: tuple[int, ...] = ()) -> pb.Values:
    return pb.Values(f64_le=struct.pack(f"<{len(numbers)}d", *numbers), shape=shape)


def commanded(**inputs: pb.Input) -> pb.Request:
    return pb.Request(command=pb.Command(name="red", inputs=inputs))


def called(json: str, *arrays: pb.Values) -> pb.Request:
    return pb.Request(call=pb.Call(method="spawn", json=json, arrays=arrays))


FLEET = pb.Fleet(name="a", columns=["x", "y"], ids=[1, 2], members=[0, 1])


@pytest.mark.parametrize(
    ("reason", "message"),
    [
        ("type", pb.Request(id=1)),
        ("type", pb.Request(admin=pb.Admin())),
        ("type", pb.Request(markers=pb.MarkerCommand())),
        ("type", pb.Request(command=pb.Command())),
        ("type", pb.Request(control=pb.Control(vehicles=[pb.VehicleControl()]))),
        ("value", commanded(steer=pb.Input())),
        ("value", commanded(steer=pb.Input(number=math.nan))),
        ("value", commanded(steer=pb.Input(number=-math.inf))),
        ("value", commanded(steer=pb.Input(values=values(1.0, math.nan)))),
        ("value", commanded(steer=pb.Input(values=values(1.0, 2.0, shape=(1, 2))))),
        ("length", commanded(steer=pb.Input(values=pb.Values(f64_le=b"1234567")))),
        ("length", commanded(steer=pb.Input(values=values(1.0, shape=(2,))))),
        ("length", commanded(steer=pb.Input(values=values(shape=(2**31, 2**31, 2**31))))),
        ("value", pb.Request(command=pb.Command(vehicle=2**31))),
        ("value", pb.Request(command=pb.Command(vehicles=pb.Ids(ids=[1, 2**31])))),
        ("value", pb.Request(command=pb.Command(name="red", timeout=-1.0))),
        ("value", pb.Request(control=pb.Control(vehicles=[pb.VehicleControl(name="a"), pb.VehicleControl(name="a")]))),
        ("value", pb.Request(admin=pb.Admin(run=pb.Run(until=math.nan)))),
        ("value", pb.Request(admin=pb.Admin(run=pb.Run(pace=-1.0)))),
        ("value", pb.Request(admin=pb.Admin(set_pace=pb.SetPace(pace=math.inf)))),
        ("value", pb.Request(admin=pb.Admin(set_mode=pb.SetMode(mode=2)))),  # type: ignore[arg-type]
        ("value", pb.Request(command=pb.Command(vehicles=pb.Ids(ids=[1]), at_tick=5))),
        ("value", pb.Request(admin=pb.Admin(step=pb.Step(ticks=1, control=pb.Control())))),  # without `state`
        ("value", pb.Request(admin=pb.Admin(set_mode=pb.SetMode(vehicles=["red"])))),  # not synchronous
        ("value", pb.Request(markers=pb.MarkerCommand(put=pb.MarkerArray(markers=[pb.Marker(kind=11)])))),  # type: ignore[arg-type]
        ("value", pb.Request(markers=pb.MarkerCommand(put=pb.MarkerArray(markers=[pb.Marker(ttl=-1.0)])))),
        ("length", pb.Request(markers=pb.MarkerCommand(put=pb.MarkerArray(markers=[pb.Marker(points=b"12345678")])))),
        ("json", called("[1, 2]")),
        ("json", called('{"a": ')),
        ("json", called("[" * 100_000)),
        ("value", called('{"a": NaN}')),
        ("count", called('{"a": {"$array": 1}}', values(1.0))),
        ("count", called('{"a": {"$array": -1}}', values(1.0))),
        ("value", called('{"a": {"$array": true}}', values(1.0))),
        ("value", called('{"a": {"$array": 0, "b": 1}}', values(1.0))),
        ("value", called('{"a": {"$array": 0, "whole": true}}', values(1.5))),
        ("value", called('{"a": {"$array": 0, "whole": true}}', values(math.nan))),
        ("value", called('{"a": {"$number": "NaN"}}')),
        ("value", called('{"a": {"$secret": 1}}')),
    ],
)
def test_invalid_requests_are_refused_with_a_reason(reason: str, message: pb.Request) -> None:
    with pytest.raises(WireError) as caught:
        decode_request(message.SerializeToString())
    assert caught.value.reason == reason


@pytest.mark.parametrize(
    ("reason", "update"),
    [
        ("value", pb.StateUpdate(sim_time=math.nan)),
        ("value", pb.StateUpdate(wall_time=math.inf)),
        ("length", pb.StateUpdate(blocks=[b"1234"])),
        ("value", pb.StateUpdate(roster_number=1, roster=pb.Roster(number=2))),
        ("count", pb.StateUpdate(roster=pb.Roster(), blocks=[b""])),
        ("length", pb.StateUpdate(roster=pb.Roster(fleets=[FLEET]), blocks=[bytes(24)])),
        ("value", pb.StateUpdate(roster=pb.Roster(fleets=[FLEET, FLEET]), blocks=[bytes(32)] * 2)),
        ("count", pb.StateUpdate(roster=pb.Roster(fleets=[pb.Fleet(ids=[1])]), blocks=[b""])),
        ("value", pb.StateUpdate(roster=pb.Roster(fleets=[pb.Fleet(columns=["x", "x"])]), blocks=[b""])),
        ("value", pb.StateUpdate(roster=pb.Roster(fleets=[pb.Fleet(ids=[2**31], members=[0])]), blocks=[b""])),
        (
            "value",
            pb.StateUpdate(roster=pb.Roster(fleets=[pb.Fleet(ids=[1, 2], members=[0, 1], single=True)]), blocks=[b""]),
        ),
    ],
)
def test_invalid_states_are_refused_with_a_reason(reason: str, update: pb.StateUpdate) -> None:
    for decode, data in (
        (decode_state_update, update.SerializeToString()),
        (decode_reply, pb.Reply(state=update).SerializeToString()),
    ):
        with pytest.raises(WireError) as caught:
            decode(data)  # type: ignore[operator]
        assert caught.value.reason == reason


@pytest.mark.parametrize(
    ("reason", "decode", "message"),
    [
        ("type", decode_reply, pb.Reply(id=1)),
        ("value", decode_reply, pb.Reply(sim_time=math.nan, done=pb.Done())),
        ("value", decode_reply, pb.Reply(control_request=pb.ControlRequest(deadline=math.nan))),
        ("value", decode_reply, pb.Reply(welcome=pb.Welcome(rate=-1.0))),
        ("json", decode_reply, pb.Reply(result=pb.Result())),
        ("json", decode_action, pb.Action(json="1")),
        ("json", decode_run_start, pb.RunStart(scenario_json="{}", versions_json="[]")),
        ("value", decode_run_start, pb.RunStart(scenario_json="{}", versions_json="{}", reason=3)),  # type: ignore[arg-type]
        ("value", decode_state_hash, pb.StateHash(hash="xyz")),
        ("value", decode_state, pb.State(precision=2)),  # type: ignore[arg-type]
        ("length", decode_state, pb.State(precision="SINGLE", blocks=[b"12"])),
    ],
)
def test_other_invalid_messages_are_refused_with_a_reason(reason: str, decode: Any, message: Any) -> None:
    with pytest.raises(WireError) as caught:
        decode(message.SerializeToString())
    assert caught.value.reason == reason


def test_bytes_that_are_no_message_are_refused() -> None:
    with pytest.raises(WireError, match=r"these 3 bytes are not a paddock\.v1\.Request") as caught:
        decode_request(b"\xff\xff\xff")
    assert caught.value.reason == "protobuf"
    with pytest.raises(WireError):
        decode_event(b"\x1a\x01\xff")  # a text that is not UTF-8


def test_blocks_that_do_not_fit_the_known_roster_are_refused() -> None:
    roster = decode_roster(pb.Roster(fleets=[FLEET]).SerializeToString())
    with pytest.raises(WireError, match="3 numbers for fleet 'a' of shape"):
        arranged((np.zeros(3),), roster)
    with pytest.raises(WireError, match="2 blocks for 1 fleets"):
        arranged((np.zeros(4), np.zeros(4)), roster)
    (block,) = arranged((np.arange(4.0),), roster)
    assert block.tolist() == [[0.0, 1.0], [2.0, 3.0]]


def commanding(target: Any, **inputs: Any) -> Direct:
    return Direct("command", {"target": target, "inputs": inputs})


def marking(*fields: Any, **more: Any) -> Direct:
    marker = MarkerMessage(*fields, **more)
    return Direct("put_markers", {"markers": [{name: getattr(marker, name) for name in FIELDS}]})


@pytest.mark.parametrize(
    "body",
    [
        Direct("run", {"until": math.nan}),
        Direct("set_pace", {"pace": -1.0}),
        Direct("step", {"ticks": -1}),
        Direct("reset", {"seed": 2**64}),
        commanding("red", steer=math.nan),
        commanding("red", steer=None),
        commanding("red", steer=np.zeros((2, 2))),
        commanding(2**31),
        commanding(1.5),
        Direct("command_many", {"ids": np.array([-1]), "inputs": {}}),
        Direct("control", {"tick": 1, "commands": {True: {}}}),
        marking("a", -1, "points"),
        marking("a", 1, "points", position=(math.nan, 0.0, 0.0)),
        marking("a", 1, "points", vertices=np.full((1, 3), 1e300)),
        Call("spawn", {"$a": 1}),
        Call("spawn", {1: 1}),  # type: ignore[dict-item]
        Call("spawn", {"a": object()}),
        Call("spawn", {"a": np.array(["text"])}),
        Call("spawn", {"a": np.array([2**60])}),
        Call("\ud800", {}),
        42,
    ],
)
def test_unreadable_values_are_not_sent(body: Any) -> None:
    with pytest.raises(InvalidValueError):
        encode_request(RequestMessage(1, body))


def test_other_unreadable_values_are_not_sent() -> None:
    with pytest.raises(UnknownNameError, match="unknown operation 'paus'; did you mean 'pause'"):
        encode_request(RequestMessage(1, Direct("paus", {})))
    with pytest.raises(UnknownNameError, match="did you mean 'circle'"):
        encode_marker_command(PutMarkers((MarkerMessage("a", 1, "circel"),)))
    with pytest.raises(InvalidValueError, match="sim_time must be a finite number"):
        encode_reply(Reply(1, 1, math.nan, Done()))
    with pytest.raises(InvalidValueError, match="precision is one of double, single"):
        encode_state(StateMessage(1, 0.0, 0, 1, (), "half"))
    roster = RosterMessage(1, (FleetMessage("a", "car", "car.bicycle", ("x",), np.array([1]), np.array([0]), True),))
    with pytest.raises(InvalidValueError, match=r"have the shapes \[\(1, 1\)\]"):
        encode_state_update(StateUpdate(1, 0.0, 0.0, 0, 1, (np.zeros((1, 2)),), roster))
    with pytest.raises(InvalidValueError, match="cannot be sent with roster 1"):
        encode_state_update(StateUpdate(1, 0.0, 0.0, 0, 2, (np.zeros((1, 1)),), roster))
    with pytest.raises(InvalidValueError, match="hexadecimal"):
        encode_state_hash(StateHash(1, 1, "0x12"))
    with pytest.raises(InvalidValueError, match="start, reset, restore"):
        encode_run_start(RunStart(1, 1, {}, {}, "crash"))
    with pytest.raises(InvalidValueError, match="convert them to lists"):
        encode_run_start(RunStart(1, 1, {"a": np.zeros(2)}, {}))


@pytest.mark.parametrize(
    "shape", [[0, 2**32 - 1, 2**32 - 1], [2**32 - 1, 0], [0] * 9, [2**16, 2**16, 0], [1, 0, 2**31, 2]]
)
def test_empty_arrays_of_impossible_shapes_are_refused(shape: list[int]) -> None:
    call = pb.Call(method="events", json='{"a": {"$array": 0}}', arrays=[pb.Values(shape=shape)])
    with pytest.raises(WireError, match="0 bytes are not a float64 array of shape") as caught:
        decode_request(pb.Request(id=9, call=call).SerializeToString())
    assert (caught.value.reason, caught.value.id) == ("length", 9)


def test_empty_arrays_keep_their_shape() -> None:
    call = pb.Call(method="events", json='{"a": {"$array": 0}}', arrays=[pb.Values(shape=[0, 4])])
    body = decode_request(pb.Request(id=9, call=call).SerializeToString()).body
    assert isinstance(body, Call) and body.arguments["a"].shape == (0, 4)


@pytest.mark.parametrize(
    "data",
    [
        b"\x08\x03\x62\x00",  # field 1 (id) = 3, field 12 (admin), empty
        b"\x08\x03",  # no body at all
        b"\x08\x03\x82\x01\x03\x12\x01{",  # field 16 (call) with field 2 (json) = "{"
        b"\x08\x03\x62\x04\x3a\x02\x08\x07",  # admin, field 7 (set_mode) with mode 7
    ],
)
def test_a_refused_request_is_known_by_its_id(data: bytes) -> None:
    with pytest.raises(WireError) as caught:
        decode_request(data)
    assert caught.value.id == request_id(data) == 3


def test_an_invalid_request_has_the_id_0() -> None:
    with pytest.raises(WireError) as caught:
        decode_request(b"\xff\xff")
    assert caught.value.id == request_id(b"\xff\xff") == 0
