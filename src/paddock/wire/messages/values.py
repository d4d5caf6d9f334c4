"""Common parts of messages: codecs, parsing, finite numbers, arrays, and trees of plain values with arrays in them.

The arguments of a Call and the value of a Result are such trees: JSON with references to binary arrays. Their type is
declared in the table of operations; typed messages would repeat it in a second language, and every operation would
need a new message. JSON keeps them readable from any language, and the arrays stay binary.
"""

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import Any, Generic, TypeVar, get_args

import numpy as np
from google.protobuf.message import DecodeError, EncodeError, Message
from numpy.typing import NDArray

from paddock.errors import InvalidValueError, PaddockError
from paddock.wire import WireError
from paddock.wire import messages_pb2 as pb
from paddock.wire.json_document import dumps, loads

Buffer = bytes | bytearray | memoryview
Floats = NDArray[np.float64]
Ids = NDArray[np.int64]
M = TypeVar("M", bound=Message)
V = TypeVar("V")

ARRAY, WHOLE, NUMBER = "$array", "whole", "$number"  # keys of objects for values that JSON lacks
UNSENDABLE = (TypeError, ValueError, KeyError, AttributeError, OverflowError, RecursionError, EncodeError)
ODD_NUMBERS = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}
LARGEST_ID = 2**31 - 1
LARGEST_ARRAY = 2**31  # limit of an array's size, counting empty axes as 1: more than a message can hold
EXACT = 2.0**53  # whole numbers up to this size are exact as float64


def parsed(kind: type[M], data: Buffer) -> M:
    """Parse bytes as a message."""
    message = kind()
    try:
        message.ParseFromString(bytes(data))
    except (DecodeError, UnicodeDecodeError) as error:
        raise WireError("protobuf", f"these {len(data)} bytes are not a {kind.DESCRIPTOR.full_name}") from error
    return message


class sending:  # noqa: N801 - reads as `with sending("request"):`
    """Report values that a message cannot hold as InvalidValueError."""

    __slots__ = ("_what",)

    def __init__(self, what: str) -> None:
        self._what = what

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, WireError):  # the receiver's checks
            raise InvalidValueError(str(error)) from error
        if isinstance(error, UNSENDABLE) and not isinstance(error, PaddockError):
            raise InvalidValueError(
                f"this {self._what} cannot be sent: its arguments do not fit its message"
            ) from error


class Codec(Generic[V, M]):
    """Converts values of one class to messages and back: field by field, unless `write` and `read` are given.

    Fields of a value and its message have the same names. An absent field is None, an enum a name in lower case, a list
    a tuple; numbers are finite.
    """

    def __init__(
        self,
        kind: type[V],
        message: type[M],
        write: Callable[[V], Mapping[str, Any]] | None = None,
        read: Callable[[M], V] | None = None,
        what: str = "",
        check: bool = False,
    ) -> None:
        """`write` returns the fields of a message, `what` is for errors, `check` refuses what `read` would refuse."""
        self.kind, self._message, self._check = kind, message, check
        self._what = what
        self._write: Callable[[V], Mapping[str, Any]] = write or (lambda value: value._asdict())  # type: ignore[attr-defined]
        self.value: Callable[[M], V] = read or (lambda message: kind(**fields_of(message, kind._fields)))  # type: ignore[attr-defined]

    def message(self, value: V) -> M:
        """Return the message of a value."""
        message = self._message(**self._write(value))
        if self._check:
            self.value(message)
        return message

    def encode(self, value: V) -> bytes:
        """Encode a single value."""
        with sending(self._what):
            return self.message(value).SerializeToString()

    def decode(self, data: Buffer) -> V:
        """Decode a single value."""
        return self.value(parsed(self._message, data))


