"""Load scenarios from files, demos, text and dicts, and vehicle presets from the catalog."""

import os
from collections.abc import Collection, Mapping
from difflib import get_close_matches
from functools import lru_cache
from pathlib import Path
from typing import Any

from pydantic import Field

from paddock.errors import suggestion, unknown_name
from paddock.scenario.base import Numbers, Section, Text
from paddock.scenario.marked_yaml import load_yaml, plain, read_text
from paddock.scenario.problems import Marks, ScenarioError, validated
from paddock.scenario.scenario import Scenario
from paddock.scenario.scenery import FILES

FOLDER = Path(__file__).parent / "catalog"
TEXT_SOURCE = "<text>"  # file name in errors about YAML given as text

Source = str | os.PathLike[str] | Mapping[str, Any] | Scenario


def load_scenario(source: Source, files: bool = True) -> Scenario:
    """Load a scenario from a file, the name of a demo or manoeuvre, YAML text (a string of several lines), or a dict.

    Without `files` a path to another file in it is an error.
    """
    if isinstance(source, Scenario):
        return source
    if isinstance(source, Mapping):
        return _checked(plain(source), Marks(), files)
    if isinstance(source, str) and "\n" in source:
        return scenario_from_text(source, files=files)
    if isinstance(source, str | os.PathLike):
        path = _find(source)
        return scenario_from_text(read_text(path), str(path), files=files)
    raise ScenarioError(f"a scenario is a path, a demo's name, YAML text or a dict, not {type(source).__name__}")


def scenario_from_text(
    text: str, name: str = TEXT_SOURCE, without: Collection[str] = (), files: bool = True
) -> Scenario:
    """Load a scenario from YAML text; `name` is the file name in errors, the sections `without` are not read.

    Maps and tyres in files are found beside the file `name`; without `files` a path is an error.
    """
    values, marks = load_yaml(text, name)
    left_out = tuple(section for section in without if values.pop(section, None) is not None)
    scenario = _checked(values, marks, files)
    scenario._left_out = left_out
    scenario._written = (text, scenario.seed)
    return scenario


def _checked(values: dict[str, Any], marks: Marks, files: bool = True) -> Scenario:
    context = {FILES: os.path.dirname(marks.source)} if files else {}
    scenario = validated(Scenario, values, marks, context=context)
    scenario._marks = marks
    return scenario


def _find(source: str | os.PathLike[str]) -> Path:
    """Return the scenario file: a path first, then the name of a demo or manoeuvre."""
    name = os.fspath(source)
    if os.path.exists(name) and not os.path.isdir(name):
        return Path(name)
    if name in bundled_names():
        return bundled_path(name)
    what = "is a folder, not a scenario file" if os.path.isdir(name) else "no such scenario file or demo"
    shown = name if 0 < len(name) <= 200 and name.isprintable() else repr(name[:200])
    raise ScenarioError(f"{shown}: {what}; {_advice(name)}")


def _advice(name: str) -> str:
    """Suggest files with a similar name, and demos if the name could be one."""
    folder, last = (name, "") if os.path.isdir(name) else os.path.split(name)
    try:
        files = sorted(file for file in os.listdir(folder or ".") if file.endswith((".yaml", ".yml")))
    except (OSError, ValueError):
        deleted = "the current folder was deleted: give an absolute path"
        return f"there is no folder {folder[:200]!r}" if folder else deleted
    choices = [os.path.join(folder, file) for file in files] + ([] if folder else demo_names())
    near = get_close_matches(name, choices + ([] if folder else manoeuvre_names()), n=3, cutoff=0.6) if last else []
    if not choices:
        return "that folder has no scenario files (.yaml)"
    return f"did you mean {' or '.join(map(repr, near))}?" if near else suggestion("", choices)


def demo_names() -> list[str]:
    """Return the names of the demo scenarios, sorted."""
    return _names("demos")


def manoeuvre_names() -> list[str]:
    """Return the names of the manoeuvres of `paddock validate` as scenarios, sorted."""
    return _names("manoeuvres")


def bundled_names() -> list[str]:
    """Return the names of all bundled scenarios: demos, then manoeuvres."""
    return demo_names() + manoeuvre_names()


def bundled_path(name: str) -> Path:
    """Return the file of a demo or manoeuvre."""
    if name not in (names := bundled_names()):
        raise unknown_name("demo", name, names)
    return FOLDER / ("demos" if name in demo_names() else "manoeuvres") / f"{name}.yaml"


def _names(folder: str) -> list[str]:
    return sorted(path.stem for path in (FOLDER / folder).glob("*.yaml"))


class Preset(Section):
    """A named set of parameters of a vehicle model."""

    description: Text = Field(description="Description and source of the values.")
    parameters: Numbers = Field(description="Every parameter it sets, in SI units.")


def preset_names(model: str) -> list[str]:
    """Return the presets of a model, its default first; none if the catalog does not contain the model."""
    return list(_presets_of(model))


def preset_description(model: str, preset: str) -> str:
    """Return the description of a preset, a sentence or two."""
    return _chosen(model, preset, "").description


def load_preset(model: str, preset: str | None = None, where: str = "") -> dict[str, float]:
    """Return a preset's parameters in SI units; None takes the default, if any. Errors begin with `where`."""
    if preset is None and not _presets_of(model):
        return {}
    return dict(_chosen(model, preset, where).parameters)


def _chosen(model: str, preset: str | None, where: str) -> Preset:
    presets = _presets_of(model)
    name = next(iter(presets)) if preset is None else preset
    if name not in presets:
        raise unknown_name(f"preset of {model}", name, presets, where)
    return presets[name]


def _presets_of(model: str) -> dict[str, Preset]:
    """Return the presets of the model itself (`car.bicycle`), else those of its family (`car`)."""
    files = _preset_files(FOLDER)
    path = files.get(model) or files.get(model.partition(".")[0])
    return read_presets(path) if path else {}


@lru_cache(maxsize=1)
def _preset_files(folder: Path) -> dict[str, Path]:
    return {path.stem: path for path in (folder / "presets").glob("*.yaml")}


@lru_cache(maxsize=64)
def read_presets(path: Path) -> dict[str, Preset]:
    """Read a preset file: a mapping of names to presets, the default first."""
    values, marks = load_yaml(read_text(path), str(path))
    return {name: validated(Preset, value, marks, (name,)) for name, value in values.items()}
