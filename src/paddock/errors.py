"""Usage errors: one line that names the error, its place and the valid values."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

SHOWN = 8
"""How many valid names an error lists before it says how many more there are."""


class PaddockError(Exception):
    """A usage error; the command line prints it without a traceback and exits with 2."""


class UnknownNameError(PaddockError, KeyError):
    """An unknown name. Also a KeyError, so that `snap["typo"]` behaves as Python users expect."""

    def __str__(self) -> str:  # KeyError would print the repr of the message
        return str(self.args[0])


class InvalidValueError(PaddockError, ValueError):
    """A value outside what its field allows: NaN, infinite, out of range, of the wrong shape."""


class MissingFeatureError(PaddockError):
    """Something this installation cannot do (no GPU, an extra not installed), with how to get it."""


def suggestion(name: str, choices: Iterable[str]) -> str:
    """`did you mean 'x'?` for a near miss, otherwise the valid names."""
    valid = sorted(set(choices))
    near = get_close_matches(name, valid, n=1, cutoff=0.6)
    if near:
        return f"did you mean {near[0]!r}?"
    if not valid:
        return "there are none"
    more = f" and {len(valid) - SHOWN} more" if len(valid) > SHOWN else ""
    return f"valid: {', '.join(valid[:SHOWN])}{more}"


def unknown_name(kind: str, name: str, choices: Iterable[str], where: str = "") -> UnknownNameError:
    """The error for a name of some kind that does not exist, e.g. `unknown model 'quod'; did you mean 'quad'?`."""
    place = f"{where}: " if where else ""
    return UnknownNameError(f"{place}unknown {kind} {name!r}; {suggestion(name, choices)}")
