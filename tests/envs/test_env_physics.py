"""An environment of one world is a simulation: the same states, bit for bit; its kernels are the Python functions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from paddock import load
from paddock.compute.philox import signed
from paddock.envs import PaddockEnv, find_task, parallel_env
from paddock.world.columns import Pose, column_index

CASES: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    ("quad_hover", {"action": "motors", "world": {"wind": [2.0, 1.0, 0.0]}}, {"preset": "race"}),
    ("drone_racing", {}, {"preset": "race"}),
    ("car_racing", {"observation": "track"}, {"preset": "driverless"}),
    ("car_racing", {"observation": "track", "model": "car.double_track"}, {"preset": "driverless"}),
]


@pytest.mark.parametrize(("name", "options", "entry"), CASES, ids=["hover", "gates", "bicycle", "double_track"])
def test_one_world_equals_a_simulation_bit_for_bit(name: str, options: Any, entry: Any) -> None:
    env, task = PaddockEnv(name, **options), find_task(name)
    env.reset(seed=9)
    batch = env.batch
    drawn = task.options(*batch.options.tolist())
    at, memory = task.start(signed(9), 0, 0, drawn, batch.course.table)
    vehicle = {"name": "one", "model": batch.model.name, **entry, "pose": [at.x, at.y, at.z, at.yaw], "speed": at.speed}
    scenario = {"clock": {"rate": task.rate}, "vehicles": [vehicle], "world": options.get("world", {})}
    draws = np.random.default_rng(1)
    with load(scenario) as sim:
        fleet = sim.engine.programs["one"].fleet
        assert np.array_equal(fleet.state[:, 0], batch.state[:, 0])
        for _ in range(40):
            action = draws.uniform(-0.3, 0.3, len(batch.action)).astype(np.float32)
            pose = sim.engine.programs["one"].pose_block(sim.tick)[:, 0]
            command = task.act(task.action(*action.astype(float).tolist()), Pose(*pose.tolist()), memory, drawn)
            sim.command("one", **command._asdict())
            sim.step(task.ticks)
            observation, reward, terminated, _, _ = env.step(action)
            assert np.array_equal(fleet.state[:, 0], batch.state[:, 0])
            # the compiled judgement is that of the Python functions
            now = Pose(*batch.pose[:, 0].tolist())
            used = task.action(*batch.action[:, 0].tolist())
            memory, verdict = task.judge(now, memory, used, 0.0, drawn, batch.course.table, batch.pose, 0)
            seen = task.observe(now, memory, used, drawn, batch.course.table, batch.pose, 0)
            assert verdict.reward == reward and bool(verdict.terminated) == terminated
            assert np.array_equal(np.float32(np.clip(seen, batch.low, batch.high)), observation[: len(seen)])
            assert list(memory) == batch.memory[:, 0].tolist()
            if terminated:
                break
        assert sim.tick >= 10 * task.ticks


def test_touching_cars_exchange_momentum_and_ghosts_do_not() -> None:
    speeds = {}
    for contact in (False, True):
        env = parallel_env(
            "car_racing", observation="track", agents=2, anywhere=0, speed=0.0, margin=50.0, contact=contact
        )
        env.reset(seed=4)
        batch, row = env.batch, column_index(env.batch.model.state)
        batch.state[row["x"]], batch.state[row["y"]], batch.state[row["yaw"]] = (-5.0, -11.0), 0.0, 0.0
        batch.state[row["vx"]] = 0.0, 12.0
        if batch.touching is not None:
            batch.touching.place(batch, batch.rows)
        for _ in range(12):
            env.step({name: np.zeros(2, np.float32) for name in env.agents})
        speeds[contact] = batch.state[row["vx"]].copy()
        assert (batch.touching is None) or batch.touching.touched(batch).all()
    assert speeds[False][0] == 0.0 and speeds[False][1] > 10.0
    assert speeds[True][0] > 3.0 and speeds[True].sum() <= speeds[False].sum()  # equal masses: momentum is shared
