"""Messages between a simulation and its hub."""

from __future__ import annotations

import select
import socket
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddock.serve.link import HubLink, LinkClosedError, decoder, encode

PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63) | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=10,
)


def decoded(data: bytes) -> list[dict[str, Any]]:
    messages = decoder()
    messages.feed(data)
    return list(messages)


@given(st.lists(st.dictionaries(st.text(max_size=5), PLAIN, max_size=4), max_size=5), st.integers(1, 50))
def test_messages_round_trip_for_any_chunking(trees: list[dict[str, Any]], size: int) -> None:
    data = b"".join(map(encode, trees))
    messages, got = decoder(), list[dict[str, Any]]()
    for k in range(0, len(data), size):
        messages.feed(data[k : k + size])
        got += messages
    assert got == trees


def test_arrays_and_bytes_keep_type_shape_and_content() -> None:
    array = np.arange(12, dtype=np.float32).reshape(3, 4)[:, ::2]
    (tree,) = decoded(encode({"a": array, "b": [b"\x00\xff", {"ids": np.arange(3)}], "n": np.float64(2.5)}))
    assert tree["a"].dtype == np.float32 and tree["a"].tolist() == [[0, 2], [4, 6], [8, 10]]
    assert tree["b"][0] == b"\x00\xff" and tree["b"][1]["ids"].tolist() == [0, 1, 2]
    assert tree["n"] == 2.5


def test_unsupported_types_are_refused() -> None:
    with pytest.raises(TypeError, match="set cannot be sent"):
        encode({"x": {1, 2}})


def test_sending_never_waits_for_a_peer_that_does_not_read_and_nothing_is_lost() -> None:
    left, right = socket.socketpair()
    link = HubLink(left)
    blob = bytes(range(256)) * 4096  # 1 MiB: more than the socket takes
    for number in range(5):
        link.send({"number": number, "blob": blob})
    messages, got = decoder(), []
    while len(got) < 5:
        assert select.select([right], [], [], 5.0)[0]
        messages.feed(right.recv(1 << 16))
        got += messages
    assert [tree["number"] for tree in got] == [0, 1, 2, 3, 4]
    assert all(tree["blob"] == blob for tree in got)
    link.close()
    right.close()
    with pytest.raises(LinkClosedError):
        link.send({})


def test_a_disconnected_peer_is_detected() -> None:
    left, right = socket.socketpair()
    link = HubLink(left)
    right.close()
    with pytest.raises(LinkClosedError, match="gone"):
        link.send({"hello": 1})
    link.close()


def test_blob_references_cannot_be_forged() -> None:
    forged = {"$array": 7, "$bytes": 9, "type": "<f8", "shape": [10**12], "0" * 16: 3}
    (tree,) = decoded(encode({"inputs": forged, "ids": np.arange(2)}))
    assert tree["inputs"] == forged and tree["ids"].tolist() == [0, 1]
