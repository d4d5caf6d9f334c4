"""JSON from elsewhere: read strictly, looked into with errors that name file, line and column."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from math import isfinite
from pathlib import Path
from typing import Any, NoReturn

from paddock.errors import PaddockError
from paddock.scenario.base import Section
from paddock.scenario.marked_yaml import load_yaml, read_text
from paddock.scenario.problems import KeyPath, Marks, ScenarioError, dotted, validated

TEXT = "<text>"


class ExchangeError(PaddockError):
    """A file that cannot be read, or says something impossible: one line that begins with its place."""


@dataclass
class Imported:
    """What a file says about a mission."""

    mission: dict[str, Any] = field(default_factory=dict)  # fields of a scenario's `mission` section
    notes: list[str] = field(default_factory=list)  # what could not be taken over, one line each


@dataclass
class Document:
    """A JSON object with the name of its file."""

    root: Mapping[str, Any]
    source: str
    text: str = ""

    def refuse(self, path: KeyPath, message: str) -> NoReturn:
        """Raise an error at a place of the document."""
        raise ExchangeError(f"{self._place(path)}: {message}")

    def _place(self, path: KeyPath) -> str:
        """Line and column where the text is near enough to YAML for its reader, which knows them; else the path."""
        try:
            return load_yaml(self.text, self.source)[1].at(path)
        except PaddockError:
            return f"{self.source}: {dotted(path)}" if path else self.source

    def check(self, model: type[Section], value: Mapping[str, Any], path: KeyPath) -> None:
        """Refuse a part of a mission that a scenario would refuse."""
        try:
            validated(model, value, Marks())
        except ScenarioError as error:
            self.refuse(path, error.problems[0])

    def mapping(self, value: Any, path: KeyPath) -> Mapping[str, Any]:
        """The value, which must be an object."""
        if not isinstance(value, Mapping):
            self.refuse(path, f"expected an object, not {_shown(value)}")
        return value

    def items(self, value: Any, path: KeyPath) -> list[Any]:
        """The value, which must be a list."""
        if not isinstance(value, list | tuple):
            self.refuse(path, f"expected a list, not {_shown(value)}")
        return list(value)

    def number(self, value: Any, path: KeyPath) -> float:
        """The value, which must be a finite number."""
        if isinstance(value, bool) or not isinstance(value, int | float) or not _finite(value):
            self.refuse(path, f"expected a finite number, not {_shown(value)}")
        return float(value)

    def pair(self, value: Any, path: KeyPath, reversed_: bool = False) -> tuple[float, float]:
        """Latitude and longitude in deg, of a list that begins with them (`reversed_`: with longitude)."""
        found = self.items(value, path)
        if len(found) < 2:
            self.refuse(path, f"expected at least two coordinates, not {_shown(value)}")
        one, two = (self.number(found[k], (*path, k)) for k in (0, 1))
        latitude, longitude = (two, one) if reversed_ else (one, two)
        if abs(latitude) > 90 or abs(longitude) > 180:
            order = "longitude, latitude" if reversed_ else "latitude, longitude"
            self.refuse(path, f"[{one:g}, {two:g}] is no place on Earth; the order is {order}")
        return latitude, longitude


def _finite(value: float) -> bool:
    try:
        return isfinite(value)
    except OverflowError:  # an integer beyond all floats
        return False


def _shown(value: Any) -> str:
    text = json.dumps(value, default=str)
    return text if len(text) <= 40 else text[:37] + "..."


def document(source: str | Mapping[str, Any], name: str = TEXT) -> Document:
    """Take an object, or JSON text; `name` is that of its file in errors."""
    if isinstance(source, Mapping):
        return Document(source, name if name != TEXT else "<object>")
    try:
        root = json.loads(source, parse_constant=_no_constant)
    except json.JSONDecodeError as error:
        raise ExchangeError(f"{name}:{error.lineno}:{error.colno}: not valid JSON: {error.msg}") from None
    except (ValueError, RecursionError) as error:
        told = "it is nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise ExchangeError(f"{name}: not valid JSON: {told}") from None
    if not isinstance(root, dict):
        raise ExchangeError(f"{name}:1:1: expected an object, not {_shown(root)}")
    return Document(root, name, source)


def _no_constant(text: str) -> NoReturn:
    raise ValueError(f"{text} is not a number of JSON")


def read_document(path: str | os.PathLike[str]) -> Document:
    """Read a JSON file."""
    return document(read_text(Path(path)), os.fspath(path))


def as_text(root: Mapping[str, Any]) -> str:
    """JSON text of a file: one space deeper for each level, the same bytes for the same content."""
    return json.dumps(root, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


class Names:
    """Makes names that a scenario takes, all different, out of any text; changed ones are noted."""

    def __init__(self, notes: list[str]) -> None:
        """Begin with no names; `notes` is added to."""
        self.notes = notes
        self.taken: set[str] = set()

    def take(self, wanted: Any, default: str) -> str:
        """A name as near to the wanted one as can be."""
        given = str(wanted) if isinstance(wanted, str | int) and str(wanted) else default
        name = re.sub(r"[^A-Za-z0-9_.-]", "_", given)
        name = base = name if re.match(r"[A-Za-z_]", name) else f"_{name}"
        number = 2
        while name in self.taken:
            name, number = f"{base}_{number}", number + 1
        self.taken.add(name)
        if name != given:
            self.notes.append(f"name {given!r} is written {name!r}")
        return name
