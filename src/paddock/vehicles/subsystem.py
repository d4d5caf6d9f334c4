"""Functions of users as subsystems of a model: checked before anything is compiled, with parameters of their own."""

import dis
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from inspect import Parameter, signature
from types import FunctionType
from typing import Any, get_type_hints

from paddock.compute.twin import reached
from paddock.errors import CodeError, PaddockError, code_error, code_place, unknown_name

NUMBERS = (float, int)


def checked_part(
    function: Callable[..., Any], stands_for: Callable[..., Any], what: str, given: Mapping[str, float]
) -> Callable[..., Any]:
    """Return a function that may replace another: with its arguments, what it returns, and without branches.

    Further arguments with defaults are its own parameters; `given` are their values. They are constants of the compiled
    code: fleets with other values have kernels of their own.
    """
    changed = checked_arguments(function, list(signature(stands_for).parameters), what, given)
    _check_result(changed, stands_for, what)
    return changed


def checked_arguments(
    function: Callable[..., Any], wanted: Sequence[str], what: str, given: Mapping[str, float]
) -> Callable[..., Any]:
    """Return a function that takes the `wanted` arguments and has no branches, with its own parameters `given`."""
    assert isinstance(function, FunctionType)
    taken = signature(function).parameters
    own = list(taken.values())[len(wanted) :]
    if len(taken) < len(wanted) or any(one.default is Parameter.empty for one in own):
        further = "; further arguments need defaults" if len(taken) > len(wanted) else ""
        raise PaddockError(f"{what}: {function.__name__}({', '.join(taken)}) must take ({', '.join(wanted)}){further}")
    for one in own:
        if not isinstance(one.default, NUMBERS) or isinstance(one.default, bool):
            where = f"{what}: {function.__name__}()"
            raise PaddockError(f"{where}: the default of its parameter {one.name!r} must be a number")
    for name in given:
        if name not in [one.name for one in own]:
            raise unknown_name(f"parameter of {function.__name__}()", name, [one.name for one in own])
    _refuse_branches(function)
    return _with_defaults(function, tuple(sorted(given.items()))) if given else function


@cache
def _with_defaults(function: FunctionType, given: tuple[tuple[str, float], ...]) -> FunctionType:
    """Return the function with other defaults; equal values return the same object, and so share kernels."""
    values = {name: float(value) for name, value in given}
    parameters = signature(function).parameters.values()
    placed = [one for one in parameters if one.kind is not Parameter.KEYWORD_ONLY and one.default is not one.empty]
    defaults = tuple(values.get(one.name, one.default) for one in placed)
    twin = FunctionType(function.__code__, function.__globals__, function.__name__, defaults)
    kept = function.__kwdefaults__ or {}
    twin.__kwdefaults__ = {name: values.get(name, value) for name, value in kept.items()} or None
    twin.__module__, twin.__qualname__ = function.__module__, function.__qualname__
    twin.__annotations__ = dict(function.__annotations__)
    twin.__dict__.update(function.__dict__)
    return twin


def _refuse_branches(function: FunctionType) -> None:
    """Raise CodeError where a function, or one of its module that it calls, branches: such code does not vectorise."""
    for one in reached(function):
        if one.__module__.partition(".")[0] == "paddock":
            continue
        for instruction in dis.get_instructions(one):
            if "JUMP" in instruction.opname or instruction.opname == "FOR_ITER":
                line = instruction.positions.lineno if instruction.positions else one.__code__.co_firstlineno
                place = code_place(one.__code__.co_filename, line)
                raise CodeError(
                    f"{place}: {one.__name__}() branches (if, and, or, a loop): choose with select(condition, a, b) of "
                    "paddock.compute.math, and combine conditions with & and |"
                )


def _check_result(function: Callable[..., Any], stands_for: Callable[..., Any], what: str) -> None:
    """Call the function once as plain Python, and compare what it returns with what the other is declared to return."""
    hints = get_type_hints(stands_for)
    returned = hints.pop("return")
    names = list(signature(stands_for).parameters)
    try:
        result = function(*(_example(hints[name]) for name in names))
    except PaddockError:
        raise
    except (ArithmeticError, ValueError):  # compiled code returns NaN there
        return
    except Exception as error:
        raise code_error(error) from error
    if not _fits(result, returned):
        code = function.__code__
        place = code_place(code.co_filename, code.co_firstlineno)
        raise CodeError(f"{place}: {code.co_name}() must return {_named(returned)} as {what}, not {result!r:.100}")


def _example(kind: Any) -> Any:
    """Return a value of a type: numbers of 1, and named tuples of their defaults or such numbers."""
    if hasattr(kind, "_fields"):
        hints, defaults = get_type_hints(kind), kind._field_defaults
        return kind(*(defaults[name] if name in defaults else _example(hints[name]) for name in kind._fields))
    return 1.0


def _fits(value: Any, kind: Any) -> bool:
    if hasattr(kind, "_fields"):
        hints = get_type_hints(kind)
        return all(_fits(getattr(value, name, None), hints[name]) for name in kind._fields)
    if getattr(kind, "__origin__", None) is tuple:
        parts = kind.__args__
        return type(value) is tuple and len(value) == len(parts) and all(map(_fits, value, parts))
    return hasattr(value, "__float__") and not isinstance(value, bool)


def _named(kind: Any) -> str:
    if hasattr(kind, "_fields"):
        return f"{kind.__name__}({', '.join(kind._fields)})"
    parts = len(getattr(kind, "__args__", ()))
    return f"a tuple of {parts} numbers" if parts else "a number"
