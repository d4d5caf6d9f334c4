"""Conformance checks of vehicle models: equal bits in every form of the code, and plausible motion."""

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from paddock.compute.kernel import KernelSpec
from paddock.compute.quaternion import heading
from paddock.compute.twin import compiled, vectorised
from paddock.testing.conformance import (
    ConformanceReport,
    Rig,
    check_branch_free,
    check_declarations,
    check_returns,
    limits,
    rows,
)
from paddock.vehicles.model import BOX, CAPSULE, CONE, FRAME, SPHERE, Bump, Desire, VehicleModel, find_model
from paddock.world.columns import Environment, Floats, Pose, columns_of

TICKS = 200


def check_python(rig: Rig) -> str:
    """Compare plain Python with the compiled kernel bit for bit."""
    state, commands = drive(rig, 3)
    for command in commands:
        rig.demand_twin(rig.model.step_spec(), {"state": state, "command": command}, rig.shared)
    return f"{TICKS} ticks of 3 vehicles equal the compiled kernel bit for bit"


def check_numpy(rig: Rig) -> str:
    """Compare the NumPy twin with the compiled kernel bit for bit."""
    fleet, commands = drive(rig, 64)
    state = rig.model.state(*fleet.copy())
    step = vectorised(rig.model.step)
    for command in commands:
        rig.run(fleet, command, rig.model.dt_max)
        state = step(state, rig.model.command(*command), rig.parameters, rig.environment, rig.model.dt_max)
        state = rig.model.state(*rows(state, 64))
        rig.demand_same_bits(np.array(state), fleet, "between NumPy and compiled code")
    return f"{TICKS} ticks of 64 vehicles equal the compiled kernel bit for bit"


def check_float32(rig: Rig) -> str:
    """Check that the float32 twin computes in float32 throughout and stays finite."""
    step = compiled(rig.model.step, "float32")
    shared = _single(rig.parameters), _single(rig.environment), np.float32(rig.model.dt_max)
    start, commands = drive(rig, 1)
    state = _single(rig.model.state(*start[:, 0]))
    for command in commands:
        arguments = state, _single(rig.model.command(*command[:, 0])), *shared
        state = _single(step(*arguments))
        rig.demand_finite(np.array(state)[:, None], state._fields, "in float32")
    _demand_single(rig, step, arguments)
    return f"no float64 inside, finite for {TICKS} ticks"


def _single(values: Any) -> Any:
    return type(values)(*map(np.float32, values))


def _demand_single(rig: Rig, step: Any, arguments: tuple[Any, ...]) -> None:
    from numba import typeof

    signature = tuple(map(typeof, arguments))
    kinds = step.overloads[signature].signature.return_type
    for name, kind in zip(rig.model.state._fields, kinds, strict=True):  # type: ignore[attr-defined]
        if str(kind) != "float32":
            rig.fail(f"column {name!r} of step() is {kind} in the float32 twin: write float literals (2.0, not 2)")
    if lines := _double_lines(step.inspect_llvm(signature)):
        rig.fail(f"step() computes with float64 in the float32 twin: write float literals (2.0, not 2); {lines[0]}")


def _double_lines(text: str) -> list[str]:
    """Return the LLVM lines that use float64, except in the wrapper for Python."""
    bodies = [body for body in re.split(r"\n(?=define )", text) if body.startswith("define")]
    inner = [body for body in bodies if "cpython" not in body.splitlines()[0]]
    return [line.strip() for body in inner for line in body.splitlines() if re.search(r"\bdouble\b", line)]


def check_threads(rig: Rig) -> str:
    """Compare one thread with all threads bit for bit."""
    state, commands = drive(rig, 2000)
    return rig.demand_same_threads(rig.model.step_spec(), {"state": state, "command": commands[0]}, rig.shared, 50)


