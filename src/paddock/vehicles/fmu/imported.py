"""FMUs of other tools: files, their variables, and running instances. FMPy calls the native code."""

import os
import shutil
import tempfile
import weakref
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from ctypes import byref
from dataclasses import dataclass
from functools import cache, lru_cache
from math import inf, isfinite
from pathlib import Path
from types import ModuleType
from typing import Any

from paddock.errors import MissingFeatureError, PaddockError, unknown_name
from paddock.files import open_file
from paddock.plugins import refuse_foreign_code

FLOATS = ("Real", "Float64", "Float32")
WHOLES = ("Integer", "Enumeration", "Int8", "UInt8", "Int16", "UInt16", "Int32", "UInt32", "Int64", "UInt64")
TRUTHS = ("Boolean",)
CALLS = {2: {"Enumeration": "Integer"}, 3: {"Enumeration": "Int64"}}
"""FMI version -> type of a variable -> the type in the names of its functions, where they differ."""
LONGEST_MESSAGE = 200


class FmuError(PaddockError):
    """A call of an FMU failed."""


@dataclass(frozen=True)
class ForeignVariable:
    """A number of an FMU, as its description has it."""

    name: str
    reference: int
    type: str
    causality: str
    unit: str
    meaning: str
    low: float
    high: float
    start: float | None
    settable: bool  # before the initialization

    def typed(self, value: float) -> float | int | bool:
        """Return a number as the variable's type."""
        return value > 0.5 if self.type in TRUTHS else round(value) if self.type in WHOLES else value


@dataclass(frozen=True, eq=False)
class FmuFile:
    """An unpacked FMU for co-simulation that this machine can run."""

    path: Path
    folder: str
    description: Any  # of FMPy
    variables: Mapping[str, ForeignVariable]

    @property
    def version(self) -> int:
        """FMI's major version, 2 or 3."""
        return int(self.description.fmiMajorVersion)

    @property
    def saves(self) -> bool:
        """Whether its instances can save their state as bytes."""
        about = self.description.coSimulation
        return bool(about.canGetAndSetFMUstate and about.canSerializeFMUstate)

    @property
    def single(self) -> bool:
        """Whether a process can have one instance only."""
        return bool(self.description.coSimulation.canBeInstantiatedOnlyOncePerProcess)

    def of_causality(self, *causalities: str) -> list[ForeignVariable]:
        """Return the variables that are inputs, outputs, ..., in their order."""
        return [variable for variable in self.variables.values() if variable.causality in causalities]

    def variable(self, name: str, what: str, among: Iterable[ForeignVariable] | None = None) -> ForeignVariable:
        """Return a variable by its name; an error suggests the nearest name."""
        by_name = self.variables if among is None else {variable.name: variable for variable in among}
        if name not in by_name:
            raise unknown_name(f"{what} of {self.path.name}", name, by_name)
        return by_name[name]


def open_fmu(path: Path) -> FmuFile:
    """Unpack and check an FMU; once per process and version of the file."""
    refuse_foreign_code("FMU", str(path))
    try:
        with open_file(path) as file:
            about = os.fstat(file.fileno())
    except OSError as error:
        raise PaddockError(f"cannot read the FMU {path}: {error.strerror or error}") from None
    return _opened(path.resolve(), about.st_mtime_ns, about.st_size)


@lru_cache(maxsize=64)
def _opened(path: Path, _modified: int, _size: int) -> FmuFile:
    fmpy = _fmpy()
    if not zipfile.is_zipfile(path):
        raise PaddockError(f"{path} is not an FMU: it is no ZIP archive")
    folder = tempfile.mkdtemp(prefix="paddock-fmu-")
    try:
        description = fmpy.read_model_description(str(path), validate=False)
        _check(path, description, fmpy)
        fmpy.extract(str(path), folder)
    except Exception as error:
        shutil.rmtree(folder, ignore_errors=True)
        if isinstance(error, PaddockError):
            raise
        raise PaddockError(f"{path} is not a valid FMU: {_brief(error)}") from None
    variables = (_variable(scalar) for scalar in description.modelVariables if not getattr(scalar, "dimensions", None))
    numeric = {scalar.name: scalar for scalar in variables if scalar.type in (*FLOATS, *WHOLES, *TRUTHS)}
    fmu = FmuFile(path, folder, description, numeric)
    weakref.finalize(fmu, shutil.rmtree, folder, True)
    return fmu


