"""A batch of worlds: their vehicles, actions, rewards and observations as arrays, stepped by compiled code.

Vehicle i is number i % size of world i // size; the first `players` of a world take actions and observe. A world's
episode is a function of its seed and of its actions only: the number of worlds, the other worlds and the number of
threads do not change a bit of it. In one world, vehicles can touch each other: a simulation with contact moves them.
"""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from paddock.compute.kernel import BLOCK, Kernel, KernelSpec, Rows, Shared, kernel
from paddock.compute.philox import normals, signed
from paddock.compute.routine import entry_point, routine
from paddock.compute.threads import SERIAL_BELOW
from paddock.compute.twin import vectorised
from paddock.contact.bodies import CONTACT, LastContact
from paddock.engine.build import SPREAD_PURPOSE, build_program, new_world
from paddock.engine.fleet_settings import VARYING
from paddock.engine.simulation import Simulation
from paddock.envs.task import LearningTask, TaskCourse, Verdict
from paddock.errors import InvalidValueError, unknown_name, whole_number
from paddock.scenario import Scenario, load_scenario
from paddock.scenario.contact import ContactSection
from paddock.scenario.problems import ScenarioError, dotted
from paddock.vehicles.model import Placement
from paddock.world.columns import Floats, Pose, column_index, columns_of, defaults_of
from paddock.world.ground import LEVEL
from paddock.world.layout import Ints

Bools = NDArray[np.bool_]
Float32s = NDArray[np.float32]
FLEET = "vehicles"
FAR = 1e6  # m: where vehicles are that have left their world
VEHICLE_KEYS = ("preset", "parameters", "spread", "subsystems")


class StepOutcome(NamedTuple):
    """What a step returns, per vehicle that takes actions."""

    observations: Float32s  # (k, values)
    rewards: Floats  # (k,)
    terminated: Bools  # (k,)


def scenario_of(task: LearningTask, model: str, worlds: int, rate: float, fields: Mapping[str, Any]) -> Scenario:
    """Return the scenario of the vehicles of a batch, as a simulation of them would have."""
    entry = {"name": FLEET, "count": worlds, "model": model, "spawn": {"grid": {"spacing": 10.0}}}
    if task.preset is not None:
        entry["preset"] = task.preset
    entry |= {key: fields[key] for key in VEHICLE_KEYS if fields.get(key) is not None}
    world = {} if fields.get("world") is None else {"world": dict(fields["world"])}
    try:
        scenario = load_scenario({"clock": {"rate": rate}, **world, "vehicles": [entry]})
        for name in ("wind_profile", "gusts"):
            if getattr(scenario.world, name) is not None:
                raise ScenarioError(f"world.{name}: the worlds of a learning task have the same wind at every height")
        return scenario
    except ScenarioError as error:  # as the user wrote it: arguments of the environment
        raise ScenarioError(line.removeprefix("vehicles[0].") for line in error.problems) from None


def _checked_rate(rate: Any) -> float:
    if isinstance(rate, bool) or not isinstance(rate, int | float | np.number) or not 0.0 < rate < np.inf:
        raise InvalidValueError(f"rate: ticks per second, a number above 0 Hz, not {rate!r}")
    return float(rate)


