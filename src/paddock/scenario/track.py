"""The section `track`: a track of the catalog, of a file, or a generated one, and the friction of its surface."""

import os
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import BeforeValidator, Field, ValidationInfo, model_serializer, model_validator

from paddock.scenario.base import Flag, NotNegative, Number, Section, Text, Vector3, Whole, has_length, invalid
from paddock.scenario.marked_yaml import read_text
from paddock.scenario.problems import ScenarioError
from paddock.scenario.scenery import FILES

LONGEST_TRACK = 4 << 20  # bytes of a track file
SOURCES = ("name", "file", "generate")  # where a track comes from: exactly one of them
ENDINGS = (".csv", ".txt", ".yaml", ".yml")


class TrackSurface(Section):
    """Friction of the asphalt and of what lies outside."""

    mu: NotNegative = Field(default=1.0, le=10, description="Friction of the track (no unit), in place of the world's.")
    outside: NotNegative = Field(default=0.6, le=10, description="Friction outside its boundaries (no unit).")
    transition: NotNegative = Field(
        default=0.5, le=100, description="Width over which it changes at the boundaries, in m."
    )


class GeneratedTrack(Section):
    """A random track, a function of the seed."""

    seed: Whole = Field(default=0, ge=0, lt=2**64, description="Seed of the track; the same seed, the same track.")
    width: Number = Field(default=3.5, ge=3.0, le=8.0, description="Least width, in m.")
    length: Annotated[tuple[Number, Number], has_length(2, form="[shortest, longest]")] = Field(
        default=(220.0, 480.0), description="Length of a lap [from, to], in m, within 200 to 500."
    )

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if not 200.0 <= self.length[0] <= self.length[1] <= 500.0:
            raise invalid(f"length must rise within 200 to 500 m, not {list(self.length)}", ("length",))
        return self


class TrackSection(Section):
    """A track: its name in the catalog, a file, or {generate: {seed: 3}}. The scenario keeps the text of a file."""

    name: Text | None = Field(default=None, min_length=1, description="Name of a track of the catalog: autocross, ...")
    file: Text | None = Field(
        default=None, min_length=1, description="Track file; a relative path begins in the folder of the scenario."
    )
    text: Text | None = Field(default=None, max_length=LONGEST_TRACK, description="Text of the file, in recordings.")
    generate: GeneratedTrack | None = Field(default=None, description="A random track.")
    swap_colours: Flag = Field(default=False, description="Exchange blue and yellow cones.")
    start: Vector3 | None = Field(
        default=None, description="Start pose [x, y, yaw], in m and rad; null is that of the file."
    )
    surface: TrackSurface | None = Field(default=None, description="Friction; null is the world's everywhere.")

    @model_validator(mode="after")
    def _one_source(self) -> Self:
        _check_sources([key for key in SOURCES if getattr(self, key) is not None])
        if self.text is not None and self.file is None:
            raise invalid("text is that of a file: give its name as file", ("text",))
        return self

    @model_serializer(mode="wrap")
    def _short_form(self, handler: Any) -> Any:
        found = handler(self)
        set_ = {key for key, value in found.items() if value not in (None, False)}
        return found["name"] if set_ == {"name"} else found


def _check_sources(given: list[str]) -> None:
    if len(given) == 1:
        return
    has = f"has both {given[0]} and {given[1]}: keep one" if given else "has no source: give one"
    choices = "name (a track of the catalog), file (a track file) or generate (a random track)"
    raise invalid(f"the track {has} of {choices}", tuple(given[1:2]))


def _track(value: Any, info: ValidationInfo) -> Any:
    """Expand a name or path, and read the file."""
    if isinstance(value, str):
        value = {"file" if is_track_file(value) else "name": value}
    if not isinstance(value, dict) or not isinstance(value.get("file"), str) or value.get("text") is not None:
        return value
    _check_sources([key for key in SOURCES if value.get(key) is not None])  # before the file is looked for
    folder = (info.context or {}).get(FILES, "")
    if folder is None:
        raise invalid("files are not read for clients: give {file: NAME, text: TEXT}", ("file",))
    return {**value, "text": _file_text(Path(folder, value["file"]))}


def is_track_file(name: str) -> bool:
    """Return whether a text is the path of a track file rather than a name of the catalog."""
    return os.path.splitext(name)[1].lower() in ENDINGS or "/" in name or os.sep in name


def _file_text(path: Path) -> str:
    try:
        if path.is_file() and path.stat().st_size > LONGEST_TRACK:
            raise invalid(f"{path}: a track file has at most {LONGEST_TRACK >> 20} MB")
        return read_text(path).replace("\r\n", "\n")
    except ScenarioError as error:
        raise invalid(error.problems[0]) from None


TrackChoice = Annotated[TrackSection, BeforeValidator(_track)]
