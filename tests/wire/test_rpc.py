"""The JSON-RPC envelope and strict JSON."""

import json
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddock.errors import InvalidValueError
from paddock.wire import WireError, rpc
from paddock.wire.json_document import MAX_DEPTH, dumps, loads
from paddock.wire.rpc import Failure, Notification, Request, Response, RpcError, parse

# ---- the envelope


def test_lines_equal_the_specification() -> None:
    assert rpc.request(1, "ping") == b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n'
    assert rpc.request("a", "pause", {"x": 1}) == b'{"jsonrpc":"2.0","id":"a","method":"pause","params":{"x":1}}\n'
    assert rpc.notification("tick", {}) == b'{"jsonrpc":"2.0","method":"tick","params":{}}\n'
    assert rpc.result(7, None) == b'{"jsonrpc":"2.0","id":7,"result":null}\n'
    assert rpc.failure(None, -32700, "no") == b'{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"no"}}\n'
    with_data = b'{"jsonrpc":"2.0","id":7,"error":{"code":-1,"message":"no","data":[1]}}\n'
    assert rpc.failure(7, -1, "no", [1]) == with_data


def test_the_codes_are_those_of_the_specification() -> None:
    codes = (rpc.PARSE_ERROR, rpc.INVALID_REQUEST, rpc.METHOD_NOT_FOUND, rpc.INVALID_PARAMS, rpc.INTERNAL_ERROR)
    assert codes == (-32700, -32600, -32601, -32602, -32603)


def test_every_kind_of_message_is_recognised() -> None:
    assert parse(b'{"jsonrpc":"2.0","id":null,"method":"m","params":[1]}') == Request(None, "m", [1])
    assert parse(b'{"jsonrpc": "2.0", "method": "m"}\r') == Notification("m", None)
    assert parse(b'{"jsonrpc":"2.0","id":1,"result":false}') == Response(1, False)
    answer = parse(b'{"jsonrpc":"2.0","id":"x","error":{"code":-5,"message":"no","data":{"a":1}}}')
    assert answer == Response("x", None, Failure(-5, "no", {"a": 1}))


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)
IDS = st.none() | st.integers(-(2**63), 2**64 - 1) | st.text()
METHODS = st.text(min_size=1)
PARAMS = st.none() | st.dictionaries(st.text(), VALUES, max_size=4)


@given(IDS, METHODS, PARAMS, VALUES, st.integers(-(2**31), 2**31))
def test_messages_round_trip(id: Any, method: str, params: Any, value: Any, code: int) -> None:
    assert parse(rpc.request(id, method, params)) == Request(id, method, params)
    assert parse(rpc.notification(method, params)) == Notification(method, params)
    assert parse(rpc.result(id, value)) == Response(id, value)
    assert parse(rpc.failure(id, code, method, value)) == Response(id, None, Failure(code, method, value))


@given(VALUES)
def test_json_agrees_with_the_standard_library(value: Any) -> None:
    line = dumps(value)
    assert b"\n" not in line and json.loads(line) == value and loads(json.dumps(value).encode()) == value


@pytest.mark.parametrize(
    ("line", "code", "text"),
    [
        (b"", -32700, "not JSON"),
        (b"{", -32700, "not JSON"),
        (b'{"jsonrpc":"2.0","method":"m"} x', -32700, "Extra data"),
        (b"\xff", -32700, "not UTF-8 at byte 0"),
        (b"\xef\xbb\xbf{}", -32700, "not JSON"),
        (b'{"a":NaN}', -32700, "NaN is not JSON"),
        (b'{"a":-Infinity}', -32700, "-Infinity is not JSON"),
        (b'{"a":1e999}', -32700, "1e999 is too large"),
        (b'{"a":18446744073709551616}', -32700, "up to 64 bits"),
        (b'{"a":-9223372036854775809}', -32700, "up to 64 bits"),
        (b'{"a":' + b"9" * 5000 + b"}", -32700, "up to 64 bits"),
        (b'{"a":1,"a":2}', -32700, "the key 'a' is repeated"),
        (b'{"a":"\\ud800"}', -32700, "surrogate"),
        (b'{"\\udfff":1}', -32700, "surrogate"),
        (b'{"a":"\t"}', -32700, "control character"),
        (b"1", -32600, "a message is an object"),
        (b"[]", -32600, "a batch has 1 to 1000"),
        (b"[" + b",".join([b"1"] * 1001) + b"]", -32600, "a batch has 1 to 1000"),
        (b'{"id":1,"method":"m"}', -32600, "'jsonrpc' must be"),
        (b'{"jsonrpc":"1.0","method":"m"}', -32600, "'jsonrpc' must be"),
        (b'{"jsonrpc":"2.0","id":1.5,"method":"m"}', -32600, "'id' must be"),
        (b'{"jsonrpc":"2.0","id":true,"method":"m"}', -32600, "'id' must be"),
        (b'{"jsonrpc":"2.0","id":[],"method":"m"}', -32600, "'id' must be"),
        (b'{"jsonrpc":"2.0","method":""}', -32600, "'method' must be"),
        (b'{"jsonrpc":"2.0","method":3}', -32600, "'method' must be"),
        (b'{"jsonrpc":"2.0","method":"m","params":3}', -32600, "'params' must be"),
        (b'{"jsonrpc":"2.0","method":"m","parms":{}}', -32600, "'parms' is not part of a message"),
        (b'{"jsonrpc":"2.0","id":1}', -32600, "a message has 'method'"),
        (b'{"jsonrpc":"2.0","result":1}', -32600, "a message has 'method'"),
        (b'{"jsonrpc":"2.0","id":1,"result":1,"error":{}}', -32600, "a message has 'method'"),
        (b'{"jsonrpc":"2.0","id":1,"error":{"code":"x","message":""}}', -32600, "'error' must have"),
        (b'{"jsonrpc":"2.0","id":1,"error":{"code":true,"message":""}}', -32600, "'error' must have"),
        (b'{"jsonrpc":"2.0","id":1,"error":7}', -32600, "'error' must have"),
    ],
)
def test_a_malformed_message_carries_its_answer(line: bytes, code: int, text: str) -> None:
    with pytest.raises(WireError, match=text) as caught:
        parse(line)
    error = caught.value
    assert isinstance(error, RpcError) and error.code == code and error.reason


