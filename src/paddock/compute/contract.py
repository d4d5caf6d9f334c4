"""Errors of scalar functions in one line: `my_boat.py:31: unknown attribute 'lift_mx' of Parameters`.

`check_functions` calls the functions of a plugin once as plain Python, whose errors name file and line, before anything
is compiled; `compile_error` shortens what only the compiler finds.
"""

from __future__ import annotations

import builtins
import dis
import re
from functools import lru_cache
from types import FunctionType
from typing import Any

import numpy as np

from paddock.compute.kernel import Argument, Each, KernelSpec, Rows, Shared, fields
from paddock.compute.twin import reached
from paddock.errors import CodeError, PaddockError, code_error, code_place, reason

PATH = np.array([[10.0 * k, 0.0, 0.0, 1.0] for k in range(4)])
"""Stands for a table: a straight path of x, y, z in m and speed in m/s."""
NOISE = re.compile(r"(Failed in|\s*$)")
PLACE = re.compile(r'^\s*File "([^"\n]+)", line (\d+)', re.M)


def check_functions(plugin: Any) -> None:
    """Call every function of a model, behaviour or sensor; CodeError if one fails or returns something else."""
    for spec in plugin.specs():
        _check_function(spec)


@lru_cache(maxsize=512)
def _check_function(spec: KernelSpec) -> None:
    written = [a for a in spec.arguments if isinstance(a, Rows) and a.access != "read"]
    code = spec.function.__code__
    place = code_place(code.co_filename, code.co_firstlineno)
    try:
        for function in reached(spec.function):  # refuses what has no compiled twin
            _check_names(function)
        given = [a for a in spec.arguments if not (isinstance(a, Rows) and a.access == "write")]
        result = spec.function(*map(_sample, given))
    except CodeError:
        raise
    except PaddockError as error:
        raise CodeError(f"{place}: {error}") from None
    except (ArithmeticError, ValueError):  # compiled code returns NaN there, and the compiler finds the rest
        return
    except Exception as error:
        raise code_error(error) from error
    parts = (result,) if len(written) == 1 else result if type(result) is tuple else ()
    if len(parts) != len(written) or not all(map(_fits, parts, written)):
        names = [a.fields.__name__ for a in written]
        wanted = names[0] if len(names) == 1 else f"({', '.join(names)})"
        raise CodeError(f"{place}: {code.co_name}() must return {wanted} of numbers, not {result!r:.100}")


def _check_names(function: FunctionType) -> None:
    """Refuse names that do not exist, also on lines that the one call does not reach."""
    for one in dis.get_instructions(function):
        if one.opname == "LOAD_GLOBAL" and one.argval not in {**function.__globals__, **vars(builtins)}:
            place = code_place(function.__code__.co_filename, one.positions.lineno if one.positions else None)
            raise CodeError(f"{place}: {reason(NameError(name=one.argval), function.__globals__)}")


def _sample(argument: Argument) -> Any:
    if isinstance(argument, Rows | Shared):
        defaults = argument.fields._field_defaults  # type: ignore[attr-defined]
        return argument.fields(*(defaults.get(name, 1.0) for name in fields(argument.fields)))
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
    reason = " ".join(lines[: 2 if lines and lines[0].endswith(":") else 1])
    place = PLACE.search(text)
    where = f"{code_place(place[1], int(place[2]))}: " if place else ""
    return CodeError(f"{where}cannot be compiled: {reason:.300}")
