"""Errors that cross the wire: the same types as a local simulation raises."""

from __future__ import annotations

from paddock.errors import InvalidValueError, MissingFeatureError, PaddockError, UnknownNameError
from paddock.world.transforms import DisconnectedFramesError, StaleFrameError

KINDS: dict[str, type[PaddockError]] = {
    kind.__name__: kind
    for kind in (UnknownNameError, InvalidValueError, MissingFeatureError, StaleFrameError, DisconnectedFramesError)
}
LATE = "LateReplyError"
"""What the server calls a control that came too late."""


class NoAnswerError(PaddockError, TimeoutError):
    """The server does not answer, or has forgotten what it was asked."""


class LateControlError(PaddockError):
    """A control that came too late, or twice; it changed nothing."""


def error_from(code: str, message: str) -> PaddockError:
    """What the server has told."""
    return LateControlError(message) if code == LATE else KINDS.get(code, PaddockError)(message)


def no_answer(url: str, timeout: float) -> NoAnswerError:
    """The server is silent."""
    return NoAnswerError(
        f"no answer from {url} within {timeout:g} s: is the server running? "
        "start one with `paddock run SCENARIO --serve zmq`"
    )


def no_reply(url: str, what: str, waited: float) -> NoAnswerError:
    """The server lives, but what it was asked does not happen."""
    return NoAnswerError(
        f"{url} has not done {what} within {waited:g} s, though it answers: is the simulation waiting for a control?"
    )


def forgotten(url: str, what: str) -> NoAnswerError:
    """The server does not know any more what it was asked."""
    return NoAnswerError(f"{what} was lost: {url} was restarted, or has heard nothing of this client for too long")