def check_independence(rig: Rig) -> str:
    """Compare single vehicles with the same vehicles in a fleet."""
    fleet, commands = drive(rig, 61)
    chosen = [0, 7, 60]
    alone = [np.ascontiguousarray(fleet[:, k : k + 1]) for k in chosen]
    rig.run(fleet, commands[0], rig.model.dt_max, 50)
    for k, state in zip(chosen, alone, strict=True):
        rig.run(state, np.ascontiguousarray(commands[0][:, k : k + 1]), rig.model.dt_max, 50)
        rig.demand_same_bits(state, fleet[:, k : k + 1].copy(), "between a vehicle alone and in a fleet")
    return "vehicles alone and in a fleet agree"


def check_substeps(rig: Rig) -> str:
    """Compare ten ticks in one launch with ten launches of one tick."""
    together, commands = drive(rig, 300)
    apart = together.copy()
    rig.run(together, commands[0], rig.model.dt_max, 10)
    for _ in range(10):
        rig.run(apart, commands[0], rig.model.dt_max)
    rig.demand_same_bits(together, apart, "between 1 x 10 and 10 x 1 ticks")
    return "1 x 10 and 10 x 1 ticks agree"


def drive(rig: Rig, n: int) -> tuple[Floats, list[Floats]]:
    """Return a fleet at random places and speeds, and commands per tick that change every 0.1 s."""
    state = rig.place(n, speed=rig.random.uniform(0.0, rig.typical_speed, n))
    every = max(1, round(0.1 / rig.model.dt_max))
    command = rig.random_modes(n)
    commands = []
    for tick in range(TICKS):
        command = rig.random_commands(command) if tick % every == 0 else command
        commands.append(command)
    return state, commands


AGENTS = 64


def check_report(rig: Rig) -> str:
    """Compare reports of Python, NumPy and compiled code, at the start and after a drive."""
    if (rig.model.report is None) != (rig.model.report_type is None):
        rig.fail("report and report_type belong together: give both or neither")
    spec = rig.model.report_spec()
    if spec is None:
        return "none"
    names = rig.model.report_columns
    if clashing := set(names) & {*Pose._fields, *rig.model.telemetry}:
        rig.fail(f"the report's column {min(clashing)!r} is in snapshots already")
    state, commands = drive(rig, AGENTS)
    _compare(rig, spec, state, commands[0])
    for command in commands:
        rig.run(state, command, rig.model.dt_max)
    _compare(rig, spec, state, commands[-1])
    return f"{len(names)} columns equal in Python, NumPy and compiled code"


def _compare(rig: Rig, spec: KernelSpec, state: Floats, command: Floats) -> None:
    names, model = rig.model.report_columns, rig.model
    values = np.zeros((len(names), AGENTS))
    rig.demand_twin(spec, {"state": state, "command": command, "report": values}, rig.shared)
    arrays = vectorised(spec.function)(model.state(*state), model.command(*command), rig.parameters, rig.environment)
    rig.demand_same_bits(rows(arrays, AGENTS), values, "between NumPy and compiled code", names)


ROUNDING_LEVEL = 1e-10  # smaller relative errors are rounding: the order cannot be measured and is not checked

ENERGY_MARGIN = 0.01  # allowed gain relative to the largest initial energy, for integration error and overshoot


def check_standstill(rig: Rig) -> str:
    """Check that every column stays finite at rest with default commands, on the ground and above it."""
    for z in (0.0, 20.0):
        state, command = rig.place(8, z), rig.commands(8)
        rig.demand_finite(state, rig.model.state._fields, "when placed")  # type: ignore[attr-defined]
        for tick in range(200):
            rig.run(state, command, rig.model.dt_max)
            when = f"at standstill with default commands (tick {tick + 1}, z = {z:g} m)"
            rig.demand_finite(state, rig.model.state._fields, when)  # type: ignore[attr-defined]
        rig.demand_finite(np.array(rig.pose(state)), Pose._fields, "in the pose at standstill")
        rig.demand_finite(rig.energy(state)[None], ("energy",), "at standstill")
        desire = Desire(*np.zeros((4, 8)))
        guided = rig.guide(state, command, desire)
        rig.demand_finite(guided, rig.model.command._fields, "in guide() for a desire of zero")  # type: ignore[attr-defined]
    return "finite at rest, on the ground and above it"


