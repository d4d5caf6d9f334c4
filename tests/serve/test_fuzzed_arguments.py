"""Arguments of any kind, for every operation of the table: a refusal is a line of ours, without Python's own texts."""

from __future__ import annotations

import builtins
import json
import re
import socket
from collections.abc import Iterator
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin

import pytest
import zmq
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import BaseModel

import paddock
from paddock.bench.suites.clients import rovers_with_radio
from paddock.errors import InvalidValueError
from paddock.wire.messages import requests
from paddock.wire.operations import METHODS, OPERATIONS, ArgumentError, Operation
from paddock.wire.operations.arguments import MEMBERS, Argument, fields_of, plain

EXCEPTIONS = [name for name, kind in vars(builtins).items() if isinstance(kind, type) and issubclass(kind, Exception)]
PYTHON = re.compile(
    rf"\b({'|'.join([*EXCEPTIONS, 'ValidationError', 'NoneType', 'ndarray', 'pydantic'])})\b"
    "|Traceback|<class|object at 0x"
    "|not subscriptable|not iterable|unhashable|has no attribute|positional argument|unexpected keyword|broadcast"
)
NAMES = ("red", "scouts", "scouts[1]", "base", "noise", "decoy", "world", "zz", "", "x" * 5000, "*", "a\nb")
TREES: tuple[Any, ...] = (
    {"name": "guest", "model": "rover", "pose": [0, 0, 0], "sensors": ["gnss"], "behaviour": {"goto": {"x": 1.0}}},
    {"name": "t", "point": {"at": [100, 50]}},
    {"name": "z", "polygon": [[0, 0], [10, 0], [10, 10]]},
    {"namespace": "a", "id": 1, "kind": "points", "vertices": [[0, 0, 0]], "color": [1, 1, 1, 1], "ttl": 1.0},
    {"steer": 0.1, "throttle": [0.1, 0.2]},
    {"red": {"steer": 0.1}},
)
LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**70), 2**70),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=9),
    st.sampled_from(NAMES),
)
ANYTHING = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
HELD = {"hold", "step", "simulation_step", "run", "pause", "step_synchronously"}  # time then stands still, or they wait
HELD |= {"restore", "load_scenario", "authenticate"}  # tested elsewhere: saved states, the end of a run, tokens


@st.composite
def mutated(draw: Any, value: Any) -> Any:
    """A value of which a part is replaced by anything."""
    if isinstance(value, dict | list) and value and draw(st.integers(0, 4)):
        key = draw(st.sampled_from(sorted(value) if isinstance(value, dict) else range(len(value))))
        return (
            type(value)({**value, key: draw(mutated(value[key]))})
            if isinstance(value, dict)
            else [draw(mutated(item)) if k == key else item for k, item in enumerate(value)]
        )
    return draw(ANYTHING)


def values_of(annotation: Any) -> st.SearchStrategy[Any]:
    """Values of about the type of an annotation."""
    kind = plain(annotation)
    origin, inner = get_origin(kind), get_args(kind)
    if origin in (UnionType, Union):
        return st.one_of(*map(values_of, inner))
    if origin is Literal:
        return st.sampled_from(inner)
    if origin is list:
        return st.lists(values_of(inner[0]), max_size=3)
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        return st.fixed_dictionaries({}, optional={part.name: values_of(part.annotation) for part in fields_of(kind)})
    if origin is dict or kind is Any:
        return st.sampled_from(TREES).flatmap(mutated)
    simple = {str: st.sampled_from(NAMES), int: st.integers(-1, 9), float: st.floats(-9.0, 9.0), bool: st.booleans()}
    return simple.get(kind, st.none() if kind is NoneType else st.binary(max_size=9))


def arguments_of(operation: Operation, arguments: tuple[Argument, ...]) -> st.SearchStrategy[dict[str, Any]]:
    """Arguments for an operation: its example or values of their types, most of them with a part that is anything."""
    each = {argument.name: values_of(argument.annotation) for argument in arguments}
    required = {argument.name: each.pop(argument.name) for argument in arguments if argument.required}
    typed = st.fixed_dictionaries(required, optional=each)
    example = {name: value for name, value in (operation.entry.example or {}).items() if name in {*required, *each}}
    whole = typed.map(lambda values: {**values, **example}) if example else typed
    return st.one_of(whole, whole.flatmap(mutated).filter(lambda values: isinstance(values, dict)))


@pytest.fixture(scope="module")
def ports() -> Iterator[dict[str, int]]:
    """A served simulation that stands still."""
    with (
        paddock.load({**rovers_with_radio(3), "contact": True}) as sim,
        paddock.share(sim, lambda line: None, zmq={"port": 0}, stream={"port": 0}) as host,
    ):
        yield {name: host.addresses[name]["port"] for name in ("zmq", "stream")}


