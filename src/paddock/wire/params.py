"""Taking the parameters of a call apart: every field checked, every refusal naming the field and what would be valid.

fields = Params(request.params, "spawn_fpv_drone")
vehicle, preset = fields.whole("vehicle_id", low=0), fields.text("drone_preset", "racer")
x, y, z = (fields.number(axis, 0.0) for axis in "xyz")
fields.finish()                  # refuses what nobody asked for: misspelt names
"""

from __future__ import annotations

import math
from collections.abc import Callable
from difflib import get_close_matches
from enum import Enum
from typing import Any, Final, NoReturn, TypeVar

from paddock.errors import SHOWN, suggestion
from paddock.wire.rpc import INVALID_PARAMS, RpcError
from paddock.wire.strict_json import LARGEST, SMALLEST, dumps

MOST = 100_000
"""Objects in a list."""

D = TypeVar("D")
T = TypeVar("T")


class _Missing(Enum):
    REQUIRED = 0


REQUIRED: Final = _Missing.REQUIRED
"""The default of a field that must be given."""


class Params:
    """The named parameters of one call, or of an object inside them; `where` is how errors name it.

    A field with a default is optional; with the default None it may also be null.
    """

    def __init__(self, params: Any, where: str) -> None:
        self.where = where
        if params is not None and not isinstance(params, dict):
            given = "as a list, by position" if isinstance(params, list) else f"as {_shown(params)}"
            raise RpcError("value", f"{where}: give parameters by name, in an object, not {given}", INVALID_PARAMS)
        self._members: dict[str, Any] = params or {}
        self._known: set[str] = set()

    def text(self, name: str, default: D | _Missing = REQUIRED, longest: int = 255) -> str | D:
        """A text of 1 to `longest` characters."""

        def read(value: Any) -> str | None:
            return value if isinstance(value, str) and 0 < len(value) <= longest else None

        return self._take(name, default, f"a text of 1 to {longest} characters", read)

    def number(
        self, name: str, default: D | _Missing = REQUIRED, low: float = -math.inf, high: float = math.inf
    ) -> float | D:
        """A number from `low` to `high`, both included."""

        def read(value: Any) -> float | None:
            return float(value) if _is_number(value) and low <= value <= high else None

        return self._take(name, default, f"a number{_span(low, high)}", read)

    def whole(self, name: str, default: D | _Missing = REQUIRED, low: int = SMALLEST, high: int = LARGEST) -> int | D:
        """A whole number from `low` to `high`, both included."""

        def read(value: Any) -> int | None:
            return value if type(value) is int and low <= value <= high else None

        return self._take(name, default, f"a whole number{_span(low, high)}", read)

    def boolean(self, name: str, default: D | _Missing = REQUIRED) -> bool | D:
        """True or false."""
        return self._take(name, default, "true or false", lambda value: value if isinstance(value, bool) else None)

    def numbers(self, name: str, size: int, default: D | _Missing = REQUIRED) -> list[float] | D:
        """A list of exactly `size` numbers, e.g. a position."""

        def read(value: Any) -> list[float] | None:
            fits = isinstance(value, list) and len(value) == size and all(map(_is_number, value))
            return [float(number) for number in value] if fits else None

        return self._take(name, default, f"a list of {size} numbers", read)

    def mapping(self, name: str, default: D | _Missing = REQUIRED) -> Params | D:
        """An object inside the parameters; finish it as well."""

        def read(value: Any) -> Params | None:
            return Params(value, f"{self.where}: {name}") if isinstance(value, dict) else None

        return self._take(name, default, "an object", read)

    def mappings(self, name: str, default: D | _Missing = REQUIRED, most: int = MOST) -> list[Params] | D:
        """A list of up to `most` objects; finish each of them as well."""

        def read(value: Any) -> list[Params] | None:
            fits = isinstance(value, list) and len(value) <= most and all(isinstance(item, dict) for item in value)
            return [Params(item, f"{self.where}: {name}[{k}]") for k, item in enumerate(value)] if fits else None

        return self._take(name, default, f"a list of up to {most} objects", read)

    def items(self, name: str, default: D | _Missing = REQUIRED, most: int = MOST) -> list[Any] | D:
        """A list of up to `most` values of any kind; the caller checks each of them."""

        def read(value: Any) -> list[Any] | None:
            return value if isinstance(value, list) and len(value) <= most else None

        return self._take(name, default, f"a list of up to {most} items", read)

    def numbers_by_name(self) -> dict[str, float]:
        """All members as numbers, where the names are the caller's own: the inputs of a vehicle, say."""
        return {name: self.number(name) for name in self._members}

    def finish(self) -> None:
        """Refuse the fields that were not asked for."""
        unknown = sorted(self._members.keys() - self._known)
        if unknown:
            names = ", ".join(repr(name[:40]) for name in unknown[:SHOWN])
            plural = "s" if len(unknown) > 1 else ""
            self.refuse(f"unknown field{plural} {names}; {suggestion(unknown[0][:40], self._known)}", "unknown")

    def refuse(self, message: str, reason: str = "value") -> NoReturn:
        """Raise the error for these parameters; for checks that go beyond one field."""
        raise RpcError(reason, f"{self.where}: {message}", INVALID_PARAMS)

    def _take(self, name: str, default: D | _Missing, valid: str, read: Callable[[Any], T | None]) -> T | D:
        """The field as `read` makes it, which gives None for what is not valid."""
        self._known.add(name)
        value = self._members.get(name, _Missing.REQUIRED)
        if default is not REQUIRED and (value is REQUIRED or (value is None and default is None)):
            return default
        if value is REQUIRED:
            self._miss(name, valid)
        taken = read(value)
        if taken is None:
            self.refuse(f"{name!r} must be {valid}, got {_shown(value)}")
        return taken

    def _miss(self, name: str, valid: str) -> NoReturn:
        """A field is not there: perhaps under a name close to it."""
        spare = sorted(self._members.keys() - self._known)[
            :SHOWN
        ]  # comparing is slow: not with all that a peer may send
        near = get_close_matches(name, [other[:40] for other in spare], n=1)
        hint = f"; {near[0]!r} is not a field, did you mean {name!r}?" if near else ""
        self.refuse(f"{name!r} is missing: {valid}{hint}", "missing")


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _span(low: float, high: float) -> str:
    """How a range reads, where there is one."""
    if low in (-math.inf, SMALLEST) and high in (math.inf, LARGEST):
        return ""
    if high in (math.inf, LARGEST):
        return f" of {low} or more"
    return f" of {high} or less" if low in (-math.inf, SMALLEST) else f" from {low} to {high}"


def _shown(value: Any) -> str:
    """A value in an error: as JSON, cut short."""
    if isinstance(value, list | dict):
        return "a list" if isinstance(value, list) else "an object"
    text = dumps(value).decode()
    return text if len(text) <= 60 else f"{text[:60]}..."