def check_random_commands(rig: Rig) -> str:
    """Check for finite states under random commands for 10 s: at dt_max in still air, at a quarter in wind."""
    n = 128
    windy = Environment(wind_x=8.0, wind_y=-5.0, wind_z=1.0)
    for dt, environment in ((rig.model.dt_max, rig.environment), (0.25 * rig.model.dt_max, windy)):
        state = rig.place(n, speed=rig.random.uniform(0.0, rig.typical_speed, n))
        command = rig.random_modes(n)
        for change in range(100):
            command = rig.random_commands(command)
            rig.run(state, command, dt, max(1, round(0.1 / dt)), environment)
            when = f"under random commands at dt = {dt:g} s (after {0.1 * (change + 1):.1f} s)"
            rig.demand_finite(state, rig.model.state._fields, when)  # type: ignore[attr-defined]
    return f"{n} vehicles finite for 10 s at dt = {rig.model.dt_max:g} and {0.25 * rig.model.dt_max:g} s"


def check_convergence(rig: Rig) -> str:
    """Check that halving dt reduces the error with the stated order (median over vehicles)."""
    n = 32
    start = rig.place(n, speed=rig.typical_speed * rig.random.uniform(0.4, 0.9, n))
    command = _moderate_commands(rig, n)
    coarse = max(10, round(0.5 / rig.model.dt_max))
    ends = {division: start.copy() for division in (2, 4, 8, 128)}
    for division, state in ends.items():
        rig.run(state, command, rig.model.dt_max / division, coarse * division)
    errors = np.array([_error(rig, ends[division], ends[128]) for division in (2, 4, 8)])
    measurable = errors[2] > ROUNDING_LEVEL
    if np.count_nonzero(measurable) < n // 2:
        return f"order {rig.model.order} stated, errors at rounding level"
    orders = 0.5 * np.log2(errors[0] / np.maximum(errors[2], 1e-300))
    order = float(np.median(orders[measurable]))
    if order < rig.model.order - 0.3:
        largest = int(np.argmax(np.median(_differences(rig, ends[8], ends[128]), axis=1)))
        worst = columns_of(rig.model.state)[largest].name
        rig.fail(f"the stated order is {rig.model.order}, the measured one {order:.2f} (largest error in {worst!r})")
    return f"order {rig.model.order} stated, {order:.2f} measured"


def _moderate_commands(rig: Rig, n: int) -> Floats:
    """Return constant commands within a quarter of the range around the defaults."""
    command = rig.commands(n)
    for row, column in enumerate(columns_of(rig.model.command)):
        if column.name not in rig.model.steady:
            low, high = limits(column)
            aim = rig.random.choice([low, high], n)
            command[row] += rig.random.uniform(0.05, 0.25, n) * (aim - command[row])
    return command


def _differences(rig: Rig, state: Floats, reference: Floats) -> Floats:
    """Return the differences of each column relative to its size in the fleet; angles are wrapped."""
    difference = np.abs(state - reference)
    for row, column in enumerate(columns_of(rig.model.state)):
        if column.unit == "rad":
            difference[row] = np.abs(np.remainder(state[row] - reference[row] + np.pi, 2.0 * np.pi) - np.pi)
    scale = 1.0 + np.abs(reference).max(axis=1, keepdims=True)
    return np.asarray(difference / scale)


def _error(rig: Rig, state: Floats, reference: Floats) -> Floats:
    return np.asarray(np.sqrt((_differences(rig, state, reference) ** 2).sum(axis=0)))


def check_energy(rig: Rig) -> str:
    """Check that brake, failsafe and default commands add no mechanical energy.

    Placed at rest and at the typical speed, on the ground and 20 m above it, a vehicle may gain at most 1 % of the
    largest initial energy in the first 3 s.
    """
    speeds = np.repeat([0.0, rig.typical_speed], 4)
    fleets = [rig.place(8, z, speeds) for z in (0.0, 20.0)]
    scale = max(float(np.abs(rig.energy(state)).max()) for state in fleets)
    for which in ("brake", "failsafe", "default"):
        for placed in fleets:
            _demand_no_gain(rig, placed.copy(), which, ENERGY_MARGIN * scale + 1e-9)
    return f"no gain over the {scale:.3g} J it starts with"


