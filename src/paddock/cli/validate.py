"""`paddock validate`: drive standard manoeuvres with a car, and compare levels and formulas."""

from __future__ import annotations

import json as json_format
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from paddock.cli.options import Flag
from paddock.cli.progress import bar
from paddock.errors import PaddockError, UnknownNameError, unknown_name

if TYPE_CHECKING:
    from paddock.record.validation.proving_ground import TestCar
    from paddock.record.validation.report import Validation

FILES = (".yaml", ".yml")


def validate(
    car: str = "car",
    /,
    *,
    level: Annotated[tuple[str, ...], Parameter(negative="", show_default=False)] = (),
    preset: str | None = None,
    only: Annotated[tuple[str, ...], Parameter(negative="", show_default=False)] = (),
    report: str | None = None,
    json: Flag = False,
) -> int:
    """Drive ISO 7401, ISO 4138, ISO 3888-2, skidpad, acceleration, braking and coast-down; compare levels and formulas.

    Exits with 1 if a figure differs from a formula, or from another figure, by more than the tolerance of the check.

    Parameters
    ----------
    car
        car (every level), a level (car.full), your own model with the parameters of cars, a preset (sports), or a
        scenario file, whose first car is taken with its parameters and subsystems.
    level
        Level to drive: kinematic, bicycle, double_track or full, or 1 to 4; may be repeated; default: all.
    preset
        Named set of parameters, e.g. sports.
    only
        Manoeuvre to drive, by a part of its name, e.g. 7401 or braking; may be repeated; default: all.
    report
        Folder for validation.md, validation.html and validation.json.
    json
        Print only a JSON object.
    """
    from paddock.record.validation.report import MANOEUVRES, write_report
    from paddock.record.validation.report import validate as validate_cars

    cars = _cars(car, level, preset)
    chosen = [_manoeuvre(name, tuple(MANOEUVRES)) for name in only]
    if report is not None and (not report or Path(report).is_file()):
        raise PaddockError(f"--report takes a folder, not {report!r}")
    name = " ".join(filter(None, (cars[0].preset, "car" if len(cars) > 1 else cars[0].model)))
    with bar(f"driving manoeuvres with {name}") as progress:
        validation = validate_cars(name, cars, chosen, progress)
    if json:
        print(json_format.dumps(validation.document(), indent=2))
    else:
        _print(validation)
    if report is not None:
        paths = write_report(validation, Path(report))
        print("\n".join(map(str, paths)), file=sys.stderr if json else sys.stdout)
    failed = [check for check in validation.checks if not check.ok]
    for check in failed:
        values = f"{check.measured:.5g}, {check.formula} gives {check.expected:.5g}"
        print(f"paddock: check failed: {check.level}: {check.what}: {values}", file=sys.stderr)
    return 1 if failed else 0


def _cars(car: str, level: tuple[str, ...], preset: str | None) -> list[TestCar]:
    from paddock.record.validation.proving_ground import checked_car
    from paddock.record.validation.report import LEVELS
    from paddock.scenario import load_scenario, preset_names
    from paddock.vehicles.model import find_model

    level = tuple(LEVELS[int(part) - 1] if part in ("1", "2", "3", "4") else part for part in level)
    for part in level:
        if part not in LEVELS:
            raise unknown_name("level", part, LEVELS, "--level")
    if car == "car" or car in preset_names("car"):
        named = preset if car == "car" else car
        if car != "car" and preset not in (None, car):
            raise PaddockError(f"two presets are given: {car} and --preset {preset}")
        named = named or preset_names("car")[0]
        return [checked_car(f"car.{part}", named) for part in level or LEVELS]
    if car.endswith(FILES):
        entries = [entry for entry in load_scenario(car).vehicles if find_model(entry.model).kind == "car"]
        if not entries:
            raise PaddockError(f"{car}: no car in this scenario")
        models = [f"car.{part}" for part in level] or [entries[0].model]
        return [checked_car(model, preset, entries[0]) for model in models]
    if level:
        raise PaddockError(f"--level needs car, a preset or a scenario, not the model {car!r}")
    try:
        find_model(car)
    except UnknownNameError:
        raise unknown_name("car", car, ["car", *(f"car.{part}" for part in LEVELS), *preset_names("car")]) from None
    return [checked_car(car, preset)]


def _manoeuvre(part: str, names: tuple[str, ...]) -> str:
    matches = [name for name in names if part.lower() in name.lower()]
    if len(matches) != 1:
        raise unknown_name("manoeuvre", part, names, "--only")
    return matches[0]


def _print(validation: Validation) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, header_style="bold", title=f"Validation of {validation.name}", title_justify="left")
    for column in ("figure", "unit", *validation.levels):
        table.add_column(column, justify="left" if column in ("figure", "unit") else "right")
    for row in validation.rows():
        table.add_row(*row)
    console = Console()
    console.print(table)
    for check in validation.checks:
        mark = "[green]ok[/]" if check.ok else "[red]failed[/]"
        console.print(f"{mark} {check.level}: {check.what}: {check.difference} of {check.formula}", highlight=False)
    for line in validation.remarks():
        console.print(line, highlight=False)
