"""Writes the tables of the documentation from the code: `python docs/generate.py`.

A page has `<!-- generated: NAME -->` before a table and `<!-- end -->` after it; everything else is written by hand.
`python docs/generate.py --measured [NAME...]` drives cars and writes the tables of docs/validation.md, or those named
(minutes); the comparison with CommonRoad is kept where its models are not installed (`make bench-peers`).
"""

from __future__ import annotations

import inspect
import json
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from math import isinf
from pathlib import Path
from typing import Any

from paddock.autopilot.commands import COMMANDS as AUTOPILOT_COMMANDS
from paddock.autopilot.contract import find_vehicle
from paddock.autopilot.mission_items import ITEM_KINDS, ItemKind, Role
from paddock.autopilot.parameter_tables import COMMON, LINK_FAILSAFES, ground_station_parameters, switch_prefix
from paddock.autopilot.parameters import Parameter as Setting
from paddock.autopilot.vehicle_types import VEHICLE_TYPES
from paddock.behaviour.rule import Rule, find_rule, rule_names
from paddock.engine.radio.control import EmitterControl, RadioControl
from paddock.envs import env_id, find_task, task_names
from paddock.errors import MissingFeatureError
from paddock.mavlink.messages import EVERY, GROUP_OF, KNOWN, UNGROUPED
from paddock.mavlink.packets import mav
from paddock.planning.solver.methods import find_method, method_names
from paddock.radio.packets.network import Network
from paddock.radio.settings import SETTINGS
from paddock.record.channels import CHANNELS
from paddock.scenario import (
    bundled_path,
    demo_names,
    load_preset,
    load_scenario,
    manoeuvre_names,
    preset_description,
    preset_names,
)
from paddock.scenario.scenario import scenario_schema
from paddock.sensing.sensor import ArraySensor, Sensor, find_sensor, sensor_names
from paddock.serve.endpoints.vds1.endpoint import AXLES, PLAIN, WHEELS, sources
from paddock.sitl.adapter import adapter_types, find_adapter
from paddock.sitl.ardupilot_frames import FRAMES
from paddock.sitl.equipment import VEHICLES
from paddock.vehicles.model import VehicleModel, find_model, model_names
from paddock.wire import messages_pb2
from paddock.wire.layout import Record
from paddock.wire.operations import METHODS, OPERATIONS, Operation
from paddock.wire.operations.arguments import BY_ID, MEMBERS, Argument, described
from paddock.wire.radio_results import (
    CommandTraffic,
    CoverageGrid,
    HeardLevels,
    JammerView,
    LinkBudget,
    Links,
    RadioReport,
    Received,
    ServiceTraffic,
    Spectrum,
    SpooferView,
    Station,
    VehicleTelemetry,
)
from paddock.wire.stream.columns import COLUMNS, COLUMNS_BLOCK, COMMANDS
from paddock.wire.stream.drawing import LINES, MARKER, SPHERES
from paddock.wire.stream.frames import EVENT, FRAME_HEADER, SHM_CONTROL, SHM_DATA, SHM_SLOT, TICK
from paddock.wire.stream.positions import FPV_STATE, POSES, POSITIONS, TELEMETRY
from paddock.wire.vds1 import RECORDS
from paddock.world.columns import Column, columns_of

ROOT = Path(__file__).parent.parent
PAGES = (
    "README.md",
    "docs/scenario.md",
    "docs/models.md",
    "docs/behaviours.md",
    "docs/sensors.md",
    "docs/learning.md",
    "docs/recording.md",
    "docs/page.md",
    "docs/python-api.md",
    "docs/planning.md",
    "docs/sitl.md",
    "docs/wire-stream.md",
    "docs/wire-shm.md",
    "docs/wire-vds1.md",
    "docs/wire-zmq.md",
)
REGION = re.compile(r"(<!-- generated: (?P<name>[a-z0-9-]+) -->\n).*?(<!-- end -->)", re.DOTALL)


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines) + "\n"


def number(value: float | None) -> str:
    """Return a short number; empty for None."""
    return "" if value is None else f"{value:.10g}"


def span(column: Column) -> str:
    """Return the range of a column."""
    if column.choices:
        return ", ".join(f"`{choice}`" for choice in column.choices)
    return "" if isinf(column.low) and isinf(column.high) else f"{number(column.low)} to {number(column.high)}"


def value_of(column: Column, value: float | None) -> str:
    """Return a value as a user writes it."""
    return f"`{column.choices[int(value)]}`" if column.choices and value is not None else number(value)


# scenario ------------------------------------------------------------------------------------------------------------


def scenario_tables() -> str:
    """Every section of a scenario, from its JSON schema."""
    schema = scenario_schema()
    return "\n".join(sections("Top level", schema, schema["$defs"], set()))


