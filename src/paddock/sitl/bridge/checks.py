"""What callers hand to the bridge, looked at before it is used: a mistake is one line, not an error from inside."""

from __future__ import annotations

from math import isfinite
from numbers import Real
from operator import index

from paddock.errors import InvalidValueError, PaddockError
from paddock.sitl.adapter import Placed
from paddock.sitl.pilot import Pilot


def positive(value: object, rule: str) -> float:
    """A finite number above 0; `rule` says so in the words of the caller."""
    if not (isinstance(value, Real) and isfinite(value) and float(value) > 0):
        raise InvalidValueError(f"{rule}, not {value!r}")
    return float(value)


def from_zero(value: object, rule: str) -> float:
    """A finite number from 0 on."""
    if not (isinstance(value, Real) and isfinite(value) and float(value) >= 0):
        raise InvalidValueError(f"{rule}, not {value!r}")
    return float(value)


def whole_count(value: object) -> int:
    """How many exchanges."""
    try:
        count = index(value)  # type: ignore[arg-type]
    except TypeError:
        count = -1
    if count < 0:
        raise InvalidValueError(f"step takes a whole number of exchanges from 0 on, not {value!r}")
    return count


def made_of(kind: type, value: object) -> None:
    """Refuse what is not one of a kind; a class instead of an object is the usual mistake."""
    if isinstance(value, kind):
        return
    given = f"the class {value.__name__}: make one first" if isinstance(value, type) else repr(value)
    raise InvalidValueError(f"a {kind.__name__} is needed, not {given}")


def fits(placed: Placed, pilot: Pilot) -> None:
    """Refuse a pilot that is made for another craft, or for the vehicle of another id; not every pilot says so."""
    sysid = getattr(pilot, "sysid", placed.id)
    if sysid != placed.id:
        raise PaddockError(
            f"vehicle {placed.id} {placed.name!r}: its pilot is system {sysid}; the ids must be the same"
        )
    part = getattr(pilot, "vehicle", None) or getattr(pilot, "craft", None) or getattr(pilot, "frame", None)
    craft = part if isinstance(part, str) else getattr(part, "kind", None) or getattr(part, "craft", None)
    if isinstance(craft, str) and craft != placed.craft:
        raise PaddockError(f"vehicle {placed.id} {placed.name!r} is a {placed.craft}: its pilot flies a {craft}")
