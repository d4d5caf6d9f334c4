"""What a behaviour was told: a rule with its options, target and path, checked as the user wrote them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from paddock.behaviour.paths import path_points
from paddock.behaviour.rule import Route, Rule
from paddock.errors import InvalidValueError, unknown_name
from paddock.world.columns import Column, Floats, checked, column_index, columns_of, defaults_of, filled
from paddock.world.fleet import Ints

Where = Callable[[str], str]
"""Option ("" for the behaviour itself) -> where the user wrote it, for errors."""


@dataclass(frozen=True)
class Plan:
    """A rule and what it needs to know, the same for all vehicles that follow it, but for options given one by one."""

    rule: Rule
    target: str | None
    options: Floats  # values of rule.options; (options, n) where some were given vehicle by vehicle
    path: Floats  # (k, 4) x, y, z in m and speed in m/s; one row of zeros without a path

    @property
    def one_by_one(self) -> bool:
        """Whether vehicles were given options of their own."""
        return self.options.ndim > 1

    def table(self, count: int) -> Floats:
        """The options of each of so many vehicles, (options, count)."""
        return self.options if self.one_by_one else np.repeat(self.options[:, None], count, axis=1)

    def of(self, places: Ints) -> Plan:
        """The same for some of the vehicles."""
        return replace(self, options=self.options[:, places]) if self.one_by_one else self

    def of_one(self) -> Plan:
        """The same for the first of the vehicles, as if all were told so."""
        return replace(self, options=self.options[:, 0].copy()) if self.one_by_one else self

    def route(self, place: int = 0) -> Route | None:
        """Where it leads (one of the vehicles), if that is fixed."""
        options = self.options[:, place] if self.one_by_one else self.options
        return self.rule.planned(self.rule.options(*options.tolist()), self.path)


def plan(rule: Rule, given: Mapping[str, Any], where: Where, count: int | None = None) -> Plan:
    """The options as the user wrote them, each known and in range; lists of `count` values where that is given."""
    target = _target(rule, given, where)
    options = _options(rule, given, target, where, count)
    return Plan(rule, target, options, _path(rule, given, options, where))


def _target(rule: Rule, given: Mapping[str, Any], where: Where) -> str | None:
    target = given.get("target")
    if target is None and rule.needs_target:
        raise InvalidValueError(f"{where('')}: behaviour {rule.name!r} needs a target: the name of a vehicle")
    if target is not None and not _takes_target(rule):
        raise InvalidValueError(f"{where('target')}: behaviour {rule.name!r} takes no target")
    if target is not None and not isinstance(target, str):
        raise InvalidValueError(f"{where('target')}: target must be the name of a vehicle, not {target!r:.60}")
    return target


def _options(rule: Rule, given: Mapping[str, Any], target: str | None, where: Where, count: int | None) -> Floats:
    plain = {name: value for name, value in given.items() if name not in ("path", "target")}
    listed: dict[str, Floats] = {}
    if count is not None:
        lists = {name: value for name, value in plain.items() if isinstance(value, list)}
        listed = {name: _one_by_one(rule, name, values, where(name), count) for name, values in lists.items()}
        plain |= {name: float(values[0]) for name, values in listed.items()}
    if "has_target" in plain:  # set below, from whether a target is named
        raise InvalidValueError(f"{where('has_target')}: name a target instead of setting has_target")
    for name, value in plain.items():  # one at a time, so that an error names its own place
        filled(rule.options, {**_required(rule), name: value}, f"{rule.name} option", where(name))
    values = filled(rule.options, plain, f"{rule.name} option", where(""))
    if "has_target" in column_index(rule.options):
        values[column_index(rule.options)["has_target"]] = float(target is not None)
    if not listed:
        return values
    table = np.repeat(values[:, None], len(next(iter(listed.values()))), axis=1)
    for name, numbers in listed.items():
        table[column_index(rule.options)[name]] = numbers
    return table


def _one_by_one(rule: Rule, name: str, values: list[Any], where: str, count: int) -> Floats:
    """An option with one value per vehicle."""
    what, known = f"{rule.name} option", column_index(rule.options)
    if name not in known:
        raise unknown_name(what, name, known, where)
    if not rule.solitary:
        raise InvalidValueError(f"{where}: vehicles that follow {rule.name!r} together share one value, not a list")
    if len(values) != count:
        raise InvalidValueError(f"{where}: a list has one value per vehicle, here {count}, not {len(values)}")
    return _checked_all(columns_of(rule.options)[known[name]], values, what, where)


def _checked_all(column: Column, values: list[Any], what: str, where: str) -> Floats:
    """The values as floats, each as `checked` would have it."""
    try:
        numbers = np.array(values)
    except ValueError:  # lists inside, of different lengths
        numbers = np.empty(0, object)
    plain = numbers.ndim == 1 and numbers.dtype.kind in "iuf" and not column.choices
    if plain and np.all(np.isfinite(numbers) & (numbers >= column.low) & (numbers <= column.high)):
        return numbers.astype(np.float64)
    # words, or a mistake: one after the other, so that the error names it
    return np.array([checked(column, value, what, f"{where}[{k}]") for k, value in enumerate(values)])


def _path(rule: Rule, given: Mapping[str, Any], options: Floats, where: Where) -> Floats:
    if rule.prepare_path is None:
        if "path" in given:
            raise InvalidValueError(f"{where('path')}: behaviour {rule.name!r} takes no path")
        return np.zeros((1, 4))
    if "path" not in given:
        raise InvalidValueError(f"{where('')}: behaviour {rule.name!r} needs a path: a list of points or a shape")
    return rule.prepare_path(path_points(given["path"], where("path")), rule.options(*options))


def _takes_target(rule: Rule) -> bool:
    return rule.needs_target or "has_target" in column_index(rule.options)


def _required(rule: Rule) -> dict[str, float]:
    """Stand-ins for options without a default, to check the others one by one."""
    values = defaults_of(rule.options)
    return {name: 0.0 for name, row in column_index(rule.options).items() if np.isnan(values[row])}