def sections(path: str, section: dict[str, Any], parts: dict[str, Any], listed: set[str]) -> Iterable[str]:
    """Yield a section's table, then those of its subsections, each once."""
    fields = section["properties"]
    rows = [[f"`{name}`", f["description"], kind(f), default(name, f, section)] for name, f in fields.items()]
    about = section["description"].partition(" Load it with")[0]
    title = path if " " in path else f"`{path}`"
    yield f"## {title}\n\n{about}\n\n" + table(["field", "meaning", "value", "default"], rows)
    for name, field in fields.items():
        inner = parts.get(reference(field), {})
        if "properties" in inner and reference(field) not in listed:
            listed.add(reference(field))
            prefix = "" if " " in path else path + "."
            yield from sections(f"{prefix}{name}{'[]' if field.get('type') == 'array' else ''}", inner, parts, listed)


def reference(field: dict[str, Any]) -> str:
    """Return the name of the section in a field; empty for a plain value."""
    reference = re.search(r"#/\$defs/(\w+)", str(field))
    return reference[1] if reference else ""


WRITTEN = {
    "BehaviourChoice": "behaviour",
    "Grid": "path, or list of lists of numbers",
    "MethodChoice": "method",
    "SensorChoice": "sensor",
}
"""What users write for a section that is not a mapping."""


def kind(field: dict[str, Any]) -> str:
    """Describe the valid values of a field."""
    if "anyOf" in field:
        return " or ".join(kind(option) for option in field["anyOf"])
    if "const" in field:
        return f"`{str(field['const']).lower()}`"
    if "enum" in field:
        return ", ".join(f"`{choice}`" for choice in field["enum"])
    if name := reference(field):
        what = WRITTEN.get(name, "section")
        return f"list of {what}s" if field.get("type") == "array" else what
    named = {"null": "`null`", "integer": "whole number", "string": "text", "object": "names with values"}
    if "type" not in field:
        return "any value"
    if field["type"] == "array":
        return lists(field)
    return named.get(field["type"], field["type"]) + limits(field)


def lists(field: dict[str, Any]) -> str:
    """Describe a list of numbers or lists."""
    if field.get("items", {}).get("type") == "array":
        return lists(field["items"]).replace("list of", "list of lists of")
    if "enum" in field.get("items", {}):
        return "list of " + kind(field["items"])
    if field.get("items", {}).get("type") == "string":
        return "list of texts"
    low, high = field.get("minItems"), field.get("maxItems")
    if low is None:
        return "list of numbers"
    items = field.get("prefixItems", [field.get("items", {})])
    what = "texts" if items and all(item.get("type") == "string" for item in items) else "numbers"
    if high is None or high == low:
        return f"list of {low}{'' if high == low else ' or more'} {what}"
    return f"list of {low} {'or' if high == low + 1 else 'to'} {high} {what}"


def limits(field: dict[str, Any]) -> str:
    """Return the range of a number."""
    signs = {"minimum": ">=", "exclusiveMinimum": ">", "maximum": "<=", "exclusiveMaximum": "<"}
    limits = [f"{sign} {whole(field[key])}" for key, sign in signs.items() if key in field]
    if "exclusiveMinimum" in field and "minimum" in field:
        limits = [text for text in limits if not text.startswith("> ")]
    return " " + ", ".join(limits) if limits else ""


def whole(value: float) -> str:
    """Return a limit; the largest as a power of two."""
    if not isinstance(value, int) or value <= 2**53:
        return number(value)
    return f"2^{value.bit_length() - 1}" if value & 1 == 0 else f"2^{value.bit_length()} - 1"


def default(name: str, field: dict[str, Any], section: dict[str, Any]) -> str:
    """Return the default of a field, as YAML."""
    if name in section.get("required", ()):
        return "required"
    value = field.get("default", "")
    if isinstance(value, dict) or (value == "" and field.get("type") != "string"):
        return ""
    if isinstance(value, list) and any(isinstance(item, dict) for item in value):
        return ""
    if isinstance(value, list):
        return "`[" + ", ".join(item if isinstance(item, str) else number(item) for item in value) + "]`"
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    text = {None: "null"}.get(value, number(value) if isinstance(value, float) else value)
    return f"`{text}`" if text != "" else ""


# models --------------------------------------------------------------------------------------------------------------


def model_overview() -> str:
    """One line for each model."""
    rows = []
    for name in model_names():
        presets = ", ".join(f"`{preset}`" for preset in preset_names(name))
        rows.append([f"`{name}`", find_model(name).summary, presets])
    return table(["model", "description", "presets (the first is the default)"], rows)


def model_tables() -> str:
    """Every column of every model."""
    return "\n".join(model_section(find_model(name)) for name in model_names())


