"""A vehicle model as an FMU for co-simulation: its functions as C, compiled, with the source.

A communication step is divided into equal substeps of at most the model's `dt_max`, like a tick of the simulator, so
that both give the same numbers.
"""

import json
import os
import platform
import re
import sys
import tempfile
import zipfile
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path

import xxhash

from paddock.compute.c_source import NUMBER, CSource, CType, compile_library, compiler, record
from paddock.errors import PaddockError
from paddock.vehicles.fmu.description import build_description, model_description
from paddock.vehicles.fmu.variables import LARGEST, VariableGroup, all_variables, variable_groups
from paddock.vehicles.model import Placement, VehicleModel
from paddock.world.columns import Floats, defaults_of
from paddock.world.pose import Environment

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
    given = {name: record(group.fields) for name, group in by_name.items()} | {"start": record(Placement)}

    def call(function: str, result: str, arguments: Sequence[str], result_type: str, more: str = "") -> list[str]:
        lines = [f"    {source.name(given[name])} {name};" for name in arguments]
        lines += [f"    memcpy(&{name}, v + {name.upper()}, sizeof {name});" for name in arguments]
        taken = ", ".join((*arguments, *([more] if more else [])))
        made = f"    const {result_type} made = {function}({taken});"
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
        types: list[CType] = [*(given[one] for one in arguments), *([NUMBER] if more else [])]
        made, kind = source.add(function, *types)
        if kind != given[result]:
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
