"""A vehicle model as an FMU for co-simulation (FMI 2.0 and 3.0): its functions as C, compiled, with the source.

Its variables are commands, parameters, environment, start, state, pose and report; `modelDescription.xml` lists them. A
communication step is divided into equal substeps of at most the model's `dt_max`, like a tick of the simulator, so that
both give the same numbers.
"""

import json
import os
import platform
import re
import sys
import tempfile
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from math import inf, isfinite
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import xxhash

from paddock.compute.c_source import NUMBER, CSource, CType, compile_library, compiler, record
from paddock.errors import PaddockError
from paddock.vehicles.model import Placement, VehicleModel
from paddock.world.columns import FARTHEST, Column, Environment, Floats, Pose, columns_of, defaults_of

LARGEST = 1.7976931348623157e308
BASE_UNITS: dict[str, tuple[float, dict[str, int]]] = {
    "m": (1.0, {"m": 1}),
    "kg": (1.0, {"kg": 1}),
    "s": (1.0, {"s": 1}),
    "A": (1.0, {"A": 1}),
    "K": (1.0, {"K": 1}),
    "rad": (1.0, {"rad": 1}),
    "N": (1.0, {"kg": 1, "m": 1, "s": -2}),
    "J": (1.0, {"kg": 1, "m": 2, "s": -2}),
    "W": (1.0, {"kg": 1, "m": 2, "s": -3}),
    "Pa": (1.0, {"kg": 1, "m": -1, "s": -2}),
    "V": (1.0, {"kg": 1, "m": 2, "s": -3, "A": -1}),
    "ohm": (1.0, {"kg": 1, "m": 2, "s": -3, "A": -2}),
    "Hz": (1.0, {"s": -1}),
    "mAh": (3.6, {"A": 1, "s": 1}),
}
"""Symbols of columns: factor and exponents of the SI base units."""
NO_UNITS = ("", "0/1")


@dataclass(frozen=True)
class FmuVariable:
    """A number of an FMU; its value reference is its position."""

    name: str
    causality: str  # independent, input, parameter, output, local
    variability: str  # continuous, tunable, fixed
    unit: str
    meaning: str
    low: float = -inf
    high: float = inf
    start: float | None = None
    instant: bool = False  # it follows the inputs without a step


@dataclass(frozen=True)
class VariableGroup:
    """Variables that are the fields of one named tuple."""

    name: str
    fields: type
    first: int  # value reference
    variables: tuple[FmuVariable, ...]


def variable_groups(model: VehicleModel, parameters: Floats, environment: Floats) -> tuple[VariableGroup, ...]:
    """Return the groups in the order of their value references, which begin after the time's."""
    reach = {"x": FARTHEST, "y": FARTHEST, "z": FARTHEST, "yaw": 1e5, "speed": 1e4}
    starts = [Column(c.unit, c.meaning, -reach[c.name], reach[c.name], name=c.name) for c in columns_of(Placement)]
    commands = columns_of(model.command)
    held = [float(np.clip(c.default or 0.0, c.low, c.high)) for c in commands]
    settable: list[tuple[str, type, Sequence[Column], str, str, Sequence[float]]] = [
        ("command", model.command, commands, "input", "continuous", held),
        ("parameters", model.parameters, columns_of(model.parameters), "parameter", "tunable", parameters.tolist()),
        ("environment", Environment, columns_of(Environment), "parameter", "tunable", environment.tolist()),
        ("start", Placement, starts, "parameter", "fixed", [0.0] * len(starts)),
    ]
    groups, first = list[VariableGroup](), 1
    for name, fields, columns, causality, variability, values in settable:
        group = [
            FmuVariable(f"{name}.{c.name}", causality, variability, c.unit, c.meaning, c.low, c.high, value)
            for c, value in zip(columns, values, strict=True)
        ]
        groups.append(VariableGroup(name, fields, first, tuple(group)))
        first += len(group)
    shown: list[tuple[str, Any, str]] = [("state", model.state, "output"), ("pose", Pose, "output")]
    shown += [("report", model.report_type, "local")] if model.report_type is not None else []
    for name, fields, causality in shown:
        instant = name == "report"
        group = [
            FmuVariable(f"{name}.{c.name}", causality, "continuous", c.unit, c.meaning, instant=instant)
            for c in columns_of(fields)
        ]
        groups.append(VariableGroup(name, fields, first, tuple(group)))
        first += len(group)
    return tuple(groups)


