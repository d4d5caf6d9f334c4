"""Wire formats: one pure module per format, without sockets; decoders raise only WireError."""

from typing import Any

from paddock.errors import PaddockError


class WireError(PaddockError):
    """A message that cannot be decoded; decoders raise no other exception.

    `reason` is a word for counters: `length`, `type`, `count`, `crc`, `magic`, `version`, `json`, `utf8` or `value`.
    `id` is the id of the request if it could be read, otherwise 0.
    """

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason
        self.id: Any = 0  # a whole number here; JSON-RPC has others
