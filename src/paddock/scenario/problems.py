"""Errors of a scenario, each with the file, line and column of the value."""

import re
import reprlib
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeVar, get_args

from pydantic import BaseModel, ValidationError

from paddock.errors import PaddockError, printable, suggestion

Step = str | int
KeyPath = tuple[Step, ...]  # keys and list indices that lead to a value, e.g. `("vehicles", 0, "model")`
Mark = tuple[int, int]  # line and column, both counted from 1
Model = TypeVar("Model", bound=BaseModel)

SHOWN_PROBLEMS = 20  # problems listed in the text of one error; the rest are counted


class ScenarioError(PaddockError):
    """An invalid scenario: one line per problem, each starting with its location."""

    def __init__(self, problems: str | Iterable[str]) -> None:
        texts = [problems] if isinstance(problems, str) else problems
        self.problems: list[str] = [printable(problem) for problem in texts]
        super().__init__(self.problems)

    def __str__(self) -> str:
        more = len(self.problems) - SHOWN_PROBLEMS
        tail = [f"(and {more} more)"] if more > 0 else []
        return "\n".join(self.problems[:SHOWN_PROBLEMS] + tail)


class ScenarioProblem(NamedTuple):
    """One problem and its location; line and column count from 1."""

    line: int
    column: int
    message: str


_LOCATION = re.compile(r":(\d+):(\d+): ")


def located(problem: str, source: str) -> ScenarioProblem:
    """Split a line such as `race.yaml:7:5: unknown model`; a line without a location in `source` is at 1:1."""
    match = _LOCATION.match(problem, len(source)) if problem.startswith(source) else None
    if match is None:
        return ScenarioProblem(1, 1, problem)
    return ScenarioProblem(int(match[1]), int(match[2]), problem[match.end() :])


def dotted(path: KeyPath) -> str:
    """Format a path as `vehicles[0].model`; the empty path is `scenario`."""
    text = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    return text.removeprefix(".") or "scenario"


@dataclass(slots=True)
class Marks:
    """Line and column of every value and key; `source` is empty for values that come from Python."""

    source: str = ""
    values: dict[KeyPath, Mark] = field(default_factory=dict)
    keys: dict[KeyPath, Mark] = field(default_factory=dict)

    def mark(self, path: KeyPath) -> Mark:
        """Return the mark of a value, or of its nearest parent that has one."""
        for end in range(len(path), 0, -1):
            if (mark := self.values.get(path[:end])) is not None:
                return mark
        return self.values.get((), (1, 1))

    def at(self, path: KeyPath) -> str:
        """Return the location of a value: `file.yaml:7:5`, or `vehicles[0].model` without a file."""
        return self.location(self.mark(path)) if self.source else dotted(path)

    def at_key(self, path: KeyPath) -> str:
        """Return the location of a key rather than of its value."""
        return self.location(self.keys[path]) if path in self.keys else self.at(path)

    def location(self, mark: Mark) -> str:
        """Format a mark as `file.yaml:7:5`."""
        return f"{self.source}:{mark[0]}:{mark[1]}"


_REQUIREMENTS = {
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "string_type": "text",
    "string_unicode": "valid Unicode text",
    "string_too_short": "text of at least one character",
    "string_too_long": "text of at most {max_length} characters",
    "finite_number": "a finite number",
    "greater_than": "> {gt}",
    "greater_than_equal": ">= {ge}",
    "less_than": "< {lt}",
    "less_than_equal": "<= {le}",
    "literal_error": "{expected}",
    "bool_type": "true or false",
    "bool_parsing": "true or false",
    "list_type": "a list",
    "too_short": "a list of at least {min_length} items",
    "too_long": "a list of at most {max_length} items",
    "tuple_type": "a list",
    "dict_type": "a mapping",
    "model_type": "a mapping",
    "form": "{form}",
    "string_pattern_mismatch": "a letter or _ and then letters, digits, _ . -",
}