def all_variables(groups: Sequence[VariableGroup]) -> tuple[FmuVariable, ...]:
    """Return the time and the variables of all groups, in the order of their value references."""
    time = FmuVariable("time", "independent", "continuous", "s", "simulated time")
    return time, *(variable for group in groups for variable in group.variables)


def unit_exponents(unit: str) -> tuple[float, dict[str, int]] | None:
    """Return the factor and the exponents of the base units of a unit such as `kg m2` or `m/s2`; None if unknown."""
    factor, exponents = 1.0, dict[str, int]()
    for sign, symbol, power in _symbols(unit):
        if symbol not in BASE_UNITS:
            return None
        times, base = BASE_UNITS[symbol]
        factor *= times ** (sign * power)
        for name, exponent in base.items():
            exponents[name] = exponents.get(name, 0) + sign * power * exponent
    return factor, {name: exponent for name, exponent in exponents.items() if exponent}


def _symbols(unit: str) -> Iterator[tuple[int, str, int]]:
    for k, part in enumerate(unit.split("/")):
        for text in part.split():
            if text == "1":
                continue
            match = re.fullmatch(r"([A-Za-z]+)(\d*)", text)
            yield (-1 if k else 1), (match[1] if match else text), int(match[2] or 1) if match else 1


Element = ElementTree.Element
STOP = 20.0  # s: of the experiment that tools propose


def model_description(
    fmi: int,
    name: str,
    identifier: str,
    token: str,
    tool: str,
    summary: str,
    step: float,
    variables: Sequence[FmuVariable],
    source: str,
) -> bytes:
    """Return the XML document; `source` is the name of the C file."""
    version = {"fmiVersion": "2.0", "guid": token} if fmi == 2 else {"fmiVersion": "3.0", "instantiationToken": token}
    about = {"modelName": name, "description": summary, "generationTool": tool}
    root = Element("fmiModelDescription", version | about | {"variableNamingConvention": "structured"})
    abilities = {"modelIdentifier": identifier, "canHandleVariableCommunicationStepSize": "true"}
    state = "FMUstate" if fmi == 2 else "FMUState"
    abilities |= {f"canGetAndSet{state}": "true", f"canSerialize{state}": "true"}
    if fmi == 2:
        abilities["canNotUseMemoryManagementFunctions"] = "true"
    simulation = ElementTree.SubElement(root, "CoSimulation", abilities)
    if fmi == 2:
        ElementTree.SubElement(ElementTree.SubElement(simulation, "SourceFiles"), "File", {"name": source})
    root.append(_units(variables))
    category = {"name": "logStatusError", "description": "calls that failed"}
    ElementTree.SubElement(ElementTree.SubElement(root, "LogCategories"), "Category", category)
    times = {"startTime": "0", "stopTime": f"{STOP:g}", "stepSize": repr(step)}
    ElementTree.SubElement(root, "DefaultExperiment", times)
    listed = ElementTree.SubElement(root, "ModelVariables")
    for reference, variable in enumerate(variables):
        listed.append(_variable(fmi, reference, variable))
    root.append(_structure(fmi, variables))
    return _document(root)


def build_description(identifier: str, source: str) -> bytes:
    """Return the document with which other tools compile the source of an FMI 3.0 FMU."""
    root = Element("fmiBuildDescription", {"fmiVersion": "3.0"})
    build = ElementTree.SubElement(root, "BuildConfiguration", {"modelIdentifier": identifier})
    options = {"language": "C99", "compilerOptions": "-ffp-contract=off"}
    files = ElementTree.SubElement(build, "SourceFileSet", options)
    ElementTree.SubElement(files, "SourceFile", {"name": source})
    return _document(root)


def _document(root: Element) -> bytes:
    ElementTree.indent(root)
    text: bytes = ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)
    return text + b"\n"