def model_section(model: VehicleModel) -> str:
    """One model: command, parameters with presets, state."""
    commands = [
        [f"`{c.name}`", c.unit, c.meaning, span(c), *(value_of(c, v) for v in (c.default, c.failsafe, c.brake))]
        for c in columns_of(model.command)
    ]
    states = [
        [f"`{c.name}`", c.unit, c.meaning, "yes" if c.name in model.telemetry else ""] for c in columns_of(model.state)
    ]
    return "\n".join(
        [
            f"## `{model.name}`\n",
            f"{model.summary}. Takes steps of at most {number(model.dt_max)} s ({number(1 / model.dt_max)} Hz).\n",
            "**Command** (an empty failsafe or brake holds the last value)\n",
            table(["input", "unit", "meaning", "range", "default", "failsafe", "brake"], commands),
            "**Parameters** by preset\n",
            *(f"- `{p}`: {preset_description(model.name, p)}" for p in preset_names(model.name)),
            "",
            parameter_table(model),
            "**State**\n",
            table(["column", "unit", "meaning", "in snapshots"], states),
            *report_table(model),
        ]
    )


def report_table(model: VehicleModel) -> Iterable[str]:
    """Return the table of report columns, for models with a report."""
    if model.report_type is not None:
        rows = [[f"`{c.name}`", c.unit, c.meaning] for c in columns_of(model.report_type)]
        yield "**Report** (in snapshots)\n"
        yield table(["column", "unit", "meaning"], rows)


def parameter_table(model: VehicleModel) -> str:
    """The parameters of a model, with their values in each preset."""
    presets = preset_names(model.name)
    values = {preset: load_preset(model.name, preset) for preset in presets}
    rows = [
        [f"`{c.name}`", c.unit, c.meaning, span(c), *(number(values[p].get(c.name, c.default)) for p in presets)]
        for c in columns_of(model.parameters)
    ]
    return table(["parameter", "unit", "meaning", "range", *(f"`{preset}`" for preset in presets)], rows)


# behaviours and sensors ----------------------------------------------------------------------------------------------


def behaviour_overview() -> str:
    """One line for each behaviour."""
    return table(["behaviour", "what it does"], [[f"`{name}`", find_rule(name).summary] for name in rule_names()])


def behaviour_tables() -> str:
    """Every option of every behaviour."""
    return "\n".join(behaviour_section(find_rule(name)) for name in rule_names())


PATHS = {
    "playback": ("s, inputs", "a list of rows [time, steer, throttle, brake, gear, handbrake], the last optional"),
    "seek_signal": ("", "file of a radio map (`paddock radio fit`); none: its own measurements"),
}


def behaviour_section(rule: Rule) -> str:
    """One behaviour."""
    columns = columns_of(rule.options)
    rows = [option_row(column) for column in columns if column.name != "has_target"]
    if any(column.name == "has_target" for column in columns):
        rows.insert(0, ["`target`", "", "name of a vehicle or a fleet", "", "none"])
    if rule.needs_target:
        rows.insert(0, ["`target`", "", "name of a vehicle or a fleet", "", "required"])
    if rule.relays:
        rows.insert(0, ["`between`", "", "two ends: names of vehicles or stations", "", "required"])
    if rule.prepare_path is not None:
        about = PATHS.get(rule.name, ("m", "a list of points or a shape"))
        rows.insert(0, [f"`{rule.path_option}`", *about, "", "none" if rule.optional_path else "required"])
    return f"## `{rule.name}`\n\n{rule.summary}.\n\n" + option_table(rows)


def option_row(column: Column) -> list[str]:
    """One option."""
    initial = "required" if column.default is None else value_of(column, column.default)
    return [f"`{column.name}`", column.unit, column.meaning, span(column), initial]


def option_table(rows: Iterable[Sequence[str]]) -> str:
    """Return a table of options."""
    return table(["option", "unit", "meaning", "range", "default"], rows)


def sensor_overview() -> str:
    """One line for each sensor."""
    return table(["sensor", "what it measures"], [[f"`{name}`", find_sensor(name).summary] for name in sensor_names()])


def array_tables(sensor: Sensor) -> str:
    """The arrays of a sensor with its default options, and the columns of their last axes."""
    if not isinstance(sensor, ArraySensor):
        return ""
    arrays = sensor.arrays(sensor.options())
    shapes = [", ".join(map(str, array.shape)) for array in arrays]
    rows = [[f"`{a.name}`", shape, a.dtype, a.unit, a.meaning] for a, shape in zip(arrays, shapes, strict=True)]
    text = table(["array", "shape by default", "type", "unit", "meaning"], rows) + "\n"
    for array in arrays:
        if array.fields:
            named = [[str(k), f"`{c.name}`", c.unit, c.meaning] for k, c in enumerate(array.fields)]
            text += table([f"column of `{array.name}`", "name", "unit", "meaning"], named) + "\n"
    return text


