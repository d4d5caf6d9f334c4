"""The contract of `command`: values, timing and errors."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import paddock
from paddock.compute.threads import SERIAL_BELOW
from paddock.engine.simulation import Simulation
from paddock.errors import InvalidValueError, PaddockError, UnknownNameError
from paddock.world.archive import unpack
from paddock.world.columns import columns_of

Load = Callable[..., Simulation]
CAR = {"name": "red", "model": "car.kinematic", "speed": 5}
QUAD = {"name": "bee", "model": "quad", "pose": [0, 0, 10, 0]}
SCOUTS = {"name": "scouts", "count": 4, "model": "point", "spawn": {"grid": {"spacing": 3, "z": 5}}}
CALLS = 70  # limit of Python calls for a command and a step of one car


def command_of(sim: Simulation, target: str | int) -> dict[str, float]:
    return sim.vehicles.inspect(target)["command"]


def test_inputs_that_are_not_named_stay(load: Load) -> None:
    sim = load({**CAR, "commands": {"steer": 0.2, "gear": -1}})
    sim.command("red", throttle=0.4)
    sim.step()
    sim.command("red", brake=0.1)
    sim.step()
    assert command_of(sim, "red") == {"steer": 0.2, "throttle": 0.4, "brake": 0.1, "gear": -1.0, "handbrake": 0.0}


def test_a_command_takes_effect_with_the_next_tick_or_at_its_tick(load: Load) -> None:
    sim = load(SCOUTS)
    sim.command("scouts", vx=1.0)
    sim.command("scouts", vy=2.0, at_tick=np.int64(3))
    sim.command("scouts", vz=3.0, at_tick=0)
    assert command_of(sim, "scouts[0]") == {"vx": 0.0, "vy": 0.0, "vz": 0.0}
    seen = []
    for _ in range(5):
        sim.step()
        seen.append(command_of(sim, "scouts[0]")["vy"])
    assert seen == [0.0, 0.0, 0.0, 2.0, 2.0]
    assert command_of(sim, "scouts[3]") == {"vx": 1.0, "vy": 2.0, "vz": 3.0}
    assert [(posted.tick, posted.action.inputs) for posted in sim.control.log.entries] == [
        (0, {"vx": 1.0}),
        (0, {"vz": 3.0}),
        (3, {"vy": 2.0}),
    ]


def test_a_fleet_takes_arrays_and_a_member_is_found_by_name_or_id(load: Load) -> None:
    sim = load(SCOUTS)
    wanted = np.array([1.0, 2.0, 3.0, 4.0])
    sim.command("scouts", vx=wanted, vy=[0, 1, 0, 1], vz=7)
    wanted[:] = 99.0  # the caller's array is its own
    sim.command("scouts[2]", vx=-5.0)
    sim.command(4, vy=9.0)
    sim.command("scouts[1]", vz=(2.5,))
    sim.step()
    assert sim.engine.world.fleets["scouts"].command[:, :4].tolist() == [[1, 2, -5, 4], [0, 1, 0, 9], [7, 2.5, 7, 7]]


def test_values_beyond_the_range_saturate(load: Load) -> None:
    sim = load(CAR, {**SCOUTS, "model": "rover"}, QUAD)
    sim.command("red", throttle=7.0, steer=-9, brake=-1)
    sim.command("bee", roll=[2.0])
    sim.step()
    command = command_of(sim, "red")
    assert (command["throttle"], command["steer"], command["brake"]) == (1.0, -1.5, 0.0)
    assert command_of(sim, "bee")["roll"] == 1.0


def test_a_choice_is_given_by_its_name(load: Load) -> None:
    sim = load(QUAD)
    for name, number in (("angle", 1.0), ("acro", 0.0), ("goto", 6.0)):
        sim.command("bee", mode=name)
        sim.step()
        assert command_of(sim, "bee")["mode"] == number


@pytest.mark.parametrize(
    ("target", "inputs", "message"),
    [
        ("red", {"stear": 0.1}, "unknown input 'stear' of 'red'; did you mean 'steer'?"),
        ("red", {"xyz": 0.1}, "unknown input 'xyz' of 'red'; valid: brake, gear, handbrake, steer, throttle"),
        ("rad", {"steer": 0.1}, "unknown vehicle 'rad'; did you mean 'red'?"),
        ("scouts[9]", {"vx": 0.1}, "fleet 'scouts' has no member 9"),
        ("scouts[x]", {"vx": 0.1}, "unknown vehicle 'scouts[x]'; did you mean 'scouts'?"),
        ("scouts[\u00b2]", {"vx": 0.1}, "unknown vehicle 'scouts[\u00b2]'; did you mean 'scouts'?"),
        (77, {"vx": 0.1}, "no vehicle has the id 77"),
        ("bee", {"mode": "angel"}, "bee: unknown input mode 'angel'; did you mean 'angle'?"),
    ],
)
def test_unknown_names(load: Load, target: Any, inputs: dict[str, Any], message: str) -> None:
    sim = load(CAR, SCOUTS, QUAD)
    with pytest.raises(UnknownNameError) as caught:
        sim.command(target, **inputs)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("target", "inputs", "message"),
    [
        ("red", {"steer": float("nan")}, "red: input 'steer' must be a finite number, not nan"),
        ("red", {"steer": float("inf")}, "red: input 'steer' must be a finite number, not inf"),
        ("red", {"steer": None}, "red: input 'steer' must be a finite number, not None"),
        ("red", {"steer": "left"}, "red: input 'steer' must be a finite number, not 'left'"),
        ("red", {"steer": [0.1, 0.2]}, "input 'steer' of 'red' must have shape (1,), not (2,)"),
        ("scouts", {"vx": [1.0, 2.0]}, "input 'vx' of 'scouts' must have shape (4,), not (2,)"),
        ("scouts", {"vx": np.zeros((4, 1))}, "input 'vx' of 'scouts' must have shape (4,), not (4, 1)"),
        ("scouts", {"vx": [0, 0, np.nan, 0]}, "input 'vx' of 'scouts' has values that are not finite"),
        ("scouts", {"vx": ["a", "b", "c", "d"]}, "input 'vx' of 'scouts' must be an array of numbers"),
        ("scouts", {"vx": [10**400, 0, 0, 0]}, "input 'vx' of 'scouts' must be an array of numbers"),
        ("scouts", {"vx": 1e12}, "scouts: input 'vx' must lie in -10000 to 10000 m/s, not 1e+12"),
        ("scouts[1]", {"vx": -(10**12)}, "scouts[1]: input 'vx' must lie in -10000 to 10000 m/s, not -1e+12"),
        ("scouts", {"vx": np.full(4, 1e12)}, "scouts: input 'vx' must lie in -10000 to 10000 m/s, not 1e+12"),
        ("scouts", {"vx": [0, 0, 1, -1e12]}, "scouts: input 'vx' must lie in -10000 to 10000 m/s, not -1e+12"),
        ("scouts", {"vx": [[1], [1, 2], 3, 4]}, "input 'vx' of 'scouts' must be an array of numbers"),
    ],
)
def test_invalid_input_values_are_refused(load: Load, target: str, inputs: dict[str, Any], message: str) -> None:
    sim = load(CAR, SCOUTS)
    with pytest.raises(InvalidValueError) as caught:
        sim.command(target, **inputs)
    assert str(caught.value) == message


def unlimited_inputs(sim: Simulation) -> Iterator[tuple[str, str]]:
    """Yield the inputs without a range of their own."""
    for name, program in sim.engine.programs.items():
        for column in columns_of(program.model.command):
            if not column.choices and not (np.isfinite(column.low) and np.isfinite(column.high)):
                yield name, column.name


@pytest.mark.parametrize("via", [None, "radio"])
def test_a_run_restores_the_largest_inputs_that_it_accepts(via: str | None) -> None:
    models, radio = ("rover", "point", "quad", "prop.cone"), {"stations": [{"name": "base", "position": [0, 0, 5]}]}
    places = [{"name": f"v{k}", "model": model, "pose": [20 * k, 0, 20, 0]} for k, model in enumerate(models)]
    carried = {} if via is None else {"via": via, "radio": "default"}
    scenario = {
        "clock": {"rate": 100},
        "radio": radio,
        "contact": {},
        "vehicles": [place | carried for place in places],
    }
    with paddock.load(scenario) as sim:
        sim.step(30)
        inputs = list(unlimited_inputs(sim))
        assert {name for name, _ in inputs} == {"v0", "v1", "v2", "v3"}
        for name, column in inputs:
            with pytest.raises(
                InvalidValueError, match=f"{name}: input '{column}' must lie in .*, not 1e[+]12$"
            ) as caught:
                sim.command(name, **{column: 1e12})
            sim.command(name, **{column: float(re.findall(r"to ([0-9.e+]+)", str(caught.value))[0])})
        sim.engine.applier.run(sim.tick)
        tree = unpack(sim.save())
        latched = tree["radio"]["packets"]["values"] if via else tree["fleets"]["v2"]["tables"]["command"]
        assert np.nanmax(latched) >= 1e6
        sim.restore(sim.save())


def test_an_unchecked_action_that_fails_in_any_way_is_refused(load: Load, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object) -> None:
        raise TypeError("unhashable type")

    sim = load(SCOUTS)
    action = sim.engine.applier.checked_command("scouts", {"vx": 1.0})
    monkeypatch.setattr("paddock.engine.applier.check_command", fails)
    sim.engine.mailbox.post(action, source="eve")  # as of a restored state
    sim.step(2)
    assert refusals(sim) == [(0, "eve", "the control is not valid")]
    sim.engine.mailbox.post(action, source="eve", checked_at=(1,))
    with pytest.raises(TypeError):
        sim.step()


def test_nothing_is_half_applied(load: Load) -> None:
    sim, untouched = load(CAR, SCOUTS), load(CAR, SCOUTS)
    for inputs in ({"throttle": 1.0, "steer": np.nan}, {"throttle": 1.0, "brakes": 0.5}):
        with pytest.raises(PaddockError):
            sim.command("red", **inputs)
    with pytest.raises(PaddockError):
        sim.command("scouts", vx=np.ones(4), vy=np.ones(5))
    sim.step(10)
    untouched.step(10)
    assert sim.state_hash() == untouched.state_hash()


def test_an_empty_command_and_one_for_a_behaviour_are_refused(load: Load) -> None:
    sim = load({**CAR, "driver": "hold"}, SCOUTS)
    with pytest.raises(PaddockError) as caught:
        sim.command("scouts")
    assert str(caught.value) == "a command for 'scouts' needs at least one input; valid: vx, vy, vz"
    with pytest.raises(PaddockError) as caught:
        sim.command("red", steer=0.1)
    assert str(caught.value) == "'red' is driven by its behaviour 'hold', not by commands"


def test_at_tick_is_not_in_the_past(load: Load) -> None:
    sim = load(SCOUTS)
    sim.step(10)
    calls: list[Callable[[int], None]] = [
        lambda tick: sim.command("scouts", vx=1.0, at_tick=tick),
        lambda tick: sim.vehicles.place("scouts[0]", [0.0, 0.0, 5.0, 0.0], at_tick=tick),
        lambda tick: sim.behaviours.override("scouts", "hold", at_tick=tick),
    ]
    for call in calls:
        with pytest.raises(InvalidValueError, match="at_tick 9 is in the past: the run is at tick 10"):
            call(9)
        call(10)


@pytest.mark.parametrize("at_tick", [-1, 1.5, "3", True, float("nan")])
def test_at_tick_is_a_whole_number(load: Load, at_tick: Any) -> None:
    with pytest.raises(InvalidValueError, match="at_tick takes a whole number of ticks >= 0, not "):
        load(CAR).command("red", steer=0.1, at_tick=at_tick)


@pytest.mark.parametrize("ticks", [-1, 1.5, "3", True, None])
def test_step_takes_a_whole_number(load: Load, ticks: Any) -> None:
    with pytest.raises(InvalidValueError, match="step takes a whole number of ticks >= 0, not "):
        load(CAR).step(ticks)


def refusals(sim: Simulation) -> list[tuple[int, str, str]]:
    return [(event.tick, event.subject, event.detail) for event in sim.events.since() if event.kind == "refused"]


def test_a_queued_command_of_a_vehicle_that_left_is_refused_at_its_tick(load: Load) -> None:
    sim = load(CAR, SCOUTS)
    sim.command("red", steer=0.1, at_tick=5, source="tower")
    sim.command("scouts[1]", vx=1.0, at_tick=6)
    sim.remove("red")
    sim.remove("scouts[1]")
    sim.step(10)
    assert refusals(sim) == [
        (5, "tower", "unknown vehicle 'red'; valid: scouts"),
        (6, "", "fleet 'scouts' has no member 1"),
    ]


def test_a_queued_command_that_no_longer_fits_is_refused_as_a_whole(load: Load) -> None:
    sim = load(CAR, SCOUTS)
    sim.command("scouts", vz=1.0, vx=np.ones(4), at_tick=5)
    sim.command("red", steer=0.1, at_tick=6)
    sim.spawn(fleet="scouts", pose=[0, 0, 0])
    sim.remove("red")
    sim.spawn(name="red", model="point")
    sim.step(10)
    assert refusals(sim) == [
        (5, "", "input 'vx' of 'scouts' must have shape (5,), not (4,)"),
        (6, "", "unknown input 'steer' of 'red'; valid: vx, vy, vz"),
    ]
    assert not sim.engine.world.fleets["scouts"].command[:, :5].any()


# timeouts -------------------------------------------------------------------------------------------------------------


def test_the_failsafe_acts_at_the_exact_tick(load: Load) -> None:
    sim = load({**CAR, "timeout": 0.5}, rate=200)
    sim.step(300)  # before its first command no command is expected
    sim.command("red", throttle=0.6, steer=0.1)
    sim.step(100)
    assert command_of(sim, "red")["throttle"] == 0.6
    assert sim.events.since() == []
    sim.step(1)  # tick 400: 0.5 s at 200 Hz after tick 300
    command = command_of(sim, "red")
    assert (command["throttle"], command["brake"], command["steer"]) == (0.0, 0.3, 0.1)  # the model's own failsafe
    (event,) = sim.events.since()
    assert (event.tick, event.kind, event.subject) == (400, "failsafe", "red")
    sim.step(500)
    assert len(sim.events.since()) == 1


def test_a_command_at_the_last_tick_prevents_the_failsafe_and_a_later_one_recovers(load: Load) -> None:
    sim = load({**CAR, "timeout": 0.5}, rate=200)
    sim.command("red", throttle=0.5)
    sim.command("red", throttle=0.6, at_tick=100)
    sim.command(sim.snapshot()["red"].id, throttle=0.7, at_tick=201)
    sim.step(250)
    assert [(event.tick, event.kind, event.subject) for event in sim.events.since()] == [
        (200, "failsafe", "red"),
        (201, "recovered", "red"),
    ]
    command = command_of(sim, "red")
    assert (command["throttle"], command["brake"]) == (0.7, 0.3)  # partial: the brake stays where the failsafe put it


def test_each_member_has_its_own_timeout_and_overrides_replace_the_models_failsafe(load: Load) -> None:
    sim = load({**SCOUTS, "timeout": 0.1, "failsafe": {"vz": -0.5}}, rate=100)
    sim.command("scouts", vx=3.0, vy=1.0, vz=1.0)
    sim.command("scouts[2]", vx=4.0, at_tick=6)
    sim.command(1, vx=5.0, at_tick=9)
    sim.step(30)
    events = [(event.tick, event.subject) for event in sim.events.since()]
    assert events == [(10, "scouts[1]"), (10, "scouts[3]"), (16, "scouts[2]"), (19, "scouts[0]")]
    assert sim.engine.world.fleets["scouts"].command[:, :4].tolist() == [[0.0] * 4, [0.0] * 4, [-0.5] * 4]


@pytest.mark.parametrize("groups", [[40], [1] * 40, [7, 3, 9, 20, 1]])
def test_timeouts_do_not_depend_on_step_grouping(load: Load, groups: list[int]) -> None:
    sim = load({**SCOUTS, "timeout": 0.1}, rate=100)
    for k, tick in enumerate((0, 3, 4, 17)):
        sim.command(f"scouts[{k}]", vx=1.0, at_tick=tick)
    for ticks in groups:
        sim.step(ticks)
    assert [event.tick for event in sim.events.since()] == [10, 13, 14, 27]


def test_a_commanded_step_takes_few_calls(load: Load) -> None:
    sim, calls = load(CAR), 0
    for _ in range(3):  # the first step compiles
        sim.command("red", steer=0.1)
        sim.step()

    def count(_: object, event: str, __: object) -> None:
        nonlocal calls
        calls += event == "call"

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        sim.command("red", steer=0.2, throttle=0.3)
        sim.step()
    finally:
        sys.setprofile(before)
    assert calls <= CALLS and command_of(sim, "red")["throttle"] == 0.3


def test_a_fleet_moves_the_same_beside_the_limit_of_small_fleets(load: Load) -> None:
    """Small fleets run without a launch, large ones in parallel: the path of a vehicle does not depend on it."""
    paths = []
    for count in (SERIAL_BELOW - 1, SERIAL_BELOW):
        sim = load({**SCOUTS, "count": count, "spawn": {"grid": {"spacing": 3, "z": 5, "columns": 10}}})
        for k in range(4):
            sim.command("scouts", vx=0.5 * k, vy=1.0)
            sim.step()
        sim.step(20)
        paths.append(sim.engine.world.fleets["scouts"].state[:, : SERIAL_BELOW - 1].copy())
    assert paths[0].tobytes() == paths[1].tobytes()