def _units(variables: Sequence[FmuVariable]) -> Element:
    units = Element("UnitDefinitions")
    for name in sorted({variable.unit for variable in variables} - {*NO_UNITS}):
        unit = ElementTree.SubElement(units, "Unit", {"name": name})
        if (known := unit_exponents(name)) is not None:
            factor, exponents = known
            base = {key: str(exponent) for key, exponent in sorted(exponents.items())}
            ElementTree.SubElement(unit, "BaseUnit", base | ({"factor": repr(factor)} if factor != 1.0 else {}))
    return units


def _variable(fmi: int, reference: int, variable: FmuVariable) -> Element:
    about = {"name": variable.name, "valueReference": str(reference), "causality": variable.causality}
    about |= {"variability": variable.variability, "description": variable.meaning}
    if variable.causality == "parameter":
        about["initial"] = "exact"
    elif variable.causality in ("output", "local"):
        about["initial"] = "calculated"
    number = {} if variable.unit in NO_UNITS else {"unit": variable.unit}
    limits = (("min", variable.low), ("max", variable.high))
    number |= {key: repr(float(value)) for key, value in limits if isfinite(value)}
    if variable.start is not None:
        number["start"] = repr(float(variable.start))
    if fmi == 3:
        return Element("Float64", about | number)
    scalar = Element("ScalarVariable", about)
    ElementTree.SubElement(scalar, "Real", number)
    return scalar


def _structure(fmi: int, variables: Sequence[FmuVariable]) -> Element:
    """Return the outputs and which of them follow the inputs at once: those of the state and the pose do not."""
    structure = Element("ModelStructure")
    shown = [k for k, variable in enumerate(variables) if variable.causality == "output"]
    if fmi == 3:
        for k in shown:
            ElementTree.SubElement(structure, "Output", {"valueReference": str(k), "dependencies": ""})
        for k in shown:
            ElementTree.SubElement(structure, "InitialUnknown", {"valueReference": str(k)})
        return structure
    outputs = ElementTree.SubElement(structure, "Outputs")
    for k in shown:
        ElementTree.SubElement(outputs, "Unknown", {"index": str(k + 1), "dependencies": ""})
    initial = ElementTree.SubElement(structure, "InitialUnknowns")
    for k in shown:
        ElementTree.SubElement(initial, "Unknown", {"index": str(k + 1)})
    return structure


VERSIONS = (2, 3)  # of FMI
SOURCE = "model.c"
FOLDER = Path(__file__).parent
EPOCH = (1980, 1, 1, 0, 0, 0)  # of all files: equal models give equal FMUs
MACHINES = {"AMD64": "x86_64", "x86_64": "x86_64", "arm64": "aarch64", "aarch64": "aarch64"}
SYSTEMS = {"linux": ("linux", ".so"), "darwin": ("darwin", ".dylib")}


def export_fmu(
    model: VehicleModel, parameters: Floats, path: Path, fmi: int = 2, environment: Floats | None = None
) -> None:
    """Write an FMU of a model with these parameter values as its start values."""
    if fmi not in VERSIONS:
        raise PaddockError(f"FMI version {fmi} is not one of {', '.join(map(str, VERSIONS))}")
    folder, suffix = _binary_folder(fmi)
    compiler()  # reports a missing one before anything is written
    groups = variable_groups(model, parameters, defaults_of(Environment) if environment is None else environment)
    variables = all_variables(groups)
    identifier = re.sub(r"\W", "_", model.name)
    tool = f"Paddock {version('paddock')}"
    text = _translated(model, groups)
    token = "{" + xxhash.xxh3_128_hexdigest(f"{fmi} {model.name} {tool} {text}".encode()) + "}"
    text = f'#define TOKEN "{token}"\n{text}\n' + "\n".join(
        (FOLDER / name).read_text() for name in ("instance.c", f"fmi{fmi}.c")
    )
    description = model_description(
        fmi, model.name, identifier, token, tool, model.summary, model.dt_max, variables, SOURCE
    )
    with tempfile.TemporaryDirectory() as scratch:
        source, library = Path(scratch) / SOURCE, Path(scratch) / f"{identifier}{suffix}"
        source.write_text(text)
        compile_library(source, library)
        files = {"modelDescription.xml": description, f"sources/{SOURCE}": text.encode()}
        if fmi == 3:
            files["sources/buildDescription.xml"] = build_description(identifier, SOURCE)
        files[f"binaries/{folder}/{library.name}"] = library.read_bytes()
    _write(path, files)


