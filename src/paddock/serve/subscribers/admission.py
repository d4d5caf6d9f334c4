"""Who may come in, and how much one may ask for."""

from __future__ import annotations

import hmac

WRONG_TOKENS = 3
"""After so many a client is cut off."""


class Admission:
    """Whether a client has shown the token, where there is one."""

    def __init__(self, token: str | None) -> None:
        self._token = None if token is None else token.encode()
        self.admitted = token is None
        self.wrong = 0

    def show(self, token: str) -> bool:
        """Try a token; whether it is the right one."""
        if self._token is None or hmac.compare_digest(token.encode(), self._token):
            self.admitted = True
            return True
        self.wrong += 1
        return False

    @property
    def exhausted(self) -> bool:
        """Whether the client has been wrong too often."""
        return self.wrong >= WRONG_TOKENS


class Allowance:
    """Requests per second: one second's worth may come at once."""

    def __init__(self, rate: float, now: float) -> None:
        self.rate = rate
        self._left, self._since = max(rate, 1.0), now
        self.warned = False

    def take(self, now: float) -> bool:
        """Whether one more request is within the rate at a time (s)."""
        most = max(self.rate, 1.0)
        self._left, self._since = min(most, self._left + (now - self._since) * self.rate), now
        if self._left >= 0.5 * most:
            self.warned = False
        if self._left < 1.0:
            return False
        self._left -= 1.0
        return True
