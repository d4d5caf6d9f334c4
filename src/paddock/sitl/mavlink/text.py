"""STATUSTEXT: a line for people, in pieces where it is longer than a message."""

from __future__ import annotations

from typing import Any

from paddock.sitl.mavlink.dialect import mav

PIECE = 50  # bytes
MOST = 500  # bytes of a line; what goes beyond is cut


def status_texts(severity: int, text: str, number: int) -> list[Any]:
    """The messages of a line; those of a long one carry its `number` (1 to 65535), and the last is not full."""
    line = text.encode("ascii", "replace")[:MOST]
    if len(line) <= PIECE:
        return [mav.MAVLink_statustext_message(int(severity), line)]
    pieces = [line[at : at + PIECE] for at in range(0, len(line) + 1, PIECE)]
    return [mav.MAVLink_statustext_message(int(severity), piece, number, k) for k, piece in enumerate(pieces)]
