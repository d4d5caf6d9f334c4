"""Colours as users write them: a name, `#rrggbb`, or three or four numbers from 0 to 1."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from paddock.errors import InvalidValueError, unknown_name

Rgba = tuple[float, float, float, float]
"""Red, green, blue and opacity, each 0 to 1."""
Color = str | Sequence[float]

NAMED: dict[str, Rgba] = {
    "black": (0.0, 0.0, 0.0, 1.0),
    "blue": (0.1, 0.3, 1.0, 1.0),
    "brown": (0.5, 0.3, 0.1, 1.0),
    "cyan": (0.0, 0.9, 0.9, 1.0),
    "gray": (0.5, 0.5, 0.5, 1.0),
    "green": (0.1, 0.8, 0.2, 1.0),
    "grey": (0.5, 0.5, 0.5, 1.0),
    "magenta": (1.0, 0.0, 1.0, 1.0),
    "orange": (1.0, 0.5, 0.0, 1.0),
    "pink": (1.0, 0.6, 0.7, 1.0),
    "purple": (0.5, 0.2, 0.8, 1.0),
    "red": (1.0, 0.1, 0.1, 1.0),
    "white": (1.0, 1.0, 1.0, 1.0),
    "yellow": (1.0, 0.9, 0.0, 1.0),
}
_HEX = re.compile(r"#([0-9a-fA-F]{3,4}|[0-9a-fA-F]{6}|[0-9a-fA-F]{8})")


def rgba(color: Color) -> Rgba:
    """The colour as red, green, blue and opacity; opaque where none is given."""
    if isinstance(color, str):
        return _hex(color) if color.startswith("#") else _named(color)
    try:
        parts = np.asarray(color, dtype=np.float64)
    except (TypeError, ValueError):
        parts = np.empty(0)
    if parts.shape not in ((3,), (4,)):
        raise InvalidValueError(f"a color is a name, '#rrggbb', or 3 or 4 numbers from 0 to 1, not {color!r}")
    if not ((parts >= 0.0) & (parts <= 1.0)).all():
        raise InvalidValueError(f"the numbers of a color go from 0 to 1, not {parts.tolist()}")
    red, green, blue, *opacity = parts.tolist()
    return red, green, blue, *(opacity or [1.0])


def _named(name: str) -> Rgba:
    if name not in NAMED:
        raise unknown_name("color", name, NAMED)
    return NAMED[name]


def _hex(text: str) -> Rgba:
    if not (found := _HEX.fullmatch(text)):
        raise InvalidValueError(f"a color in hex is '#rgb', '#rrggbb' or '#rrggbbaa', not {text!r}")
    digits = found[1] if len(found[1]) > 4 else "".join(2 * digit for digit in found[1])
    red, green, blue, opacity = bytes.fromhex(digits.ljust(8, "f"))
    return red / 255, green / 255, blue / 255, opacity / 255
