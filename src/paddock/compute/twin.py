"""Twins: one scalar function as compiled code and as NumPy code.

A model's `step` is plain Python. Its *compiled twin* is a Numba function made from the same code object, whose helper
functions are twins too; its *NumPy twin* runs on whole arrays. A model needs no decorator, so importing it does not
import Numba, and `step` itself is the reference of the tests.

For float32 the twin's float constants become float32 as well: a bare `0.5` would otherwise promote the arithmetic of
the whole expression to float64.
"""

import enum
import math
import os
import types
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import cache
from importlib import import_module
from typing import Any, TypeVar

import numpy as np
import xxhash

from paddock.compute import math as scalar_math
from paddock.errors import PaddockError

Function = Callable[..., Any]
F = TypeVar("F", bound=Function)

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


def shared_code(function: F) -> F:
    """Mark a function whose compiled callers call it: inlined everywhere, a large one takes long to compile.

    A loop over vehicles that calls it does not vectorise.
    """
    function.__dict__["shared_code"] = True
    return function


def bound(function: Function, bindings: Mapping[str, Any]) -> types.FunctionType:
    """Return the function with some globals bound to other functions or constants, e.g. those of a behaviour."""
    plain = _plain(function)
    twin = types.FunctionType(plain.__code__, {**plain.__globals__, **bindings}, plain.__name__, plain.__defaults__)
    twin.__kwdefaults__ = plain.__kwdefaults__
    twin.__module__, twin.__qualname__ = plain.__module__, plain.__qualname__
    twin.__dict__.update(plain.__dict__)  # marks such as `shared_code`
    twin.__dict__["plain"], twin.__dict__["bindings"] = plain, dict(bindings)
    return twin


def rebound(function: Function, others: Mapping[Function, Function]) -> types.FunctionType:
    """Return the function with some of the functions it calls replaced; equal replacements return the same object."""
    return _rebound(_plain(function), tuple(others.items()))


@cache
def _rebound(function: types.FunctionType, others: tuple[tuple[Function, Function], ...]) -> types.FunctionType:
    called = {name: f for name, f in _used_globals(function).items() if isinstance(f, types.FunctionType)}
    exchanged = dict(others)
    new = {name: exchanged[f] if f in exchanged else _rebound(f, others) for name, f in called.items()}
    changed = {name: f for name, f in new.items() if f is not called[name]}
    return bound(function, changed) if changed else function


def reached(function: Function) -> Iterator[types.FunctionType]:
    """Yield the function and every plain Python function it calls, directly or not, each once."""
    seen: set[int] = set()
    pending = [_plain(function)]
    while pending:
        current = pending.pop()
        if id(current) not in seen:
            seen.add(id(current))
            yield current
            pending += [value for value in _used_globals(current).values() if isinstance(value, types.FunctionType)]


def described(subject: Function | type) -> Iterator[str]:
    """Describe everything that shapes the compiled twin of a function, or of the named tuple class it builds.

    For every function reached: its code with nested functions and lambdas, constants, argument names, defaults, keyword
    defaults, and the globals it reads; for every named tuple class: its fields in order and their defaults. Docstrings
    and line numbers do not count.
    """
    classes: dict[type, None] = {}
    if isinstance(subject, type):
        classes[subject] = None
    else:
        for function in reached(subject):
            yield f"{function.__module__}.{function.__qualname__} {_code_text(_undocumented(function))}"
            yield f"{_value_text(function.__defaults__, classes)} {_value_text(function.__kwdefaults__, classes)}"
            if "shared_code" in function.__dict__:
                yield "shared code"
            for name, value in _used_globals(function).items():
                yield f"{name} = {_value_text(value, classes)}"
    pending = list(classes)
    for tuple_class in pending:
        reached_here: dict[type, None] = {}
        fields, defaults = tuple_class._fields, tuple_class._field_defaults  # type: ignore[attr-defined]
        yield f"{tuple_class.__module__}.{tuple_class.__qualname__} {fields} {_value_text(defaults, reached_here)}"
        pending += [other for other in reached_here if other not in pending]  # classes of its defaults


