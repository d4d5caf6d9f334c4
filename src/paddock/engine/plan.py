"""What a behaviour was told: a rule with its options, target and path, checked as the user wrote them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from paddock.behaviour.paths import path_points
from paddock.behaviour.rule import Route, Rule
from paddock.errors import InvalidValueError
from paddock.world.columns import Floats, column_index, defaults_of, filled

Where = Callable[[str], str]
"""Option ("" for the behaviour itself) -> where the user wrote it, for errors."""


@dataclass(frozen=True)
class Plan:
    """A rule and what it needs to know, the same for all vehicles that follow it."""

    rule: Rule
    target: str | None
    options: Floats  # values of rule.options
    path: Floats  # (k, 4) x, y, z in m and speed in m/s; one row of zeros without a path

    def route(self) -> Route | None:
        """Where it leads, if that is fixed."""
        return self.rule.planned(self.rule.options(*self.options.tolist()), self.path)


def plan(rule: Rule, given: Mapping[str, Any], where: Where) -> Plan:
    """The options as the user wrote them, each known and in range."""
    target = _target(rule, given, where)
    options = _options(rule, given, target, where)
    return Plan(rule, target, options, _path(rule, given, options, where))


def _target(rule: Rule, given: Mapping[str, Any], where: Where) -> str | None:
    target = given.get("target")
    if target is None and rule.needs_target:
        raise InvalidValueError(f"{where('')}: behaviour {rule.name!r} needs a target: the name of a vehicle")
    if target is not None and not _takes_target(rule):
        raise InvalidValueError(f"{where('target')}: behaviour {rule.name!r} takes no target")
    if target is not None and not isinstance(target, str):
        raise InvalidValueError(f"{where('target')}: target must be the name of a vehicle, not {target!r}")
    return target


def _options(rule: Rule, given: Mapping[str, Any], target: str | None, where: Where) -> Floats:
    plain = {name: value for name, value in given.items() if name not in ("path", "target")}
    if "has_target" in plain:  # set below, from whether a target is named
        raise InvalidValueError(f"{where('has_target')}: name a target instead of setting has_target")
    for name, value in plain.items():  # one at a time, so that an error names its own place
        filled(rule.options, {**_required(rule), name: value}, f"{rule.name} option", where(name))
    values = filled(rule.options, plain, f"{rule.name} option", where(""))
    if "has_target" in column_index(rule.options):
        values[column_index(rule.options)["has_target"]] = float(target is not None)
    return values


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
