"""Mistakes: one line that names what is wrong."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.error import ResetNeeded

from paddock.envs import PaddockEnv, PaddockVectorEnv, parallel_env
from paddock.errors import InvalidValueError, PaddockError, UnknownNameError

MADE: list[tuple[Callable[[], Any], type[Exception], str]] = [
    (lambda: PaddockEnv("quad_hoover"), UnknownNameError, "unknown task 'quad_hoover'; did you mean 'quad_hover'?"),
    (
        lambda: gymnasium.make("paddock/QuadHover-v0", bonds=3.0),
        UnknownNameError,
        "unknown option 'bonds' of quad_hover; did you mean 'bounds'?",
    ),
    (
        lambda: PaddockEnv("quad_hover", bounds=-1.0),
        InvalidValueError,
        "option 'bounds' of quad_hover must lie in 0.1 to 1000 m, not -1",
    ),
    (
        lambda: PaddockEnv("quad_hover", action="motor"),
        UnknownNameError,
        "unknown option 'motor' of quad_hover action; did you mean 'motors'?",
    ),
    (
        lambda: PaddockEnv("quad_hover", model="car.bicycle"),
        UnknownNameError,
        "unknown model 'car.bicycle' of quad_hover; valid: quad",
    ),
    (
        lambda: PaddockEnv("quad_hover", preset="rase"),
        PaddockError,
        "preset: unknown preset 'rase' of quad; did you mean 'race'?",
    ),
    (
        lambda: PaddockEnv("quad_hover", parameters={"maas": 1.0}),
        PaddockError,
        "parameters.maas: unknown parameter 'maas' of quad; did you mean 'mass'?",
    ),
    (
        lambda: PaddockEnv("quad_hover", spread={"maas": 0.1}),
        PaddockError,
        "spread.maas: unknown parameter 'maas' of quad; did you mean 'mass'?",
    ),
    (
        lambda: PaddockEnv("car_racing", track="harbor"),
        PaddockError,
        "harbor: no such track file or track of the catalog; did you mean 'harbour'?",
    ),
    (lambda: PaddockEnv("car_racing", track=2.5), InvalidValueError, "track: a name, a file, a seed or a Track"),
    (
        lambda: PaddockEnv("car_racing", observation="lydar"),
        UnknownNameError,
        "unknown observation 'lydar'; did you mean 'lidar'?",
    ),
    (lambda: PaddockEnv("car_racing", beams=1), InvalidValueError, "beams must be a whole number from 2 to 16384"),
    (
        lambda: PaddockEnv("drone_racing", gates="ovl"),
        UnknownNameError,
        "unknown course 'ovl' of gates; did you mean 'oval'?",
    ),
    (lambda: PaddockEnv("drone_racing", gates=[[0, 0, 1, 0]]), InvalidValueError, "gates: a name, or at least two"),
    (
        lambda: PaddockEnv("drone_racing", gates=[[0, 0, 1, 0], [5, 0, -1, 0]]),
        InvalidValueError,
        "gates: the centre of gate 1 is not above the ground",
    ),
    (lambda: PaddockEnv("quad_hover", render_mode="human"), UnknownNameError, "unknown render mode 'human'"),
    (lambda: PaddockEnv("quad_hover", max_episode_steps=0), InvalidValueError, "max_episode_steps must be a whole"),
    (lambda: PaddockEnv("quad_hover", ticks=-1), InvalidValueError, "a whole number of ticks, at least 1, not -1"),
    (lambda: PaddockEnv("quad_hover", ticks=2.7), InvalidValueError, "ticks: a step takes a whole number of ticks"),
    (
        lambda: gymnasium.make("paddock/CarRacing-v0", rate="x"),
        InvalidValueError,
        "rate: ticks per second, a number above 0 Hz, not 'x'",
    ),
    (lambda: PaddockEnv("quad_hover", spread={"mass": -1.0}), PaddockError, "spread.mass: must be >= 0, not -1.0"),
    (lambda: PaddockEnv("quad_hover", contact=True), InvalidValueError, "vehicles of quad_hover do not touch"),
    (lambda: PaddockVectorEnv("quad_hover", 0), InvalidValueError, "the number of worlds must be a whole number >= 1"),
    (
        lambda: PaddockVectorEnv("quad_hover", 2, autoreset_mode="SameSteps"),
        UnknownNameError,
        "unknown autoreset mode 'SameSteps'; did you mean 'SameStep'?",
    ),
    (lambda: PaddockVectorEnv("car_racing", 2, contact=True), InvalidValueError, "contact needs one world"),
    (lambda: PaddockVectorEnv("quad_hover", True), InvalidValueError, "the number of worlds must be a whole number"),
    (lambda: parallel_env("quad_hover"), UnknownNameError, "unknown task for several vehicles 'quad_hover'"),
    (lambda: parallel_env("pursuit", agents=0), InvalidValueError, "agents must be a whole number >= 1, not 0"),
]


@pytest.mark.parametrize(("make", "kind", "text"), MADE, ids=[text[:40] for _, _, text in MADE])
def test_an_environment_that_cannot_be_made_says_why(make: Callable[[], Any], kind: type[Exception], text: str) -> None:
    with pytest.raises(kind) as caught:
        make()
    assert text in str(caught.value) and "\n" not in str(caught.value)
    assert "vehicles[0]" not in str(caught.value)


def test_seeds_and_options_of_resets(hover: PaddockEnv) -> None:
    envs = PaddockVectorEnv("quad_hover", np.int64(2))  # type: ignore[arg-type]
    assert envs.num_envs == 2
    for env in (hover, envs):
        with pytest.raises(InvalidValueError, match=r"a seed must be a whole number >= 0 and < 2\*\*64, not 18446"):
            env.reset(seed=2**64)
        with pytest.raises(UnknownNameError, match="unknown option 'bogus' of reset"):
            env.reset(options={"bogus": 1})
        env.reset(options={})
    with pytest.raises(UnknownNameError, match="did you mean 'reset_mask'"):
        envs.reset(options={"reset_masc": np.array([True, False])})
    with pytest.raises(InvalidValueError, match=r"at most 2\*\*64 - 2 for 2 worlds"):
        envs.reset(seed=2**64 - 1)
    observed = hover.reset(seed=2**64 - 1)[0]
    np.testing.assert_array_equal(envs.reset(seed=2**64 - 2)[0][1], observed)
    assert not np.array_equal(hover.reset(seed=0)[0], observed)


@pytest.mark.parametrize(
    ("missing", "module", "text"),
    [
        ("gymnasium", "paddock.envs", "paddock.envs needs Gymnasium: pip install 'paddock[envs]'"),
        ("pettingzoo", "paddock.envs.parallel", "paddock.envs.parallel needs PettingZoo: pip install 'paddock[envs]'"),
        pytest.param(
            "stable_baselines3",
            "paddock.envs.stable_baselines",
            "paddock.envs.stable_baselines needs Stable-Baselines3: pip install 'paddock[rl]'",
            marks=pytest.mark.slow,
        ),
    ],
)
def test_a_missing_extra_is_named(missing: str, module: str, text: str) -> None:
    program = f"""
