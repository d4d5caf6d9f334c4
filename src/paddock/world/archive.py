"""Nested values to bytes and back: exact, deterministic, and safe to read from untrusted sources (no pickle).

A tree is a dict with str keys; its values are numpy arrays (bool, int, uint, float or complex of fixed size), int,
float, str, bool, None, lists of those, and dicts. Tuples are stored as lists, numpy scalars as Python's.

Bytes: magic, u32 version, body, xxh3_128 of the body. The body is one value: a tag byte, then its content; integers are
little-endian, dict keys ascending, arrays in C order. `digest` hashes the bytes that `pack` writes.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import xxhash
from numpy.typing import NDArray

from paddock.errors import PaddockError

Tree = dict[str, Any]
Put = Callable[[Any], object]  # receives the next bytes-like piece of the body

MAGIC = b"PADDOCK\0"
VERSION = 1
STATE_FORMAT = "2"
"""Version of what a saved or hashed state contains: hashes of another one differ for equal runs. Recordings name it;
those without it are of format 1."""
MAX_DEPTH = 64  # levels of nesting; a tree that contains itself exceeds it

BLOCK = 1 << 16  # bytes of a non-contiguous array copied at a time, so that the copy stays in the cache

DTYPES = ("b1", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "c8", "c16")
"""Valid array types, stored as the index in this tuple: only append."""

_HEAD = struct.Struct("<8sI")
_DIGEST_BYTES = 16
_U32, _I64, _F64 = struct.Struct("<I"), struct.Struct("<q"), struct.Struct("<d")


def pack(tree: Tree) -> bytes:
    """Return the tree as bytes; equal content gives equal bytes, independent of the order of insertion."""
    pieces: list[Any] = []
    _emit_tree(tree, pieces.append)
    body = b"".join(pieces)
    return b"".join((_HEAD.pack(MAGIC, VERSION), body, xxhash.xxh3_128_digest(body)))


def digest(tree: Tree) -> str:
    """Return the hex xxh3_128 of the tree; independent of the strides and capacity of its arrays."""
    hasher = xxhash.xxh3_128()
    _emit_tree(tree, hasher.update)
    return hasher.hexdigest()


def copied(tree: Any) -> Any:
    """Return a tree whose arrays are copies; other values are shared, and not changed later."""
    if isinstance(tree, np.ndarray):
        return tree.copy()
    if isinstance(tree, dict):
        return {key: copied(value) for key, value in tree.items()}
    return [copied(value) for value in tree] if isinstance(tree, list | tuple) else tree


def unpack(blob: bytes | bytearray | memoryview, most: int | None = None) -> Tree:
    """Return the tree given to `pack`, its arrays writable copies; PaddockError for a damaged or foreign blob.

    `most` limits the number of values in a blob of unknown origin; an array is one value.
    """
    view = memoryview(blob).cast("B")
    if len(view) < _HEAD.size + _DIGEST_BYTES:
        raise _damaged("is too short")
    magic, version = _HEAD.unpack_from(view)
    if magic != MAGIC:
        raise PaddockError("not a Paddock archive: wrong magic bytes")
    if version != VERSION:
        raise PaddockError(f"archive of version {version}; this Paddock reads version {VERSION}")
    body = view[_HEAD.size : -_DIGEST_BYTES]
    if xxhash.xxh3_128_digest(body) != view[-_DIGEST_BYTES:]:
        raise _damaged("has a wrong checksum")
    return _Cursor(body, len(body) if most is None else most).tree()


def _damaged(why: str) -> PaddockError:
    return PaddockError(f"archive is damaged: it {why}")


def _refused(path: tuple[str, ...], why: str) -> PaddockError:
    return PaddockError(f"cannot archive {'/'.join(path) or 'the tree'}: {why}")


def _emit_tree(tree: Tree, put: Put) -> None:
    if not isinstance(tree, dict):
        raise _refused((), f"expected a dict, got {type(tree).__name__}")
    _emit_dict(tree, put, ())


def emit(value: Any, put: Put, path: tuple[str, ...] = ()) -> None:
    """Pass the bytes of a value to `put`, piece by piece."""
    if isinstance(value, np.ndarray):
        code = f"{value.dtype.kind}{value.dtype.itemsize}"
        if code not in DTYPES or type(value) is not np.ndarray:
            raise _refused(path, f"{type(value).__name__} of {value.dtype}; valid: plain arrays of numbers")
        array = value.astype(value.dtype.newbyteorder("<"), copy=False)
        put(struct.pack(f"<cBB{array.ndim}Q", b"a", DTYPES.index(code), array.ndim, *array.shape))
        for block in blocks(array) if array.size else ():
            put(block.reshape(-1).view(np.uint8).data)
    elif isinstance(value, dict):
        _emit_dict(value, put, path)
    elif isinstance(value, list | tuple):
        _check_depth(path)
        put(b"l" + _U32.pack(len(value)))
        for index, item in enumerate(value):
            emit(item, put, (*path, str(index)))
    else:
        put(_scalar(value, path))


def _emit_dict(tree: Tree, put: Put, path: tuple[str, ...]) -> None:
    _check_depth(path)
    for key in tree:
        if not isinstance(key, str):
            raise _refused(path, f"key {key!r} is not a str")
    put(b"d" + _U32.pack(len(tree)))
    for key in sorted(tree):
        put(_text(key, path))
        emit(tree[key], put, (*path, key))


def _check_depth(path: tuple[str, ...]) -> None:
    if len(path) >= MAX_DEPTH:
        raise _refused(path[:3], f"more than {MAX_DEPTH} levels deep")


def blocks(array: NDArray[Any]) -> Iterator[NDArray[Any]]:
    """Yield the array in C order as contiguous pieces: itself, its contiguous rows, or small copies."""
    if array.flags.c_contiguous or array.nbytes <= BLOCK:
        yield np.ascontiguousarray(array)
        return
    step = BLOCK * len(array) // array.nbytes
    for start in range(0, len(array), max(step, 1)):
        yield from blocks(array[start : start + step] if step > 1 else array[start])


def _scalar(value: Any, path: tuple[str, ...]) -> bytes:
    if value is None:
        return b"N"
    if isinstance(value, bool | np.bool_):
        return b"T" if value else b"F"
    if isinstance(value, int | np.integer):
        number = int(value)
        if -(1 << 63) <= number < 1 << 63:
            return b"i" + _I64.pack(number)
        size = number.bit_length() // 8 + 1
        return b"I" + _U32.pack(size) + number.to_bytes(size, "little", signed=True)
    if isinstance(value, float | np.float32 | np.float16):
        return b"f" + _F64.pack(value)
    if isinstance(value, str):
        return b"s" + _text(value, path)
    raise _refused(path, f"a {type(value).__name__} is not a number, text, list, dict or array")


def _text(text: str, path: tuple[str, ...]) -> bytes:
    try:
        coded = text.encode()
    except UnicodeEncodeError:
        raise _refused(path, f"text {text!r} is not valid Unicode") from None
    return _U32.pack(len(coded)) + coded


class _Cursor:
    """Read a body from its start; every length is checked against the bytes left before it is used."""

    def __init__(self, body: memoryview, most: int) -> None:
        self._body = body
        self._at = 0
        self._most = self._left = most  # values

    def tree(self) -> Tree:
        """Return the dict that makes up the whole body."""
        value = self._value(0)
        if self._at != len(self._body):
            raise _damaged("has trailing bytes")
        if not isinstance(value, dict):
            raise _damaged("does not hold a dict")
        return value

    def _take(self, nbytes: int) -> memoryview:
        if nbytes > len(self._body) - self._at:
            raise _damaged("is truncated")
        self._at += nbytes
        return self._body[self._at - nbytes : self._at]

    def _length(self) -> int:
        """Read a u32 count of bytes or items that follow; each item takes at least one byte."""
        length: int = _U32.unpack(self._take(4))[0]
        if length > len(self._body) - self._at:
            raise _damaged("is truncated")
        return length

    def _text(self) -> str:
        try:
            return str(self._take(self._length()), "utf-8")
        except UnicodeDecodeError:
            raise _damaged("holds invalid UTF-8") from None

    def _value(self, depth: int) -> Any:
        if depth > MAX_DEPTH:
            raise _damaged("is nested too deeply")
        self._left -= 1
        if self._left < 0:
            raise PaddockError(f"the archive has more than {self._most:,} values")
        tag = bytes(self._take(1))
        if tag in _CONSTANTS:
            return _CONSTANTS[tag]
        if tag == b"d":
            tree: Tree = {}
            last = None
            for _ in range(self._length()):
                key = self._text()
                if last is not None and key <= last:
                    raise _damaged("has its keys out of order")
                tree[key] = self._value(depth + 1)
                last = key
            return tree
        if tag == b"l":
            return [self._value(depth + 1) for _ in range(self._length())]
        if tag == b"a":
            return self._array()
        if tag == b"i":
            return _I64.unpack(self._take(8))[0]
        if tag == b"f":
            return _F64.unpack(self._take(8))[0]
        if tag == b"s":
            return self._text()
        if tag == b"I":
            return int.from_bytes(self._take(self._length()), "little", signed=True)
        raise _damaged(f"holds an unknown tag {tag!r}")

    def _array(self) -> NDArray[Any]:
        code, ndim = self._take(2)
        if code >= len(DTYPES):
            raise _damaged("holds an unknown kind of array")
        shape = struct.unpack(f"<{ndim}Q", self._take(8 * ndim))
        dtype = np.dtype("<" + DTYPES[code])
        count = 1
        for size in shape:
            count *= size  # a Python int: cannot overflow
        data = self._take(count * dtype.itemsize)
        if code == 0 and np.frombuffer(data, np.uint8).max(initial=0) > 1:
            raise _damaged("holds a boolean that is neither 0 nor 1")
        try:
            return np.frombuffer(data, dtype).reshape(shape).astype(dtype.newbyteorder("="))
        except ValueError:  # more dimensions, or larger ones beside a zero, than numpy allows
            raise _damaged("holds an array of an invalid shape") from None


_CONSTANTS: dict[bytes, bool | None] = {b"N": None, b"T": True, b"F": False}
