"""Results of conformance checks, the rig that drives a vehicle model, and the checks of its declarations and source."""

import builtins
import dis
import math
import types
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NoReturn, TypeVar

import numpy as np

from paddock.compute.contract import check_functions
from paddock.compute.kernel import KernelSpec, Rows, fields, kernel
from paddock.compute.math import select
from paddock.compute.threads import available_threads, limit_threads, thread_count
from paddock.compute.twin import reached, vectorised
from paddock.errors import PaddockError, code_error, suggestion
from paddock.vehicles.model import Desire, Placement, VehicleModel, find_model, model_names
from paddock.world.columns import Column, Environment, Floats, Pose, column_index, columns_of, defaults_of

T = TypeVar("T")


class ConformanceError(PaddockError):
    """A breach of the contract: the check, the model, the column, and how to fix it."""

    def __init__(self, check: str, subject: str, problem: str) -> None:
        """`subject` is the thing checked, e.g. `model 'rover'`."""
        super().__init__(f"{subject}: {check}: {problem}")
        self.check = check
        self.subject = subject
        self.problem = problem


@dataclass
class ConformanceReport:
    """The passed checks in order, each with its measurement."""

    subject: str
    details: dict[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        width = max(map(len, self.details), default=0)
        lines = [f"{check:<{width}}  {detail}" for check, detail in self.details.items()]
        return "\n".join([f"{self.subject}: {len(lines)} checks passed", *(f"  {line}" for line in lines)])


def run_checks(subject: str, checks: Mapping[str, T], run: Callable[[str, T], str]) -> ConformanceReport:
    """Run the checks in order; an error of the code under test becomes a ConformanceError."""
    report = ConformanceReport(subject)
    for name, check in checks.items():
        try:
            report.details[name] = run(name, check)
        except ConformanceError:
            raise
        except Exception as error:
            problem = str(error) if isinstance(error, PaddockError) else str(code_error(error))
            raise ConformanceError(name, subject, problem) from error
    return report


UNBOUNDED = 10.0  # range of random commands for columns without a limit


class CheckedSubject:
    """A model or behaviour under test, with the name of the present check."""

    def __init__(self, subject: str, seed: int) -> None:
        """`subject` begins error messages, `seed` determines all random numbers."""
        self.subject, self.seed, self.check = subject, seed, ""
        self.random = np.random.default_rng(seed)

    def run_all(self, checks: Mapping[str, Callable[[Any], str]]) -> ConformanceReport:
        """Run the checks in order, each with random numbers that are independent of earlier ones."""

        def run(name: str, check: Callable[[Any], str]) -> str:
            self.check = name
            self.random = np.random.default_rng([self.seed, *name.encode()])
            with np.errstate(all="ignore"):
                return check(self)

        return run_checks(self.subject, checks, run)

    def fail(self, problem: str) -> NoReturn:
        """Raise the error that names the check, the subject and the problem."""
        raise ConformanceError(self.check, self.subject, problem)

    def demand_finite(self, values: Floats, names: tuple[str, ...], when: str) -> None:
        """Require that every row is finite."""
        for name, row in zip(names, values, strict=True):
            if not np.isfinite(row).all():
                self.fail(f"column {name!r} becomes {row[~np.isfinite(row)][0]} {when}")

    def demand_same_bits(self, a: Floats, b: Floats, what: str, names: tuple[str, ...] = ()) -> None:
        """Require that two arrays (columns, n) are equal bit for bit."""
        for name, column, other in zip(names, a, b, strict=True):
            unequal = np.flatnonzero(column.view(np.uint64) != other.view(np.uint64))
            if unequal.size:
                k = unequal[0]
                self.fail(f"column {name!r} differs {what}: {column[k]!r} and {other[k]!r}")

    def launch(self, spec: KernelSpec, rows: Mapping[str, Floats], shared: Mapping[str, Any], ticks: int = 1) -> None:
        """Run a kernel on rows (columns, n) and on what all vehicles share, by the names of its arguments."""
        values = {**rows, **{name: np.array(v) if hasattr(v, "_fields") else v for name, v in shared.items()}}
        kernel(spec)(next(iter(rows.values())).shape[1], ticks, *(values[a.name] for a in spec.arguments))

    def demand_twin(self, spec: KernelSpec, rows: Mapping[str, Floats], shared: Mapping[str, Any]) -> None:
        """Launch a kernel; require finite numbers, and that the function in Python returns them bit for bit."""
        kinds = {a.name: a for a in spec.arguments if isinstance(a, Rows)}
        written = {name: np.zeros_like(rows[name]) for name, a in kinds.items() if a.access != "read"}
        for k in range(next(iter(rows.values())).shape[1]):
            own = {name: a.fields(*rows[name][:, k].tolist()) for name, a in kinds.items() if a.access != "write"}
            arguments = [{**shared, **own}[a.name] for a in spec.arguments if a.name not in kinds or a.name in own]
            try:
                result = spec.function(*arguments)
            except (ArithmeticError, ValueError) as error:
                self.fail(f"{spec.function.__name__}() raises {error!r} in plain Python, at {arguments[0]}")
            for name, part in zip(written, (result,) if len(written) == 1 else result, strict=True):
                demand_tuple(self, spec.function.__name__, part, kinds[name].fields)
                written[name][:, k] = part
        self.launch(spec, rows, shared)
        for name, values in written.items():
            names = fields(kinds[name].fields)
            self.demand_finite(rows[name], names, f"in {spec.function.__name__}()")
            self.demand_same_bits(values, rows[name], "between Python and compiled code", names)

    def demand_same_threads(
        self, spec: KernelSpec, rows: Mapping[str, Floats], shared: Mapping[str, Any], ticks: int = 1
    ) -> str:
        """Require the same bits of one thread and of all threads."""
        before, results = thread_count(), []
        for count in (1, None):
            limit_threads(count)
            results.append({name: values.copy() for name, values in rows.items()})
            try:
                self.launch(spec, results[-1], shared, ticks)
            finally:
                limit_threads(None if before == available_threads() else before)
        for a in spec.arguments:
            if isinstance(a, Rows):
                single, other = (result[a.name] for result in results)
                self.demand_same_bits(single, other, f"between 1 and {available_threads()} threads", fields(a.fields))
        return f"1 and {available_threads()} threads agree on {len(next(iter(rows.values()))[0])} vehicles"


class Rig(CheckedSubject):
    """One model under test. Fleets are arrays of columns x vehicles, as in a world."""

    environment: Any = Environment()  # flat ground and still air

    def __init__(self, model: VehicleModel, seed: int) -> None:
        """`seed` determines all random places and commands."""
        super().__init__(f"model {model.name!r}", seed)
        self.model = model

    @property
    def parameters(self) -> Any:
        """The model's default parameters."""
        return self.model.parameters(*map(float, defaults_of(self.model.parameters)))

    @property
    def shared(self) -> dict[str, Any]:
        """What all vehicles share."""
        return {"parameters": self.parameters, "environment": self.environment, "dt": self.model.dt_max}

    @property
    def typical_speed(self) -> float:
        """Typical speed in m/s: the parameter `speed`, else half of `speed_max`, else 5."""
        values = self.parameters._asdict()
        return float(values.get("speed", 0.5 * values.get("speed_max", 10.0)))

    def place(self, n: int, z: float = 20.0, speed: float | Floats = 0.0) -> Floats:
        """Return the states of `n` vehicles at random places and headings."""
        x, y = self.random.uniform(-100.0, 100.0, (2, n))
        yaw = self.random.uniform(-3.0, 3.0, n)
        return self.place_at(x, y, z, yaw, speed)

    def place_at(self, x: Floats, y: Floats, z: float | Floats, yaw: Floats, speed: float | Floats) -> Floats:
        """Return the states of vehicles at these places, speeds and headings."""
        at = Placement(*np.array(np.broadcast_arrays(x, y, z, yaw, speed), dtype=float))
        return rows(vectorised(self.model.place)(at, self.parameters, self.environment), len(x))

    def run(
        self, state: Floats, command: Floats, dt: float, ticks: int = 1, environment: Environment | None = None
    ) -> None:
        """Advance a fleet in place with the compiled kernel."""
        arrays = np.array(self.parameters), np.array(environment or self.environment)
        kernel(self.model.step_spec())(state.shape[1], ticks, state, command, *arrays, dt)

    def pose(self, state: Floats) -> Pose:
        """Return the poses of a fleet."""
        return Pose(*rows(vectorised(self.model.pose)(self.model.state(*state), self.parameters), state.shape[1]))

    def energy(self, state: Floats) -> Floats:
        """Return the mechanical energies of a fleet."""
        energy = vectorised(self.model.energy)(self.model.state(*state), self.parameters, self.environment)
        return np.broadcast_to(energy, state.shape[1])

    def guide(self, state: Floats, command: Floats, desire: Desire) -> Floats:
        """Return the commands of the model for a desire."""
        arguments = self.model.state(*state), self.model.command(*command), self.parameters, desire
        return rows(vectorised(self.model.guide)(*arguments), state.shape[1])

    def commands(self, n: int, which: str = "default") -> Floats:
        """Return default commands, or the `brake` or `failsafe` ones of columns that have them."""
        columns = columns_of(self.model.command)
        chosen = [c.default if (value := getattr(c, which)) is None else value for c in columns]
        return np.repeat(np.array(chosen, dtype=float)[:, None], n, axis=1)

    def random_commands(self, before: Floats) -> Floats:
        """Return uniform values in each column's range; steady columns stay unchanged."""
        after = before.copy()
        for row, column in enumerate(columns_of(self.model.command)):
            if column.name not in self.model.steady:
                after[row] = self.random.uniform(*limits(column), before.shape[1])
        return after

    def random_modes(self, n: int) -> Floats:
        """Return default commands with random whole-numbered values in the steady columns."""
        command = self.commands(n)
        for row, column in enumerate(columns_of(self.model.command)):
            if column.name in self.model.steady and np.isfinite([column.low, column.high]).all():
                command[row] = self.random.integers(int(np.ceil(column.low)), int(column.high) + 1, n)
        return command

    def demand_same_bits(self, a: Floats, b: Floats, what: str, names: tuple[str, ...] = ()) -> None:
        """Require that two fleets are equal bit for bit; `names` are the columns, by default the state's."""
        super().demand_same_bits(a, b, what, names or self.model.state._fields)  # type: ignore[attr-defined]


def limits(column: Column) -> tuple[float, float]:
    """Return the range for random commands."""
    low = column.low if np.isfinite(column.low) else min(-UNBOUNDED, column.high - UNBOUNDED)
    high = column.high if np.isfinite(column.high) else max(UNBOUNDED, low + UNBOUNDED)
    return low, high


def rows(values: Any, n: int) -> Floats:
    """Return a named tuple of arrays as one array of columns x vehicles."""
    return np.array([np.broadcast_to(np.asarray(value, dtype=float), n) for value in values])


def check_declarations(rig: Rig) -> str:
    """Check units and meanings of columns, defaults inside their ranges, and names."""
    model = rig.model
    kinds = sorted({find_model(name).kind for name in model_names()})
    if model.kind not in kinds:
        rig.fail(f"unknown kind {model.kind!r}; {suggestion(model.kind, kinds)}")
    if not model.summary.strip():
        rig.fail("the summary is empty")
    if not (model.order >= 1 and 0.0 < model.dt_max <= 1.0):
        rig.fail(f"order {model.order} must be at least 1, dt_max {model.dt_max:g} s must lie in (0, 1]")
    if model.crash_sink < math.inf and not {"z", "vx", "vy", "vz"} <= set(column_index(model.state)):
        rig.fail("crash_sink needs the state columns z, vx, vy and vz")
    reports = () if model.report_type is None else (model.report_type,)
    check_columns(rig, model.state, model.command, model.parameters, *reports)
    for tuple_class in (model.command, model.parameters):
        for column in columns_of(tuple_class):
            if column.default is None:
                rig.fail(f"column {tuple_class.__name__}.{column.name} has no default")
    for what, names in (("telemetry", model.telemetry), ("steady", model.steady)):
        if repeated := [name for name in names if names.count(name) > 1]:
            rig.fail(f"{what} names the column {repeated[0]!r} twice")
    check_functions(model)
    counts = [len(columns_of(c)) for c in (model.state, model.command, model.parameters)]
    return "{} state, {} command, {} parameter columns".format(*counts)


def check_columns(subject: CheckedSubject, *tuple_classes: type) -> None:
    """Require meanings, ranges, and values inside them."""
    for tuple_class in tuple_classes:
        for column in columns_of(tuple_class):
            field = f"{tuple_class.__name__}.{column.name}"
            if not column.meaning.strip():
                subject.fail(f"column {field} has no meaning")
            if not column.low <= column.high:
                subject.fail(f"column {field} has the empty range {column.low:g} to {column.high:g}")
            for what in ("default", "failsafe", "brake"):
                value = getattr(column, what)
                if value is not None and not column.low <= value <= column.high:
                    subject.fail(f"column {field}: {what} {value:g} lies outside {column.low:g} to {column.high:g}")


def check_returns(rig: Rig) -> str:
    """Check that every function, called as plain Python, returns its tuple of floats."""
    model, parameters, environment = rig.model, rig.parameters, rig.environment
    command = model.command(*map(float, rig.commands(1)[:, 0]))
    state = model.place(Placement(1.0, 2.0, 3.0, 0.5, 0.0), parameters, environment)
    demand_tuple(rig, "place", state, model.state)
    demand_tuple(rig, "step", model.step(state, command, parameters, environment, model.dt_max), model.state)
    demand_tuple(rig, "pose", model.pose(state, parameters), Pose)
    guided = model.guide(state, command, parameters, Desire(1.0, 0.0, 0.0, 10.0))
    demand_tuple(rig, "guide", guided, model.command)
    if not isinstance(model.energy(state, parameters, environment), float):
        rig.fail("energy() does not return a float")
    return "place, step, pose, guide and energy return the declared types"


def demand_tuple(rig: CheckedSubject, function: str, value: Any, expected: Any) -> None:
    """Require that a function returned a tuple of this class, of floats."""
    if not isinstance(value, expected):
        rig.fail(f"{function}() returns {type(value).__name__}, not the model's {expected.__name__}")
    for name, number in zip(expected._fields, value, strict=True):
        if not isinstance(number, float):
            rig.fail(f"{function}() returns {number!r} in column {name!r}: write it as a float")


def check_branch_free(rig: Rig) -> str:
    """Refuse `if`, ternary, loop, `and`, `or`, `not`, and built-in functions, which branch."""
    functions = {reachable for spec in rig.model.specs() for reachable in reached(spec.function)} - {select}
    for function in sorted(functions, key=lambda f: (f.__module__, f.__qualname__)):
        line = function.__code__.co_firstlineno
        for instruction in dis.get_instructions(function):
            line = instruction.positions.lineno if instruction.positions and instruction.positions.lineno else line
            if problem := _branch(function, instruction):
                rig.fail(f"{function.__module__}.{function.__qualname__}, line {line}: {problem}")
    return f"{len(functions)} functions"


def _branch(function: types.FunctionType, instruction: dis.Instruction) -> str:
    """Return why an instruction must not be used; else ""."""
    if ("JUMP" in instruction.opname and "IF" in instruction.opname) or instruction.opname in (
        "FOR_ITER",
        "UNARY_NOT",
        "CONTAINS_OP",
    ):
        return "a branch (if, ternary, loop, and, or, not); choose with select(), combine with & and |"
    names = {**vars(builtins), **function.__globals__} if instruction.opname == "LOAD_GLOBAL" else {}
    value = names.get(instruction.argval)
    own = isinstance(value, types.FunctionType) or value is math.sqrt or hasattr(value, "_fields")
    if own or not callable(value) or value is range:  # a loop is refused where it begins
        return ""
    return f"calls {instruction.argval!r}; use only functions of paddock.compute.math"
