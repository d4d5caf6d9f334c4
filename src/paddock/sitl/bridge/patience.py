"""How long the bridge waits for a simulator or a pilot, and what it does then."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from paddock.errors import PaddockError, unknown_name
from paddock.sitl.bridge.checks import positive


class BridgeStoppedError(PaddockError):
    """Somebody did not answer, and the run was to stop then; the message says who, and what to check."""


class Fallback(StrEnum):
    """What happens to whoever misses the deadline."""

    FREE_RUN = "free_run"  # the world goes on without it, actuators held, until it speaks again
    HOLD = "hold"  # the world stands still until it answers
    STOP = "stop"  # the run ends with a message


@dataclass(frozen=True)
class Patience:
    """The deadline of one answer, s of wall time, and what to do when it is missed."""

    timeout: float = 1.0
    fallback: Fallback = Fallback.FREE_RUN

    def __post_init__(self) -> None:
        positive(self.timeout, "timeout must be a positive number of seconds")

    def other(self, timeout: float | None, fallback: str | None) -> Patience:
        """The same but for what is given."""
        return patience(self.timeout if timeout is None else timeout, self.fallback if fallback is None else fallback)


def patience(timeout: float, fallback: str) -> Patience:
    """From what users write."""
    if fallback not in list(Fallback):
        raise unknown_name("fallback", str(fallback), [one.value for one in Fallback])
    return Patience(timeout, Fallback(fallback))