def sensor_tables() -> str:
    """Every reading and option of every sensor."""
    parts = []
    for name in sensor_names():
        sensor = find_sensor(name)
        readings = table(
            ["reading", "unit", "meaning"],
            [[f"`{column.name}`", column.unit, column.meaning] for column in columns_of(sensor.reading)],
        )
        options = option_table(map(option_row, columns_of(sensor.options)))
        parts.append(f"## `{name}`\n\n{sensor.summary}.\n\n{readings}\n{array_tables(sensor)}{options}")
    return "\n".join(parts)


def task_overview() -> str:
    """One line for each environment."""
    rows = []
    for task in map(find_task, task_names()):
        several = f'`parallel_env("{task.name}")`' if task.agents > 1 else ""
        step = f"{task.ticks / task.rate:g} s"
        rows.append([f"`{env_id(task.name)}`", task.summary, f"`{task.model}`, `{task.preset}`", step, several])
    return table(["id", "task", "vehicle", "step", "several vehicles"], rows)


def task_tables() -> str:
    """Every action, observation and option of every environment."""
    parts = []
    for task in map(find_task, task_names()):
        actions = [[f"`{c.name}`", c.meaning] for c in columns_of(task.action)]
        seen = [[f"`{c.name}`", c.unit, c.meaning, span(c)] for c in columns_of(task.observation)]
        options = option_table(map(option_row, columns_of(task.options)))
        shown = table(["action (-1 to 1)", "meaning"], actions)
        shown += "\n" + table(["observation", "unit", "meaning", "range"], seen)
        parts.append(f"## `{env_id(task.name)}`\n\n{task.summary}.\n\n{shown}\n{options}")
    return "\n".join(parts)


def method_tables() -> str:
    """Every planning method with its options."""
    parts = []
    for name in method_names():
        method = find_method(name)
        options = option_table(map(option_row, columns_of(method.options))) if columns_of(method.options) else ""
        parts.append(f"### `{name}`\n\n{method.summary}.\n\n{options}")
    return "\n".join(parts)


def demo_overview() -> str:
    """One line for each demo."""
    rows = [[f"`paddock demo {name}`", load_scenario(bundled_path(name)).description] for name in demo_names()]
    return table(["demo", "what it shows"], rows)


def manoeuvre_overview() -> str:
    """One line for each manoeuvre."""
    rows = [[f"`paddock run {name}`", load_scenario(bundled_path(name)).description] for name in manoeuvre_names()]
    return table(["manoeuvre", "what it shows"], rows)


# autopilots ----------------------------------------------------------------------------------------------------------


def mode_tables() -> str:
    """Return the modes of each vehicle type; both types of rover have the same."""
    parts = []
    for title, craft in (("Rovers", "rover"), ("Copters", "copter"), ("Planes", "plane")):
        rows = []
        for key, mode in sorted(find_vehicle(craft).modes.items()):
            summary = (mode.__doc__ or "").partition("\n")[0].rstrip(".")
            needs = "yes" if mode.needs_position else ""
            rows.append([str(key), f"`{mode.name}`", summary, needs, "yes" if mode.can_arm else ""])
        head = ["number", "mode", "what it does", "needs a position", "may be armed in"]
        parts.append(f"**{title}**\n\n" + table(head, rows))
    return "\n".join(parts)


def setting_tables() -> str:
    """Return the parameters of the built-in autopilot: common ones, then those of each vehicle type."""
    relays = (each for each in ground_station_parameters(find_vehicle("copter")) if each.name.startswith("RELAY"))
    parts = ["**All vehicles**\n\n" + setting_table([*COMMON, *relays])]
    parts.append("**Copters and rovers**\n\n" + setting_table(LINK_FAILSAFES))
    for title, craft in (("Rovers", "rover"), ("Copters", "copter"), ("Planes", "plane")):
        vehicle, prefix = find_vehicle(craft), switch_prefix(craft)
        switch = (setting for setting in ground_station_parameters(vehicle) if setting.name.startswith(prefix))
        settings = *switch, *vehicle.parameters
        own = [setting for setting in settings if setting not in COMMON]
        parts.append(f"**{title}**\n\n" + setting_table(own))
    return "\n".join(parts)


def setting_table(settings: Iterable[Setting]) -> str:
    """One line for each parameter."""
    rows = [
        [
            f"`{s.name}`",
            "read-only" if s.fixed else s.valid,
            number(s.default),
            s.summary,
        ]
        for s in settings
    ]
    return table(["parameter", "range", "default", "unit and meaning"], rows)


def command_name(key: int) -> str:
    """The name of a MAV_CMD without its prefix."""
    return str(mav.enums["MAV_CMD"][key].name).removeprefix("MAV_CMD_")


def item_table() -> str:
    """Return the supported mission items."""
    roles = {Role.NAV: "goes", Role.CONDITION: "waits", Role.DO: "does", Role.JUMP: "jumps"}
    rows = [
        [str(int(key)), f"`{command_name(key)}`", kind.name, roles.get(kind.role, "announces"), crafts_of(kind)]
        for key, kind in sorted(ITEM_KINDS.items())
    ]
    return table(["number", "item", "in status texts", "role", "vehicles"], rows)


