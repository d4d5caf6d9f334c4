"""Errors of scalar functions in one line: `my_boat.py:31: unknown attribute 'lift_mx' of Parameters`.

`check_functions` calls the functions of a plugin once as plain Python, whose errors name file and line, before anything
is compiled; `compile_error` shortens what only the compiler finds.
"""

import builtins
import dis
import inspect
import math
import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from types import FunctionType, ModuleType
from typing import Any

import numpy as np

from paddock.compute import math as own
from paddock.compute.kernel import Argument, Bundle, Each, KernelSpec, Rows, Shared, fields, shared_tuple
from paddock.compute.twin import reached
from paddock.errors import CodeError, PaddockError, code_error, code_place, reason, suggestion

PATH = np.array([[10.0 * k, 0.0, 0.0, 1.0, *([0.0] * 8)] for k in range(16)])
"""Stands for a table: a straight path of x, y, z in m and speed in m/s, and columns that a rule may add."""
NOISE = re.compile(r"(Failed in|\s*$)")
PLACE = re.compile(r'^\s*File "([^"\n]+)", line (\d+)', re.M)
ATTRIBUTE = re.compile(r"Unknown attribute '([A-Za-z]\w*)' of type (\w+)\(")
EXACT = ("sqrt", "fabs", "floor", "ceil", "trunc", "copysign", "isnan", "isinf", "isfinite", "fmod")
"""Functions of `math` with one right result, which every machine returns."""
INSTEAD = {name: name for name in own.__all__} | {
    "abs": "absolute", "fabs": "absolute", "fmin": "minimum", "fmax": "maximum", "clip": "clamp", "where": "select",
    "rint": "nearest", "round": "nearest", "pow": "power", "arcsin": "asin", "arctan": "atan", "arctan2": "atan2",
    "acos": "0.5 * PI - asin(x)", "arccos": "0.5 * PI - asin(x)", "hypot": "sqrt(x * x + y * y)", "pi": "PI",
}  # fmt: skip
"""Functions of `math` and NumPy -> what to use of `paddock.compute.math`."""


def check_functions(plugin: Any) -> None:
    """Call every function of a model, behaviour or sensor; CodeError if one fails or returns something else."""
    for spec in plugin.specs():
        _check_function(spec)


@lru_cache(maxsize=512)
def _check_function(spec: KernelSpec) -> None:
    written = [a for a in spec.arguments if isinstance(a, Rows) and a.access != "read"]
    code = spec.function.__code__
    location = code_place(code.co_filename, code.co_firstlineno)
    try:
        arguments = [a for a in spec.arguments if not (isinstance(a, Rows) and a.access == "write")]
        for function in reached(spec.function):  # refuses what has no compiled twin
            taken: Iterable[tuple[str, Argument]] = ()
            if function.__code__ is code:
                _check_arguments(spec, arguments)
                taken = zip(code.co_varnames, arguments, strict=False)
            for line, problem in _problems(function, dict(taken)):
                raise CodeError(f"{code_place(function.__code__.co_filename, line)}: {problem}")
        result = spec.function(*map(_sample, arguments))
    except CodeError:
        raise
    except PaddockError as error:
        raise CodeError(f"{location}: {error}") from None
    except (ArithmeticError, ValueError):  # compiled code returns NaN there, and the compiler finds the rest
        return
    except IndexError as error:
        if any(isinstance(a, Shared) and a.tables for a in arguments):  # of another shape than the sample
            return
        raise code_error(error) from error
    except Exception as error:
        raise code_error(error) from error
    if not written:
        if not isinstance(result, float | int | np.number):
            raise CodeError(f"{location}: {code.co_name}() must return a number as {spec.name}, not {result!r:.100}")
        return
    parts = (result,) if len(written) == 1 else result if type(result) is tuple else ()
    if len(parts) != len(written) or not all(map(_fits, parts, written)):
        names = [a.fields.__name__ for a in written]
        wanted = names[0] if len(names) == 1 else f"({', '.join(names)})"
        raise CodeError(f"{location}: {code.co_name}() must return {wanted} of numbers, not {result!r:.100}")


def _check_arguments(spec: KernelSpec, arguments: list[Argument]) -> None:
    """Refuse a function that cannot be called with these arguments: the error of the call would name no line of it."""
    signature = inspect.signature(spec.function)
    try:
        signature.bind(*arguments)
    except TypeError:
        names, what = ", ".join(a.name for a in arguments), spec.name.rpartition("-")[2]
        plain = [p.replace(annotation=p.empty) for p in signature.parameters.values()]
        own = signature.replace(parameters=plain, return_annotation=signature.empty)
        text = f"{spec.function.__name__}{own} cannot be called as"
        raise PaddockError(" ".join(f"{text} {what}({names})".split())) from None


