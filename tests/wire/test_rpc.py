"""The JSON-RPC envelope, JSON to the letter, and the parameters of calls."""

import json
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paddock.errors import InvalidValueError
from paddock.wire import rpc
from paddock.wire.error import WireError
from paddock.wire.params import Params
from paddock.wire.rpc import Failure, Notification, Request, Response, RpcError, parse
from paddock.wire.strict_json import MAX_DEPTH, dumps, loads

# ---- the envelope


def test_lines_are_what_the_specification_shows() -> None:
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


@settings(deadline=None)
@given(IDS, METHODS, PARAMS, VALUES, st.integers(-(2**31), 2**31))
def test_messages_there_and_back(id: Any, method: str, params: Any, value: Any, code: int) -> None:
    assert parse(rpc.request(id, method, params)) == Request(id, method, params)
    assert parse(rpc.notification(method, params)) == Notification(method, params)
    assert parse(rpc.result(id, value)) == Response(id, value)
    assert parse(rpc.failure(id, code, method, value)) == Response(id, None, Failure(code, method, value))


@settings(deadline=None)
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
        (b'{"a":1,"a":2}', -32700, "'a' stands twice"),
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
def test_a_malformed_message_tells_what_to_answer(line: bytes, code: int, text: str) -> None:
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


def test_depth_is_counted_as_it_is() -> None:
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
def test_what_is_not_json_is_not_sent(value: Any) -> None:
    with pytest.raises(InvalidValueError, match="cannot be sent as JSON"):
        rpc.result(1, value)


def test_numpy_values_become_lists_and_numbers() -> None:
    value = {"a": np.arange(3), "b": np.float32(0.5), "c": np.int64(7), "d": np.bool_(True)}
    assert json.loads(dumps(value)) == {"a": [0, 1, 2], "b": 0.5, "c": 7, "d": True}


def test_texts_with_many_digits_are_still_texts() -> None:
    assert dumps(["1" * 30, 2**64 - 1]) == b'["' + b"1" * 30 + b'",18446744073709551615]'


# ---- parameters


def test_fields_are_taken_by_name_and_type() -> None:
    given_ = {
        "name": "red",
        "x": 2,
        "id": 7,
        "on": False,
        "at": [1, 2.5, 3],
        "more": {"u": 1},
        "robots": [{"id": 1}, {"id": 2}],
    }
    fields = Params(given_, "spawn")
    assert fields.text("name") == "red" and fields.whole("id", low=0, high=7) == 7
    x = fields.number("x", low=0.0, high=2.0)
    assert x == 2.0 and isinstance(x, float)
    assert fields.boolean("on") is False and fields.numbers("at", 3) == [1.0, 2.5, 3.0]
    assert fields.mapping("more").numbers_by_name() == {"u": 1.0}
    assert [robot.whole("id") for robot in fields.mappings("robots")] == [1, 2]
    fields.finish()


def test_optional_fields_have_defaults() -> None:
    fields = Params(None, "m")
    assert fields.text("a", "x") == "x" and fields.number("b", None) is None and fields.boolean("c", True) is True
    assert Params({"b": None}, "m").number("b", None) is None
    fields.finish()


REFUSED: list[tuple[Any, str, dict[str, Any], str]] = [
    ({}, "text", {}, "m: 'f' is missing: a text of 1 to 255 characters"),
    ({"ff": 1}, "number", {}, "m: 'f' is missing: a number; 'ff' is not a field, did you mean 'f'?"),
    ({"f": ""}, "text", {}, "m: 'f' must be a text of 1 to 255 characters, got \"\""),
    ({"f": "x" * 300}, "text", {}, f'got "{"x" * 59}...'),
    ({"f": None}, "text", {"default": "a"}, "'f' must be a text of 1 to 255 characters, got null"),
    ({"f": True}, "number", {}, "'f' must be a number, got true"),
    ({"f": "1"}, "number", {}, "'f' must be a number, got \"1\""),
    ({"f": 1.5}, "number", {"low": 0, "high": 1}, "'f' must be a number from 0 to 1, got 1.5"),
    ({"f": -1}, "number", {"low": 0}, "'f' must be a number of 0 or more, got -1"),
    ({"f": 9}, "number", {"high": 8}, "'f' must be a number of 8 or less, got 9"),
    ({"f": 1.0}, "whole", {}, "'f' must be a whole number, got 1.0"),
    ({"f": False}, "whole", {}, "'f' must be a whole number, got false"),
    ({"f": -1}, "whole", {"low": 0}, "'f' must be a whole number of 0 or more, got -1"),
    ({"f": 0}, "boolean", {}, "'f' must be true or false, got 0"),
    ({"f": [1, 2]}, "numbers", {"size": 3}, "'f' must be a list of 3 numbers, got a list"),
    ({"f": [1, 2, "3"]}, "numbers", {"size": 3}, "'f' must be a list of 3 numbers"),
    ({"f": []}, "mapping", {}, "'f' must be an object, got a list"),
    ({"f": {}}, "mappings", {}, "'f' must be a list of up to 100000 objects, got an object"),
    ({"f": [{}, 1]}, "mappings", {}, "'f' must be a list of up to 100000 objects"),
    ({"f": [{}, {}]}, "mappings", {"most": 1}, "'f' must be a list of up to 1 objects"),
]


@pytest.mark.parametrize(("params", "reader", "options", "text"), REFUSED)
def test_a_bad_field_is_named_with_what_would_be_valid(
    params: Any, reader: str, options: dict[str, Any], text: str
) -> None:
    with pytest.raises(RpcError) as caught:
        getattr(Params(params, "m"), reader)("f", **options)
    assert text in str(caught.value) and caught.value.code == -32602


def test_unknown_fields_are_refused_with_a_suggestion() -> None:
    fields = Params({"vehicle_id": 1, "throtle": 0.5, "zzz": 1}, "set_control")
    fields.whole("vehicle_id")
    fields.number("throttle", 0.0)
    with pytest.raises(
        RpcError, match="set_control: unknown fields 'throtle', 'zzz'; did you mean 'throttle'"
    ) as caught:
        fields.finish()
    assert caught.value.code == -32602


def test_errors_inside_lists_tell_which_item() -> None:
    robots = Params({"robots": [{"id": 1}, {"id": "x"}]}, "spawn_robots").mappings("robots")
    with pytest.raises(RpcError, match=r"spawn_robots: robots\[1\]: 'id' must be a whole number, got \"x\""):
        robots[1].whole("id")


@pytest.mark.parametrize(("params", "text"), [([1, 2], "not as a list, by position"), ("x", 'not as "x"')])
def test_parameters_by_position_are_refused(params: Any, text: str) -> None:
    with pytest.raises(RpcError, match=f"ping: give parameters by name, in an object, {text}") as caught:
        Params(params, "ping")
    assert caught.value.code == -32602


def test_a_flood_of_names_is_refused_without_comparing_them_all() -> None:
    flood = {f"field_{k}": k for k in range(100_000)}
    fields = Params(flood, "m")
    with pytest.raises(RpcError, match="'field' is missing"):
        fields.text("field")
    with pytest.raises(RpcError, match="unknown fields 'field_0', 'field_1'"):
        fields.finish()