def crafts_of(kind: ItemKind) -> str:
    """Return the vehicle types that support an item."""
    return kind.only or ("copter, plane" if kind.flying else "rover" if kind.driving else "all")


def command_table() -> str:
    """The commands that the built-in autopilot carries out."""
    rows = []
    for key, function in sorted(AUTOPILOT_COMMANDS.items()):
        summary = (function.__doc__ or "").partition("\n")[0].partition(": ")[2].rstrip(".")
        rows.append([str(key), f"`{command_name(key)}`", summary])
    return table(["number", "command", "parameters and meaning"], rows)


def message_rates() -> str:
    """Return the messages that vehicles stream, with their rates, and those sent on request."""
    defaults = {setting.name: setting.default for setting in COMMON}
    rows = []
    for key in EVERY:
        group = GROUP_OF.get(key)
        rate = UNGROUPED[key] if group is None else defaults[group.parameter] * group.shares[key]
        rows.append([f"`{mav.mavlink_map[key].msgname}`", number(rate), f"`{group.parameter}`" if group else ""])
    others = sorted(mav.mavlink_map[key].msgname for key in KNOWN if key not in EVERY)
    return table(["message", "Hz", "follows"], rows) + "\nOn request: " + ", ".join(f"`{n}`" for n in others) + ".\n"


def frame_table() -> str:
    """Return the supported ArduPilot frames."""
    rows = []
    for name, frame in FRAMES.items():
        standard = VEHICLES[frame.craft]
        vehicle = ", ".join(f"`{standard[what]}`" for what in ("model", "preset"))
        slowest = "" if frame.longest_dt is None else f"{number(1.0 / frame.longest_dt)} Hz"
        defaults = ", ".join(f"`{file}`" for file in (*frame.defaults, frame.own_parameters) if file)
        rows.append([f"`{name}`", frame.summary, f"`--ardupilot {name}`", vehicle, defaults, slowest])
    return table(["frame", "description", "flag", "vehicle of the flag", "parameter files", "minimum clock rate"], rows)


def adapter_table() -> str:
    """Return the features of each adapter."""
    rows = []
    for name in adapter_types():
        adapter = find_adapter(name)()
        can = adapter.capabilities
        marks = ["yes" if mark else "" for mark in (adapter.supports_lockstep, can.terrain, can.wind)]
        rows.append([f"`{name}`", ", ".join(sorted(can.sensors)), number(can.max_rate), str(can.max_vehicles), *marks])
    head = ["adapter", "default sensors", "Hz", "maximum vehicles", "lockstep", "terrain", "wind"]
    return table(head, rows)


def craft_table() -> str:
    """Return the vehicle types, and the vehicles that `paddock sitl --type` creates."""
    rows = [
        [f"`{craft}`", f"`{VEHICLES[craft]['model']}`, preset `{VEHICLES[craft]['preset']}`",
         f"{1e6 / find_vehicle(craft).control_period_us:g} Hz"]
        for craft in VEHICLE_TYPES
    ]  # fmt: skip
    return table(["type", "vehicle", "control"], rows)


# wires ---------------------------------------------------------------------------------------------------------------


def byte_section(title: str, record: Record) -> str:
    """The bytes of a record, one line per field."""
    head = ["offset", "bytes", "type", "field", "unit", "meaning"]
    rows = []
    for field in record.fields:
        offset, size = record.dtype.fields[field.name][1], field.dtype.itemsize * field.count
        rows.append([str(offset), str(size), field.label, field.name, field.unit, field.meaning])
    for k, part in enumerate(record.tail):  # the offset is unknown after a part of variable length
        offset = "" if k else str(record.size)
        rows.append([offset, part.size, part.type, part.name, part.unit, part.meaning])
    size = f"{record.size} bytes" + (" and the variable part" if record.tail else "")
    return f"### {title}\n\n{size}.\n\n" + table(head, [[*r[:3], f"`{r[3]}`", *r[4:]] for r in rows])


def stream_tables() -> str:
    """The frames of the stream."""
    frames = {0x01: POSITIONS, 0x02: TELEMETRY, 0x03: LINES, 0x04: SPHERES, 0x10: TICK}
    frames |= {0x11: FPV_STATE, 0x12: MARKER, 0x13: EVENT, 0x14: POSES, 0x15: COLUMNS, 0x20: COMMANDS}
    parts = [byte_section("Header of every frame", FRAME_HEADER)]
    for code, record in frames.items():
        each_record = "" if record in (TICK, COLUMNS, COMMANDS) else ", each record"
        parts.append(byte_section(f"0x{code:02x} {record.name}{each_record}", record))
        if record is COLUMNS:
            parts.append(byte_section(f"0x{code:02x} {record.name}, each block", COLUMNS_BLOCK))
    return "\n".join(parts)


