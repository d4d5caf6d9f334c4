"""Whatever names a scenario (a file, a demo, YAML text, a dict) -> a Scenario."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from paddock.errors import suggestion
from paddock.scenario.catalog import demo_names, demo_path
from paddock.scenario.load import load_yaml, read_text
from paddock.scenario.marks import Marks, ScenarioError
from paddock.scenario.model import Scenario
from paddock.scenario.plain import plain
from paddock.scenario.problems import validated

TEXT_SOURCE = "<text>"
"""What stands for the file name in errors about YAML that was given as text."""

Source = str | os.PathLike[str] | Mapping[str, Any] | Scenario


def load_scenario(source: Source) -> Scenario:
    """Read a scenario from a file, the name of a demo, YAML text (a string of several lines), or a dict."""
    if isinstance(source, Scenario):
        return source
    if isinstance(source, Mapping):
        return _checked(plain(source), Marks())
    if isinstance(source, str) and "\n" in source:
        return scenario_from_text(source)
    if isinstance(source, str | os.PathLike):
        path = _find(source)
        return scenario_from_text(read_text(path), str(path))
    raise ScenarioError(f"a scenario is a path, a demo's name, YAML text or a dict, not {type(source).__name__}")


def scenario_from_text(text: str, name: str = TEXT_SOURCE, without: Collection[str] = ()) -> Scenario:
    """Read a scenario from YAML text and nothing else, whatever it looks like; `name` is that of its file in errors.

    The sections `without` are left out, whatever they hold.
    """
    values, marks = load_yaml(text, name)
    left_out = tuple(section for section in without if values.pop(section, None) is not None)
    scenario = _checked(values, marks)
    scenario._left_out = left_out
    scenario._written = (text, scenario.seed)
    return scenario


def _checked(values: dict[str, Any], marks: Marks) -> Scenario:
    scenario = validated(Scenario, values, marks)
    scenario._marks = marks
    return scenario


def _find(source: str | os.PathLike[str]) -> Path:
    """Return the file that is meant: a path first, then the name of a demo."""
    name = os.fspath(source)
    if os.path.isfile(name):
        return Path(name)
    if name in demo_names():
        return demo_path(name)
    what = "is a folder, not a scenario file" if os.path.isdir(name) else "no such scenario file or demo"
    shown = name if 0 < len(name) <= 200 and name.isprintable() else repr(name[:200])
    raise ScenarioError(f"{shown}: {what}; {_advice(name)}")


def _advice(name: str) -> str:
    """Return the files near the wanted name, and the demos if the name could be one."""
    folder, last = (name, "") if os.path.isdir(name) else os.path.split(name)
    try:
        files = sorted(file for file in os.listdir(folder or ".") if file.endswith((".yaml", ".yml")))
    except (OSError, ValueError):
        return f"there is no folder {folder[:200]!r}"
    choices = [os.path.join(folder, file) for file in files] + ([] if folder else demo_names())
    near = get_close_matches(name, choices, n=3, cutoff=0.6) if last else []
    return f"did you mean {' or '.join(map(repr, near))}?" if near else suggestion("", choices)
