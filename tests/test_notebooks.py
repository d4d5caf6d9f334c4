"""The notebooks of `examples/notebooks/`, executed on a short track, locally and against a server."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from itertools import pairwise
from math import hypot, tan
from pathlib import Path
from typing import Any

import nbformat
import numpy as np
import pytest
from jupyter_client.manager import AsyncKernelManager
from jupyter_core.utils import run_sync
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

import paddock
from paddock import track
from paddock.track.building import from_file
from paddock.track.formula_student import cone_rows

ROOT = Path(__file__).parent.parent
FOLDER = ROOT / "examples" / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
CHOICE = re.compile(
    r'^sim = paddock\.load\("(\w+\.yaml)"\)\n# (sim = paddock\.connect\("tcp://127\.0\.0\.1:5556"\))$', re.M
)
SHORT = {
    "autocross.yaml": {"track: autocross": "track: lap_18_4.csv", "contact: true": ""},
    "trackdrive.yaml": {"track: trackdrive": "track: lap_24_4.csv"},
    "race.yaml": {"track: harbour": "track: lap_18_6.csv", "contact: true": ""},
    "test_day.yaml": {"track: park": "track: lap_18_8.csv", "rate: 200": "rate: 100"},
}
"""Replacements in the scenarios: a short track (its radius and width in m), cones that stay, fewer ticks."""
CLEAN_UP = """
import subprocess as _subprocess
for _name, _value in list(globals().items()):
    if isinstance(_value, _subprocess.Popen) and _value.poll() is None:
        _value.kill()
    if not _name.startswith("_") and type(_value).__name__ in ("Simulation", "RemoteSimulation", "RecordedRun"):
        _value.close()