def _problems(function: FunctionType, arguments: Mapping[str, Argument]) -> Iterator[tuple[int | None, str]]:
    """Yield line and reason of what must not be used, also on lines that the one call does not reach."""
    known = {**vars(builtins), **function.__globals__}
    named = {*function.__globals__, *function.__code__.co_varnames}
    instructions = list(dis.get_instructions(function))
    changed = {op.argval for op in instructions if op.opname.startswith("STORE_FAST")}
    for op, after in zip(instructions, [*instructions[1:], None], strict=True):
        line = op.positions.lineno if op.positions else None
        if op.opname == "IMPORT_NAME":
            yield line, f"import {op.argval!r} at the top of the file, not inside {function.__name__}()"
        elif after is not None and after.argrepr in ("**", "**=") and type(op.argval) is not int:
            yield line, "x ** y: use power(x, y) of paddock.compute.math; a whole number as y is valid"
        elif op.opname == "LOAD_GLOBAL" and op.argval not in known:
            yield line, reason(NameError(name=op.argval), named)
        elif op.opname.startswith("LOAD_FAST") and after is not None and after.opname in ("LOAD_ATTR", "LOAD_METHOD"):
            name = op.argval if isinstance(op.argval, str) else op.argval[-1]
            argument = arguments.get(name) if name not in changed else None
            if isinstance(argument, Rows | Shared | Bundle) and not hasattr(sample := _sample(argument), after.argval):
                yield line, reason(AttributeError(name=after.argval, obj=sample), ())
        elif op.opname == "LOAD_GLOBAL":
            attribute = after.argval if after is not None and after.opname in ("LOAD_ATTR", "LOAD_METHOD") else ""
            if problem := _foreign(known[op.argval], op.argval, attribute):
                yield line, problem


def _foreign(value: Any, name: str, attribute: str) -> str:
    """Return why a function of `math` or NumPy, of another module by attribute, or print must not be used; else ""."""
    if any(value is other for other in (print, input, open, breakpoint)):
        return f"{name}(): compiled functions have no input or output; call the function in Python to debug it"
    if isinstance(value, ModuleType) and attribute:
        module, name = value, f"{name}.{attribute}"
        if not hasattr(module, attribute):
            return reason(AttributeError(name=attribute, obj=module), ())
        value = getattr(module, attribute)
        if module not in (math, np) or (module is np and attribute not in INSTEAD):
            return f"{name}: import it by name, from {module.__name__} import {attribute}"
    else:
        module, attribute = None, getattr(value, "__name__", "")
    home = str(getattr(value, "__module__", None) or type(value).__module__).partition(".")[0]
    inexact = callable(value) and not isinstance(value, type) and home == "math" and attribute not in EXACT
    numpys = module is np or (callable(value) and not isinstance(value, type) and home == "numpy")
    if not (inexact or numpys):
        return ""
    use = f"use {INSTEAD[attribute]} of" if attribute in INSTEAD else "its result depends on the machine; see"
    return f"{name}: {use} paddock.compute.math"


def _sample(argument: Argument) -> Any:
    if isinstance(argument, Rows | Shared):
        defaults = argument.fields._field_defaults  # type: ignore[attr-defined]
        values = [defaults.get(name, 1.0) for name in fields(argument.fields)]
        if isinstance(argument, Shared) and argument.tables:
            return shared_tuple(argument)(*values, *(PATH.copy() for _ in argument.tables))
        return argument.fields(*values)
    if isinstance(argument, Bundle):
        return argument.fields(*map(_sample, argument.parts))
    if isinstance(argument, Each) or argument.type == "int64":
        return 1
    return 0.01 if argument.type == "number" else PATH.copy()


def _fits(value: Any, rows: Rows) -> bool:
    return all(isinstance(getattr(value, name, None), float | int | np.number) for name in fields(rows.fields))


def compile_error(error: Exception) -> Exception:
    """Return an error of the compiler as one line with file and line; other errors as they are."""
    if not type(error).__module__.startswith("numba"):
        return error
    text = str(error)
    lines = [" ".join(line.split()) for line in text.splitlines() if not NOISE.match(line)]
    why = " ".join(lines[: 2 if lines and lines[0].endswith(":") else 1])
    match = PLACE.search(text)
    where = f"{code_place(match[1], int(match[2]))}: " if match else ""
    if match and (unknown := ATTRIBUTE.match(why)):
        file = os.path.abspath(match[1])
        modules = [module for module in list(sys.modules.values()) if getattr(module, "__file__", None) == file]
        fields = getattr(next((getattr(module, unknown[2], None) for module in modules), None), "_fields", ())
        known = f"; {suggestion(unknown[1], fields)}" if fields else ""
        return CodeError(f"{where}unknown attribute {unknown[1]!r} of {unknown[2]}{known}")
    return CodeError(f"{where}cannot be compiled: {why:.300}")