@pytest.fixture(scope="module")
def zmq_client(ports: dict[str, int]) -> Iterator[zmq.Socket[bytes]]:
    with zmq.Context() as context, context.socket(zmq.DEALER) as client:
        client.linger, client.rcvtimeo = 0, 120_000
        client.connect(f"tcp://127.0.0.1:{ports['zmq']}")
        yield client


@pytest.fixture(scope="module")
def rpc_client(ports: dict[str, int]) -> Iterator[socket.socket]:
    with socket.create_connection(("127.0.0.1", ports["stream"])) as client:
        client.settimeout(120)
        yield client


def assert_plain(text: str, arguments: Any) -> None:
    assert text and not PYTHON.search(text), (text, arguments)


def fuzzed(examples: int) -> Any:
    checks = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.filter_too_much]
    return settings(max_examples=examples, deadline=None, derandomize=True, suppress_health_check=checks)


def ask_zmq(client: zmq.Socket[bytes], body: requests.Body) -> requests.ReplyBody:
    """Return the reply; say Hello first, again after a silence in which the server has forgotten this client."""
    while True:
        client.send(requests.encode_request(requests.RequestMessage(7, body)))
        while (reply := requests.decode_reply(client.recv())).id != 7:
            pass
        if not (isinstance(reply.body, requests.Error) and reply.body.code == "hello"):
            return reply.body
        client.send(requests.encode_request(requests.RequestMessage(1, requests.Hello("eve"))))


def check_zmq(client: zmq.Socket[bytes], operation: Operation, arguments: dict[str, Any]) -> None:
    named = operation.callable_by_name
    body = requests.Call(operation.name, arguments) if named else requests.Direct(operation.name, arguments)
    try:
        reply = ask_zmq(client, body)
    except InvalidValueError as error:  # no message can hold it
        assert_plain(str(error), arguments)
        return
    if isinstance(reply, requests.Error):
        assert reply.code != "InternalError" and reply.message != "internal error of the server", arguments
        assert_plain(reply.message, arguments)


def check_rpc(client: socket.socket, method: str, arguments: dict[str, Any]) -> None:
    client.sendall(json.dumps({"jsonrpc": "2.0", "id": 7, "method": method, "params": arguments}).encode() + b"\n")
    data = client.makefile("rb")
    while True:
        if data.peek(1)[:1] != b"{":
            data.read(int.from_bytes(data.read(5)[1:], "little"))
        elif (reply := json.loads(data.readline())).get("id", 0) == 7:
            break
    if "error" in reply:
        assert reply["error"]["code"] != -32603, arguments
        assert_plain(reply["error"]["message"], arguments)


ZMQ = [name for name, operation in OPERATIONS.items() if operation.entry.zmq and name not in HELD]
RPC = [name for name, operation in METHODS.items() if not {name, operation.name} & HELD]


@pytest.mark.parametrize("name", ZMQ)
def test_refusals_over_zeromq_are_lines_of_ours(name: str, zmq_client: zmq.Socket[bytes]) -> None:
    operation = OPERATIONS[name]

    @fuzzed(6)
    @given(arguments_of(operation, operation.arguments))
    def check(arguments: dict[str, Any]) -> None:
        check_zmq(zmq_client, operation, arguments)

    check()


@pytest.mark.parametrize("method", RPC)
def test_refusals_over_json_rpc_are_lines_of_ours(method: str, rpc_client: socket.socket) -> None:
    operation = METHODS[method]

    @fuzzed(6)
    @given(arguments_of(operation, tuple(part for part in operation.fields if not part.marked(MEMBERS))))
    def check(arguments: dict[str, Any]) -> None:
        check_rpc(rpc_client, method, {k: v for k, v in arguments.items() if not isinstance(v, bytes)})

    check()


@pytest.mark.soak
@pytest.mark.parametrize("name", OPERATIONS)
def test_many_arguments(name: str, zmq_client: zmq.Socket[bytes], rpc_client: socket.socket) -> None:
    operation = OPERATIONS[name]

    @fuzzed(200)
    @given(st.data())
    def check(data: Any) -> None:
        if name in ZMQ:
            check_zmq(zmq_client, operation, data.draw(arguments_of(operation, operation.arguments)))
        if operation.entry.rpc in RPC:
            fields = tuple(part for part in operation.fields if not part.marked(MEMBERS))
            check_rpc(rpc_client, operation.entry.rpc, data.draw(arguments_of(operation, fields)))

    check()


@pytest.mark.parametrize("name", ["spawn_robots", "set_columns", "subscribe"])
def test_an_item_that_is_no_object_is_named(name: str) -> None:
    field = {"spawn_robots": "robots"}.get(name, "columns")
    with pytest.raises(ArgumentError, match=rf"{name}: '{field}\[0\]' must be an object, got 3"):
        METHODS[name].read({field: [3]})