%reset -f
"""

pytestmark = [
    pytest.mark.timeout(900),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),  # of Jupyter's client and event loop
]


def source(name: str) -> nbformat.NotebookNode:
    [path] = [path for path in NOTEBOOKS if path.stem.startswith(name)]
    return nbformat.read(path, as_version=4)


def lap(radius: float, width: float) -> str:
    """Return a closed track as CSV: a circle that is bent to a triangle with round corners, so that bends differ."""
    angle = np.linspace(0.0, 2.0 * np.pi, 240, endpoint=False)
    away = radius * (1.0 + 0.11 * np.cos(3.0 * angle) + 0.08 * np.cos(2.0 * angle))
    line = away[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    return track.dump(from_file(cone_rows(line, np.full(len(line), width)), "lap"))


class Kernel:
    """One kernel in a copy of the examples, for notebook after notebook."""

    def __init__(self, folder: Path, replaced: dict[str, dict[str, str]]) -> None:
        self.folder = folder / "notebooks"
        self.folder.mkdir()
        (folder / "driverless").symlink_to(ROOT / "examples" / "driverless")
        for path in FOLDER.glob("*.yaml"):
            text = path.read_text(encoding="utf-8")
            for old, new in replaced.get(path.name, {}).items():
                assert old in text
                text = text.replace(old, new)
            (self.folder / path.name).write_text(text, encoding="utf-8")
        for radius, width in ((18, 4), (24, 4), (18, 6), (18, 8)):
            (self.folder / f"lap_{radius}_{width}.csv").write_text(lap(radius, width), encoding="utf-8")
        self.manager = AsyncKernelManager(kernel_name="python3")

    def execute(self, notebook: nbformat.NotebookNode, *expressions: str) -> list[Any]:
        """Execute a notebook; return the values of expressions at its end, in plain data."""
        listed = ", ".join(expressions)
        asked = f"import json as _json; print(_json.dumps([{listed}], default=lambda value: value.tolist()))"
        notebook.cells += [nbformat.v4.new_code_cell(asked), nbformat.v4.new_code_cell(CLEAN_UP)]
        resources = {"metadata": {"path": str(self.folder)}}
        client = NotebookClient(notebook, km=self.manager, timeout=600, resources=resources)
        try:
            client.execute()
        finally:
            client.kc.stop_channels()  # nbclient leaves them open while it does not own the kernel
        outputs = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
        streams = [output for output in outputs if output.output_type == "stream"]
        assert "Warning" not in "".join(output.text for output in streams if output.name == "stderr")
        shown = [output.data for output in outputs if output.output_type in ("display_data", "execute_result")]
        assert sum("image/png" in data for data in shown) >= 2
        assert any("<iframe src=" in data.get("text/html", "") for data in shown)
        values: list[Any] = json.loads("".join(output.text for output in notebook.cells[-2].outputs).splitlines()[-1])
        return values

    def close(self) -> None:
        if self.manager.has_kernel:
            run_sync(self.manager.shutdown_kernel)(now=True)


@pytest.fixture(scope="module")
def kernel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kernel]:
    started = Kernel(tmp_path_factory.mktemp("examples"), SHORT)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(ROOT / "src"))
        patch.setenv("OPENBLAS_NUM_THREADS", "1")  # 04_slam sets it, but NumPy is imported before
        patch.delenv("MPLBACKEND", raising=False)  # figures appear in the notebook
        yield started
    started.close()


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebooks_are_stored_without_outputs(path: Path) -> None:
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    assert (notebook.nbformat, notebook.nbformat_minor) == (4, 5)
    assert len({cell.id for cell in notebook.cells}) == len(notebook.cells)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert all(cell.outputs == [] and cell.execution_count is None for cell in code)
    assert any("paddock.connect(url" in cell.source or CHOICE.search(cell.source) for cell in code[:2])
    assert any(".show(" in cell.source for cell in code)


@pytest.mark.slow
def test_a_server_that_does_not_start_is_one_line(kernel: Kernel) -> None:
    notebook = source("05")
    notebook.cells = notebook.cells[:2]
    notebook.cells[1].source = notebook.cells[1].source.replace("race.yaml", "none.yaml")
    with pytest.raises(CellExecutionError, match=r"the server has not started: .*none\.yaml"):
        kernel.execute(notebook)


def test_there_are_six_and_they_are_linted() -> None:
    assert [path.stem[:2] for path in NOTEBOOKS] == ["01", "02", "03", "04", "05", "06"]
    for verb in (["check"], ["format", "--check"]):
        ran = subprocess.run(
            [sys.executable, "-m", "ruff", *verb, "--no-cache", str(FOLDER)], capture_output=True, text=True, cwd=ROOT
        )
        assert ran.returncode == 0, ran.stdout
        assert "No Python files" not in ran.stdout + ran.stderr


def check_hello(values: list[Any]) -> None:
    radii, speed = values
    for angle, radius in zip((0.05, 0.1, 0.2, 0.3), radii, strict=True):
        assert radius == pytest.approx(hypot(1.44 / tan(angle), 0.72), rel=0.03)  # of the centre of gravity
    assert max(speed) > 12.0 and abs(speed[-1]) < 0.1


def check_control(values: list[Any]) -> None:
    beside, late, slow_at, brakes, refusal, answered = values
    assert max(beside) < 0.4
    assert slow_at in late and brakes[:2] == [0.0, 0.0] and brakes[2] == 1.0
    assert refusal.startswith("red: input 'steer' must be a finite number, not nan") and "\n" not in refusal
    assert len(answered) == 60  # 600 ticks, every tenth
    assert all(after - before == 10 for before, after in pairwise(answered))


def check_cones(values: list[Any]) -> None:
    row, length, report = values
    assert (row["status"], row["cones"], row["off_course"]) == ("stopped", 0, 0)
    assert length / 12.0 < row["lap_times"][0] < length / 5.0  # 12 m/s is its limit
    assert sum(row["sector_times"][0]) == pytest.approx(row["lap_times"][0])
    assert f"{row['result']:.3f}" in report and "Penalties" in report


def check_slam(values: list[Any]) -> None:
    ekf, graph, reckoned, poses, away, row, cones, length = values
    for cone_errors in (ekf, graph):
        assert 0.95 * cones <= len(cone_errors) <= 1.02 * cones
        assert max(cone_errors) < 0.3
    assert max(*poses[0], *poses[1]) < 0.3 < reckoned[-1]
    assert max(away) < 0.3
    first, second = row["lap_times"]
    assert row["cones"] == row["off_course"] == 0 and row["status"] == "stopped"
    assert length / 25.0 < second < 0.8 * first < 40.0


def check_race(values: list[Any]) -> None:
    rows, predicted, same, sources = values
    assert [row["name"] for row in rows] == ["blue", "red"]
    assert all(row["laps"] == 1 and row["cones"] == row["off_course"] == 0 for row in rows)
    for row, flying in zip(rows, predicted, strict=True):
        assert flying < row["lap_times"][0] < flying + 4.0  # from a standing start
    assert same and sources == 2


def check_analysis(values: list[Any]) -> None:
    same, laps, best, human, robot, rows, names = values
    assert same
    assert len(laps) == 4 and best == min(laps)
    assert human[0] < human[1] and max(robot) < min(human)  # the second lap is careful
    assert rows > 1000 and {"time", "vehicle", "x", "race.lap"} <= set(names)


CHECKS: dict[str, tuple[Callable[[list[Any]], None], tuple[str, ...]]] = {
    "01": (check_hello, ("radii[3.0]", "speed")),
    "02": (check_control, ("beside", "[one.tick for one in late]", "slow_at", "brakes", "refusal", "answered")),
    "03": (check_cones, ("standings.to_dict()['rows'][0]", "length", "report")),
    "04": (
        check_slam,
        (
            *("maps['EKF-SLAM']", "maps['graph-SLAM']", "errors['odometry alone']"),
            *(
                "[errors['EKF-SLAM'], errors['graph-SLAM']]",
                "away",
                "standings.to_dict()['rows'][0]",
                "cones",
                "length",
            ),
        ),
    ),
    "05": (
        check_race,
        (
            "standings.to_dict()['rows']",
            "[lap_time(blue_line, blue_line.speed), lap_time(red_line, red_line.speed)]",
            *("verified.same", "len({entry.source for entry in log})"),
        ),
    ),
    "06": (
        check_analysis,
        (
            *("verified.same", "[lap.seconds for _, lap in done]", "best.seconds"),
            "[lap.seconds for lap in laps['human'].laps if lap.seconds]",
            "[lap.seconds for lap in laps['robot'].laps if lap.seconds]",
            *("table.num_rows", "table.column_names"),
        ),
    ),
}
"""Notebook -> check of the values of expressions at its end."""


def executed(kernel: Kernel, notebook: nbformat.NotebookNode, name: str) -> None:
    check, expressions = CHECKS[name]
    check(kernel.execute(notebook, *expressions))


@pytest.mark.parametrize(
    "name", ["01", *(pytest.param(name, marks=pytest.mark.slow) for name in ("02", "03", "04", "06"))]
)
def test_notebook_runs_locally(kernel: Kernel, name: str) -> None:
    executed(kernel, source(name), name)


@pytest.mark.slow
def test_race_over_the_network(kernel: Kernel) -> None:
    """On free ports, also where another server has those of the scenario."""
    executed(kernel, source("05"), "05")


@pytest.mark.parametrize(
    "name", ["02", *(pytest.param(name, marks=pytest.mark.slow) for name in ("01", "03", "04", "06"))]
)
def test_one_line_changes_to_a_server(kernel: Kernel, name: str) -> None:
    notebook = source(name)
    [first] = [cell for cell in notebook.cells if cell.cell_type == "code" and CHOICE.search(cell.source)]
    chosen = CHOICE.search(first.source)
    assert chosen is not None
    with (
        paddock.load(kernel.folder / chosen[1]) as sim,
        paddock.share(sim, zmq={"port": 0}, web={"port": 0}) as host,
    ):
        connect = chosen[2].replace("5556", str(host.addresses["zmq"]["port"]))
        first.source = first.source.replace(chosen[0], connect)
        executed(kernel, notebook, name)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["03", "04", "05", "06"])
def test_notebook_runs_on_its_own_track(tmp_path: Path, name: str) -> None:
    """In a kernel of its own, as a reader runs it."""
    own = Kernel(tmp_path, {})
    check, expressions = CHECKS[name]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(ROOT / "src"))
        values = own.execute(source(name), *expressions)
    own.close()
    check(values)