def fingerprint(function: Function) -> str:
    """Return the description of a function as one text."""
    return "\n".join(described(function))


def _undocumented(function: types.FunctionType) -> types.CodeType:
    constants = function.__code__.co_consts
    documented = function.__doc__ is not None and constants[0] == function.__doc__
    return function.__code__.replace(co_consts=(None, *constants[1:])) if documented else function.__code__


def _code_text(code: types.CodeType) -> str:
    """Code without line numbers; nested code (comprehensions, lambdas) is described in the same way."""
    constants = [_code_text(c) if isinstance(c, types.CodeType) else _value_text(c, {}) for c in code.co_consts]
    names = code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars
    shape = code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags
    return f"{code.co_code.hex()} {code.co_exceptiontable.hex()} {constants} {names} {shape}"


def _value_text(value: Any, classes: dict[type, None]) -> str:
    """Return a constant, default or global as text, equal in every process; collects named tuple classes."""
    if isinstance(value, type) and hasattr(value, "_field_defaults"):
        classes[value] = None
        return f"class {value.__module__}.{value.__qualname__}"
    if isinstance(value, np.ndarray):
        return f"array {value.dtype} {value.shape} {xxhash.xxh3_128_hexdigest(np.ascontiguousarray(value).tobytes())}"
    if isinstance(value, enum.EnumMeta):
        members: dict[str, Any] = dict(value.__members__)
        return f"{value.__qualname__} {[(name, member.value) for name, member in members.items()]}"
    if isinstance(value, set | frozenset):
        return f"{type(value).__name__} {sorted(_value_text(part, classes) for part in value)}"
    if isinstance(value, dict):
        return f"{ {key: _value_text(part, classes) for key, part in value.items()} }"
    if isinstance(value, tuple):
        if hasattr(value, "_field_defaults"):
            classes[type(value)] = None
        return f"({', '.join(_value_text(part, classes) for part in value)})"
    if callable(value) and hasattr(value, "__qualname__"):
        return f"{value.__module__}.{value.__qualname__}"
    return f"{type(value).__name__} {value!r}"


def compiled(function: Function, dtype: str = "float64", inline: bool = True, from_python: bool = True) -> Any:
    """Return the Numba twin; forced inline by default, so that a loop around it can vectorise.

    `from_python=False` leaves out what Python needs to call it: much of the compile time of a model.
    """
    return _compiled(_plain(function), dtype, inline and "shared_code" not in function.__dict__, from_python)


@cache
def _compiled(function: types.FunctionType, dtype: str, inline: bool, from_python: bool) -> Any:
    from numba import njit

    made = dressed(function, dtype, inline)
    return njit(forceinline=inline, error_model="numpy")(made) if from_python else _callee(made, inline)


def _callee(made: types.FunctionType, inline: bool) -> Any:
    """Return a dressed function, compiled for compiled callers only."""
    from numba import njit

    from paddock.compute.numba_extensions import CALLEE_OPTIONS, CalleeFiles

    dispatcher = njit(forceinline=inline, error_model="numpy", **CALLEE_OPTIONS)(made)
    dispatcher._cache = CalleeFiles(made.__qualname__)
    return dispatcher


