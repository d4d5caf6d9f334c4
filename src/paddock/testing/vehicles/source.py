"""No branches: the bytecode of everything that a model's functions reach."""

from __future__ import annotations

import builtins
import dis
import math
import types
from collections.abc import Iterator

from paddock.compute.math import select
from paddock.compute.twin import reached
from paddock.testing.vehicles.rig import Rig

FUNCTIONS = ("step", "pose", "place", "guide", "energy", "report")


def check_branch_free(rig: Rig) -> str:
    """No `if`, no ternary, no loop, no `and`, `or`, `not`, and no functions that hide a branch or differ by machine."""
    declared = [function for name in FUNCTIONS if (function := getattr(rig.model, name)) is not None]
    functions = {reachable for function in declared for reachable in reached(function)} - {select}
    for function in sorted(functions, key=lambda f: (f.__module__, f.__qualname__)):
        where = f"{function.__module__}.{function.__qualname__}"
        for line, problem in _problems(function):
            rig.fail(f"{where}, line {line}: {problem}")
    return f"{len(functions)} functions"


def _problems(function: types.FunctionType) -> Iterator[tuple[int, str]]:
    for line, instruction in _lines(function):
        if _branches(instruction.opname):
            yield line, "a branch (if, ternary, loop, and, or, not); choose with select(), combine with & and |"
    for line, instruction in _lines(function):
        if instruction.opname == "LOAD_GLOBAL" and _is_foreign(function, instruction.argval):
            called = instruction.argval
            yield line, f"calls {called!r}; only functions of paddock.compute.math give the same bits everywhere"


def _lines(function: types.FunctionType) -> Iterator[tuple[int, dis.Instruction]]:
    line = function.__code__.co_firstlineno
    for instruction in dis.get_instructions(function):
        line = instruction.positions.lineno if instruction.positions and instruction.positions.lineno else line
        yield line, instruction


def _branches(opcode: str) -> bool:
    return ("JUMP" in opcode and "IF" in opcode) or opcode in ("FOR_ITER", "UNARY_NOT", "CONTAINS_OP")


def _is_foreign(function: types.FunctionType, name: str) -> bool:
    value = function.__globals__.get(name, getattr(builtins, name, None))
    allowed = isinstance(value, types.FunctionType) or value is math.sqrt or hasattr(value, "_fields")
    return callable(value) and not allowed
