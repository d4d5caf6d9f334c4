"""What a plain YAML scalar means.

YAML 1.1 reads `017` as 15, `1:30` as 90, `no` as false and `1e3` as text. Here a number is what Python calls a number,
only `true` and `false` are truth values, and whatever two readers could take differently is refused.
"""

from __future__ import annotations

import math
import re

Scalar = str | int | float | bool | None

_INTEGER = re.compile(r"[-+]?(0|[1-9][0-9]*(_[0-9]+)*)")
_PREFIXED = re.compile(r"[-+]?0(x[0-9a-fA-F]+|o[0-7]+|b[01]+)")
_LEADING_ZERO = re.compile(r"[-+]?0[0-9_]+")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(_[0-9]+)*(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_NOT_FINITE = re.compile(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")
_FIXED: dict[str, Scalar] = dict.fromkeys(("", "~", "null", "Null", "NULL"))
_FIXED |= dict.fromkeys(("true", "True", "TRUE"), True) | dict.fromkeys(("false", "False", "FALSE"), False)
_AMBIGUOUS = {word for base in ("yes", "no", "on", "off") for word in (base, base.capitalize(), base.upper())}
_LONGEST_INTEGER = 400
"""Digits beyond which not even a float could hold the number."""


def plain_scalar(text: str) -> Scalar:
    """Return the value of an unquoted scalar; raise ValueError, with what to write instead, for a trap."""
    if text in _FIXED:
        return _FIXED[text]
    if text in _AMBIGUOUS:
        raise ValueError(f"{text!r} is ambiguous in YAML; write true or false, or quote it")
    if _LEADING_ZERO.fullmatch(text):
        raise ValueError(f"{text!r} is ambiguous in YAML (octal?); drop the leading zero, or quote it")
    if _NOT_FINITE.fullmatch(text):
        raise ValueError(f"{text!r} is not a finite number")
    return _number(text)


def _number(text: str) -> Scalar:
    """Return the number that the text writes, or the text."""
    if _INTEGER.fullmatch(text) or _PREFIXED.fullmatch(text):
        if len(text) > _LONGEST_INTEGER:
            raise ValueError(f"a number of {len(text)} digits is too long")
        return int(text, 0)
    if _FLOAT.fullmatch(text):
        if not math.isfinite(value := float(text)):
            raise ValueError(f"{text!r} is not a finite number")
        return value
    return text


def reads_as_text(text: str) -> bool:
    """Say whether an unquoted scalar would be read back as this very text."""
    try:
        return isinstance(plain_scalar(text), str)
    except ValueError:
        return False