def stream_methods() -> str:
    """The JSON-RPC methods, with their parameters."""
    rows = [
        [f"`{name}`", "<br>".join(map(argument_text, method.parameters)), method.summary]
        for name, method in sorted(METHODS.items())
    ]
    return table(["method", "parameters", "what it does"], rows)


def argument_text(argument: Argument) -> str:
    """One argument of an operation, as JSON-RPC spells it."""
    if argument.marked(BY_ID):
        return "`vehicle_id`, a whole number, or `vehicle`, a name or an id: the vehicle"
    if argument.marked(MEMBERS):
        return "any other member: an input of the vehicle (a number, a text, or a list of numbers)"
    default = "" if argument.required else f", default {json.dumps(argument.default)}"
    parts = f" {{{'; '.join(map(argument_text, argument.members))}}}" if argument.members else ""
    meaning = f"{argument.meaning} " if argument.meaning else ""
    return f"`{argument.name}`: {meaning}({described(argument.annotation)}{default}){parts}"


def zmq_operations() -> str:
    """The operations of ZeroMQ clients: those called by name, and those with their own message."""
    offered = [operation for operation in OPERATIONS.values() if operation.entry.zmq]
    rows = [[f"`{operation.name}`", operation.entry.zmq, *operation_columns(operation)] for operation in offered]
    return table(["operation", "message", "arguments", "handled", "what it does"], rows)


def operation_columns(operation: Operation) -> list[str]:
    """Arguments, place and summary of an operation."""
    places = {"hub": "in the hub", "fact": "in the hub", "read": "between ticks"}
    places["change"] = "prepared aside" if operation.entry.slow else "between ticks"
    names = ", ".join(
        f"`{argument.name}`" for argument in operation.arguments if not (argument.in_rpc and argument.in_rpc.value)
    )
    return [names, places.get(operation.entry.handling, "immediately"), operation.summary]


def shm_tables() -> str:
    """The segments of shared memory."""
    return "\n".join(byte_section(record.name.capitalize(), record) for record in (SHM_CONTROL, SHM_DATA, SHM_SLOT))


def vds1_tables() -> str:
    """The datagrams of VDS1."""
    return "\n".join(byte_section(f"{code} {record.name}", record) for code, record in RECORDS.items())


def vds1_sources() -> str:
    """Which column of a snapshot each value of a STATE comes from, for every car."""
    cars = [find_model(name) for name in model_names() if find_model(name).kind == "car"]
    wheels = {f"{quantity}_{'/'.join(AXLES)}": [f"{quantity}_{wheel}" for wheel in AXLES] for quantity in WHEELS}
    values = {name: [name] for name in PLAIN} | wheels
    rows = [[f"`{value}`", *(vds1_source(car, names) for car in cars)] for value, names in values.items()]
    return table(["value", *(f"`{car.name}`" for car in cars)], rows)


def vds1_source(car: VehicleModel, values: Sequence[str]) -> str:
    """Return the sources of some values of one quantity."""
    telemetry = sources((*car.telemetry, *car.report_columns))
    taken = dict.fromkeys(telemetry[value] for value in values if value in telemetry)
    listed = [f"`{column}`" if factor == 1 else f"`{column}` x {number(factor)}" for column, factor in taken]
    return ", ".join(listed) or "0"


MESSAGE = re.compile(r"((?:^//[^\n]*\n)*)^message (\w+) \{", re.MULTILINE)


def message_tables() -> str:
    """Return every message of messages.proto for ZeroMQ: its comment and its fields."""
    text = (ROOT / "src/paddock/wire/messages.proto").read_text(encoding="utf-8")
    live, _, recorded = text.partition("// recordings -")
    text = live + recorded[recorded.index("message Event {") :]  # the one that is recorded and published
    return "\n".join(message_section(name, comment, text) for comment, name in MESSAGE.findall(text))


def message_section(name: str, comment: str, text: str) -> str:
    """Return one message; the descriptions of its fields are the comments after them in the file."""
    about = " ".join(line.removeprefix("//").strip() for line in comment.splitlines())
    block = text.partition(f"message {name} {{")[2]
    notes = dict(
        re.findall(r"^ +(?:\w+ )*?[\w<>, ]+? (\w+) = \d+;\s*// (.*)$", block.partition("\nmessage ")[0], re.MULTILINE)
    )
    fields = messages_pb2.DESCRIPTOR.message_types_by_name[name].fields
    rows = [[str(f.number), f"`{f.name}`", field_kind(f), notes.get(f.name, "")] for f in fields]
    return (
        f"### {name}\n\n"
        + (f"{about}\n\n" if about else "")
        + (table(["no.", "field", "type", "meaning"], rows) if rows else "")
    )


