"""The parameter store of one vehicle: typed values with limits, saved in a file (tables: `parameter_tables`)."""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import IntEnum
from math import isfinite
from pathlib import Path
from tempfile import TemporaryFile
from typing import ClassVar

import numpy as np

from paddock.errors import InvalidValueError, PaddockError, unknown_name
from paddock.files import read_file


class ParamKind(IntEnum):
    """MAV_PARAM_TYPE."""

    INT8 = 2
    INT16 = 4
    INT32 = 6
    REAL32 = 9


def single(value: float) -> float:
    """Return a value rounded to float32, as on the wire."""
    return float(np.float32(value))


@dataclass(frozen=True)
class Parameter:
    """One parameter: its default, its limits (inclusive), its type on the wire."""

    name: str
    default: float
    low: float
    high: float
    kind: ParamKind = ParamKind.REAL32
    summary: str = ""
    fixed: bool = False  # read-only
    only: tuple[int, ...] = ()  # the valid values between the limits, if not all of them are

    @property
    def valid(self) -> str:
        """The valid values, in words."""
        return ", ".join(map(str, self.only)) if self.only else f"{self.low:.10g} to {self.high:.10g}"

    def fit(self, value: float) -> float | None:
        """Return the value rounded to the parameter's type, or None if it is not valid."""
        if not isfinite(value) or not single(self.low) <= value <= max(self.high, single(self.high)):
            return None
        fitted = single(value) if self.kind is ParamKind.REAL32 else float(round(value))
        return fitted if not self.only or fitted in self.only else None


class AutopilotParameters:
    """All parameters of a vehicle with their values, in a fixed order."""

    unsaved: ClassVar[tuple[str, ...]] = ("_known", "path", "_report", "changes")
    _values: dict[str, float]
    _saved: dict[str, float]  # values that were set: the contents of the file

    def __init__(
        self, known: Iterable[Parameter], path: Path | None = None, report: Callable[[str], None] | None = None
    ) -> None:
        """The later of two parameters with the same name counts: a vehicle type may change a common default.

        `report` is called if they cannot be saved; without it that raises PaddockError.
        """
        self._known = {parameter.name: parameter for parameter in known}
        self._values = {name: single(parameter.default) for name, parameter in self._known.items()}
        self._saved = {}
        self.path = path
        self._report = report
        self.changes = 0
        self.on_change: Callable[[], None] = lambda: None  # called after every change

    def __contains__(self, name: object) -> bool:
        return name in self._known

    def names(self) -> list[str]:
        """Return all names in the order of their index on the wire."""
        return list(self._known)

    def value(self, name: str) -> float:
        """Return the current value; raise UnknownNameError for an unknown name."""
        try:
            return self._values[name]
        except KeyError:
            raise unknown_name("parameter", name, self._known) from None

    def values(self) -> tuple[float, ...]:
        """Return all values in the order of `names`."""
        return tuple(self._values.values())

    def whole(self, name: str) -> int:
        """Return the value of an integer parameter."""
        return int(self.value(name))

    def known(self, name: str) -> Parameter:
        """Return the definition; raise UnknownNameError for an unknown name."""
        if name not in self._known:
            raise unknown_name("parameter", name, self._known)
        return self._known[name]

    def set(self, name: str, value: float) -> bool:
        """Set and save a value; return False if the parameter is unknown or read-only, or the value out of range."""
        fitted = self._fit(name, value)
        if fitted is None:
            return False
        if fitted != self._values[name]:
            self._values[name] = self._saved[name] = fitted
            self._changed()
            self.save()
        return True

    def _changed(self) -> None:
        self.changes += 1
        self.on_change()

    def override(self, values: Mapping[str, float]) -> None:
        """Set values for this run without saving them."""
        for name, value in values.items():
            if self.known(name).fixed:
                raise InvalidValueError(f"parameter {name} is read-only")
            self.show(name, value)

    def show(self, name: str, value: float) -> None:
        """Set a value for this run, also of a read-only parameter."""
        parameter = self.known(name)
        fitted = parameter.fit(value)
        if fitted is None:
            raise InvalidValueError(f"parameter {name}: {value} is not in {parameter.valid}")
        self._values[name] = fitted
        self._changed()

    def reset(self) -> None:
        """Reset all to their defaults."""
        for name, parameter in self._known.items():
            if not parameter.fixed:
                self._values[name] = single(parameter.default)
        self._saved.clear()
        self._changed()
        self.save()

    def make_folder(self) -> None:
        """Create the folder; raise PaddockError if it is not writable."""
        if self.path is None:
            return
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            TemporaryFile(dir=self.path.parent).close()
        except OSError as error:
            raise PaddockError(f"{self.path.parent}: cannot save parameters: {error.strerror}") from error

    def save(self) -> None:
        """Write the values that were set to the file, if there is one, atomically."""
        if self.path is None:
            return
        try:
            fresh = self.path.with_suffix(".new")
            fresh.parent.mkdir(parents=True, exist_ok=True)
            fresh.write_text(json.dumps(self._saved, indent=1, sort_keys=True) + "\n")
            fresh.replace(self.path)
        except OSError as error:
            message = f"{self.path}: cannot save parameters: {error.strerror}"
            if self._report is None:
                raise PaddockError(message) from error
            self._report(message)

    def load(self) -> list[str]:
        """Load the file, if there is one; return the names in it that are unknown or out of range."""
        source = self.path
        if source is None or not source.exists():
            return []
        try:
            values = json.loads(read_file(source))
        except (OSError, ValueError) as error:
            raise PaddockError(f"{source}: cannot read parameters: {error}") from error
        if not isinstance(values, dict):
            raise PaddockError(
                f'{source}: expected an object such as {{"FENCE_ENABLE": 1}}, not {type(values).__name__}'
            )
        fitted = {name: self._fit(name, value) for name, value in values.items() if type(value) in (int, float)}
        known = {name: value for name, value in fitted.items() if value is not None}
        self._values.update(known)
        self._saved.update(known)
        self._changed()
        return [name for name in values if name not in known]

    def _fit(self, name: str, value: float) -> float | None:
        """Return a value that may be set; None if the parameter is unknown or read-only, or the value out of range."""
        parameter = self._known.get(name)
        return None if parameter is None or parameter.fixed else parameter.fit(value)