def _demand_no_gain(rig: Rig, state: Floats, which: str, margin: float) -> None:
    command, start = rig.commands(state.shape[1], which), rig.energy(state)
    ticks = max(1, round(0.02 / rig.model.dt_max))
    for part in range(round(3.0 / (ticks * rig.model.dt_max))):
        rig.run(state, command, rig.model.dt_max, ticks)
        gain = rig.energy(state) - start
        if not (gain <= margin).all():
            k, time = int(np.argmax(gain)), (part + 1) * ticks * rig.model.dt_max
            before, after = start[k], start[k] + gain[k]
            rig.fail(f"with {which} commands the energy grows from {before:.4g} to {after:.4g} J in {time:.2f} s")


def check_place(rig: Rig) -> str:
    """Check that the pose is at the placement (a ground vehicle's on the ground), moving along its heading."""
    yaw = np.array([0.0, 1.0, -2.5, 3.0])
    x, y = np.array([0.0, -5.0, 100.0, 7.0]), np.array([0.0, 3.0, -40.0, 8.0])
    z, speed = 30.0, rig.typical_speed
    pose = rig.pose(rig.place_at(x, y, z, yaw, speed))
    sits = np.array_equal(pose.z, rig.pose(rig.place_at(x, y, z + 5.0, yaw, speed)).z)
    turned = vectorised(heading)(pose.qx, pose.qy, pose.qz, pose.qw)
    offsets = {"x": pose.x - x, "y": pose.y - y, "z": np.zeros(4) if sits else pose.z - z}
    offsets["yaw"] = np.remainder(turned - yaw + np.pi, 2.0 * np.pi) - np.pi
    offsets["vx"], offsets["vy"] = pose.vx - speed * np.cos(yaw), pose.vy - speed * np.sin(yaw)
    for name, error in offsets.items():
        if np.abs(error).max() > 1e-6 * (1.0 + rig.typical_speed):
            rig.fail(f"column {name!r} of the pose is off by {np.abs(error).max():.3g} just after placing")
    return "where it was put" + (", on the ground" if sits else "")


def check_guide(rig: Rig) -> str:
    """Check that a desired velocity, half the typical speed in three directions, is reached."""
    yaw = np.full(3, 0.3)
    state = rig.place_at(np.zeros(3), np.zeros(3), 50.0, yaw, 0.0)
    courses = yaw + np.array([0.0, 2.1, -2.1])
    speed = 0.5 * rig.typical_speed
    ahead = np.full(3, 10.0 * speed)
    desire = Desire(*np.array([speed * np.cos(courses), speed * np.sin(courses), np.zeros(3), ahead]))
    moved = _guided(rig, state, desire, 15.0, 5.0)
    fit = (moved[0] * np.cos(courses) + moved[1] * np.sin(courses)) / np.maximum(np.hypot(*moved), 1e-9)
    if (np.hypot(*moved) < 0.1 * speed * 5.0).any():
        rig.fail(f"guide() asked for {speed:g} m/s, but it moves only {np.hypot(*moved).min() / 5.0:.3g} m/s")
    if fit.min() < 0.9:
        rig.fail(f"guide() ends up {np.degrees(np.arccos(fit.min())):.0f} degrees off the desired direction")
    return f"within {np.degrees(np.arccos(min(1.0, fit.min()))):.1f} degrees of the desired direction"


def _guided(rig: Rig, state: Floats, desire: Desire, settle: float, last: float) -> Floats:
    """Return the displacement (2, n) over the last seconds of a guided run, m."""
    command, dt = rig.commands(state.shape[1]), rig.model.dt_max
    ticks = max(1, round(0.05 / dt))
    marks = {round(settle / (ticks * dt)): state, round((settle + last) / (ticks * dt)): state}
    for turn in range(max(marks)):
        if turn in marks:
            marks[turn] = state.copy()
        command = rig.guide(state, command, desire)
        rig.run(state, command, dt, ticks)
    before, after = (rig.pose(part) for part in marks.values())
    return np.array([after.x - before.x, after.y - before.y])


