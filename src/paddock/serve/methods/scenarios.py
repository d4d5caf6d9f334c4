"""Methods about scenarios: the bundled ones, the running one, one that a client wrote, and the schema for editors.

And about tracks that a client edits. Another process checks both, so that frames are not delayed.
"""

from collections.abc import Iterable
from functools import lru_cache
from math import isfinite
from typing import Any

from paddock.behaviour.rule import Rule, find_rule, rule_names
from paddock.errors import PaddockError
from paddock.scenario import bundled_names, bundled_path, scenario_schema
from paddock.scenario import load_scenario as loaded
from paddock.scenario.marked_yaml import read_text
from paddock.sensing.sensor import find_sensor, sensor_names
from paddock.serve.hub import OperationError
from paddock.serve.page import FOLDER
from paddock.serve.subscribers.client import Client
from paddock.wire.operations.results import (
    Empty,
    ProblemTree,
    ScenarioCardTree,
    ScenarioText,
    TrackCheckTree,
    TrackFileTree,
)
from paddock.world.columns import Column, columns_of

SHOWN_PROBLEMS = 3  # errors that a refusal repeats; `check_scenario` returns all of them


async def list_scenarios(client: Client) -> list[ScenarioCardTree]:
    """Return a card for each demo and manoeuvre; each file is read once."""
    return [_card(name) for name in bundled_names()]


async def get_scenario(client: Client, name: str) -> ScenarioText:
    return {"name": name, "text": read_text(bundled_path(name))}


async def get_schema(client: Client) -> dict[str, Any]:
    return named_schema()


async def check_scenario(client: Client, text: str) -> list[ProblemTree]:
    return await _problems(client, text)


async def load_scenario(client: Client, text: str | None, name: str | None) -> Empty:
    """Check the scenario, then run the operation `switch_scenario`."""
    if (text is None) == (name is None):
        raise PaddockError("load_scenario: give 'text', a scenario in YAML, or 'name', that of a demo or manoeuvre")
    wanted = read_text(bundled_path(str(name))) if text is None else text
    if problems := await _problems(client, wanted):
        lines = [f"line {one['line']}, column {one['column']}: {one['message']}" for one in problems[:SHOWN_PROBLEMS]]
        more = [f"and {len(problems) - len(lines)} more"] if len(problems) > len(lines) else []
        raise PaddockError("; ".join([*lines, *more]))
    await client.request("switch_scenario", text=wanted)
    return {}


async def _problems(client: Client, text: str) -> list[ProblemTree]:
    try:
        known = (await client.request("known_names")).result
    except OperationError:  # a recording has no models of its own
        known = None
    found = await client.hub.checker.check(text, known, client.hub.options.limits, client.name)
    return [ProblemTree(line=one["line"], column=one["column"], message=one["message"]) for one in found]


@lru_cache(maxsize=64)
def _card(name: str) -> ScenarioCardTree:
    scenario = loaded(bundled_path(name))
    picture = f"/pictures/{name}.webp"
    return {
        "name": name,
        "description": scenario.description,
        "vehicles": sum(entry.count for entry in scenario.vehicles),
        "picture": picture if (FOLDER / picture[1:]).is_file() else None,
    }


INTERNAL = "has_target"  # an option that the builder fills in when a rule is given a target
EXTERNAL = {"const": "external", "description": "Takes commands from outside."}


@lru_cache(maxsize=1)
def named_schema() -> dict[str, Any]:
    """Return the schema with behaviours and sensors by name, with their options; other names stay valid."""
    schema = scenario_schema()
    seed = schema["properties"]["seed"]
    seed["maximum"] = seed.pop("exclusiveMaximum") - 1  # the bound itself does not fit into a message
    rules = {name: _rule_schema(find_rule(name)) for name in rule_names()}
    sensors = {name: _options(s.summary, columns_of(s.options)) for name in sensor_names() for s in [find_sensor(name)]}
    _offer(schema["$defs"]["BehaviourChoice"], rules, [EXTERNAL])
    _offer(schema["$defs"]["SensorChoice"], sensors, [])
    return schema


def _offer(choice: dict[str, Any], named: dict[str, dict[str, Any]], more: list[dict[str, Any]]) -> None:
    """Add names to a choice between a name and {name: {options}}."""
    names = [{"const": name, "description": options["description"]} for name, options in named.items()]
    for branch in choice["anyOf"]:
        if branch.get("type") == "object":
            branch["properties"] = named
    choice["anyOf"] = [*more, *names, *choice["anyOf"]]


def _rule_schema(rule: Rule) -> dict[str, Any]:
    """Return the options of a behaviour, with the path and the target that the builder reads."""
    columns = columns_of(rule.options)
    schema = _options(rule.summary, [column for column in columns if column.name != INTERNAL])
    if rule.needs_path:
        schema["properties"]["path"] = {"description": "Points [x, y] or [x, y, z], in m, or {oval: {}}, {circle: {}}."}
    if rule.needs_target or any(column.name == INTERNAL for column in columns):
        schema["properties"]["target"] = {"type": "string", "description": "Name of another vehicle."}
    if rule.relays:
        ends = {"type": "array", "items": {"type": "string"}, "minItems": 2, "maxItems": 2}
        schema["properties"]["between"] = {**ends, "description": "Names of two vehicles or stations."}
    return schema


def _options(summary: str, columns: Iterable[Column]) -> dict[str, Any]:
    properties = {column.name: _option(column) for column in columns}
    return {"type": ["object", "null"], "description": f"{summary}.", "properties": properties}


def _option(column: Column) -> dict[str, Any]:
    """Return the schema of one option: a number, or one of its names."""
    unit = f", in {column.unit}" if column.unit not in ("", "0/1") else ""
    schema: dict[str, Any] = {"description": f"{column.meaning}{unit}."}
    if column.choices:
        return {**schema, "enum": list(column.choices)}
    limits = {"minimum": column.low, "maximum": column.high}
    schema |= {"type": "number", **{key: value for key, value in limits.items() if isfinite(value)}}
    return schema if column.default is None else {**schema, "default": column.default}


async def check_track(
    client: Client, cones: list[list[float]], colours: list[str], start: list[float]
) -> TrackCheckTree:
    found = await client.hub.checker.track({"cones": cones, "colours": colours, "start": start}, client.name)
    return {"track": found["track"], "problems": found["problems"], "warnings": found["warnings"]}


async def read_track(client: Client, text: str, name: str = "track") -> TrackFileTree:
    found = await client.hub.checker.track({"file": name, "text": text}, client.name)
    return {
        "format": found["format"],
        "cones": found["cones"],
        "colours": found["colours"],
        "covariances": found["covariances"],
        "start": found["start"],
        "notes": found["notes"],
    }


async def write_track(
    client: Client,
    cones: list[list[float]],
    colours: list[str],
    start: list[float],
    format: str,
    covariances: list[list[float]] | None = None,
) -> str:
    request = {"cones": cones, "colours": colours, "start": start, "format": format, "covariances": covariances}
    return str((await client.hub.checker.track(request, client.name))["text"])