def field_kind(field: Any) -> str:
    """The type of a field as it is written in a .proto file."""
    kinds = {field.TYPE_DOUBLE: "double", field.TYPE_UINT64: "uint64", field.TYPE_UINT32: "uint32"}
    kinds |= {field.TYPE_STRING: "string", field.TYPE_BYTES: "bytes", field.TYPE_BOOL: "bool"}
    inner = field.message_type or field.enum_type
    if field.message_type is not None and field.message_type.GetOptions().map_entry:
        return f"map<string, {field.message_type.fields_by_name['value'].message_type.name}>"
    repeated = "repeated " if field.is_repeated else ""
    one_of = field.containing_oneof
    choice = f", one of `{one_of.name}`" if one_of is not None and not one_of.name.startswith("_") else ""
    return repeated + (inner.name if inner is not None else kinds[field.type]) + choice


def channel_table() -> str:
    """Return the channels of a recording."""
    rows = [[f"`{spec.topic}`", f"`{spec.schema_name}`", spec.content, spec.when] for spec in CHANNELS]
    return table(["channel", "message", "content", "when"], rows)


SHORTCUT = re.compile(r'group: "([\w ]+)",\s+key: "[^"]*",\s+shown: "([^"]+)",\s+meaning: "([^"]+)"')


def shortcut_table() -> str:
    """Return the keys of the page, from the table used by its key handler and help dialog."""
    text = (ROOT / "web/src/panels/shortcuts.tsx").read_text(encoding="utf-8")
    shortcuts = [(group, shown.replace("\\\\", "\\"), meaning) for group, shown, meaning in SHORTCUT.findall(text)]
    groups = dict.fromkeys(group for group, _, _ in shortcuts)
    rows = [(group, keys(shown), meaning) for name in groups for group, shown, meaning in shortcuts if group == name]
    return table(["for", "keys", "what they do"], rows)


def keys(shown: str) -> str:
    """Return keys that are pressed in sequence or belong together."""
    return " ".join(f"`{key}`" for key in shown.split())


# radio ---------------------------------------------------------------------------------------------------------------


RADIO_RESULTS = (
    LinkBudget, Links, Network, RadioReport, CoverageGrid, HeardLevels, Spectrum, Received, VehicleTelemetry,
    CommandTraffic, ServiceTraffic, Station, JammerView, SpooferView,
)  # fmt: skip
"""What the methods of `sim.radio` return."""
ARRAYS = {"Decibels": "Floats", "Rates": "Floats", "Values": "Floats", "Numbers": "Ints"}  # their forms in JSON differ
FIELD = re.compile(r"^    (?P<name>[a-z]\w*): (?P<kind>[^=#]+?)(?: = [^#]*?)?(?:  # (?P<meaning>.*))?$", re.MULTILINE)


def radio_methods() -> str:
    """Every method and property of `sim.radio`, from its docstring."""
    rows = [member_row(name, RadioControl) for name in dir(RadioControl) if name[0] != "_"]
    for part in ("jammers", "spoofers"):
        settings = f"`{'`, `'.join(SETTINGS[part[:-1]])}`"
        rows.append([f"`{part}()`", prose(EmitterControl.__call__)])
        rows.append([f"`{part}.set(name, *, at_tick=None, **changes)`", f"Change one: {settings}; links follow."])
    return table(["`sim.radio`", "meaning"], sorted(rows))


def radio_results() -> str:
    """The fields of what the methods of `sim.radio` return."""
    parts = []
    for kind in RADIO_RESULTS:
        fields = FIELD.finditer(inspect.getsource(kind)) if hasattr(kind, "_fields") else ()
        rows = [
            [f"`{field['name']}`", f"`{ARRAYS.get(field['kind'], field['kind'])}`", field["meaning"] or ""]
            for field in fields
        ]
        members = [name for name in vars(kind) if name[0] != "_" and name not in getattr(kind, "_fields", ())]
        rows += [[name, "", meaning] for name, meaning in (member_row(field, kind) for field in members)]
        parts.append(f"### {kind.__name__}\n\n{prose(kind)}\n\n{table(['field', 'type', 'meaning'], rows)}")
    return "\n".join(parts)


def member_row(name: str, owner: type) -> list[str]:
    """Return a method with its arguments, or a property, and its docstring."""
    member = inspect.getattr_static(owner, name)
    if isinstance(member, property):
        return [f"`{name}`", prose(member)]
    parameters = inspect.signature(member).parameters
    arguments = [parameter for key, parameter in parameters.items() if key not in ("self", "client")]
    shown = [parameter.replace(annotation=inspect.Parameter.empty) for parameter in arguments]
    return [f"`{name}{inspect.Signature(shown)}`", prose(member)]


def prose(documented: Any) -> str:
    """Return a docstring in one line."""
    return " ".join((documented.__doc__ or "").split())