def _fmpy() -> ModuleType:
    try:
        import fmpy
        import fmpy.simulation
    except ImportError:
        raise MissingFeatureError("vehicles of model fmu need FMPy: pip install 'paddock[fmi]'") from None
    return fmpy  # type: ignore[no-any-return]


def _check(path: Path, description: Any, fmpy: ModuleType) -> None:
    if description.fmiVersion.partition(".")[0] not in ("2", "3"):
        raise PaddockError(f"{path} is an FMU of FMI {description.fmiVersion}; 2.0 and 3.0 are valid")
    if description.coSimulation is None:
        kinds = {"modelExchange": "model exchange", "scheduledExecution": "scheduled execution"}
        kind = next((text for name, text in kinds.items() if getattr(description, name, None)), "something else")
        raise PaddockError(f"{path} is an FMU for {kind} only; a vehicle needs one for co-simulation")
    platforms = fmpy.supported_platforms(str(path))
    old = description.fmiVersion.startswith("2")
    folder = fmpy.platform if old else fmpy.platform_tuple
    binary = f"binaries/{folder}/{description.coSimulation.modelIdentifier}{fmpy.sharedLibraryExtension}"
    with zipfile.ZipFile(path) as archive:
        if binary not in archive.namelist():
            has = ", ".join(platforms) or "none"
            raise PaddockError(f"{path} has no binary for this platform, {binary}; it has: {has}")


def _variable(described: Any) -> ForeignVariable:
    kind = described.causality or "local"
    changeable = described.variability != "constant" and described.initial in ("exact", "approx", None)
    settable = kind in ("input", "parameter") or (changeable and described.start is not None)
    unit = described.unit or (getattr(described.declaredType, "unit", None) if described.declaredType else None) or ""
    low, high = (_number(getattr(described, name, None)) for name in ("min", "max"))
    if described.type in TRUTHS:
        unit, low, high = "0/1", 0.0, 1.0
    return ForeignVariable(
        name=described.name,
        reference=described.valueReference,
        type=described.type,
        causality=kind,
        unit=unit,
        meaning=described.description or described.name,
        low=-inf if low is None else low,
        high=inf if high is None else high,
        start=_number(described.start),
        settable=settable,
    )


def _number(text: Any) -> float | None:
    if text in ("true", "false", True, False):
        return float(text in ("true", True))
    try:
        number = float(text)
    except (TypeError, ValueError):
        return None
    return number if isfinite(number) else None


def _brief(error: BaseException) -> str:
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return lines[0].strip()[:LONGEST_MESSAGE]


