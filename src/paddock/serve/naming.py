"""The schema of scenarios with the names that are installed here, so that an editor can offer and explain them."""

from __future__ import annotations

from collections.abc import Iterable
from math import isfinite
from typing import Any

from paddock.behaviour.rule import Rule, find_rule, rule_names
from paddock.scenario import scenario_schema
from paddock.sensing.sensor import find_sensor, sensor_names
from paddock.world.columns import Column, columns_of

INTERNAL = "has_target"
"""An option that the builder fills in when a rule is given a target."""
EXTERNAL = {"const": "external", "description": "Takes commands from outside."}


def named_schema() -> dict[str, Any]:
    """The schema with behaviours and sensors by name, with their options; other names stay valid."""
    schema = scenario_schema()
    seed = schema["properties"]["seed"]
    seed["maximum"] = seed.pop("exclusiveMaximum") - 1  # the bound itself does not fit into a message
    rules = {name: _rule_schema(find_rule(name)) for name in rule_names()}
    sensors = {name: _options(s.summary, columns_of(s.options)) for name in sensor_names() for s in [find_sensor(name)]}
    _offer(schema["$defs"]["BehaviourChoice"], rules, [EXTERNAL])
    _offer(schema["$defs"]["SensorChoice"], sensors, [])
    return schema


def _offer(choice: dict[str, Any], named: dict[str, dict[str, Any]], more: list[dict[str, Any]]) -> None:
    """Put names into a choice between a name and {name: {options}}."""
    names = [{"const": name, "description": options["description"]} for name, options in named.items()]
    for branch in choice["anyOf"]:
        if branch.get("type") == "object":
            branch["properties"] = named
    choice["anyOf"] = [*more, *names, *choice["anyOf"]]


def _rule_schema(rule: Rule) -> dict[str, Any]:
    """The options of a behaviour, with the path and the target that the builder reads."""
    columns = columns_of(rule.options)
    schema = _options(rule.summary, [column for column in columns if column.name != INTERNAL])
    if rule.needs_path:
        schema["properties"]["path"] = {"description": "Points [x, y] or [x, y, z], in m, or {oval: {}}, {circle: {}}."}
    if rule.needs_target or any(column.name == INTERNAL for column in columns):
        schema["properties"]["target"] = {"type": "string", "description": "Name of another vehicle."}
    return schema


def _options(summary: str, columns: Iterable[Column]) -> dict[str, Any]:
    properties = {column.name: _option(column) for column in columns}
    return {"type": ["object", "null"], "description": f"{summary}.", "properties": properties}


def _option(column: Column) -> dict[str, Any]:
    """One option: a number, or one of its names."""
    unit = f", in {column.unit}" if column.unit not in ("", "0/1") else ""
    schema: dict[str, Any] = {"description": f"{column.meaning}{unit}."}
    if column.choices:
        return {**schema, "enum": list(column.choices)}
    limits = {"minimum": column.low, "maximum": column.high}
    schema |= {"type": "number", **{key: value for key, value in limits.items() if isfinite(value)}}
    return schema if column.default is None else {**schema, "default": column.default}