def validation_table() -> str:
    """Return the figures of the sedan at every level, as `paddock validate sedan` finds them, and its checks."""
    from paddock.record.validation.proving_ground import TestCar
    from paddock.record.validation.report import CHECK_HEADS, LEVELS, check_rows, validate

    validation = validate("sedan", [TestCar(f"car.{level}", "sedan") for level in LEVELS])
    figures = table(("figure", "unit", *validation.levels), validation.rows())
    remarks = "".join(f"- {line}\n" for line in validation.remarks())
    return f"{figures}\n{remarks}\n{table(CHECK_HEADS, check_rows(validation))}"


def preset_limits() -> str:
    """Return the limits of every preset at the levels with tyres."""
    from paddock.record.validation.manoeuvres import FIGURES
    from paddock.record.validation.proving_ground import TestCar
    from paddock.record.validation.report import CHANGE, SKIDPAD, TURNS, validate

    keys = ("understeer", "lateral_max", "skidpad", "lane_change_speed")
    heads = [f"{FIGURES[key].label}, {FIGURES[key].unit}" for key in keys]
    rows, remarks = [], []
    for preset in preset_names("car"):
        cars = [TestCar(f"car.{level}", preset) for level in ("bicycle", "double_track", "full")]
        validation = validate(preset, cars, (TURNS, CHANGE, SKIDPAD))
        wrong = [(check.what, check.level) for check in validation.checks if not check.ok]
        remarks += [
            f"- {preset}: {line}\n" for line in [*validation.remarks(), *(f"{a} fails ({b})" for a, b in wrong)]
        ]
        shown = [[FIGURES[key].shown(validation.figure(level, key)) for level in validation.levels] for key in keys]
        rows.append([preset, *(" / ".join(values) for values in shown)])
    return table(("preset", *heads), rows) + ("\n" + "".join(remarks) if remarks else "")


def commonroad_table() -> str:
    """Return the yaw rates of CommonRoad's models and of ours, driven by the same inputs."""
    from paddock.bench.suites.cars import PEER_NAMES, TURNS, yaw_rates

    levels = ("car.bicycle", "car.double_track", "car.full")
    rows = [[f"{speed:g} m/s, {steer:g} rad", *(f"{rate:.4f}" for rate in yaw_rates(speed, steer, levels).values())]
            for speed, steer in TURNS]  # fmt: skip
    return table(("speed, angle", *(f"CommonRoad {name}" for name in PEER_NAMES.values()), *levels), rows)


MEASURED: dict[str, Callable[[], str]] = {
    "validation": validation_table,
    "validation-presets": preset_limits,
    "validation-commonroad": commonroad_table,
}
"""Tables of docs/validation.md."""


PARTS: dict[str, Callable[[], str]] = {
    "scenario": scenario_tables,
    "models": model_tables,
    "model-overview": model_overview,
    "behaviours": behaviour_tables,
    "behaviour-overview": behaviour_overview,
    "sensors": sensor_tables,
    "sensor-overview": sensor_overview,
    "tasks": task_tables,
    "task-overview": task_overview,
    "methods": method_tables,
    "demo-overview": demo_overview,
    "manoeuvre-overview": manoeuvre_overview,
    "sitl-crafts": craft_table,
    "sitl-modes": mode_tables,
    "sitl-parameters": setting_tables,
    "sitl-items": item_table,
    "sitl-commands": command_table,
    "sitl-messages": message_rates,
    "sitl-frames": frame_table,
    "sitl-adapters": adapter_table,
    "channels": channel_table,
    "radio-methods": radio_methods,
    "radio-results": radio_results,
    "shortcuts": shortcut_table,
    "stream-frames": stream_tables,
    "stream-methods": stream_methods,
    "shm-segments": shm_tables,
    "vds1-datagrams": vds1_tables,
    "vds1-values": vds1_sources,
    "zmq-messages": message_tables,
    "zmq-operations": zmq_operations,
}


def refreshed(text: str) -> str:
    """Return a page with its tables regenerated."""
    return REGION.sub(lambda match: f"{match[1]}{PARTS[match['name']]()}{match[3]}", text)


def measure(name: str) -> None:
    """Measure a table of docs/validation.md; keep the old one where the programs it compares with are not installed."""
    try:
        content = MEASURED[name]()
    except MissingFeatureError as error:
        print(f"{name} is kept: {error}", file=sys.stderr)
        return
    path = ROOT / "docs/validation.md"
    text = path.read_text(encoding="utf-8")
    path.write_text(
        REGION.sub(lambda match: f"{match[1]}{content}{match[3]}" if match["name"] == name else match[0], text),
        encoding="utf-8",
    )


def main() -> None:
    """Write all pages."""
    if sys.argv[1:2] == ["--measured"]:
        for name in sys.argv[2:] or MEASURED:
            measure(name)
        return
    for page in PAGES:
        path = ROOT / page
        path.write_text(refreshed(path.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
