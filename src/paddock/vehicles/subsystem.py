"""Functions of users as subsystems of a model: checked before anything is compiled, with parameters of their own.

Actuators are a user's function between the commands and a model, with memory of its own in the state of the vehicle.
The state gets a column for each value of the memory, so that snapshots, saved states, hashes and recordings cover it.
A model without such a function is compiled as before.
"""

import dis
import linecache
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from inspect import Parameter, signature
from types import FunctionType
from typing import Annotated, Any, NamedTuple, get_type_hints

from paddock.compute.twin import reached
from paddock.errors import CodeError, InvalidValueError, PaddockError, code_error, code_place, unknown_name
from paddock.world.columns import Column, Pose, named_tuple

NUMBERS = (float, int)
UNDEFINED = object()  # in place of a result: a division by zero, or a root of a negative number


def checked_part(
    function: Callable[..., Any], stands_for: Callable[..., Any], what: str, defaults: Mapping[str, float]
) -> Callable[..., Any]:
    """Return a function that may replace another: with its arguments, what it returns, and without branches.

    Further arguments with defaults are its own parameters; `defaults` are their values. They are constants of the
    compiled code: fleets with other values have kernels of their own.
    """
    changed = checked_arguments(function, list(signature(stands_for).parameters), what, defaults)
    _check_result(changed, stands_for, what)
    return changed


def checked_arguments(
    function: Callable[..., Any], names: Sequence[str], what: str, defaults: Mapping[str, float]
) -> Callable[..., Any]:
    """Return a function that takes the `names` arguments and has no branches, with its own parameters `defaults`."""
    assert isinstance(function, FunctionType)
    arguments = signature(function).parameters
    own = list(arguments.values())[len(names) :]
    if len(arguments) < len(names) or any(argument.default is Parameter.empty for argument in own):
        further = "; further arguments need defaults" if len(arguments) > len(names) else ""
        raise PaddockError(
            f"{what}: {function.__name__}({', '.join(arguments)}) must take ({', '.join(names)}){further}"
        )
    for argument in own:
        if not isinstance(argument.default, NUMBERS) or isinstance(argument.default, bool):
            where = f"{what}: {function.__name__}()"
            raise PaddockError(f"{where}: the default of its parameter {argument.name!r} must be a number")
    for name in defaults:
        if name not in [argument.name for argument in own]:
            raise unknown_name(f"parameter of {function.__name__}()", name, [argument.name for argument in own])
    _refuse_branches(function)
    return _with_defaults(function, tuple(sorted(defaults.items()))) if defaults else function


@cache
def _with_defaults(function: FunctionType, chosen: tuple[tuple[str, float], ...]) -> FunctionType:
    """Return the function with other defaults; equal values return the same object, and so share kernels."""
    values = {name: float(value) for name, value in chosen}
    parameters = signature(function).parameters.values()
    placed = [
        parameter
        for parameter in parameters
        if parameter.kind is not Parameter.KEYWORD_ONLY and parameter.default is not parameter.empty
    ]
    defaults = tuple(values.get(parameter.name, parameter.default) for parameter in placed)
    twin = FunctionType(function.__code__, function.__globals__, function.__name__, defaults)
    keyword_defaults = function.__kwdefaults__ or {}
    twin.__kwdefaults__ = {name: values.get(name, value) for name, value in keyword_defaults.items()} or None
    twin.__module__, twin.__qualname__ = function.__module__, function.__qualname__
    twin.__annotations__ = dict(function.__annotations__)
    twin.__dict__.update(function.__dict__)
    return twin


def _refuse_branches(function: FunctionType) -> None:
    """Raise CodeError where a function, or one of its module that it calls, branches: such code does not vectorise."""
    for called in reached(function):
        if called.__module__.partition(".")[0] == "paddock":
            continue
        for instruction in dis.get_instructions(called):
            if "JUMP" in instruction.opname or instruction.opname == "FOR_ITER":
                line = instruction.positions.lineno if instruction.positions else called.__code__.co_firstlineno
                where = code_place(called.__code__.co_filename, line)
                raise CodeError(
                    f"{where}: {called.__name__}() branches (if, and, or, a loop): choose with select(condition, a, b) "
                    "of paddock.compute.math, and combine conditions with & and |"
                )


def _check_result(function: Callable[..., Any], stands_for: Callable[..., Any], what: str) -> None:
    """Call the function once as plain Python, and compare what it returns with what the other is declared to return."""
    hints = get_type_hints(stands_for)
    returned = hints.pop("return")
    names = list(signature(stands_for).parameters)
    result = _called(function, *(_example(hints[name]) for name in names))
    if result is not UNDEFINED and not _fits(result, returned):
        code = function.__code__
        where = code_place(code.co_filename, code.co_firstlineno)
        raise CodeError(f"{where}: {code.co_name}() must return {_named(returned)} as {what}, not {result!r:.100}")


