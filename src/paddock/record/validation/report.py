"""The report of a validation: Markdown, HTML with plots, JSON; the same car gives the same bytes."""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from paddock.behaviour.paths import LaneChangeCourse
from paddock.record.reports import ALARM, SOFT, colour, drawn, dress, picture, render, svg, table, write_files
from paddock.record.validation.courses import lane_change, lane_change_agreement, skidpad, skidpad_agreement
from paddock.record.validation.manoeuvres import (
    FIGURES,
    NOT_REACHED,
    Check,
    ManoeuvreResult,
    acceleration,
    braking,
    coast_down,
    formulas,
    split_friction,
    steady_turns,
    step_steer,
)
from paddock.record.validation.proving_ground import TestCar

LEVELS = ("kinematic", "bicycle", "double_track", "full")
TURNS, CHANGE, SKIDPAD = "ISO 4138 steady turns", "ISO 3888-2 double lane change", "skidpad"
MANOEUVRES: dict[str, Callable[[TestCar], ManoeuvreResult]] = {
    "ISO 7401 step steer": step_steer,
    TURNS: steady_turns,
    CHANGE: lane_change,
    SKIDPAD: skidpad,
    "acceleration": acceleration,
    "braking": braking,
    "split friction": split_friction,
    "coast-down": coast_down,
    "formulas": formulas,
}
PLOTS = {
    "step_yaw_rate": ("ISO 7401: yaw rate after a step of the steering", "time, s", "yaw rate, deg/s"),
    "step_slip": ("ISO 7401: body slip after a step of the steering", "time, s", "body slip, deg"),
    "understeer": ("ISO 4138: steering in steady turns", "lateral acceleration, m/s2", "road-wheel angle, deg"),
    "understeer_slip": ("ISO 4138: body slip in steady turns", "lateral acceleration, m/s2", "body slip, deg"),
    "lane_change": ("ISO 3888-2: the fastest run without a cone hit", "x, m", "y, m"),
    "acceleration": ("Acceleration from rest", "time, s", "speed, km/h"),
    "braking": ("Braking with the full pedal", "distance, m", "speed, km/h"),
    "split_mu": ("Split friction, wheel straight: heading", "time, s", "heading, deg"),
    "split_mu_corrected": ("Split friction, corrected: heading", "time, s", "heading, deg"),
    "coast_down": ("Coast-down in neutral", "time, s", "speed, km/h"),
}


@dataclass(frozen=True)
class Validation:
    """The outcomes of one car: level -> manoeuvre -> outcome."""

    name: str
    cars: tuple[TestCar, ...]
    outcomes: dict[str, dict[str, ManoeuvreResult]]

    @property
    def levels(self) -> list[str]:
        """The levels, in the order of fidelity."""
        return [car.level for car in self.cars]

    @property
    def checks(self) -> list[Check]:
        """All checks against formulas, and of figures against each other."""
        checks = [
            check for results in self.outcomes.values() for outcome in results.values() for check in outcome.checks
        ]
        circle, turns, change = (self._driven(key) for key in (SKIDPAD, TURNS, CHANGE))
        for car in self.cars:
            if car.level in circle and car.level in turns:
                checks += skidpad_agreement(car, circle[car.level], turns[car.level])
        changed = [car for car in self.cars if car.level in change]
        return checks + lane_change_agreement(changed, [change[car.level] for car in changed])

    def _driven(self, manoeuvre: str) -> dict[str, ManoeuvreResult]:
        """Return the outcomes of a manoeuvre by level."""
        return {level: results[manoeuvre] for level, results in self.outcomes.items() if manoeuvre in results}

    def figure(self, level: str, key: str) -> float | None:
        """Return a figure at a level; None if it was not reached."""
        for outcome in self.outcomes[level].values():
            if key in outcome.figures:
                return outcome.figures[key]
        return None

    def rows(self) -> list[list[str]]:
        """Return the table of figures: label, unit, one value per level."""
        rows = []
        for key, figure in FIGURES.items():
            values = [self.figure(level, key) for level in self.levels]
            if any(value is not None for value in values):
                rows.append([figure.label, figure.unit, *(figure.shown(value) for value in values)])
        return rows

    def remarks(self) -> list[str]:
        """Return one line for each manoeuvre that was not driven or whose figures need a word, with its levels."""
        reasons: dict[str, list[str]] = {}
        for level, outcomes in self.outcomes.items():
            for name, result in outcomes.items():
                if result.skipped or result.remark:
                    line = f"{name}: skipped: {result.skipped}" if result.skipped else f"{name}: {result.remark}"
                    reasons.setdefault(line, []).append(level)
        everywhere = len(self.cars)
        return [
            reason if len(levels) == everywhere else f"{reason} ({', '.join(levels)})"
            for reason, levels in reasons.items()
        ]

    def document(self) -> dict[str, Any]:
        """Return all numbers for JSON."""
        checks = [
            {"what": c.what, "level": c.level, "measured": c.measured, "expected": c.expected, "ok": c.ok}
            | {"tolerance": c.tolerance, "formula": c.formula}
            for c in self.checks
        ]
        figures = {
            level: {key: value for result in outcomes.values() for key, value in result.figures.items()}
            for level, outcomes in self.outcomes.items()
        }
        units = {key: figure.unit for key, figure in FIGURES.items()}
        names = {"car": self.name, "preset": self.cars[0].preset, "levels": self.levels}
        return {**names, "figures": figures, "units": units, "checks": checks, "remarks": self.remarks()}


