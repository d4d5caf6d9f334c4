"""One source, the same bits: Python, NumPy and compiled code, any number of threads, any grouping."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from paddock.compute.threads import available_threads, limit_threads, thread_count
from paddock.compute.twin import compiled, vectorised
from paddock.testing.vehicles.rig import Rig
from paddock.world.columns import Floats

TICKS = 200


def check_python(rig: Rig) -> str:
    """The plain Python functions agree with the compiled kernel bit for bit."""
    start, commands = drive(rig, 3)
    for agent in range(3):
        fleet = start[:, agent : agent + 1].copy()
        state = rig.model.state(*map(float, start[:, agent]))
        for command in commands:
            rig.run(fleet, np.ascontiguousarray(command[:, agent : agent + 1]), rig.model.dt_max)
            state = _python_step(rig, state, command[:, agent])
            rig.demand_same_bits(np.array(state)[:, None], fleet, "between Python and compiled code")
    return f"{TICKS} ticks of 3 agents equal the compiled kernel bit for bit"


def _python_step(rig: Rig, state: Any, command: Floats) -> Any:
    given = rig.model.command(*map(float, command))
    try:
        return rig.model.step(state, given, rig.parameters, rig.environment, rig.model.dt_max)
    except (ArithmeticError, ValueError) as error:
        rig.fail(f"step() raises {error!r} in plain Python, at {state}")


def check_numpy(rig: Rig) -> str:
    """The NumPy twin agrees with the compiled kernel bit for bit, and every column is an array."""
    fleet, commands = drive(rig, 64)
    state = rig.model.state(*fleet.copy())
    step = vectorised(rig.model.step)
    for command in commands:
        rig.run(fleet, command, rig.model.dt_max)
        state = step(state, rig.model.command(*command), rig.parameters, rig.environment, rig.model.dt_max)
        for name, row in state._asdict().items():
            if np.shape(row) != (64,):
                rig.fail(f"step() gives column {name!r} one value for all agents; write constants as 0.0 * s.x")
        rig.demand_same_bits(np.array(state), fleet, "between NumPy and compiled code")
    return f"{TICKS} ticks of 64 agents equal the compiled kernel bit for bit"


def check_float32(rig: Rig) -> str:
    """The float32 twin computes in float32 throughout, and stays finite."""
    step = compiled(rig.model.step, "float32")
    shared = _single(rig.parameters), _single(rig.environment), np.float32(rig.model.dt_max)
    start, commands = drive(rig, 1)
    state = _single(rig.model.state(*start[:, 0]))
    for command in commands:
        given = state, _single(rig.model.command(*command[:, 0])), *shared
        state = _single(step(*given))
        rig.demand_finite(np.array(state)[:, None], state._fields, "in float32")
    _demand_single(rig, step, given)
    return f"no float64 inside, finite for {TICKS} ticks"


def _single(values: Any) -> Any:
    return type(values)(*map(np.float32, values))


def _demand_single(rig: Rig, step: Any, given: tuple[Any, ...]) -> None:
    from numba import typeof

    signature = tuple(map(typeof, given))
    kinds = step.overloads[signature].signature.return_type
    for name, kind in zip(rig.model.state._fields, kinds, strict=True):  # type: ignore[attr-defined]
        if str(kind) != "float32":
            rig.fail(f"column {name!r} of step() is {kind} in the float32 twin: write float literals (2.0, not 2)")
    if lines := _double_lines(step.inspect_llvm(signature)):
        rig.fail(f"step() computes with float64 in the float32 twin: write float literals (2.0, not 2); {lines[0]}")


def _double_lines(text: str) -> list[str]:
    """The compiler's lines that use float64, but for the wrapper that turns results into Python objects."""
    bodies = [body for body in re.split(r"\n(?=define )", text) if body.startswith("define")]
    inner = [body for body in bodies if "cpython" not in body.splitlines()[0]]
    return [line.strip() for body in inner for line in body.splitlines() if re.search(r"\bdouble\b", line)]


def check_threads(rig: Rig) -> str:
    """One thread and all threads give the same bits."""
    start, commands = drive(rig, 2000)
    serial, parallel = start.copy(), start.copy()
    with _threads(1):
        rig.run(serial, commands[0], rig.model.dt_max, 50)
    with _threads(None):
        rig.run(parallel, commands[0], rig.model.dt_max, 50)
    rig.demand_same_bits(serial, parallel, f"between 1 and {available_threads()} threads")
    return f"1 and {available_threads()} threads agree on 2000 agents"


@contextmanager
def _threads(count: int | None) -> Iterator[None]:
    before = thread_count()
    limit_threads(count)
    try:
        yield
    finally:
        limit_threads(None if before == available_threads() else before)


def check_independence(rig: Rig) -> str:
    """An agent alone does what it does within a fleet."""
    fleet, commands = drive(rig, 61)
    chosen = [0, 7, 60]
    alone = [np.ascontiguousarray(fleet[:, k : k + 1]) for k in chosen]
    rig.run(fleet, commands[0], rig.model.dt_max, 50)
    for k, state in zip(chosen, alone, strict=True):
        rig.run(state, np.ascontiguousarray(commands[0][:, k : k + 1]), rig.model.dt_max, 50)
        rig.demand_same_bits(state, fleet[:, k : k + 1].copy(), "between an agent alone and in a fleet")
    return "agents alone and in a fleet agree"


def check_substeps(rig: Rig) -> str:
    """Ten ticks in one launch are ten launches of one tick."""
    together, commands = drive(rig, 300)
    apart = together.copy()
    rig.run(together, commands[0], rig.model.dt_max, 10)
    for _ in range(10):
        rig.run(apart, commands[0], rig.model.dt_max)
    rig.demand_same_bits(together, apart, "between 1 x 10 and 10 x 1 ticks")
    return "1 x 10 and 10 x 1 ticks agree"


def drive(rig: Rig, n: int) -> tuple[Floats, list[Floats]]:
    """A fleet at random places and speeds, and commands for each tick that change every tenth of a second."""
    state = rig.place(n, speed=rig.random.uniform(0.0, rig.typical_speed, n))
    every = max(1, round(0.1 / rig.model.dt_max))
    command = rig.random_modes(n)
    commands = []
    for tick in range(TICKS):
        command = rig.random_commands(command) if tick % every == 0 else command
        commands.append(command)
    return state, commands
