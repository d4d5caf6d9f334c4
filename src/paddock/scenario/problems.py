"""Pydantic's errors -> one line each, at the place where the value was written."""

from __future__ import annotations

import re
import reprlib
from typing import Any, NamedTuple, TypeVar, get_args

from pydantic import BaseModel, ValidationError

from paddock.errors import suggestion
from paddock.scenario.marks import KeyPath, Mark, Marks, ScenarioError, dotted

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