class Oneof:
    """The codecs of the fields of a oneof."""

    def __init__(self, name: str, codecs: Mapping[str, Codec[Any, Any]]) -> None:
        self._name = name
        self._codecs = codecs
        self._fields = {
            kind: (field, codec) for field, codec in codecs.items() for kind in get_args(codec.kind) or (codec.kind,)
        }

    def fields(self, value: Any) -> dict[str, Message]:
        """Return the field of a value, for the constructor of a message."""
        field, codec = self._fields[type(value)]
        return {field: codec.message(value)}

    def value(self, message: Message) -> Any:
        """Return the value of the field that is set."""
        field = body_of(message, self._name)
        return self._codecs[field].value(getattr(message, field))


LOWEST = {"pace": 0.0, "rate": 0.0, "heartbeat": 0.0, "timeout": 0.0}  # limits of numbers, by the names of their fields


def fields_of(message: Message, names: Iterable[str]) -> dict[str, Any]:
    """Return the fields of a message as the fields of a value."""
    what, kinds = _fields(message.DESCRIPTOR)
    fields = {}
    for name in names:
        optional, enum = kinds[name]
        value = getattr(message, name)
        if optional and not message.HasField(name):
            value = None
        elif enum:
            value = enumerated(value, enum, f"{what}: {name}")
        elif isinstance(value, float):
            value = finite(value, f"{what}: {name}", LOWEST.get(name, -math.inf))
        elif not isinstance(value, str | bytes | int):
            value = tuple(value)
        fields[name] = value
    return fields


@cache
def _fields(descriptor: Any) -> tuple[str, dict[str, tuple[bool, tuple[str, ...]]]]:
    """Return the name of a message in errors; for each field whether it may be absent, and the names of its enum."""
    kinds = {
        field.name: (
            field.has_presence,
            tuple(value.name.lower() for value in field.enum_type.values) if field.enum_type else (),
        )
        for field in descriptor.fields
    }
    return re.sub(r"(?<!^)([A-Z])", r"_\1", descriptor.name).lower(), kinds


def body_of(message: Message, oneof: str) -> str:
    """Return the name of the field that is set in a oneof."""
    name: str | None = message.WhichOneof(oneof)
    if name is None:
        known = ", ".join(field.name for field in message.DESCRIPTOR.oneofs_by_name[oneof].fields)
        raise WireError("type", f"{message.DESCRIPTOR.name}: no known field is set; valid: {known}")
    return name


def finite(value: float, what: str, low: float = -math.inf) -> float:
    """Check that a number is finite and not below `low`."""
    if not (math.isfinite(value) and value >= low):
        least = f" of at least {low:g}" if low > -math.inf else ""
        raise WireError("value", f"{what} must be a finite number{least}, not {value}")
    return value


def enumerated(number: int, names: Sequence[str], what: str) -> str:
    """Return the name of an enum's value; Protobuf accepts unknown numbers."""
    if not 0 <= number < len(names):
        raise WireError("value", f"{what} must be from 0 to {len(names) - 1} ({', '.join(names)}), not {number}")
    return names[number]


def to_values(array: NDArray[Any]) -> pb.Values:
    """Encode an array as float64."""
    if array.dtype.kind not in "fiub" or (
        array.dtype.kind in "iu" and array.size and not bool(int(array.min()) >= -EXACT and int(array.max()) <= EXACT)
    ):
        raise InvalidValueError(f"an array of {array.dtype} cannot be sent without loss: numbers of 64 bits can")
    message = pb.Values(f64_le=np.ascontiguousarray(array, "<f8").tobytes())
    if array.ndim != 1:
        message.shape.extend(array.shape)
    return message


