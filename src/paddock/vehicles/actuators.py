"""Actuators: a user's function between the commands and a model, with memory of its own in the state of the vehicle.

The state gets a column for each value of the memory, so that snapshots, saved states, hashes and recordings cover it.
A model without such a function is compiled as before.
"""

import linecache
from collections import namedtuple
from collections.abc import Callable, Mapping
from functools import cache
from typing import Annotated, Any, NamedTuple, get_type_hints

from paddock.errors import CodeError, InvalidValueError, PaddockError, code_error, code_place
from paddock.vehicles.subsystem import checked_arguments
from paddock.world.columns import Column
from paddock.world.pose import Pose

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
    given: Mapping[str, float], memory: Mapping[str, float],
) -> Function:  # fmt: skip
    """Return `function(u, s, p, dt) -> command`, or `(command, value, ...)` with a memory, if it can be used."""
    for name in memory:
        if not name.isidentifier() or name.startswith("_"):
            raise InvalidValueError(f"{what}: memory {name!r} must be a name of letters, digits and _")
        if name in taken or name in Pose._fields or name in state._fields:  # type: ignore[attr-defined]
            raise InvalidValueError(f"{what}: memory {name!r} is a column of the model: choose another name")
    if len(memory) > MOST:
        raise InvalidValueError(f"{what}: a memory has at most {MOST} values, not {len(memory)}")
    fitted = checked_arguments(function, ARGUMENTS, what, given)
    sample = _sample(extended(state, tuple(memory.items())))
    try:
        result = fitted(_sample(command), sample, _sample(parameters), 0.01)
    except (ArithmeticError, ValueError):  # compiled code returns NaN there
        return fitted
    except PaddockError:
        raise
    except Exception as error:
        raise code_error(error) from error
    parts = (result,) if not memory else tuple(result) if type(result) is tuple else ()
    if len(parts) != 1 + len(memory) or not isinstance(parts[0], command) or not all(map(_is_number, parts[1:])):
        code = fitted.__code__
        wanted = ", ".join([command.__name__, *memory])
        place = code_place(code.co_filename, code.co_firstlineno)
        raise CodeError(f"{place}: {code.co_name}() must return ({wanted}) as {what}, not {result!r:.100}")
    return fitted


def _is_number(value: Any) -> bool:
    return hasattr(value, "__float__") and not isinstance(value, bool)


def _sample(tuple_class: Any) -> Any:
    return tuple_class(*(tuple_class._field_defaults.get(name, 1.0) for name in tuple_class._fields))


@cache
def extended(state: Any, memory: tuple[tuple[str, float], ...]) -> type:
    """Return the state with a column for each value of a memory; its default is the value at the start."""
    defaults = (*state._field_defaults.values(), *(float(value) for _, value in memory))
    names = (*state._fields, *(name for name, _ in memory))
    made = namedtuple(state.__name__, names, defaults=defaults)  # type: ignore[misc]
    hints = get_type_hints(state, include_extras=True)
    own = {name: Annotated[float, Column("", "memory of the actuators")] for name, _ in memory}
    made.__annotations__ = {**{name: hints[name] for name in state._fields}, **own}
    made.__module__, made.__qualname__ = state.__module__, state.__qualname__
    return made


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