def validated(
    model: type[Model], value: Any, marks: Marks, prefix: KeyPath = (), context: dict[str, Any] | None = None
) -> Model:
    """Validate a value; raise a ScenarioError with all problems in file order. `context` is for validators."""
    try:
        return model.model_validate(value, context=context)
    except ValidationError as error:
        problems = error.errors(include_url=False)
    problems = [
        problem for problem in problems if not (problem["type"] == "too_short" and _has_other(problem, problems))
    ]
    lines = [_line(model, value, item, marks, prefix) for item in problems]
    raise ScenarioError(line for _, line in sorted(lines, key=lambda pair: pair[0])) from None


def _has_other(short: Any, problems: list[Any]) -> bool:
    """Return whether a list counts as too short only because some of its items are not valid."""
    loc = short["loc"]
    return any(len(other["loc"]) > len(loc) and other["loc"][: len(loc)] == loc for other in problems)


def _line(model: type[BaseModel], value: Any, error: Any, marks: Marks, prefix: KeyPath) -> tuple[Mark, str]:
    """Return the mark and the text of one problem."""
    path: KeyPath = error["loc"] + error.get("ctx", {}).get("at", ())
    if error["type"] == "extra_forbidden":
        existing = _existing(value, path)
        full = prefix + (existing if existing[-1:] == path[-1:] else path)
        key, parent = str(path[-1]), full[:-1]
        advice = suggestion(key, _keys(model, path[:-1]))
        text = f"{marks.at_key(full)}: unknown key {key!r} in {dotted(parent)}; {advice}"
        return marks.keys.get(full, marks.mark(full)), text
    if error["type"] == "missing":
        message = f"missing key {path[-1]!r} in {dotted(prefix + path[:-1])}"
        path = path[:-1]
    else:
        name = dotted(prefix + _existing(value, path)) + " " if marks.source else ""  # otherwise the location names it
        message = _message(error, name, marks)
    path = prefix + _existing(value, path)
    return marks.mark(path), f"{marks.at(path)}: {message}"


def _message(error: Any, name: str, marks: Marks) -> str:
    context = error.get("ctx", {})
    if error["type"] == "scenario":
        other = context["other"]
        return str(context["message"]).replace("{other}", marks.at(other) if other else "{other}")
    if (requirement := _REQUIREMENTS.get(error["type"])) is None:
        return f"{name}is not valid: {error['msg']}"
    limits = {key: f"{limit:g}" if isinstance(limit, float) else limit for key, limit in context.items()}
    shown = "null" if error["input"] is None else reprlib.repr(error["input"])
    return f"{name}must be {requirement.format(**limits)}, not {shown}"


def _existing(value: Any, path: KeyPath) -> KeyPath:
    """Return the part of a path that exists in the value; pydantic appends its own steps.

    Fields of `{kind: {options}}` are found among the options, and those of a mapping in place of a list of one in it.
    """
    existing: KeyPath = ()
    for step in path:
        if step == 0 and isinstance(value, dict) and 0 not in value:
            continue
        if isinstance(value, dict) and step not in value and len(value) == 1:
            [(kind, options)] = value.items()
            if isinstance(options, dict) and step in options:
                existing, value = (*existing, kind), options
        inside = isinstance(value, dict) or (isinstance(value, list | tuple) and isinstance(step, int))
        try:
            value = value[step] if inside else None
        except (KeyError, IndexError):
            inside = False
        if not inside:
            return existing
        existing = (*existing, step)
    return existing


def _keys(model: type[BaseModel], path: KeyPath) -> list[str]:
    """Return the valid keys of the section at a path."""
    section: type[BaseModel] | None = model
    for step in path:
        if isinstance(step, str) and section is not None and step in section.model_fields:
            section = _section_in(section.model_fields[step].annotation)
    return list(section.model_fields) if section else []


def _section_in(annotation: Any) -> type[BaseModel] | None:
    """Return the section class in an annotation such as `tuple[VehicleEntry, ...] | None`."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next((section for part in get_args(annotation) if (section := _section_in(part))), None)