class Batch:
    """Worlds of one task, of `players` vehicles each and those that the task flies itself.

    `given`: model, preset, parameters, spread, subsystems and world as in a scenario; ticks and rate; `contact` of one
    world's vehicles; the rest are the task's settings and options.
    """

    def __init__(self, task: LearningTask, worlds: int, players: int = 1, **values: Any) -> None:
        worlds = whole_number("the number of worlds must be a whole number >= 1", worlds, low=1)
        self.task, self.worlds, self.players = task, worlds, players
        self.size = players + task.scripted  # vehicles of a world
        self.n = worlds * self.size
        model = values.pop("model", None) or task.model
        if model not in (task.model, *task.levels):
            raise unknown_name(f"model of {task.name}", str(model), (task.model, *task.levels))
        rate, ticks = values.pop("rate", None), values.pop("ticks", None)
        self.rate = _checked_rate(task.rate if rate is None else rate)
        rule = "ticks: a step takes a whole number of ticks, at least 1"
        self.ticks = whole_number(rule, task.ticks if ticks is None else ticks, low=1)
        entry = {key: values.pop(key, None) for key in (*VEHICLE_KEYS, "world")}
        self.scenario = scenario_of(task, model, self.n, self.rate, entry)
        self.world = new_world(self.scenario)
        self.program = build_program(self.world, self.scenario, self.scenario.vehicles[0], _argument)
        self.model = self.program.model
        contact = bool(values.pop("contact", False))
        self.touching = TouchingMotion(task, self) if contact else None
        settings = {name: values.pop(name) for name in task.settings if name in values}
        self.course: TaskCourse = task.prepare(settings, self)
        counts = {"size": self.size, "players": players}
        derived: dict[str, float] = {n: value for n, value in counts.items() if n in column_index(task.options)}
        derived |= self.course.options
        if conflicts := [name for name in values if name in derived]:
            raise InvalidValueError(
                f"option {conflicts[0]!r} of {task.name} follows from track and vehicle: leave it out"
            )
        self.options = task.option_values({**derived, **values})
        self._allocate()
        self._compile()
        self._calls = self._step_calls(direct=False)

    @property
    def step_time(self) -> float:
        """Simulated seconds of a step."""
        return self.ticks / self.rate

    def _allocate(self) -> None:
        task, n = self.task, self.n
        self.state = np.zeros((len(column_index(self.model.state)), n))
        self.command = np.repeat(defaults_of(self.model.command)[:, None], n, axis=1)
        self.pose = np.zeros((len(column_index(Pose)), n))
        self.memory = np.zeros((len(column_index(task.memory)), n))
        self.action = np.zeros((len(column_index(task.action)), n))
        self.verdict = np.zeros((len(column_index(Verdict)), n))
        self.observation = np.zeros((len(column_index(task.observation)), n))
        self.varying = np.zeros((len(self.program.parameters.varying), n))
        self.score_rows = {name: column_index(task.memory)[name] for name in task.scores}
        self.rows: Ints = np.arange(n)
        self.player_rows: Ints = self.rows[self.rows % self.size < self.players]
        self.action_shape = (len(self.player_rows), len(self.action))
        self.seeds: Ints = np.zeros(self.worlds, np.int64)
        self.episodes: Ints = np.full(self.worlds, -1)
        self.steps = 0  # of the batch
        self.begun: Ints = np.zeros(self.worlds, np.int64)  # the batch's steps before the episode
        self._alarms, self._progress = np.zeros(n), np.zeros((3, -(-n // BLOCK)), np.int64)
        self._taken, self._progress[1] = self._progress[0], n  # ticks taken; known alarms stop nothing
        columns = columns_of(task.observation)
        self.low, self.high = (np.array([getattr(c, key) for c in columns]) for key in ("low", "high"))
        self.observation_size = len(columns) + (0 if self.course.view is None else self.course.view.values)

    def _compile(self) -> None:
        program, model = self.program, self.model
        self._start, self._act, self._judge, self._observe = (kernel(spec) for spec in self.task.specs())
        self._step = kernel(model.step_spec(program.parameters.varying, parameters=program.parameters.values))
        self._pose = kernel(model.pose_spec(program.parameters.varying))
        arguments = Rows("at", Placement), Shared("parameters", model.parameters, program.parameters.varying), LEVEL
        placing = KernelSpec(f"{model.name}-place", model.place, (*arguments, Rows("state", model.state, "write")))
        self._place: Kernel = kernel(placing)
        self._store_actions = store_actions.direct()
        self._store_observations: Callable[..., None] = store_observations.direct()

    @property
    def observation_bounds(self) -> tuple[Float32s, Float32s]:
        """Smallest and largest values of an observation."""
        low, high, view = self.low, self.high, self.course.view
        if view is not None:
            low = np.append(low, np.full(view.values, view.low))
            high = np.append(high, np.full(view.values, view.high))
        return low.astype(np.float32), high.astype(np.float32)

    def seed(self, seeds: Any, worlds: Ints | None = None) -> None:
        """Give worlds their seeds; their next episodes are their first ones."""
        chosen = slice(None) if worlds is None else worlds
        self.seeds[chosen] = [signed(int(seed)) for seed in seeds]
        self.episodes[chosen] = -1

    def reset(self, worlds: Ints | None = None) -> None:
        """Begin the next episode of some worlds, or of all."""
        chosen = np.arange(self.worlds) if worlds is None else worlds
        self.episodes[chosen] += 1
        self.begun[chosen] = self.steps
        rows = (chosen[:, None] * self.size + np.arange(self.size)).ravel()
        k, at = len(rows), rows // self.size
        draws = self.seeds[at], rows % self.size, self.episodes[at]
        placement, memory = np.zeros((len(column_index(Placement)), k)), np.zeros((len(self.memory), k))
        self._start(k, 1, *draws, self.options, self.course.table, placement, memory)
        parameters: tuple[Floats, ...] = (self.program.parameters.values,)
        if self.program.parameters.varying:
            varied = self._varied(*draws)
            self.varying[:, rows] = varied
            parameters = *parameters, varied
        state, pose = np.zeros((len(self.state), k)), np.zeros((len(self.pose), k))
        self._place(k, 1, placement, *parameters, self.world.environment, state)
        self._pose(k, 1, state, *parameters, pose)
        self.state[:, rows], self.memory[:, rows], self.pose[:, rows] = state, memory, pose
        self.command[:, rows] = defaults_of(self.model.command)[:, None]
        self.action[:, rows] = 0.0
        self._alarms[rows] = 0.0
        if self.touching is not None:
            self.touching.place(self, rows)

    def _varied(self, seeds: Ints, agents: Ints, episodes: Ints) -> Floats:
        """Draw the parameters that differ between worlds: normal about their value, clipped to their range."""
        columns, spread = columns_of(self.model.parameters), self.scenario.vehicles[0].spread
        lines = []
        for name in self.program.parameters.varying:
            row = column_index(self.model.parameters)[name]
            draw = vectorised(normals)(seeds, agents, SPREAD_PURPOSE + row, episodes)[0]
            value = self.program.parameters.values[row] * (1.0 + spread[name] * draw)
            lines.append(np.clip(value, columns[row].low, columns[row].high))
        return np.ascontiguousarray(lines)

    @property
    def parameters(self) -> tuple[Floats, ...]:
        """The parameter arguments of the model's kernels."""
        values = self.program.parameters.values
        return (values, self.varying) if self.program.parameters.varying else (values,)

    def take_actions(self, actions: Any, alone: bool = False) -> None:
        """Check actions (players, columns) and keep them; an error names the first outside the action space.

        `alone`: the user knows one world, and gave one action (columns,) where it has one player.
        """
        values = np.asarray(actions)
        if values.shape != self.action_shape or values.dtype.kind not in "fiu":
            what = "an action is" if alone else "actions are"
            wanted = self.action_shape
            shape, right = (values.shape[1:], wanted[1:]) if alone else (values.shape, wanted)
            raise InvalidValueError(f"{what} numbers of shape {right}, not {values.dtype} of shape {shape}")
        plain = values.dtype.char in "fd" and values.flags.c_contiguous
        numbers = values if plain else np.ascontiguousarray(values, np.float64)
        wrong = self._store_actions(numbers, self.player_rows, self.action)
        if wrong >= 0:
            i, k = divmod(wrong, len(self.action))
            owner = [f"{self.task.agent_name}_{i % self.players}"] if self.players > 1 else []
            owner += [] if alone else [f"world {i // self.players}"]
            action, name = " of ".join(["action", *owner]), list(column_index(self.task.action))[k]
            raise InvalidValueError(f"{action}: {name} must lie in -1 to 1, not {values[i, k]:g}")

    def _step_calls(self, direct: bool) -> tuple[Callable[[], Any], ...]:
        """Return what a step calls: act, move, pose, judge; `direct` as of `ready`."""
        n, course, substeps = self.n, self.course.table, self.program.settings.substeps
        dt = 1.0 / (self.rate * substeps)  # the bits of a simulation's clock
        moved = self.state, self.command, *self.parameters, self.world.environment, dt, substeps
        judged = self.pose, self.memory, self.action, self._alarms, self.options, course, self.pose, self.rows
        return (
            ready(direct, self._act, n, 1, self.action, self.pose, self.memory, self.options, self.command),
            ready(direct, self._step, n, self.ticks, *moved, self._alarms, self._progress),
            ready(direct, self._pose, n, 1, self.state, *self.parameters, self.pose),
            ready(direct, self._judge, n, 1, *judged, self.verdict, self.observation),
        )

    def advance(self) -> None:
        """Advance all worlds by one step with the actions taken."""
        act, move, pose, judge = self._calls
        act()
        if self.touching is not None:
            self.touching.move(self)
        else:
            self._taken.fill(0)
            move()
        pose()
        judge()
        self.steps += 1
        if self.steps == 1:
            self._calls = self._step_calls(direct=True)
            table, final = self.observation, np.empty((1, self.observation_size), np.float32)
            store, *inputs = self._store_observations, self.rows, self.low, self.high, final
            self._store_observations = entry_point(store, table, *inputs)

    def step(self) -> StepOutcome:
        """Advance, and return what the vehicles with actions earn and observe."""
        self.advance()
        rows = self.player_rows
        return StepOutcome(self.observed(), self.verdict[0, rows], self.verdict[1, rows] > 0.5)

    @property
    def elapsed(self) -> Ints:
        """(worlds,) steps of the episodes."""
        return self.steps - self.begun

    def observed(self) -> Float32s:
        """Return the observations (players, values) after a step."""
        return self._flat(self.observation, self.player_rows)

    def observe(self, worlds: Ints | None = None) -> Float32s:
        """Return the observations (k, values) of the players of some worlds, or of all, as they are now."""
        rows = self.player_rows
        if worlds is not None:
            rows = (worlds[:, None] * self.size + np.arange(self.players)).ravel()
        at, memory, action = (np.ascontiguousarray(table[:, rows]) for table in (self.pose, self.memory, self.action))
        observation = np.zeros((len(self.observation), len(rows)))
        inputs = at, memory, action, self.options, self.course.table, self.pose, rows, observation
        self._observe(len(rows), 1, *inputs)
        return self._flat(observation, rows, np.arange(len(rows)))

    def _flat(self, table: Floats, rows: Ints, columns: Ints | None = None) -> Float32s:
        """Return the observations of `rows`, which are `columns` of the table: an array of their own."""
        flat = np.empty((len(rows), self.observation_size), np.float32)
        self._store_observations(table, rows if columns is None else columns, self.low, self.high, flat)
        if self.course.view is not None:
            self.course.view.sense(self, rows, flat)
        return flat

    def scores(self) -> dict[str, Floats]:
        """Return the columns of the memory that `info` reports, by name."""
        return {name: self.memory[row, self.player_rows] for name, row in self.score_rows.items()}

    def retire(self, rows: Ints) -> None:
        """Take vehicles out of their world, far away from all others."""
        for table, columns in ((self.state, self.model.state), (self.pose, Pose)):
            table[column_index(columns)["x"], rows] = FAR + 100.0 * rows
        if self.touching is not None:
            self.touching.place(self, rows)


def ready(direct: bool, kernel: Kernel, *arguments: Any) -> Callable[[], Any]:
    """Return the call of a kernel with its arguments: a launch, or for few vehicles the compiled function itself.

    A launch takes longer than the work on one vehicle; but the first call compiles, and only a launch explains errors.
    """
    if direct and arguments[0] < SERIAL_BELOW:
        return partial(entry_point(kernel.built(False)[0], *arguments), *arguments)
    return partial(kernel.watch, *arguments)


def _argument(*path: str | int) -> str:
    """Return the argument of the environment that has a value, for errors."""
    return dotted(path)


def _store_actions(values: Floats, rows: Ints, table: Floats) -> int:
    """Copy actions (k, columns) to rows of a table (columns, n); return the first not within -1 and 1, or -1."""
    columns = table.shape[0]
    for i in range(values.shape[0]):
        for k in range(columns):
            if not -1.0 <= values[i, k] <= 1.0:
                return int(i * columns + k)
    for i in range(values.shape[0]):
        for k in range(columns):
            table[k, rows[i]] = values[i, k]
    return -1


def _store_observations(table: Floats, rows: Ints, low: Floats, high: Floats, values: Float32s) -> None:
    """Copy rows of a table (columns, n) into observations (k, columns or more), limited; NaN becomes `low`."""
    for i in range(rows.shape[0]):
        for k in range(table.shape[0]):
            value = table[k, rows[i]]
            value = value if value > low[k] else low[k]
            values[i, k] = value if value < high[k] else high[k]


store_actions, store_observations = routine(_store_actions), routine(_store_observations)


class TouchingMotion:
    """A simulation of the vehicles of a batch; its state is the batch's before and after each step."""

    def __init__(self, task: LearningTask, batch: Batch) -> None:
        if not task.touches:
            raise InvalidValueError(f"vehicles of {task.name} do not touch each other: leave `contact` out")
        if batch.worlds > 1:
            raise InvalidValueError("contact needs one world: vehicles of others would touch each other")
        scenario = batch.scenario.model_copy(update={"contact": ContactSection()})
        self.simulation = Simulation(scenario)
        self.program = self.simulation.engine.programs[batch.program.fleet.name]

    def place(self, batch: Batch, rows: Ints) -> None:
        """Put vehicles where those of the batch are, untouched."""
        fleet, n = self.program.fleet, batch.n
        fleet.state[:, rows] = batch.state[:, rows]
        fleet.tables[CONTACT][:, rows] = defaults_of(LastContact)[:, None]
        if self.program.parameters.varying:
            fleet.tables[VARYING][:, :n] = batch.varying
        self.program.forget_poses()

    def move(self, batch: Batch) -> None:
        """Advance by the ticks of a step."""
        fleet, n = self.program.fleet, batch.n
        fleet.command[:, :n] = batch.command
        self.simulation.step(batch.ticks)
        batch.state[:] = np.asarray(fleet.state[:, :n])

    def touched(self, batch: Batch) -> Bools:
        """Return which vehicles have touched another one in this episode."""
        return np.asarray(self.program.fleet.tables[CONTACT][0, : batch.n] >= 0.0)