import importlib.util
real = importlib.util.find_spec
importlib.util.find_spec = lambda name, *more: None if name == {missing!r} else real(name, *more)
import {module}
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.stderr.splitlines()[-1] == f"paddock.errors.MissingFeatureError: {text}"


@pytest.fixture(scope="module")
def hover() -> PaddockEnv:
    env = PaddockEnv("quad_hover")
    env.reset(seed=0)
    return env


@pytest.mark.parametrize(
    ("action", "text"),
    [
        ([0.0, 0.0, 0.0, 1.5], "action: thrust must lie in -1 to 1, not 1.5"),
        ([np.nan, 0.0, 0.0, 0.0], "action: roll must lie in -1 to 1, not nan"),
        ([0.0, 0.0, 0.0], "an action is numbers of shape (4,), not float64 of shape (3,)"),
        (["a", "b", "c", "d"], "an action is numbers of shape (4,), not <U1 of shape (4,)"),
        (None, "an action is numbers of shape (4,), not object of shape ()"),
    ],
)
def test_an_action_outside_its_space_is_refused_and_changes_nothing(hover: PaddockEnv, action: Any, text: str) -> None:
    before = hover.batch.state.tobytes(), hover.batch.action.tobytes(), hover.batch.elapsed.tobytes()
    with pytest.raises(InvalidValueError) as caught:
        hover.step(action)
    assert str(caught.value) == text
    assert before == (hover.batch.state.tobytes(), hover.batch.action.tobytes(), hover.batch.elapsed.tobytes())


def test_a_step_needs_a_reset() -> None:
    env = PaddockEnv("quad_hover", max_episode_steps=1)
    with pytest.raises(ResetNeeded, match=r"^there is no episode yet: call reset\(\) before step\(\)$"):
        env.step(np.zeros(4))
    env.reset(seed=0)
    assert env.step(np.zeros(4))[3]
    with pytest.raises(PaddockError, match=r"^the episode has ended: call reset\(\) before step\(\)$"):
        env.step(np.zeros(4))
    envs = PaddockVectorEnv("quad_hover", 2, max_episode_steps=1, autoreset_mode="Disabled")
    with pytest.raises(ResetNeeded, match="there is no episode yet"):
        envs.step(np.zeros((2, 4)))
    envs.reset(seed=0)
    envs.step(np.zeros((2, 4)))
    with pytest.raises(
        ResetNeeded, match=r'the episode of world 0 has ended: call reset\(options={"reset_mask": mask}'
    ):
        envs.step(np.zeros((2, 4)))


def test_seeds_and_masks_are_checked() -> None:
    envs = PaddockVectorEnv("quad_hover", 2)
    for seed, text in (
        (-1, "a seed must be a whole number >= 0 and < .*, not -1"),
        ([1], "seeds: a list of 2"),
        ([1, 0.5], "0.5"),
    ):
        with pytest.raises(InvalidValueError, match=text):
            envs.reset(seed=seed)  # type: ignore[arg-type]
    with pytest.raises(InvalidValueError, match=r"reset_mask: bool of shape \(2,\)"):
        envs.reset(options={"reset_mask": np.zeros(2)})
    with pytest.raises(InvalidValueError, match="a seed must be"):
        PaddockEnv("quad_hover").reset(seed=-1)


def test_agents_are_named_in_errors() -> None:
    env = parallel_env("pursuit", agents=2)
    with pytest.raises(PaddockError, match="there is no episode yet"):
        env.step({})
    env.reset(seed=0)
    good = np.zeros(3, np.float32)
    for actions, text in (
        ({"pursuer_0": good}, "the action of pursuer_1 is missing"),
        ({"pursuer_0": good, "pursuer_9": good}, "unknown agent 'pursuer_9'"),
        ({"pursuer_0": good, "pursuer_1": good[:2]}, r"action of pursuer_1: numbers of shape \(3,\), not float32"),
        ({"pursuer_0": good, "pursuer_1": 2.0 + good}, "action of pursuer_1: vx must lie in -1 to 1, not 2"),
    ):
        with pytest.raises(PaddockError, match=text):
            env.step(actions)