def _binary_folder(fmi: int) -> tuple[str, str]:
    """Return the folder for binaries of this machine, and the ending of a library."""
    machine, system = MACHINES.get(platform.machine(), platform.machine()), SYSTEMS.get(sys.platform)
    if system is None:
        raise PaddockError(f"FMUs are exported on Linux and macOS, not on {sys.platform}")
    name, suffix = system
    old = fmi == 2 and machine == "x86_64"  # FMI 2.0 has names of its own for these
    return f"{name}64" if old else f"{machine}-{name}", suffix


def _write(path: Path, files: dict[str, bytes]) -> None:
    """Write an archive, replacing the file only when it is complete."""
    if not path.parent.is_dir():
        raise PaddockError(f"cannot write {path}: folder {path.parent} does not exist")
    partial = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with zipfile.ZipFile(partial, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, content in files.items():
                about = zipfile.ZipInfo(name, EPOCH)
                about.compress_type, about.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
                archive.writestr(about, content)
        os.replace(partial, path)
    except OSError as error:
        raise PaddockError(f"cannot write {path}: {error.strerror or error}") from None
    finally:
        partial.unlink(missing_ok=True)


def _translated(model: VehicleModel, groups: Sequence[VariableGroup]) -> str:
    """Return the model's functions as C, and functions that apply them to the array of all values."""
    source, by_name = CSource(), {group.name: group for group in groups}
    records = {name: record(group.fields) for name, group in by_name.items()} | {"start": record(Placement)}

    def call(function: str, result: str, arguments: Sequence[str], result_type: str, more: str = "") -> list[str]:
        lines = [f"    {source.name(records[name])} {name};" for name in arguments]
        lines += [f"    memcpy(&{name}, v + {name.upper()}, sizeof {name});" for name in arguments]
        values = ", ".join((*arguments, *([more] if more else [])))
        made = f"    const {result_type} made = {function}({values});"
        return ["{", *lines, made, f"    memcpy(v + {result.upper()}, &made, sizeof made);", "}"]

    acting = ("state", "command", "parameters", "environment")
    calls: list[tuple[str, str, list[str]]] = []
    for name, function, result, arguments, more in (
        ("model_step", model.step, "state", acting, "dt"),
        ("model_place", model.place, "state", ("start", "parameters", "environment"), ""),
        ("show_pose", model.pose, "pose", ("state", "parameters"), ""),
        ("show_report", model.report, "report", acting, ""),
    ):
        if function is None:
            continue
        types: list[CType] = [*(records[argument] for argument in arguments), *([NUMBER] if more else [])]
        made, kind = source.add(function, *types)
        if kind != records[result]:
            raise PaddockError(f"{function.__name__}() of {model.name} must return numbers only, to become C")
        head = f"static void {name}(double *v{', double dt' if more else ''})"
        calls.append((name, head, call(made, result, arguments, source.name(kind), more)))
    shown = "\n".join(f"    {name}(v);" for name, _, _ in calls if name.startswith("show"))
    show = f"static void model_show(double *v)\n{{\n{shown}\n}}"
    body = "\n\n".join("\n".join((head, *lines)) for _, head, lines in calls)
    return "\n".join((_tables(model, groups), "#include <string.h>", source.text(), body, "", show, ""))


def _tables(model: VehicleModel, groups: Sequence[VariableGroup]) -> str:
    variables = all_variables(groups)
    places = [f"{group.name.upper()} = {group.first}" for group in groups]
    limits = [(max(v.low, -LARGEST), min(v.high, LARGEST)) for v in variables]
    tables = {
        "DEFAULTS": [repr(float(v.start or 0.0)) for v in variables],
        "LOWEST": [repr(low) for low, _ in limits],
        "HIGHEST": [repr(high) for _, high in limits],
    }
    lines = [f"enum {{ TIME = 0, {', '.join(places)}, COUNT = {len(variables)} }};"]
    lines.append(f"static const double DT_MAX = {model.dt_max!r};")
    lines += [f"static const double {name}[COUNT] = {{{', '.join(values)}}};" for name, values in tables.items()]
    names = ", ".join(json.dumps(variable.name) for variable in variables)
    return "\n".join((*lines, f"static const char *const NAMES[COUNT] = {{{names}}};", ""))
