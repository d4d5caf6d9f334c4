"""What comes with Paddock: demo scenarios, and presets of vehicle parameters."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from pydantic import Field

from paddock.errors import unknown_name
from paddock.scenario.base import Numbers, Section, Text
from paddock.scenario.load import load_yaml, read_text
from paddock.scenario.problems import validated

FOLDER = Path(__file__).parent / "catalog"


class Preset(Section):
    """A named set of parameters of a vehicle model."""

    description: Text = Field(description="What it is, and where its values come from.")
    parameters: Numbers = Field(description="Every parameter it sets, in SI units.")


def demo_names() -> list[str]:
    """Return the names of the demo scenarios, sorted."""
    return sorted(path.stem for path in (FOLDER / "demos").glob("*.yaml"))


def demo_path(name: str) -> Path:
    """Return the scenario file of a demo."""
    if name not in (names := demo_names()):
        raise unknown_name("demo", name, names)
    return FOLDER / "demos" / f"{name}.yaml"


def preset_names(model: str) -> list[str]:
    """Return the presets of a model, its default first; none for a model the catalog does not know."""
    return list(_presets_of(model))


def preset_description(model: str, preset: str) -> str:
    """Return what a preset is, in a sentence or two."""
    return _chosen(model, preset, "").description


def load_preset(model: str, preset: str | None = None, place: str = "") -> dict[str, float]:
    """Return a preset's parameters in SI units; None takes the default one, or nothing where the model has none.

    `place` is where the preset was asked for, e.g. `race.yaml:7:5`, and begins the error for an unknown one.
    """
    if preset is None and not _presets_of(model):
        return {}
    return dict(_chosen(model, preset, place).parameters)


def _chosen(model: str, preset: str | None, place: str) -> Preset:
    presets = _presets_of(model)
    name = next(iter(presets)) if preset is None else preset
    if name not in presets:
        raise unknown_name(f"preset of {model}", name, presets, place)
    return presets[name]


def _presets_of(model: str) -> dict[str, Preset]:
    """Return the presets of the model itself (`car.bicycle`), else those of its family (`car`)."""
    files = {path.stem: path for path in (FOLDER / "presets").glob("*.yaml")}
    path = files.get(model) or files.get(model.partition(".")[0])
    return read_presets(path) if path else {}


@lru_cache(maxsize=64)
def read_presets(path: Path) -> dict[str, Preset]:
    """Read a preset file: a mapping of names to presets, the default first."""
    values, marks = load_yaml(read_text(path), str(path))
    return {name: validated(Preset, value, marks, (name,)) for name, value in values.items()}
