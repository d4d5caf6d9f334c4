"""Twins: the same scalar function in another dress.

A model's `step` is plain Python. Its *compiled twin* is a Numba function made from the same code object, whose helper
functions are twins too; its *NumPy twin* runs on whole arrays. Nothing here needs a decorator in the model's file, so
importing a model never imports Numba, and calling `step` directly is the oracle that the tests compare with.

For float32 the twin's float constants become float32 as well: a bare `0.5` would otherwise promote the arithmetic of
the whole expression to float64.
"""

from __future__ import annotations

import math
import os
import types
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any

import numpy as np
import xxhash

from paddock.compute import math as scalar_math
from paddock.errors import PaddockError

Function = Callable[..., Any]

# rounding by addition needs a constant that fits the mantissa; argument reduction needs parts of pi/2 and ln 2 whose
# products with small integers are exact
FLOAT32_CONSTANTS = {
    scalar_math.ROUNDING: np.float32(12582912.0),
    scalar_math.HALF_PI_HIGH: np.float32(1.5703125),
    scalar_math.HALF_PI_MID: np.float32(4.837512969970703125e-4),
    scalar_math.HALF_PI_LOW: np.float32(7.54978995489188216e-8),
    scalar_math.LN2_HIGH: np.float32(0.693359375),
    scalar_math.LN2_LOW: np.float32(-2.12194440e-4),
}


def bound(function: Function, bindings: Mapping[str, Function]) -> types.FunctionType:
    """The function with some of its global names bound to other functions: how a behaviour gets its model's parts."""
    plain = _plain(function)
    twin = types.FunctionType(plain.__code__, {**plain.__globals__, **bindings}, plain.__name__, plain.__defaults__)
    twin.__module__, twin.__qualname__ = plain.__module__, plain.__qualname__
    twin.__dict__["bindings"] = dict(bindings)
    return twin


def rebound(function: Function, others: Mapping[Function, Function]) -> types.FunctionType:
    """The function with some of those that it calls, directly or not, exchanged; the same for the same exchange."""
    return _rebound(_plain(function), tuple(others.items()))


@cache
def _rebound(function: types.FunctionType, others: tuple[tuple[Function, Function], ...]) -> types.FunctionType:
    called = {name: f for name, f in _used_globals(function).items() if isinstance(f, types.FunctionType)}
    exchanged = dict(others)
    new = {name: exchanged[f] if f in exchanged else _rebound(f, others) for name, f in called.items()}
    changed = {name: f for name, f in new.items() if f is not called[name]}
    return bound(function, changed) if changed else function


def reached(function: Function) -> Iterator[types.FunctionType]:
    """The function and every plain Python function it calls, directly or not, each once."""
    seen: set[int] = set()
    pending = [_plain(function)]
    while pending:
        current = pending.pop()
        if id(current) not in seen:
            seen.add(id(current))
            yield current
            pending += [value for value in _used_globals(current).values() if isinstance(value, types.FunctionType)]


def fingerprint(function: Function) -> str:
    """Everything that shapes the compiled twin, as text: code, constants and names of all functions reached."""
    return "\n".join(line for reachable in reached(function) for line in _described(reachable))


def _described(function: types.FunctionType) -> Iterator[str]:
    code = function.__code__
    constants = [c for c in code.co_consts if not isinstance(c, types.CodeType)]
    yield f"{function.__module__}.{function.__qualname__} {code.co_code.hex()}"
    yield f"{constants!r} {function.__defaults__!r} {code.co_names!r}"
    for name, value in _used_globals(function).items():
        yield f"{name} = {value.__module__}.{value.__qualname__}" if callable(value) else f"{name} = {value!r}"


def compiled(function: Function, dtype: str = "float64", inline: bool = True) -> Any:
    """The Numba twin, forced inline (unless told otherwise) so that a loop around it can vectorise."""
    return _compiled(_plain(function), dtype, inline)


@cache
def _compiled(function: types.FunctionType, dtype: str, inline: bool) -> Any:
    from numba import njit

    return njit(forceinline=inline, error_model="numpy")(dressed(function, dtype, inline))


def dressed(function: types.FunctionType, dtype: str, inline: bool, others: Mapping[str, Any] | None = None) -> Any:
    """The function with compiled twins of all that it calls, and `others` in place of some of its globals."""
    _before_numba()

    def dress(value: Any) -> Any:
        if isinstance(value, types.FunctionType):
            return _compiled(value, dtype, inline)
        if isinstance(value, type) and getattr(value, "_field_defaults", None):
            return _constructor(value, dtype, inline)
        return float32(value) if dtype == "float32" else value

    code = function.__code__
    if dtype == "float32":
        code = code.replace(co_consts=tuple(float32(c) for c in code.co_consts))
    names = {name: dress(value) for name, value in _used_globals(function).items()} | dict(others or {})
    defaults = function.__defaults__ and tuple(dress(value) for value in function.__defaults__)
    made = types.FunctionType(code, {"__builtins__": __builtins__, **names}, function.__name__, defaults)
    made.__qualname__ = _unique_name(function, dtype, inline)
    return made