@pytest.mark.parametrize(
    ("line", "id"),
    [
        (b'{"jsonrpc":"2.0","id":7,"method":"m","params":{"a":[18446744073709551616]}}', 7),
        (b'{"jsonrpc":"2.0","id":"x","method":"m","params":{"a":1e999,"b":0.5}}', "x"),
        (b'{"jsonrpc":"2.0","id":7,"method":"m","params":{"a":NaN}}', 7),
        (b'{"jsonrpc":"2.0","id":18446744073709551616,"method":"m"}', None),
        (b'{"jsonrpc":"2.0","id":"\\ud800","method":"m","params":{"a":NaN}}', None),
        (b'{"jsonrpc":"2.0","id":[],"method":"m","params":{"a":NaN}}', None),
        (b'[{"jsonrpc":"2.0","id":7,"method":"m","params":{"a":NaN}}]', None),
        (b'{"jsonrpc":"2.0","id":7,"method":"m","params":{"a":NaN}', None),
    ],
)
def test_the_answer_to_a_number_too_large_carries_the_id_if_it_can_be_read(line: bytes, id: str | int | None) -> None:
    with pytest.raises(RpcError) as caught:
        parse(line)
    assert (caught.value.code, caught.value.id) == (-32700, id)


def test_the_answer_to_an_invalid_request_carries_its_id() -> None:
    with pytest.raises(RpcError) as caught:
        parse(b'{"jsonrpc":"2.0","id":41,"method":7}')
    assert caught.value.id == 41


def test_a_batch_keeps_its_good_messages_and_names_the_bad() -> None:
    batch = parse(b'[{"jsonrpc":"2.0","id":1,"method":"a"},1,{"jsonrpc":"2.0","method":"b"}]')
    assert isinstance(batch, list)
    assert batch[0] == Request(1, "a", None) and batch[2] == Notification("b", None)
    assert isinstance(batch[1], RpcError) and batch[1].code == -32600


# ---- depth


@pytest.mark.parametrize("text", [b"[" * 100_000, b'{"a":' * 100_000, b"[" * 5000 + b"]" * 5000, b"[{}," * 50_000])
def test_deep_nesting_is_refused_without_using_up_the_stack(text: bytes) -> None:
    with pytest.raises(WireError, match=f"more than {MAX_DEPTH} levels|not JSON"):
        loads(text)


def test_depth_is_counted_exactly() -> None:
    assert loads(b"[" * MAX_DEPTH + b"]" * MAX_DEPTH)
    with pytest.raises(WireError, match="levels"):
        loads(b"[" * (MAX_DEPTH + 1) + b"]" * (MAX_DEPTH + 1))
    assert loads(b"[" + b",".join([b"[]"] * 1000) + b"]") == [[]] * 1000


@pytest.mark.parametrize("inside", [b"[" * 100, b'\\"' + b"[" * 100, b"\\\\", b"]" * 50 + b"[{" * 50])
def test_brackets_in_texts_are_not_levels(inside: bytes) -> None:
    text = b'[["' + inside + b'"], {"' + inside + b'": ["' + inside + b'"]}]'
    assert loads(text) == json.loads(text)


def test_texts_that_end_early_do_not_hide_levels() -> None:
    with pytest.raises(WireError, match="levels"):
        loads(b'["a\\\\",' + b"[" * 2000)
    with pytest.raises(WireError, match="not JSON"):
        loads(b'"' + b'\\"' * 100_000 + b"[" * 100)


# ---- encoding


@pytest.mark.parametrize(
    "value", [math.nan, -math.inf, [{"a": np.float64("nan")}], 2**64, {1, 2}, "\ud800", np.array([math.inf])]
)
def test_invalid_json_is_not_sent(value: Any) -> None:
    with pytest.raises(InvalidValueError, match="cannot be sent as JSON"):
        rpc.result(1, value)


def test_numpy_values_become_lists_and_numbers() -> None:
    value = {"a": np.arange(3), "b": np.float32(0.5), "c": np.int64(7), "d": np.bool_(True)}
    assert json.loads(dumps(value)) == {"a": [0, 1, 2], "b": 0.5, "c": 7, "d": True}


def test_texts_with_many_digits_are_still_texts() -> None:
    assert dumps(["1" * 30, 2**64 - 1]) == b'["' + b"1" * 30 + b'",18446744073709551615]'
