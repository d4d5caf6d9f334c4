"""Fixtures shared by the tests of several rooms."""

from __future__ import annotations

import gc
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import providers

# before NumPy is imported: for small matrices, threads of OpenBLAS only spin, several times the processor time
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from paddock.compute.threads import limit_threads
from paddock.scenario import Scenario, load_scenario
from paddock.serve.link import start_process

sys.path.append(str(Path(__file__).parent / "support"))
from forked_hub import ForkedHub
from free_ports import free_ports

os.environ.setdefault("PADDOCK_COMPILE_WORKERS", "0")  # the test workers already use all cores

# The same examples in every run; `make soak` draws new ones. No deadlines: other processes may use the machine.
COMMON: dict[str, Any] = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
settings.register_profile("fixed", **COMMON, derandomize=True, database=None, max_examples=25)
settings.register_profile("soak", **COMMON, max_examples=500)
settings.load_profile("fixed")
THREADS = {"fixed": 1, "soak": None}
"""Number of threads of kernels and routines, by profile; None: all."""

_constants_of_modules = getattr(providers, "_get_local_constants", None)


def _constants() -> Any:
    """Return the constants that Hypothesis finds in loaded modules: none for fixed examples.

    Which modules are loaded depends on the tests that have run before in the same process.
    """
    assert _constants_of_modules is not None
    return _constants_of_modules() if settings.get_current_profile_name() == "soak" else providers._local_constants


if _constants_of_modules is not None:
    providers._get_local_constants = _constants

LONGEST = (
    *("web/", "test_notebooks.py"),
    *("test_docs.py", "vehicles/test_car_contact.py", "test_examples.py", "compute/test_cuda.py"),
    *("planning/test_costs.py", "cli/test_cli_page.py", "cli/test_plan_verb.py", "compute/test_prepare.py", "cli/"),
    *("vehicles/test_car_ground.py", "vehicles/test_conf", "contact/", "behaviour/", "planning/", "client/", "serve/"),
    *("autopilot/test_plane", "mavlink/test_client", "bench/", "compute/", "sitl/", "autopilot/", "engine/"),
    *("record/", "driverless/", "vehicles/test_car_robust.py", "wire/test_stream_fuzz.py"),
)
"""Files and folders that are run first, so that at the end no worker is left alone with a long file."""

gc.disable()  # until the tests are collected: nothing of theirs is garbage


def pytest_sessionstart() -> None:
    """Limit the threads of fixtures that exist before the first test."""
    limit_threads(THREADS[settings.get_current_profile_name()])


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Move the files of `LONGEST` to the front; tests of a file keep their order."""
    root = Path(__file__).parent

    def rank(item: pytest.Item) -> int:
        path = item.path.relative_to(root).as_posix() if item.path.is_relative_to(root) else ""
        return next((k for k, start in enumerate(LONGEST) if path.startswith(start)), len(LONGEST))

    items.sort(key=rank)


def pytest_collection_finish() -> None:
    """Exempt modules and tests from garbage collection: each full pass would visit all of them."""
    gc.freeze()
    gc.enable()


@pytest.fixture(scope="session", autouse=True)
def quick_hubs() -> Iterator[None]:
    """Fork the hubs of this process's simulations from one that has imported all modules; `paddock run` does not."""

    def settings() -> dict[str, str]:
        return {name: value for name, value in os.environ.items() if name.startswith(("PYTHON", "PADDOCK"))}

    before = settings()

    def start(link: int, bell: int) -> Any:
        return (ForkedHub if settings() == before else start_process)(link, bell)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("paddock.serve.link.start_process", start)
        yield


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """Compute on one thread, whose code takes half the time to compile; in `make soak` on all."""
    limit_threads(THREADS[settings.get_current_profile_name()])
    yield
    limit_threads(THREADS[settings.get_current_profile_name()])


@pytest.fixture
def all_threads(one_thread: None) -> None:
    """Share the loops over many vehicles or items among all threads, as runs do."""
    limit_threads(None)


@pytest.fixture
def shared_loops(all_threads: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let threads share the loops of routines over few items, too."""
    monkeypatch.setattr("paddock.compute.routine.FEW_ITEMS", 0)


@pytest.fixture(scope="module")
def young_heap() -> None:
    """Exempt what exists from garbage collection, so that the passes of a file are short."""
    gc.collect()  # first: garbage would never be freed
    gc.freeze()


@pytest.fixture
def udp_block() -> Callable[[int], int]:
    """`udp_block(n)`: the first of n consecutive free UDP ports."""
    return free_ports


@pytest.fixture(scope="session")
def own_links() -> Callable[[int], dict[str, Any]]:
    """`own_links(n)`: the `mavlink` section of n systems on unused ports."""
    return lambda systems: {"port": (base := free_ports(2 * systems)), "station": base + systems, "tcp": 0}


@pytest.fixture
def demo(own_links: Callable[[int], dict[str, Any]]) -> Callable[[str], Scenario]:
    """`demo(name)`: a demo scenario; its autopilots use unused ports."""

    def load(name: str) -> Scenario:
        tree = load_scenario(name).to_dict()
        if "sitl" in tree:
            tree["sitl"]["mavlink"] = own_links(30)
        return load_scenario(tree)

    return load


@pytest.fixture(scope="session")
def standalone_world() -> type:
    """A world adapter that steps its own simulation, without a scenario's host."""
    from standalone_world import StandaloneWorld

    return StandaloneWorld


@pytest.fixture(scope="session")
def run_program(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., tuple[int, str, str]]]:
    """`run_program(file, folder, *paths)`: its exit code, stdout and stderr; one process runs all of them.

    It uses as many threads as the tests.
    """
    folder, source = tmp_path_factory.mktemp("programs"), str(Path(__file__).parent.parent / "src")
    out, err = folder / "out.txt", folder / "err.txt"
    command = [sys.executable, "-W", "error", str(Path(__file__).with_name("runner.py"))]
    process: list[subprocess.Popen[str]] = []  # none before the first program

    def run(program: Path, cwd: Path, *paths: Path) -> tuple[int, str, str]:
        if not process:
            threads = THREADS[settings.get_current_profile_name()]
            environment = {**os.environ, "PYTHONPATH": source}
            environment |= {} if threads is None else {"NUMBA_NUM_THREADS": str(threads)}
            pipe = subprocess.PIPE
            process.append(subprocess.Popen(command, text=True, env=environment, stdin=pipe, stdout=pipe))
        runner = process[0]
        assert runner.stdin is not None and runner.stdout is not None
        job = {"program": program, "folder": cwd, "paths": [program.parent, *paths], "out": out, "err": err}
        runner.stdin.write(json.dumps(job, default=str) + "\n")
        runner.stdin.flush()
        reply = runner.stdout.readline()
        if not reply:
            runner.wait()
            process.clear()
        return int(reply or -1), out.read_text(encoding="utf-8"), err.read_text(encoding="utf-8")

    yield run
    for runner in process:
        runner.communicate()
