"""Proof that a sender of datagrams receives at its address, which UDP does not check: VDS1's cookies."""

import hashlib
import secrets
import struct
from typing import Any

from paddock.wire.vds1 import CarCommand, Cookie, Subscribe

Address = tuple[Any, ...]  # as in the socket module: (host, port), and two more numbers for IPv6
LIFE = 30.0  # s: a cookie is valid until the end of the period after its own


class AddressCookies:
    """Makes and checks cookies without remembering them: a hash of address, period and a secret of this process."""

    def __init__(self) -> None:
        self._secret = secrets.token_bytes(32)

    def cookie(self, address: Address, period: int) -> Cookie:
        """Return the cookie of an address in a period."""
        text = f"{address[0]} {address[1]} {period}".encode()
        return Cookie(*struct.unpack("<II", hashlib.blake2b(text, key=self._secret, digest_size=8).digest()))

    def fresh(self, address: Address, now: float) -> Cookie:
        """Return the cookie to send at a time, s."""
        return self.cookie(address, int(now // LIFE))

    def valid_until(self, address: Address, message: CarCommand | Subscribe, now: float) -> float:
        """Return until when (s) a message proves that its sender receives at its address; 0: it does not."""
        if isinstance(message, Subscribe):
            for period in (int(now // LIFE), int(now // LIFE) - 1):
                if self.cookie(address, period)[:2] == message[:2]:
                    return (period + 2) * LIFE
        return 0.0
