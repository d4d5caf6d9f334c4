"""The compiled decision of a whole fleet equals the plain Python functions bit for bit, for every rule."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import paddock
from paddock.behaviour.rule import NO_TARGET, Urge, rule_names
from paddock.behaviour.rules import flock
from paddock.engine.radio.relaying import RadioSenses
from paddock.vehicles.model import model_names

PATH = [[5, 0, 4], [40, 3, 4], [20, 30, 8], [-10, 5, 4]]
BEHAVIOURS: dict[str, dict[str, Any]] = {
    "goto": {"x": 30, "y": -12, "z": 6},
    "hold": {},
    "waypoints": {"path": PATH},
    "patrol": {"path": PATH, "turn": "back"},
    "orbit": {"radius": 12, "target": "lead", "direction": "right"},
    "follow": {"target": "lead"},
    "pursue": {"target": "lead"},
    "formation": {"shape": "wedge", "target": "lead"},
    "flock": {},
    "pure_pursuit": {"path": PATH},
    "human": {"path": PATH},
    "manoeuvre": {"steer": 0.1, "start": 0.0},
    "preview": {"path": PATH, "lift": 10.0},
    "playback": {"path": [[0.0, 0.1, 0.5], [0.1, -0.1, 0.2, 0.3]]},
    "racing": {"path": PATH},
    "relay": {"between": ["base", "lead"], "height": 8},
    "seek_signal": {},
}
OVER_RADIO = ("relay", "seek_signal")


def fleet_of(model: str, rule: str) -> Any:
    lead = {"name": "lead", "model": "point", "pose": [9, 4, 7, 1.0], "speed": 2, "commands": {"vx": 1.0, "vy": 2.0}}
    spawn = {"random": {"low": [-8, -8, 3], "high": [8, 8, 9]}}
    it = {"name": "it", "count": 7, "model": model, "spawn": spawn, "speed": 2, "behaviour": {rule: BEHAVIOURS[rule]}}
    if model == "rover":
        it["spread"] = {"speed_max": 0.05}
    if rule not in OVER_RADIO:
        return paddock.load({"seed": 11, "vehicles": [lead, it]})
    radio = {"stations": [{"name": "base", "position": [0, 0, 5]}]}
    fleets = [entry | {"radio": "default"} for entry in (lead, it)]
    return paddock.load({"seed": 11, "radio": radio, "vehicles": fleets})


MODELS = [
    "point",
    "quad",
    "car.kinematic",
    "car.bicycle",
    "car.double_track",
    "car.full",
    "rover",
    "fixed_wing",
    "plane",
]
RULES = sorted(BEHAVIOURS)
DRIVERS = ("human", "manoeuvre", "playback", "preview")  # give the inputs of cars themselves
EVERY_PAIR = [(model, rule) for model in MODELS for rule in RULES if rule not in DRIVERS or model.startswith("car.")]
COMMON = {
    "point": ("follow", "pursue", "relay", "waypoints"),
    "quad": ("flock", "formation", "orbit", "seek_signal"),
    "car.kinematic": ("hold", "pure_pursuit"),
    "car.bicycle": DRIVERS,
    "car.double_track": ("racing",),
    "car.full": ("racing",),
    "rover": ("patrol",),
    "fixed_wing": ("goto",),
    "plane": ("goto",),
}
PAIRS = [(model, rule) for model, rules in COMMON.items() for rule in rules]
"""A few pairs with every rule and every model, most of them with kernels of other tests; `make soak` runs all."""


def test_every_model_and_every_rule_is_among_the_pairs() -> None:
    assert {rule for _, rule in PAIRS} == set(RULES) == set(rule_names())
    assert (
        {model for model, _ in PAIRS} == set(MODELS) == {name for name in model_names() if not name.startswith("prop.")}
    )
    assert len(RULES) == 17 and len(PAIRS) == 19


@pytest.mark.parametrize(
    ("model", "rule"), [pair if pair in PAIRS else pytest.param(*pair, marks=pytest.mark.soak) for pair in EVERY_PAIR]
)
def test_the_kernel_equals_plain_python(model: str, rule: str) -> None:
    sim = fleet_of(model, rule)
    sim.step(40)
    program = sim.engine.programs["it"]
    fleet, conduct = program.fleet, program.control.behaviour
    assert conduct is not None
    state, command, memory = (fleet.tables[k][:, : fleet.n].copy() for k in ("state", "command", "memory"))
    dt = sim.engine.world.clock.dt
    radio = sim.engine.radio
    heard = RadioSenses(radio, sim.engine.publisher.poses, sim.tick, True) if radio.active else None
    conduct.run(sim.engine.world, sim.engine.publisher.poses, program.parameters.arguments, dt, None, heard)
    act = conduct.rule.spec(program.model, program.parameters.varying).function
    targets = sim.engine.publisher.poses("lead" if conduct.target else "it").copy()
    for i in range(fleet.n):
        parameters = sim.vehicles.inspect(f"it[{i}]")["parameters"]
        new_command, _, new_memory = act(
            program.model.state(*state[:, i].tolist()),
            program.model.command(*command[:, i].tolist()),
            program.model.parameters(**parameters),
            conduct.rule.memory(*memory[:, i].tolist()),
            conduct.rule.options(*conduct.options.tolist()),
            conduct.rule.senses(*conduct.urges[:, i].tolist()),
            Urge(*conduct.away[:, i].tolist()),
            0,
            targets,
            conduct.path,
            dt,
        )
        assert np.array_equal(fleet.command[:, i], np.array(new_command))
        assert np.array_equal(fleet.tables["memory"][:, i], np.array(new_memory))


def test_without_a_target_the_desire_is_zero() -> None:
    sim = fleet_of("point", "pursue")
    program = sim.engine.programs["it"]
    conduct = program.control.behaviour
    act = conduct.rule.spec(program.model, program.parameters.varying).function
    state = program.model.state(*program.fleet.state[:, 0].tolist())
    command, _, _ = act(
        state,
        program.model.command(),
        program.model.parameters(),
        conduct.rule.memory(),
        conduct.rule.options(),
        Urge(),
        Urge(),
        NO_TARGET,
        np.zeros((13, 1)),
        conduct.path,
        0.1,
    )
    assert command == (0.0, 0.0, 0.0)


def test_urges_of_a_flock_equal_plain_python() -> None:
    sim = fleet_of("point", "flock")
    sim.step(40)
    program = sim.engine.programs["it"]
    conduct, block = program.control.behaviour, sim.engine.publisher.poses("it")[:, :7].copy()
    conduct.run(sim.engine.world, sim.engine.publisher.poses, program.parameters.arguments, 0.1)
    options = flock.Options(*conduct.options.tolist())
    agents = [flock.Neighbour(*block[[0, 1, 2, 7, 8, 9], i].tolist()) for i in range(7)]
    for i, me in enumerate(agents):
        gathered = flock.Gathered()
        for other in agents:
            d = np.array(other[:3]) - np.array(me[:3])
            if other is not me and d @ d < options.radius**2:
                gathered = flock.visit(gathered, me, other, *d.tolist(), float(d @ d), options)
        assert gathered[0] > 0  # neighbours
        # the sums are taken cell by cell there and in one go here: equal but for rounding
        assert conduct.urges[:, i] == pytest.approx(flock.finish(gathered, me, options), rel=1e-9, abs=1e-9)
