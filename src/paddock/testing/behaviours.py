"""Conformance checks of behaviours: equal bits as Python and compiled, finite decisions, repeatable runs."""

import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import count
from types import ModuleType
from typing import Any

import numpy as np

from paddock.behaviour.rule import Rule, find_rule
from paddock.compute.contract import check_functions
from paddock.compute.kernel import Rows, fields
from paddock.engine.behaviours import set_up_rule, write_slots
from paddock.engine.simulation import Simulation
from paddock.scenario import load_scenario
from paddock.testing.conformance import CheckedSubject, ConformanceReport, check_columns, limits
from paddock.vehicles.model import Desire, find_model
from paddock.world.columns import Floats, Pose, columns_of, defaults_of

DECISIONS, VEHICLES = 50, 16
LEADER, FOLLOWERS, STATION = "leader", "followers", "station"
CHECKED = count()  # numbers of the modules made for rules


class RuleRig(CheckedSubject):
    """One behaviour under test, with valid options, and a path and a target where it takes them."""

    def __init__(self, rule: Rule, options: Mapping[str, Any], model: str, seed: int) -> None:
        super().__init__(f"behaviour {rule.name!r}", seed)
        self.rule, self.model, self.spec = rule, model, rule.specs()[0]
        required = [column for column in columns_of(rule.options) if column.default is None]
        values: dict[str, Any] = {column.name: float(np.clip(10.0, column.low, column.high)) for column in required}
        if rule.prepare_path is not None and not rule.optional_path:
            values["path"] = {"circle": {"radius": 30.0}}
        if rule.needs_target or "has_target" in fields(rule.options):
            values["target"] = LEADER
        if rule.relays:
            values["between"] = [LEADER, STATION]
        self.options = {**values, **options}
        self.setup = set_up_rule(rule, self.options, lambda option: f"option {option!r}")
        self.module = f"paddock_checked_{next(CHECKED)}"  # a scenario names a behaviour by its module

    def scene(self, n: int, motion: float = 4.0) -> dict[str, Floats]:
        """Return vehicles with random poses, urges and targets, and an empty memory; without motion all are there."""
        memory = np.repeat(defaults_of(self.rule.memory)[:, None], n, axis=1)
        write_slots(self.setup, memory)
        me, target = self.random.normal(0.0, motion, (2, len(Pose._fields), n))
        half = self.random.uniform(-1.5, 1.5, n)
        for pose in (me, target):
            pose[:3] *= 10.0
            pose[3:7] = np.array([0.0 * half, 0.0 * half, np.sin(half), np.cos(half)])
        urge = self.random.normal(0.0, 0.25 * motion, (len(fields(self.rule.senses)), n))
        desire = np.zeros((len(Desire._fields), n))
        return {"desire": desire, "me": me, "memory": memory, "urge": urge, "target": target}

    def shared(self, options: Floats | None = None) -> dict[str, Any]:
        """Return what is the same for all vehicles."""
        values = self.setup.options if options is None else options
        apart = {"dx": 1.0, "dy": -2.0, "dz": 2.0, "d2": 9.0}
        return {"options": self.rule.options(*values.tolist()), "path": self.setup.path, "dt": 0.05, **apart}


def check_declarations(rig: RuleRig) -> str:
    """Check columns, names, what the functions return, and that they call none that differs by machine."""
    rule = rig.rule
    if not rule.summary.strip():
        rig.fail("the summary is empty")
    check_columns(rig, rule.options, rule.memory)
    if missing := [column.name for column in columns_of(rule.memory) if column.default is None]:
        rig.fail(f"column {rule.memory.__name__}.{missing[0]} has no default")
    if clashing := {"path", "target"} & set(fields(rule.options)):
        rig.fail(f"the option {min(clashing)!r} has a meaning of its own: rename it")
    if rule.neighbours is not None and "radius" not in fields(rule.options):
        rig.fail("a behaviour with neighbours needs an option 'radius' (m)")
    check_functions(rule)
    return f"{len(fields(rule.options))} options, {len(fields(rule.memory))} memory columns"