def _called(function: Callable[..., Any], *arguments: Any) -> Any:
    """Return the result of a function in plain Python; UNDEFINED where compiled code returns NaN."""
    try:
        return function(*arguments)
    except PaddockError:
        raise
    except (ArithmeticError, ValueError):
        return UNDEFINED
    except Exception as error:
        raise code_error(error) from error


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
    return _is_number(value)


def _is_number(value: Any) -> bool:
    return hasattr(value, "__float__") and not isinstance(value, bool)


def _named(kind: Any) -> str:
    if hasattr(kind, "_fields"):
        return f"{kind.__name__}({', '.join(kind._fields)})"
    parts = len(getattr(kind, "__args__", ()))
    return f"a tuple of {parts} numbers" if parts else "a number"


ARGUMENTS = ("u", "s", "p", "dt")  # command, state, parameters, s
MOST = 16  # values of a memory
JUST_NOW = 1e-9  # s: a report shows the inputs of the present moment
TEMPLATE = """
def step(s, u, p, w, dt):
    {inputs} = actuated(u, s, p, dt)
    after = bare_step(s, command, p, w, dt)
    return State({columns}{remembered})


def place(at, p, w):
    after = bare_place(at, p, w)
    return State({columns}{start})


def report(s, u, p, w):
    {inputs} = actuated(u, s, p, JUST_NOW)
    return bare_report(s, command, p, w)
"""

Function = Callable[..., Any]


class Actuated(NamedTuple):
    """Parts of a model whose commands pass through actuators."""

    state: type
    step: Function
    place: Function
    report: Function | None


def checked_actuators(
    function: Function, state: type, command: type, parameters: type, taken: Mapping[str, Any], what: str,
    defaults: Mapping[str, float], memory: Mapping[str, float],
) -> Function:  # fmt: skip
    """Return `function(u, s, p, dt) -> command`, or `(command, value, ...)` with a memory, if it can be used."""
    for name in memory:
        if not name.isidentifier() or name.startswith("_"):
            raise InvalidValueError(f"{what}: memory {name!r} must be a name of letters, digits and _")
        if name in taken or name in Pose._fields or name in state._fields:  # type: ignore[attr-defined]
            raise InvalidValueError(f"{what}: memory {name!r} is a column of the model: choose another name")
    if len(memory) > MOST:
        raise InvalidValueError(f"{what}: a memory has at most {MOST} values, not {len(memory)}")
    fitted = checked_arguments(function, ARGUMENTS, what, defaults)
    larger = extended(state, tuple(memory.items()))
    result = _called(fitted, _example(command), _example(larger), _example(parameters), 0.01)
    if result is UNDEFINED:
        return fitted
    parts = (result,) if not memory else tuple(result) if type(result) is tuple else ()
    if len(parts) != 1 + len(memory) or not isinstance(parts[0], command) or not all(map(_is_number, parts[1:])):
        code = fitted.__code__
        expected = ", ".join([command.__name__, *memory])
        where = code_place(code.co_filename, code.co_firstlineno)
        raise CodeError(f"{where}: {code.co_name}() must return ({expected}) as {what}, not {result!r:.100}")
    return fitted


@cache
def extended(state: Any, memory: tuple[tuple[str, float], ...]) -> type:
    """Return the state with a column for each value of a memory; its default is the value at the start."""
    own = {name: Annotated[float, Column("", "memory of the actuators")] for name, _ in memory}
    defaults = state._field_defaults | {name: float(value) for name, value in memory}
    extended = named_tuple(state.__name__, get_type_hints(state, include_extras=True) | own, defaults)
    extended.__module__, extended.__qualname__ = state.__module__, state.__qualname__
    return extended  # type: ignore[no-any-return]


@cache
def actuated_model(
    state: type, step: Function, place: Function, report: Function | None, function: Function,
    memory: tuple[tuple[str, float], ...],
) -> Actuated:  # fmt: skip
    """Return the parts of a model with actuators; equal ones are the same objects, and so share kernels."""
    names = [name for name, _ in memory]
    text = TEMPLATE.format(
        inputs=", ".join(["command", *(f"new_{name}" for name in names)]),
        columns=", ".join(f"after.{name}" for name in state._fields),  # type: ignore[attr-defined]
        remembered="".join(f", new_{name}" for name in names),
        start="".join(f", {float(value)!r} + 0.0 * at.x" for _, value in memory),
    )
    file = f"<actuators {', '.join(names)}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    larger = extended(state, memory)
    scope: dict[str, Any] = {"State": larger, "JUST_NOW": JUST_NOW, "actuated": function, "__name__": __name__}
    scope |= {"bare_step": step, "bare_place": place, "bare_report": report}
    exec(compile(text, file, "exec"), scope)  # the names are identifiers
    return Actuated(larger, scope["step"], scope["place"], scope["report"] if report is not None else None)
