"""Kernels compiled before a run: only missing ones, in worker processes, with progress."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import paddock
from paddock.behaviour.rule import find_rule
from paddock.compute import cache, prepare
from paddock.compute.kernel import Kernel, KernelSpec, Rows, kernel
from paddock.compute.prepare import dumps, picklable, prepare_kernels
from paddock.compute.threads import available_threads
from paddock.compute.twin import bound
from paddock.errors import InvalidValueError
from paddock.vehicles.model import find_model
from paddock.world.columns import Pose


def higher(s: Pose) -> Pose:
    return Pose(*s[:2], s.z + raised_by(s.z), *s[3:])


def raised_by(z: float) -> float:
    return 1.0 + 0.0 * z


def by_two(z: float) -> float:
    return 2.0


class FakeKernel(Kernel):
    """A kernel that notes its compilation."""

    def __init__(self, name: str, ready: bool) -> None:
        super().__init__(KernelSpec(name, higher, (Rows("pose", Pose, "update"),)))
        self.ready = ready
        self.compiled_for: list[int] = []

    def is_compiled(self, n: int) -> bool:
        return self.ready

    def compile(self, n: int) -> None:
        self.compiled_for.append(n)


def test_only_missing_kernels_are_compiled_once_each_and_counted() -> None:
    shown: list[tuple[int, int]] = []
    fakes = [FakeKernel("a", False), FakeKernel("b", True), FakeKernel("c", False)]
    jobs = [(fake, 5) for fake in fakes]
    assert prepare_kernels([*jobs, *jobs], lambda number, count: shown.append((number, count))) == 2
    assert [fake.compiled_for for fake in fakes] == [[5], [], [5]]
    assert shown == [(1, 2), (2, 2)]


def test_workers_are_started_for_much_work_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PADDOCK_COMPILE_WORKERS", raising=False)
    monkeypatch.setattr(prepare, "available_threads", lambda: 4)
    point, quad = find_model("point"), find_model("quad")
    few = [(kernel(point.pose_spec()), 1), (kernel(point.step_spec()), 1)]
    many = [(kernel(quad.step_spec()), 1), (kernel(quad.pose_spec()), 1), (kernel(find_rule("flock").spec(quad)), 1)]
    assert prepare._workers(few) == 0
    assert prepare._workers(many) == 2
    monkeypatch.setenv("PADDOCK_COMPILE_WORKERS", "0")
    assert prepare._workers(many) == 0


def test_a_spec_travels_to_another_process_with_its_bound_functions(tmp_path: Path) -> None:
    spec = find_rule("follow").spec(find_model("rover"), ("speed_max",))
    assert picklable(spec)
    program = (
        "import pickle, sys; from paddock.compute.kernel import Kernel;"
        "print(Kernel(pickle.load(sys.stdin.buffer)).entry(1).folder.name)"
    )
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path), "PADDOCK_CACHE": str(tmp_path)}
    there = subprocess.run([sys.executable, "-c", program], input=dumps(spec), capture_output=True, env=environment)
    assert there.stdout.decode().strip() == Kernel(spec).entry(1).folder.name


def test_functions_without_a_module_stay_in_this_process() -> None:
    local = bound(higher, {"raised_by": by_two})
    local.__dict__["plain"] = lambda s: s
    assert not picklable(KernelSpec("local", local, (Rows("pose", Pose, "update"),)))


@pytest.mark.parametrize("workers", [pytest.param("0", marks=pytest.mark.slow), "1"])
def test_a_run_compiles_before_its_first_tick(workers: str, tmp_path: Path) -> None:
    """In a fresh process with an empty cache: every kernel of the run, nothing twice, nothing during the tick."""
    program = """
import json
import sys
import paddock
shown = []
vehicles = [{"name": "it", "model": "point", "behaviour": {"hold": {}}}]
sim = paddock.load({"vehicles": vehicles})
assert sum(not k.is_compiled(n) for p in sim.engine.programs.values() for k, n in p.kernels()) in (0, 3)
sim.engine.prepare(lambda number, count: shown.append([number, count]))
sim.step(3)
misses = 0
for program in sim.engine.programs.values():
    for kernels, n in program.kernels():
        misses += sum(sum(f.stats.cache_misses.values()) for f in kernels.variants(n))
modules = "scipy.linalg" in sys.modules  # which Numba imports for BLAS
print(json.dumps({"shown": shown, "misses": misses, "hash": sim.state_hash(), "blas": modules}))
"""
    settings = {"PADDOCK_CACHE": str(tmp_path), "PADDOCK_COMPILE_WORKERS": workers}
    environment = os.environ | settings | {"PYTHONPATH": os.pathsep.join(sys.path)}
    done = [
        subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=environment)
        for _ in range(2)
    ]
    first, second = (json.loads(run.stdout) for run in done)
    assert sorted(first["shown"]) == [[k, 3] for k in range(1, 4)] and second["shown"] == []
    assert first["misses"] == 3 if workers == "0" else first["misses"] < 3
    assert second["misses"] == 0 and second["hash"] == first["hash"] and not second["blas"]


def test_the_engine_lists_every_kernel_that_a_run_calls() -> None:
    car = {"name": "car", "model": "car.bicycle", "sensors": ["imu"], "behaviour": {"goto": {"x": 9, "y": 0}}}
    sim = paddock.load({"vehicles": [car]})
    listed = {kernels.spec.name for kernels, _ in sim.engine.programs["car"].kernels()}
    assert listed == {"car.bicycle-step", "car.bicycle-pose", "car.bicycle-report", "car.bicycle-goto", "imu-measure"}
    assert cache.cache_root().is_dir()


def test_a_tick_calls_sensors_with_the_declared_signature() -> None:
    with paddock.load({"vehicles": [{"name": "it", "model": "point", "sensors": ["rangefinder"]}]}) as sim:
        ((prepared, _),) = [pair for pair in sim.engine.programs["it"].kernels() if "rangefinder" in pair[0].spec.name]
        prepared.compile(1)
        before = len(prepared.variants(1)[0].signatures)
        sim.step(100)
        sim.snapshot()
        sim.step(100)
        assert len(prepared.variants(1)[0].signatures) == before


@pytest.mark.parametrize("text", ["many", "-1", "1.5"])
def test_a_wrong_number_of_workers_or_threads_names_the_variable(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PADDOCK_COMPILE_WORKERS", text)
    with pytest.raises(InvalidValueError, match=f"PADDOCK_COMPILE_WORKERS takes a whole number >= 0, not '{text}'"):
        prepare_kernels([(FakeKernel("a", False), 5)])
    monkeypatch.setenv("NUMBA_NUM_THREADS", text)
    with pytest.raises(InvalidValueError, match=f"NUMBA_NUM_THREADS takes a whole number >= 1, not '{text}'"):
        available_threads()