def _unique_name(function: types.FunctionType, dtype: str, inline: bool) -> str:
    """A name that only equal code has.

    Numba numbers the functions of a process to tell those of one name apart; loaded from a cache, another process's
    function of the same name and number would take the place of this one.
    """
    digest = xxhash.xxh3_64(f"{fingerprint(function)} {dtype} {inline}".encode()).hexdigest()
    return f"{function.__name__}_{digest}"


@cache
def _constructor(tuple_class: Any, dtype: str, inline: bool) -> Any:
    """What makes a named tuple: Numba would leave out the fields that a call leaves to their defaults."""
    from numba import njit

    defaults = {name: float32(v) if dtype == "float32" else v for name, v in tuple_class._field_defaults.items()}
    taken = ", ".join(f"{f}=default_{f}" if f in defaults else f for f in tuple_class._fields)
    names = {"made": tuple_class, **{f"default_{name}": value for name, value in defaults.items()}}
    text = f"def constructor({taken}):\n    return made({', '.join(tuple_class._fields)})\n"
    exec(text, names)
    digest = xxhash.xxh3_64(f"{tuple_class.__module__} {text} {defaults} {dtype} {inline}".encode()).hexdigest()
    names["constructor"].__qualname__ = f"constructor_{tuple_class.__name__}_{digest}"
    return njit(forceinline=inline, error_model="numpy")(names["constructor"])


def vectorised(function: Function, native: bool = False) -> Function:
    """The NumPy twin: the same expressions on arrays. `native` uses NumPy's own sin, cos, ... instead of ours."""
    return _vectorised(_plain(function), native)


@cache
def _vectorised(function: types.FunctionType, native: bool) -> Function:
    replacements: dict[Any, Any] = dict(NUMPY_PRIMITIVES)
    if native:
        replacements |= NUMPY_NATIVE
    if function in replacements:
        return replacements[function]  # type: ignore[no-any-return]

    def dress(value: Any) -> Any:
        if isinstance(value, types.FunctionType):
            return _vectorised(value, native)
        return replacements.get(value, value) if callable(value) else value

    names = {name: dress(value) for name, value in _used_globals(function).items()}
    return types.FunctionType(
        function.__code__, {"__builtins__": __builtins__, **names}, function.__name__, function.__defaults__
    )


NUMPY_PRIMITIVES: dict[Any, Any] = {
    scalar_math.select: np.where,
    scalar_math.minimum: lambda a, b: np.where(a < b, a, b),
    scalar_math.maximum: lambda a, b: np.where(a > b, a, b),
    math.sqrt: np.sqrt,
}
NUMPY_NATIVE: dict[Any, Any] = {
    scalar_math.minimum: np.minimum,
    scalar_math.maximum: np.maximum,
    scalar_math.clamp: lambda x, low, high: np.minimum(np.maximum(x, low), high),
    scalar_math.absolute: np.abs,
    scalar_math.nearest: np.rint,
    scalar_math.floor: np.floor,
    scalar_math.sin: np.sin,
    scalar_math.cos: np.cos,
    scalar_math.sincos: lambda x: (np.sin(x), np.cos(x)),
    scalar_math.tan: np.tan,
    scalar_math.atan: np.arctan,
    scalar_math.atan2: np.arctan2,
    scalar_math.asin: lambda x: np.arcsin(np.clip(x, -1.0, 1.0)),
    scalar_math.exp: np.exp,
    scalar_math.log: np.log,
    scalar_math.power: np.power,
}


def float32(value: Any) -> Any:
    """A float constant (or a tuple of them) as float32; anything else as it is."""
    if type(value) is float:
        with np.errstate(over="ignore"):
            return FLOAT32_CONSTANTS.get(value, np.float32(value))
    if type(value) is tuple:
        return tuple(float32(part) for part in value)
    return value


def _plain(function: Function) -> types.FunctionType:
    if not isinstance(function, types.FunctionType):
        raise PaddockError(f"{function!r} is not a plain Python function, so it has no compiled twin")
    if function.__closure__:
        raise PaddockError(
            f"{function.__qualname__} reads variables of an enclosing function; "
            f"pass them as arguments or make them globals"
        )
    return function


def _used_globals(function: types.FunctionType) -> dict[str, Any]:
    """The globals a function names; a module among them would hide functions from the twin, so only `math` may be."""
    used = {n: function.__globals__[n] for n in _names(function.__code__) if n in function.__globals__}
    for name, value in used.items():
        if isinstance(value, types.ModuleType) and value is not math:
            raise PaddockError(
                f"{function.__module__}.{function.__qualname__} calls functions through the module {name!r}; "
                f"import the functions by name instead"
            )
    return used


def _names(code: types.CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _names(constant)


@cache
def _before_numba() -> None:
    # idle OpenMP threads would otherwise spin through the Python part of every tick
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    import llvmlite.binding  # type: ignore[import-untyped]

    # a kernel over dozens of rows needs more overlap checks than the compiler makes by default before it gives up
    # vectorising; they cost nothing beside the loop
    llvmlite.binding.set_option("", "--vectorize-memory-check-threshold=100000")
