"""Pydantic's errors -> one line each, at the place where the value was written."""

from __future__ import annotations

import re
import reprlib
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeVar, get_args

from pydantic import BaseModel, ValidationError

from paddock.errors import PaddockError, suggestion

Step = str | int
KeyPath = tuple[Step, ...]
"""The way to a value: keys and list indices, e.g. `("vehicles", 0, "model")`."""

Mark = tuple[int, int]
"""Line and column of a value, both counted from 1."""

SHOWN_PROBLEMS = 20
"""How many problems the text of one error lists before it says how many more there are."""


class ScenarioError(PaddockError):
    """What is wrong with a scenario: one line per problem, each beginning with its place."""

    def __init__(self, problems: str | Iterable[str]) -> None:
        """Take one problem or several."""
        given = [problems] if isinstance(problems, str) else problems
        self.problems: list[str] = [_one_line(problem) for problem in given]
        super().__init__(self.problems)

    def __str__(self) -> str:
        """Join the problems, one a line."""
        more = len(self.problems) - SHOWN_PROBLEMS
        tail = [f"(and {more} more)"] if more > 0 else []
        return "\n".join(self.problems[:SHOWN_PROBLEMS] + tail)


def _one_line(text: str) -> str:
    """Escape line breaks and control characters, which keys and values may contain."""
    return text if text.isprintable() else "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def dotted(path: KeyPath) -> str:
    """Write a path as users do: `vehicles[0].model`; the empty path is the `scenario` itself."""
    text = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    return text.removeprefix(".") or "scenario"


@dataclass(slots=True)
class Marks:
    """Line and column of every value and of every key; `source` is empty for values that came from Python."""

    source: str = ""
    values: dict[KeyPath, Mark] = field(default_factory=dict)
    keys: dict[KeyPath, Mark] = field(default_factory=dict)

    def mark(self, path: KeyPath) -> Mark:
        """Return the mark of a value, or of its nearest parent that has one."""
        for end in range(len(path), 0, -1):
            if (found := self.values.get(path[:end])) is not None:
                return found
        return self.values.get((), (1, 1))

    def at(self, path: KeyPath) -> str:
        """Return `file.yaml:7:5` for a value, or `vehicles[0].model` where there is no file."""
        return self.place(self.mark(path)) if self.source else dotted(path)

    def at_key(self, path: KeyPath) -> str:
        """Return the place of the key itself rather than of its value."""
        return self.place(self.keys[path]) if path in self.keys else self.at(path)

    def place(self, mark: Mark) -> str:
        """Write a mark as `file.yaml:7:5`."""
        return f"{self.source}:{mark[0]}:{mark[1]}"


Model = TypeVar("Model", bound=BaseModel)

_PLACE = re.compile(r":(\d+):(\d+): ")


class Problem(NamedTuple):
    """One thing that is wrong, and where: line and column count from 1."""

    line: int
    column: int
    message: str


def located(problem: str, source: str) -> Problem:
    """Take a line such as `race.yaml:7:5: unknown model` apart; what names no place of `source` is at its beginning."""
    place = _PLACE.match(problem, len(source)) if problem.startswith(source) else None
    if place is None:
        return Problem(1, 1, problem)
    return Problem(int(place[1]), int(place[2]), problem[place.end() :])


_NEEDS = {
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "string_type": "text",
    "string_unicode": "valid Unicode text",
    "string_too_short": "text of at least one character",
    "finite_number": "a finite number",
    "greater_than": "> {gt}",
    "greater_than_equal": ">= {ge}",
    "less_than": "< {lt}",
    "less_than_equal": "<= {le}",
    "literal_error": "{expected}",
    "list_type": "a list",
    "tuple_type": "a list",
    "dict_type": "a mapping",
    "model_type": "a mapping",
    "form": "{form}",
    "string_pattern_mismatch": "a letter or _ and then letters, digits, _ . -",
}


def validated(model: type[Model], value: Any, marks: Marks, prefix: KeyPath = ()) -> Model:
    """Validate a value; on failure raise every problem, in the order of the file."""
    try:
        return model.model_validate(value)
    except ValidationError as error:
        found = error.errors(include_url=False)
    lines = [_line(model, value, item, marks, prefix) for item in found]
    raise ScenarioError(line for _, line in sorted(lines, key=lambda pair: pair[0])) from None


def _line(model: type[BaseModel], value: Any, error: Any, marks: Marks, prefix: KeyPath) -> tuple[Mark, str]:
    """Return the mark and the text of one problem."""
    path: KeyPath = error["loc"] + error.get("ctx", {}).get("at", ())
    if error["type"] == "extra_forbidden":
        return _unknown_key(model, path, marks, prefix)
    if error["type"] == "missing":
        message = f"missing key {path[-1]!r} in {dotted(prefix + path[:-1])}"
        path = path[:-1]
    else:
        name = dotted(prefix + _written(value, path)) + " " if marks.source else ""  # else the place says it
        message = _message(error, name, marks)
    path = prefix + _written(value, path)
    return marks.mark(path), f"{marks.at(path)}: {message}"


def _unknown_key(model: type[BaseModel], path: KeyPath, marks: Marks, prefix: KeyPath) -> tuple[Mark, str]:
    key, parent, full = str(path[-1]), prefix + path[:-1], prefix + path
    advice = suggestion(key, _keys(model, path[:-1]))
    text = f"{marks.at_key(full)}: unknown key {key!r} in {dotted(parent)}; {advice}"
    return marks.keys.get(full, marks.mark(full)), text


def _message(error: Any, name: str, marks: Marks) -> str:
    context = error.get("ctx", {})
    if error["type"] == "scenario":
        other = context["other"]
        return str(context["message"]).replace("{other}", marks.at(other) if other else "{other}")
    if (needs := _NEEDS.get(error["type"])) is None:
        return f"{name}is not valid: {error['msg']}"
    limits = {key: f"{limit:g}" if isinstance(limit, float) else limit for key, limit in context.items()}
    return f"{name}must be {needs.format(**limits)}, not {_shown(error['input'])}"


def _shown(value: Any) -> str:
    return "null" if value is None else reprlib.repr(value)


def _written(value: Any, path: KeyPath) -> KeyPath:
    """Return the part of a path that the value really has; pydantic appends steps of its own."""
    for index, step in enumerate(path):
        inside = isinstance(value, dict) or (isinstance(value, list | tuple) and isinstance(step, int))
        try:
            value = value[step] if inside else None
        except (KeyError, IndexError):
            inside = False
        if not inside:
            return path[:index]
    return path


def _keys(model: type[BaseModel], path: KeyPath) -> list[str]:
    """Return the valid keys of the section that a path leads to."""
    found: type[BaseModel] | None = model
    for step in path:
        if isinstance(step, str) and found is not None and step in found.model_fields:
            found = _section_in(found.model_fields[step].annotation)
    return list(found.model_fields) if found else []


def _section_in(annotation: Any) -> type[BaseModel] | None:
    """Return the section that an annotation such as `tuple[VehicleEntry, ...] | None` speaks of."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next((found for part in get_args(annotation) if (found := _section_in(part))), None)
