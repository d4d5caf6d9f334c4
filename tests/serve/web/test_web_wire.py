"""The bytes around a group, against another implementation of WebSockets."""

from __future__ import annotations

import pytest
from websockets.frames import Frame, Opcode

from paddock.serve.endpoints.web import binary_header


@pytest.mark.parametrize("size", [0, 1, 125, 126, 127, 65535, 65536, 1_600_046])
def test_a_message_has_the_header_that_websockets_writes(size: int) -> None:
    body = bytes(size)
    assert binary_header(size) + body == Frame(Opcode.BINARY, body).serialize(mask=False)
