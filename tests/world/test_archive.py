"""The archive: exact round trips, equal bytes for equal trees, and only PaddockError for any blob."""

from __future__ import annotations

import struct
from typing import Any

import numpy as np
import pytest
import xxhash
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from paddock.errors import PaddockError
from paddock.world.archive import BLOCK, DTYPES, MAGIC, MAX_DEPTH, VERSION, digest, pack, unpack

arrays = hnp.arrays(
    st.sampled_from([np.dtype(d) for d in DTYPES]), hnp.array_shapes(min_dims=0, min_side=0, max_side=4)
)
scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text()
values = st.recursive(
    scalars | arrays, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4)
)
trees = st.dictionaries(st.text(), values, max_size=5)


def same(a: Any, b: Any) -> bool:
    """Equal in type, in bits and in structure; any NaN equals any other."""
    if type(a) is not type(b):
        return False
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(a[k], b[k]) for k in a)
    if isinstance(a, list):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, np.ndarray):
        return bool(a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes())
    if isinstance(a, float):
        return struct.pack("d", a) == struct.pack("d", b) or (a != a and b != b)
    return bool(a == b)


def reversed_tree(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: reversed_tree(value[k]) for k in reversed(list(value))}
    return [reversed_tree(v) for v in value] if isinstance(value, list) else value


def sealed(body: bytes) -> bytes:
    """A blob whose checksum is right, whatever the body is."""
    return MAGIC + struct.pack("<I", VERSION) + body + xxhash.xxh3_128_digest(body)


def refusal(blob: bytes) -> str:
    """Why a blob is refused; empty if it is read."""
    try:
        assert isinstance(unpack(blob), dict)
    except PaddockError as error:
        return str(error)
    return ""


@given(tree=trees)
def test_every_tree_round_trips_exactly(tree: dict[str, Any]) -> None:
    blob = pack(tree)
    again = unpack(blob)
    assert same(tree, again)
    assert pack(again) == blob == pack(reversed_tree(tree))
    assert digest(tree) == digest(again) == digest(reversed_tree(tree)) == blob[-16:].hex()


def test_arrays_are_restored_as_writable_copies() -> None:
    blob = bytearray(pack({"a": np.arange(5), "s": np.float32(3)}))
    tree = unpack(blob)
    tree["a"][0] = 7
    assert tree["a"].tolist() == [7, 1, 2, 3, 4] and tree["s"] == 3.0
    assert unpack(blob)["a"].tolist() == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("shape", [(15, 300), (15, 20_000), (3, 4, 50_000), (100_000, 3)])
def test_the_digest_depends_on_content_not_on_strides_or_capacity(shape: tuple[int, ...]) -> None:
    whole = np.random.default_rng(1).normal(size=tuple(2 * s for s in shape))
    view = whole[tuple(slice(s) for s in shape)]
    assert view.size * 8 > BLOCK / 2
    flipped = whole[..., ::-1].copy()[..., ::-1][tuple(slice(s) for s in shape)]
    variants = [view, view.copy(), np.asfortranarray(view), view.astype(">f8"), flipped]
    assert len({digest({"x": v}) for v in variants}) == 1
    assert len({pack({"x": v}) for v in variants}) == 1
    assert digest({"x": view.T}) == digest({"x": view.T.copy()}) != digest({"x": view})


@pytest.mark.parametrize(
    ("first", "other"),
    [
        ({"a": 1}, {"a": 1.0}),
        ({"a": 1}, {"a": True}),
        ({"a": 0.0}, {"a": -0.0}),
        ({"a": np.zeros(2)}, {"a": np.zeros((1, 2))}),
        ({"a": np.zeros(2, np.int8)}, {"a": np.zeros(2, np.uint8)}),
        ({"a": ["bc"]}, {"a": ["b", "c"]}),
        ({"a": {}}, {"a": []}),
        ({"a": {"b": None}}, {"a": None, "b": {}}),
    ],
)
def test_different_trees_have_different_digests(first: dict[str, Any], other: dict[str, Any]) -> None:
    assert digest(first) != digest(other)


@given(tree=trees, data=st.data())
def test_a_damaged_blob_is_refused(tree: dict[str, Any], data: st.DataObject) -> None:
    blob = bytearray(pack(tree))
    blob[data.draw(st.integers(0, len(blob) - 1))] ^= data.draw(st.integers(1, 255))
    with pytest.raises(PaddockError):
        unpack(blob)
    with pytest.raises(PaddockError):
        unpack(pack(tree)[: data.draw(st.integers(0, len(blob) - 1))])


@given(tree=trees, data=st.data())
def test_a_body_with_a_right_checksum_is_read_or_refused(tree: dict[str, Any], data: st.DataObject) -> None:
    body = bytearray(pack(tree)[12:-16])
    for _ in range(data.draw(st.integers(1, 4))):
        body[data.draw(st.integers(0, len(body) - 1))] = data.draw(st.integers(0, 255))
    assert refusal(sealed(bytes(body))).count("\n") == 0


@given(body=st.binary(max_size=200))
def test_noise_is_refused(body: bytes) -> None:
    for blob in (body, sealed(body), sealed(b"d\1\0\0\0\1\0\0\0a" + body)):
        assert refusal(blob).count("\n") == 0


@pytest.mark.parametrize(
    "value",
    [
        b"a\x0b\x01" + struct.pack("<Q", 1 << 60),
        b"a\x0b\x03" + struct.pack("<3Q", 1 << 62, 1 << 62, 0),
        b"a\x0b\xff" + struct.pack("<255Q", *[1] * 255) + b"\0" * 8,
        b"a\x63\x00" + b"\0" * 8,
        b"a\x00\x01" + struct.pack("<Q", 1) + b"\2",
        b"l\xff\xff\xff\xff",
        b"s\xff\xff\xff\xff",
        b"s\2\0\0\0\xff\xff",
        b"l\1\0\0\0" * (MAX_DEPTH + 2) + b"N",
        b"?",
        b"NN",
    ],
)
def test_impossible_values_are_refused_without_being_made(value: bytes) -> None:
    with pytest.raises(PaddockError, match="archive is damaged"):
        unpack(sealed(b"d\1\0\0\0\1\0\0\0a" + value))


def test_other_files_and_versions_are_named() -> None:
    with pytest.raises(PaddockError, match="not a Paddock archive"):
        unpack(b"PK\3\4" * 20)
    with pytest.raises(PaddockError, match="version 7; this Paddock reads version 1"):
        unpack(MAGIC + struct.pack("<I", 7) + bytes(40))
    with pytest.raises(PaddockError, match="too short"):
        unpack(b"")
    with pytest.raises(PaddockError, match="does not hold a dict"):
        unpack(sealed(b"N"))
    with pytest.raises(PaddockError, match="keys out of order"):
        unpack(sealed(b"d\2\0\0\0" + b"\1\0\0\0bN" + b"\1\0\0\0aN"))


@pytest.mark.parametrize("value", [{1, 2}, b"x", 1j, object(), np.array(["a"]), np.array([None]), {1: 2}, "\ud800"])
def test_unsupported_values_are_named_with_their_path(value: object) -> None:
    with pytest.raises(PaddockError, match="cannot archive fleets/0"):
        pack({"fleets": [value]})


def test_a_tree_that_contains_itself_is_refused() -> None:
    tree: dict[str, Any] = {}
    tree["again"] = tree
    with pytest.raises(PaddockError, match="levels deep"):
        digest(tree)