def dressed(function: types.FunctionType, dtype: str, inline: bool, others: Mapping[str, Any] | None = None) -> Any:
    """Return the function with compiled twins of all that it calls, and `others` in place of some of its globals."""
    _before_numba()

    def dress(value: Any) -> Any:
        if isinstance(value, types.FunctionType):
            return _compiled(value, dtype, inline and "shared_code" not in value.__dict__, False)
        if isinstance(value, type) and getattr(value, "_field_defaults", None):
            return _constructor(value, dtype, inline)
        return float32(value) if dtype == "float32" else value

    code = function.__code__
    if dtype == "float32":
        code = code.replace(co_consts=tuple(float32(c) for c in code.co_consts))
    names = {name: dress(value) for name, value in _used_globals(function).items()} | dict(others or {})
    keywords = code.co_varnames[code.co_argcount :][: code.co_kwonlyargcount]
    keyword_defaults = function.__kwdefaults__ or {}
    defaults = function.__defaults__ or ()
    if all(name in keyword_defaults for name in keywords):  # Numba loses those that a call leaves out
        code = code.replace(co_argcount=code.co_argcount + len(keywords), co_kwonlyargcount=0)
        defaults += tuple(keyword_defaults[name] for name in keywords)
    dressed_defaults = tuple(dress(value) for value in defaults)
    made = types.FunctionType(code, {"__builtins__": __builtins__, **names}, function.__name__, dressed_defaults)
    made.__qualname__ = _unique_name(function, dtype, inline)
    return made


def _unique_name(function: types.FunctionType, dtype: str, inline: bool) -> str:
    """Return a name that is unique to the code.

    Numba numbers the functions of a process to tell those of one name apart; loaded from a cache, another process's
    function of the same name and number would take the place of this one.
    """
    digest = xxhash.xxh3_64(f"{fingerprint(function)} {dtype} {inline}".encode()).hexdigest()
    return f"{function.__name__}_{digest}"


@cache
def _constructor(tuple_class: Any, dtype: str, inline: bool) -> Any:
    """Return the constructor of a named tuple: Numba would omit fields that a call leaves at their defaults."""
    defaults = {name: float32(v) if dtype == "float32" else v for name, v in tuple_class._field_defaults.items()}
    taken = ", ".join(f"{f}=default_{f}" if f in defaults else f for f in tuple_class._fields)
    names = {"_made": tuple_class, **{f"default_{name}": value for name, value in defaults.items()}}
    text = f"def constructor({taken}):\n    return _made({', '.join(tuple_class._fields)})\n"
    exec(text, names)
    digest = xxhash.xxh3_64(f"{tuple_class.__module__} {text} {defaults} {dtype} {inline}".encode()).hexdigest()
    names["constructor"].__qualname__ = f"constructor_{tuple_class.__name__}_{digest}"
    return _callee(names["constructor"], inline)


def vectorised(function: Function, native: bool = False) -> Function:
    """Return the NumPy twin, for arrays; `native` uses NumPy's own sin, cos, ... instead of `compute.math`."""
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
    environment = {"__builtins__": __builtins__, **names}
    made = types.FunctionType(function.__code__, environment, function.__name__, function.__defaults__)
    made.__kwdefaults__ = function.__kwdefaults__
    return made


NUMPY_PRIMITIVES: dict[Any, Any] = {
    scalar_math.select: np.where,
    scalar_math.minimum: lambda a, b: np.where(a < b, a, b),
    scalar_math.maximum: lambda a, b: np.where(a > b, a, b),
    scalar_math.whole: lambda x: np.asarray(x).astype(np.int64),
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
    """Return a float constant (or a tuple of them) as float32; anything else as it is."""
    if type(value) is float:
        with np.errstate(over="ignore"):
            return FLOAT32_CONSTANTS.get(value, np.float32(value))
    if type(value) is tuple:
        return tuple(float32(part) for part in value)
    if isinstance(value, tuple) and hasattr(value, "_make"):
        return value._make(float32(part) for part in value)
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
    """Return the globals that a function reads; modules are refused (but `math`), they would hide functions."""
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

    from numba.np import linalg

    def no_blas() -> None:
        raise ImportError

    # Numba imports SciPy to know whether it can use BLAS in `numpy.cov`: 128 modules, an eighth of the start of a run
    with suppress(AttributeError):
        linalg.ensure_blas, ensure_blas = no_blas, linalg.ensure_blas
        import_module("numba.np.arraymath")
        linalg.ensure_blas = ensure_blas