def validate(
    name: str, cars: Sequence[TestCar], only: Sequence[str] = (), progress: Callable[[float], None] = lambda share: None
) -> Validation:
    """Drive the manoeuvres (all, or `only` some) with every car."""
    chosen = {key: run for key, run in MANOEUVRES.items() if not only or key in only}
    outcomes: dict[str, dict[str, ManoeuvreResult]] = {}
    done, total = 0, len(cars) * len(chosen)
    for car in cars:
        mine = outcomes.setdefault(car.level, {})
        for key, run in chosen.items():
            mine[key] = run(car)
            done += 1
            progress(done / total)
    return Validation(name, tuple(cars), outcomes)


def write_report(validation: Validation, folder: Path) -> list[Path]:
    """Write validation.md, validation.html and validation.json; return their paths."""
    drawings, missing = drawn(lambda figure_class: dict(_drawings(validation, figure_class)))
    contents = {
        "validation.md": markdown(validation),
        "validation.html": page(validation, drawings or {}, missing),
        "validation.json": json.dumps(validation.document(), indent=2) + "\n",
    }
    names = write_files(folder, {name: content.encode() for name, content in contents.items()})
    return [folder / name for name in names]


def check_rows(validation: Validation) -> list[list[str]]:
    """Return the table of checks, under CHECK_HEADS."""
    return [
        [c.what, c.level, c.formula, f"{c.measured:.5g}", f"{c.expected:.5g}", c.difference, "yes" if c.ok else "NO"]
        for c in validation.checks
    ]


CHECK_HEADS = ("check", "level", "formula", "measured", "expected", "difference", "within tolerance")


def markdown(validation: Validation) -> str:
    """Return the report as Markdown."""
    lines = [f"# Validation of {validation.name}", ""]
    lines += [*table(("figure", "unit", *validation.levels), validation.rows()), ""]
    lines += ["## Checks", "", *table(CHECK_HEADS, check_rows(validation)), ""]
    lines += [*(f"- {line}" for line in validation.remarks()), ""] if validation.remarks() else []
    return "\n".join([*lines, f"`{NOT_REACHED}`: not reached, or no limit at this level.", ""])


def page(validation: Validation, drawings: dict[str, str], missing: str) -> str:
    """Return the report as one HTML file."""
    passed = sum(check.ok for check in validation.checks)
    return render(
        "validation.html",
        name=validation.name,
        results=[(f"{passed} of {len(validation.checks)}", "checks passed"), (str(len(validation.cars)), "levels")],
        figure_heads=("figure", "unit", *validation.levels),
        figures=validation.rows(),
        check_heads=CHECK_HEADS,
        checks=check_rows(validation),
        remarks=[*validation.remarks(), *filter(None, [missing])],
        drawings=[picture(drawing, name, PLOTS[name][0]) for name, drawing in drawings.items()],
    )


def _drawings(validation: Validation, figure_class: Any) -> Iterator[tuple[str, str]]:
    """Yield the plots by name, as SVG."""
    for name, (title, across, up) in PLOTS.items():
        curves = {
            level: outcome.curves[name]
            for level, outcomes in validation.outcomes.items()
            for outcome in outcomes.values()
            if name in outcome.curves
        }
        if not curves:
            continue
        figure = figure_class(figsize=(9.0, 3.6), layout="constrained")
        axes = figure.add_subplot()
        if name == "lane_change":
            _draw_course(axes, LaneChangeCourse(2.0 * validation.cars[0].outline()[1]))
        for k, (level, (x, y)) in enumerate(curves.items()):
            axes.plot(x, y, color=colour(k), linewidth=1.5, label=level)
        dress(axes, title)
        axes.set_xlabel(across)
        axes.set_ylabel(up)
        axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False)
        yield name, svg(figure)


def _draw_course(axes: Any, course: LaneChangeCourse) -> None:
    for first, last, right, left in course.lanes:
        axes.plot([first, last, last, first, first], [right, right, left, left, right], color=SOFT, linewidth=0.6)
    axes.plot(*course.cones.T, "^", color=ALARM, markersize=3.5)
    axes.set_xlim(-5.0, 66.0)