def check_twins(rig: RuleRig) -> str:
    """Compare plain Python with compiled code bit for bit, over decisions in a row."""
    scene = rig.scene(VEHICLES)
    for _ in range(DECISIONS):
        rig.demand_twin(rig.spec, scene, rig.shared())
        scene |= {"me": rig.scene(VEHICLES)["me"]}
    for spec in rig.rule.specs()[1:]:
        kinds = {a.name: len(fields(a.fields)) for a in spec.arguments if isinstance(a, Rows)}
        rig.demand_twin(
            spec, {name: rig.random.normal(0.0, 5.0, (k, VEHICLES)) for name, k in kinds.items()}, rig.shared()
        )
    return f"{DECISIONS} decisions of {VEHICLES} vehicles equal the compiled code bit for bit"


def check_options(rig: RuleRig) -> str:
    """Check for finite decisions with every option at its limits, in motion and at rest at the target."""
    for row, column in enumerate(columns_of(rig.rule.options)):
        for value in (column.default, *limits(column)):
            options = rig.setup.options.copy()
            options[row] = options[row] if value is None else value
            for motion in (4.0, 0.0):
                scene = rig.scene(VEHICLES, motion)
                for _ in range(3):
                    rig.launch(rig.spec, scene, rig.shared(options))
                when = f"with {column.name} = {options[row]:g}{'' if motion else ', at rest at its target'}"
                rig.demand_finite(scene["desire"], Desire._fields, when)
                rig.demand_finite(scene["memory"], fields(rig.rule.memory), when)
    return "finite with every option at its limits"


def check_threads(rig: RuleRig) -> str:
    """Compare one thread with all threads bit for bit."""
    return rig.demand_same_threads(rig.spec, rig.scene(2000), rig.shared())


def check_run(rig: RuleRig) -> str:
    """Check that runs with one seed end in the same finite state, also from a saved state."""
    module = sys.modules[rig.module] = ModuleType(rig.module)
    module.RULE = rig.rule  # type: ignore[attr-defined]
    once, again = _simulated(rig), _simulated(rig)
    half = once.engine.world.clock.ticks(5.0)
    once.step(half)
    saved = once.save()
    once.step(half)
    again.step(2 * half)
    fleet = once.snapshot().fleet(FOLLOWERS)
    rig.demand_finite(np.array([fleet[name] for name in fleet.columns]), fleet.columns, "in a run of 10 s")
    if once.state_hash() != again.state_hash():
        rig.fail("two runs with one seed differ: it depends on something beside its arguments")
    again.restore(saved)
    again.step(half)
    if once.state_hash() != again.state_hash():
        rig.fail("a run from a saved state differs: it remembers something beside its memory")
    return f"10 s with model {rig.model!r} end in the same state"


def _simulated(rig: RuleRig) -> Simulation:
    """Return a run of vehicles that follow the behaviour, and of a leader."""
    grid = {"grid": {"spacing": 6.0, "z": 20.0}}
    leader = {"name": LEADER, "model": rig.model, "pose": [0, 30, 20, 0], "speed": 1.0}
    followers = {"name": FOLLOWERS, "model": rig.model, "count": 8, "spawn": grid, "speed": 1.0}
    followers["behaviour"] = {rig.module: rig.options}
    clock = {"rate": max(100, int(np.ceil(1.0 / find_model(rig.model).dt_max)))}
    tree: dict[str, Any] = {"seed": rig.seed, "clock": clock, "vehicles": [leader, followers]}
    if rig.rule.relays or rig.rule.reads_radio:
        tree["radio"] = {"stations": [{"name": STATION, "position": [0, 900, 5]}]}
        leader["radio"] = followers["radio"] = "default"
    return Simulation(load_scenario(tree))


CHECKS: dict[str, Callable[[RuleRig], str]] = {  # the checks in the order in which they run
    "declarations": check_declarations,
    "python twin": check_twins,
    "options": check_options,
    "threads": check_threads,
    "run": check_run,
}


def check_behaviour(
    behaviour: Rule | str, *, options: Mapping[str, Any] | None = None, model: str = "point", seed: int = 0
) -> ConformanceReport:
    """Check a behaviour, given as a Rule or by name; raise ConformanceError at the first breach of the contract.

    `options` replace the defaults, `path` and `target` included; `model` is that of the vehicles in a run.
    """
    rule = find_rule(behaviour) if isinstance(behaviour, str) else behaviour
    rig = RuleRig(replace(rule, name=rule.name or rule.desire.__module__), options or {}, model, seed)
    return rig.run_all(CHECKS)