def check_contact(rig: Rig) -> str:
    """Check the body, and that a bump changes the pose by itself and adds no more than its own momentum."""
    model = rig.model
    if model.body is None or model.bumped is None:
        return "none: others cannot touch it"
    body = model.body(rig.parameters)
    for name, value in body._asdict().items():
        if not np.isfinite(value) or (name not in ("centre_x", "centre_z", "shape") and value < 0.0):
            rig.fail(f"{name!r} of body() is {value!r}")
    if min(body.mass, body.inertia_x, body.inertia_y, body.inertia_z, body.half_length) <= 0.0:
        rig.fail("mass, moments of inertia and half_length of body() must be greater than 0")
    if body.shape not in (FRAME, SPHERE, CAPSULE, CONE, BOX):
        rig.fail(f"the shape of body() is {body.shape!r}; it must be one of FRAME, SPHERE, CAPSULE, CONE, BOX")
    state, _ = drive(rig, AGENTS)
    names: tuple[str, ...] = model.state._fields  # type: ignore[attr-defined]
    position = np.array([state[names.index(name)] for name in ("x", "y", "z")])
    shown = rig.pose(state)
    rig.demand_same_bits(position, np.array([shown.x, shown.y, shown.z]), "between state and pose", ("x", "y", "z"))
    for row, name in enumerate(Bump._fields):
        bump = np.zeros((len(Bump._fields), AGENTS))
        bump[row] = 0.125
        after = rows(vectorised(model.bumped)(model.state(*state), rig.parameters, Bump(*bump)), AGENTS)
        rig.demand_finite(after, names, f"after a bump of {name}")
        python = model.bumped(model.state(*state[:, 0].tolist()), rig.parameters, Bump(*bump[:, 0].tolist()))
        rig.demand_same_bits(np.array(python)[:, None], after[:, :1], "between Python and NumPy", names)
        _demand_bump(rig, shown, rig.pose(after), bump, body.planar)
    return f"a body of {body.mass:g} kg that can be bumped"


def _demand_bump(rig: Rig, before: Pose, after: Pose, bump: Floats, planar: float) -> None:
    """Demand that the pose shifts by the bump, and that no more velocity is added than the bump has."""
    name = Bump._fields[int(np.argmax(bump[:, 0]))]
    shift = np.array([getattr(after, n) - getattr(before, n) for n in ("x", "y", "z")])
    if np.abs(shift - bump[:3] * np.array([[1.0], [1.0], [1.0 - planar]])).max() > 1e-6:
        rig.fail(f"a bump of {name} shifts the pose by something else")
    change = np.array([getattr(after, n) - getattr(before, n) for n in ("vx", "vy", "vz")])
    most, largest = np.sqrt((change * change).sum(axis=0)).max(), np.abs(bump[3:6]).max()
    if most > largest + 1e-6:
        rig.fail(f"a bump of {name} by 0.125 changes the velocity by {most:.3g} m/s")


CHECKS: dict[str, Callable[[Rig], str]] = {  # the checks in the order in which they run
    "declarations": check_declarations,
    "branch-free": check_branch_free,
    "standstill": check_standstill,
    "random commands": check_random_commands,
    "returns": check_returns,
    "python twin": check_python,
    "numpy twin": check_numpy,
    "float32 twin": check_float32,
    "report": check_report,
    "contact": check_contact,
    "independence": check_independence,
    "substeps": check_substeps,
    "convergence": check_convergence,
    "energy": check_energy,
    "place": check_place,
    "guide": check_guide,
    "threads": check_threads,  # last: it compiles another kernel
}


def check_vehicle_model(model: VehicleModel | str, *, seed: int = 0) -> ConformanceReport:
    """Check a model, given as an object or by name; raise ConformanceError at the first breach of the contract."""
    vehicle_model = find_model(model) if isinstance(model, str) else model
    return Rig(replace(vehicle_model, name=vehicle_model.name or vehicle_model.step.__module__), seed).run_all(CHECKS)
