"""What is wrong with the bytes that came in: the only thing that a decoder raises."""

from __future__ import annotations

from typing import Any

from paddock.errors import PaddockError


class WireError(PaddockError):
    """A message that cannot be read; nothing of it was used.

    `reason` is a short word to count by: `length`, `type`, `count`, `crc`, `magic`, `version`, `json`, `utf8`, `value`.
    `id` is that of the request, where that much could be read, otherwise 0.
    """

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason
        self.id: Any = 0  # a whole number here; JSON-RPC has others