class FmuInstance:
    """A running FMU. Errors name the call and repeat the FMU's last message."""

    def __init__(self, file: FmuFile) -> None:
        self.file = file
        self.start_time = 0.0
        about = {"guid": file.description.guid, "modelIdentifier": file.description.coSimulation.modelIdentifier}
        _messages.clear()
        try:
            with _present_folder():
                self._fmu = _instantiated(file.version, about | {"unzipDirectory": file.folder})
        except Exception as error:
            raise self._failed(_brief(error)) from None
        self._free = weakref.finalize(self, _free, self._fmu)

    def begin(self, start_time: float, values: Mapping[ForeignVariable, float]) -> None:
        """Set values and initialize."""
        self.start_time = start_time
        self.put(values)
        if self.file.version == 2:
            self._call("setupExperiment", startTime=start_time)
            self._call("enterInitializationMode")
        else:
            self._call("enterInitializationMode", startTime=start_time)
        self._call("exitInitializationMode")

    def put(self, values: Mapping[ForeignVariable, float]) -> None:
        """Set variables."""
        for kind in dict.fromkeys(variable.type for variable in values):
            chosen = [variable for variable in values if variable.type == kind]
            typed = [variable.typed(values[variable]) for variable in chosen]
            self._call(f"set{self._type(kind)}", [variable.reference for variable in chosen], typed)

    def get(self, variables: Sequence[ForeignVariable]) -> list[float]:
        """Return the values of variables."""
        readings: dict[ForeignVariable, float] = {}
        for kind in dict.fromkeys(variable.type for variable in variables):
            chosen = [variable for variable in variables if variable.type == kind]
            values = self._call(f"get{self._type(kind)}", [variable.reference for variable in chosen])
            readings |= dict(zip(chosen, map(float, values), strict=True))
        return [readings[variable] for variable in variables]

    def step(self, time: float, length: float) -> None:
        """Advance by one communication step."""
        result = self._call("doStep", currentCommunicationPoint=time, communicationStepSize=length)
        if isinstance(result, tuple) and result[1]:
            raise self._failed("it has ended the simulation")

    def save(self) -> bytes:
        """Return the state as bytes."""
        state = self._call("getFMUState")
        try:
            return bytes(self._call("serializeFMUState", state))
        finally:
            self._call("freeFMUState", state)

    def load(self, saved: bytes) -> None:
        """Continue from a saved state."""
        state = self._call("deserializeFMUState", saved)
        try:
            self._call("setFMUState", state)
        finally:
            self._call("freeFMUState", state)

    def close(self) -> None:
        """End the instance."""
        self._free()

    def _type(self, kind: str) -> str:
        return CALLS[self.file.version].get(kind, kind)

    def _call(self, name: str, *arguments: Any, **named: Any) -> Any:
        _messages.clear()
        if not self._free.alive:
            raise self._failed("its instance has ended")
        function: Callable[..., Any] = getattr(self._fmu, name)
        try:
            return function(*arguments, **named)
        except Exception as error:
            raise self._failed(_brief(error)) from None

    def _failed(self, what: str) -> FmuError:
        said = f" {' '.join(_messages[-1].split())[:LONGEST_MESSAGE]}" if _messages else ""
        return FmuError(f"FMU {self.file.path.name}: {what}{said}")


_messages: list[str] = []
"""What FMUs have said since the last call."""


def _log(*arguments: Any) -> None:
    """Keep a message of an FMU: (..., status, category, message)."""
    _messages.append(arguments[-1].decode(errors="replace") if arguments[-1] else "")


@cache
def _callbacks() -> Any:
    """Return the callbacks of FMI 2.0, one set for the process: FMPy's formatting of messages knows only the last."""
    from fmpy import calloc, fmi2, free
    from fmpy.logging import addLoggerProxy

    callbacks = fmi2.fmi2CallbackFunctions()
    callbacks.logger = fmi2.fmi2CallbackLoggerTYPE(_log)
    callbacks.allocateMemory = fmi2.fmi2CallbackAllocateMemoryTYPE(calloc)
    callbacks.freeMemory = fmi2.fmi2CallbackFreeMemoryTYPE(free)
    addLoggerProxy(byref(callbacks))
    return callbacks


def _instantiated(version: int, about: Mapping[str, Any]) -> Any:
    from fmpy import fmi2, fmi3

    if version == 2:
        fmu = fmi2.FMU2Slave(**about)
        fmu.instantiate(callbacks=_callbacks())
    else:
        fmu = fmi3.FMU3Slave(**about)
        fmu.instantiate(logMessage=_log)
    return fmu


def _free(fmu: Any) -> None:
    for end in (fmu.terminate, fmu.freeInstance):
        with suppress(Exception):  # it may have failed before
            end()


@contextmanager
def _present_folder() -> Iterator[None]:
    """Restore the current folder, which FMPy leaves when a library cannot be loaded."""
    folder = os.getcwd()
    try:
        yield
    finally:
        os.chdir(folder)