def from_values(message: pb.Values, what: str) -> Floats:
    """Decode an array; its shape must match its bytes."""
    data = message.f64_le
    shape = tuple(message.shape) or (len(data) // 8,)
    fits = len(shape) <= 8 and math.prod(max(1, axis) for axis in shape) <= LARGEST_ARRAY
    if len(data) % 8 or not fits or math.prod(shape) != len(data) // 8:
        raise WireError("length", f"{what}: {len(data)} bytes are not a float64 array of shape {shape[:8]}")
    return np.frombuffer(data, "<f8").reshape(shape)


def to_ids(ids: Any, what: str) -> list[int]:
    """Return vehicle ids as a list of whole numbers."""
    array = np.asarray(ids)
    if array.ndim != 1 or (
        array.size and (array.dtype.kind not in "iu" or array.min() < 0 or array.max() > LARGEST_ID)
    ):
        raise InvalidValueError(f"{what} must be a list of whole numbers from 0 to 2^31 - 1")
    return array.tolist()  # type: ignore[no-any-return]


def from_ids(ids: Iterable[int], what: str) -> Ids:
    """Return vehicle ids, or members of a fleet, (n,)."""
    array = np.fromiter(ids, np.int64)
    if array.size and array.max() > LARGEST_ID:
        raise WireError("value", f"{what} must be from 0 to 2^31 - 1, not {array.max()}")
    array.flags.writeable = False
    return array


def to_tree(value: Any) -> tuple[str, list[pb.Values]]:
    """Return JSON text and its arrays for mappings, sequences, texts, numbers (also NaN), None and arrays."""
    arrays: list[pb.Values] = []
    return dumps(_folded(value, arrays)).decode(), arrays


def _folded(value: Any, arrays: list[pb.Values]) -> Any:
    match value:
        case np.ndarray():
            arrays.append(to_values(value))
            return {ARRAY: len(arrays) - 1, WHOLE: True} if value.dtype.kind in "iu" else {ARRAY: len(arrays) - 1}
        case np.generic():
            return _folded(value.item(), arrays)
        case float() if not math.isfinite(value):
            return {NUMBER: str(value)}
        case Mapping():
            return {_key(key): _folded(inner, arrays) for key, inner in value.items()}
        case list() | tuple():
            return [_folded(inner, arrays) for inner in value]
    return value


def _key(key: Any) -> str:
    if not isinstance(key, str) or key.startswith("$"):
        raise InvalidValueError(f"keys are texts that do not begin with $, not {key!r}")
    return key


def from_tree(text: str, arrays: Sequence[pb.Values], what: str) -> Any:
    """Return the tree of JSON text and arrays, the inverse of `to_tree`; sequences become lists."""
    if not text:
        raise WireError("json", f"{what}: the JSON is missing")
    return _unfolded(loads(text.encode()), arrays, what)


def _unfolded(value: Any, arrays: Sequence[pb.Values], what: str) -> Any:
    if isinstance(value, list):
        return [_unfolded(inner, arrays, what) for inner in value]
    if not isinstance(value, dict):
        return value
    if ARRAY in value:
        return _array(value, arrays, what)
    if NUMBER in value:
        name = value[NUMBER]
        if len(value) != 1 or not isinstance(name, str) or name not in ODD_NUMBERS:
            raise WireError("value", f'{what}: {{"{NUMBER}": ...}} takes {", ".join(ODD_NUMBERS)}')
        return ODD_NUMBERS[name]
    if any(key.startswith("$") for key in value):
        raise WireError("value", f"{what}: keys that begin with $ are {ARRAY} and {NUMBER}, not {min(value)[:40]!r}")
    return {key: _unfolded(inner, arrays, what) for key, inner in value.items()}


def _array(reference: dict[str, Any], arrays: Sequence[pb.Values], what: str) -> NDArray[Any]:
    index, whole = reference[ARRAY], reference.get(WHOLE, False)
    if reference.keys() - {ARRAY, WHOLE} or type(index) is not int or not isinstance(whole, bool):
        raise WireError(
            "value", f'{what}: an array is written as {{"{ARRAY}": k}} or {{"{ARRAY}": k, "{WHOLE}": true}}'
        )
    if not 0 <= index < len(arrays):
        raise WireError("count", f"{what}: array {index} does not exist; there are {len(arrays)}")
    values = from_values(arrays[index], what)
    if not whole:
        return values
    if not (np.abs(values) <= EXACT).all() or (values != np.trunc(values)).any():
        raise WireError("value", f"{what}: array {index} is declared as whole, but is not")
    return values.astype(np.int64)
