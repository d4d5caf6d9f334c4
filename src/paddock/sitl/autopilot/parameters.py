"""The parameters of one vehicle: typed, with ranges, under ArduPilot's names, kept in a file between runs."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import IntEnum
from math import isfinite
from pathlib import Path
from struct import Struct
from tempfile import TemporaryFile

from paddock.errors import InvalidValueError, PaddockError, unknown_name

NAME_LENGTH = 16
"""Characters that a name has room for in PARAM_VALUE."""

SINGLE = Struct("<f")


class ParamKind(IntEnum):
    """The MAV_PARAM_TYPEs in use."""

    INT8 = 2
    INT16 = 4
    INT32 = 6
    REAL32 = 9


def single(value: float) -> float:
    """The value after a trip over the wire, where everything is a float32."""
    return float(SINGLE.unpack(SINGLE.pack(value))[0])


@dataclass(frozen=True)
class Parameter:
    """One setting: its default, the values it may take (both ends included), its type on the wire."""

    name: str
    default: float
    low: float
    high: float
    kind: ParamKind = ParamKind.REAL32
    summary: str = ""
    fixed: bool = False  # shown, but nobody may set it

    def __post_init__(self) -> None:
        if not 0 < len(self.name) <= NAME_LENGTH:
            raise InvalidValueError(f"parameter {self.name!r}: a name has 1 to {NAME_LENGTH} characters")
        if not self.low <= self.default <= self.high:
            raise InvalidValueError(f"{self.name}: the default {self.default} is not in {self.low} to {self.high}")

    def fit(self, value: float) -> float | None:
        """The value as it is kept (rounded to its type), or None if it is not allowed."""
        if not isfinite(value) or not single(self.low) <= value <= max(self.high, single(self.high)):
            return None
        return single(value) if self.kind is ParamKind.REAL32 else float(round(value))


class Parameters:
    """All parameters of a vehicle, in a fixed order, with their values."""

    def __init__(
        self, known: Iterable[Parameter], path: Path | None = None, complain: Callable[[str], None] | None = None
    ) -> None:
        """The later of two parameters with the same name counts: a craft may change the default of a common one.

        `complain` is told when they cannot be written; without it that is a PaddockError.
        """
        self._known = {parameter.name: parameter for parameter in known}
        self._values = {name: single(parameter.default) for name, parameter in self._known.items()}
        self._kept: dict[str, float] = {}  # what was set by somebody: the contents of the file
        self.path = path
        self._complain = complain
        self.changes = 0  # counts the sets, so that what is derived from parameters knows when to look again

    def __len__(self) -> int:
        return len(self._known)

    def __contains__(self, name: object) -> bool:
        return name in self._known

    def names(self) -> list[str]:
        """In the order of their index on the wire."""
        return list(self._known)

    def value(self, name: str) -> float:
        """The value now; an unknown name is an UnknownNameError."""
        try:
            return self._values[name]
        except KeyError:
            raise unknown_name("parameter", name, self._known) from None

    def whole(self, name: str) -> int:
        """The value of an integer parameter."""
        return int(self.value(name))

    def known(self, name: str) -> Parameter:
        """What may be set; an unknown name is an UnknownNameError."""
        if name not in self._known:
            raise unknown_name("parameter", name, self._known)
        return self._known[name]

    def kind(self, name: str) -> ParamKind:
        """Its type on the wire."""
        return self.known(name).kind

    def all(self) -> list[tuple[str, float, ParamKind]]:
        """Name, value and type of each, in order."""
        return [(name, self._values[name], parameter.kind) for name, parameter in self._known.items()]

    def set(self, name: str, value: float) -> bool:
        """Change one and keep it; False (and nothing changes) if it is unknown, fixed or out of range."""
        parameter = self._known.get(name)
        fitting = parameter.fit(value) if parameter is not None and not parameter.fixed else None
        if fitting is None:
            return False
        if fitting != self._values[name]:
            self._values[name] = self._kept[name] = fitting
            self.changes += 1
            self.save()
        return True

    def override(self, values: Mapping[str, float]) -> None:
        """Other values for this run; one that cannot be is an error in one line."""
        for name, value in values.items():
            if self.known(name).fixed:
                raise InvalidValueError(f"parameter {name} is read only: the autopilot itself says what it is")
            self.show(name, value)

    def show(self, name: str, value: float) -> None:
        """Another value for this run, also of a fixed one: the autopilot's own word."""
        parameter = self.known(name)
        fitting = parameter.fit(value)
        if fitting is None:
            raise InvalidValueError(f"parameter {name}: {value} is not in {parameter.low} to {parameter.high}")
        self._values[name] = fitting
        self.changes += 1

    def reset(self) -> None:
        """Everything back to its default."""
        for name, parameter in self._known.items():
            if not parameter.fixed:
                self._values[name] = single(parameter.default)
        self._kept.clear()
        self.changes += 1
        self.save()

    def make_folder(self) -> None:
        """Before anything is set: a folder in which nothing can be kept is a PaddockError in one line."""
        if self.path is None:
            return
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            TemporaryFile(dir=self.path.parent).close()
        except OSError as error:
            raise PaddockError(f"{self.path.parent}: parameters cannot be kept there: {error.strerror}") from error

    def save(self) -> None:
        """Write what was set to the file; nothing if there is no file."""
        if self.path is None:
            return
        try:
            _write(self.path, json.dumps(self._kept, indent=1, sort_keys=True) + "\n")
        except OSError as error:
            trouble = f"{self.path}: the parameters cannot be kept: {error.strerror}"
            if self._complain is None:
                raise PaddockError(trouble) from error
            self._complain(trouble)

    def load(self, path: Path | None = None) -> list[str]:
        """Take the values of a file (its own, if not given); the names in it that are unknown or out of range."""
        source = path or self.path
        if source is None or not source.exists():
            return []
        values = _read(source)
        refused = [name for name, value in values.items() if not self._take(name, value)]
        self.changes += 1
        return refused

    def _take(self, name: str, value: object) -> bool:
        parameter = self._known.get(name)
        if parameter is None or parameter.fixed or isinstance(value, bool) or not isinstance(value, int | float):
            return False
        fitting = parameter.fit(float(value))
        if fitting is not None:
            self._values[name] = self._kept[name] = fitting
        return fitting is not None


def _write(path: Path, text: str) -> None:
    """All or nothing: a process that ends in between leaves the old file."""
    fresh = path.with_suffix(".new")
    fresh.parent.mkdir(parents=True, exist_ok=True)
    fresh.write_text(text)
    fresh.replace(path)


def _read(source: Path) -> dict[str, object]:
    try:
        values = json.loads(source.read_text())
    except (OSError, ValueError) as error:
        raise PaddockError(f"{source}: the parameters cannot be read: {error}") from error
    if not isinstance(values, dict):
        raise PaddockError(
            f'{source}: parameters are an object like {{"FENCE_ENABLE": 1}}, not a {type(values).__name__}'
        )
    return values
