from __future__ import annotations

import ast
import importlib.util
import json
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any

import pytest
import yaml

import paddock
from paddock.cli.plan import PlanOptions, plan
from paddock.engine.build import build_problems
from paddock.scenario import load_scenario
from paddock.serve.link import operate
from paddock.serve.live import LiveSource
from paddock.wire import rpc
from paddock.wire.operations import OPERATIONS

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
WRITTEN = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(DOCS.glob("*.md"))]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"\]\((?!https?:)([^)#]+)[^)]*\)")
FILE = re.compile(r"# (\w+\.(py|yaml))\n")
QUOTED = {"own-vehicle": "my_boat.py", "own-adapter": "my_simulator.py"}


def blocks(page: Path, language: str) -> list[str]:
    return [text for kind, text in BLOCK.findall(page.read_text(encoding="utf-8")) if kind == language]


@pytest.fixture(scope="module")
def generator() -> ModuleType:
    spec = importlib.util.spec_from_file_location("docs_generate", DOCS / "generate.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    "page",
    [
        "README.md",
        "docs/scenario.md",
        "docs/models.md",
        "docs/behaviours.md",
        "docs/sensors.md",
        "docs/learning.md",
        "docs/planning.md",
        "docs/sitl.md",
        "docs/wire-stream.md",
        "docs/wire-vds1.md",
        "docs/wire-zmq.md",
    ],
)
def test_generated_tables_are_up_to_date(generator: ModuleType, page: str) -> None:
    assert page in generator.PAGES
    text = (ROOT / page).read_text(encoding="utf-8")
    assert "<!-- generated: " in text
    assert generator.refreshed(text) == text, "run: python docs/generate.py"


@pytest.mark.parametrize("page", WRITTEN, ids=lambda page: page.stem)
def test_links_are_valid(page: Path) -> None:
    for target in LINK.findall(page.read_text(encoding="utf-8")):
        if Path(target).name != "performance.md":
            assert (page.parent / target).exists(), target


@pytest.mark.parametrize("page", [ROOT / "CONTRIBUTING.md", DOCS / "architecture.md"], ids=lambda page: page.stem)
def test_paths_in_tables_exist(page: Path) -> None:
    """A path is relative to the package, to the repository, or to the first folder of its row or the engine."""
    package = ROOT / "src" / "paddock"
    checked = 0
    for row in re.findall(r"^\|.*\|$", page.read_text(encoding="utf-8"), re.MULTILINE):
        paths = [path for path in re.findall(r"`([\w/.]+(?:\.\w+|/))`", row) if re.search(r"/|\.(py|ts)$", path)]
        folders = [
            package,
            ROOT,
            package / "engine",
            *(folder for p in paths for path_of in (package / p, ROOT / p) for folder in (path_of, path_of.parent)),
        ]
        folders += [ROOT / path for path in paths]
        for path in paths:
            assert any((folder / path).exists() for folder in folders), f"{page.name}: {path}"
            checked += 1
    assert checked > 10


def definitions(path: Path) -> set[str]:
    """Return the functions, classes and methods (`Class.method`, and `method`) that a file defines."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".ts":
        return set(re.findall(r"(?:function |^  (?:private |async )*)(\w+)(?:<[^>]*>)?\(", text, re.MULTILINE))
    names = set[str]()
    for node in ast.parse(text).body:
        if isinstance(node, ast.ClassDef):
            methods = [part.name for part in node.body if isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef)]
            names |= {node.name, *methods, *(f"{node.name}.{name}" for name in methods)}
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            names.add(node.name)
    return names


def test_ways_name_functions_that_exist() -> None:
    """In tables of ways, each `name()` or `Class.name()` is defined in a file of its row."""
    text = (DOCS / "architecture.md").read_text(encoding="utf-8")
    checked = 0
    row = r"^\| (?:browser|client|hub|both|simulation) \| (.*?) \| (.*) \|$"
    for files, description in re.findall(row, text, re.MULTILINE):
        named = re.findall(r"`(.*?)`", files)
        paths = [(ROOT if path.startswith("web/") else ROOT / "src" / "paddock") / path for path in named]
        defined = set[str]().union(*map(definitions, paths))
        for name in re.findall(r"`([\w.]+)\(\)`", description):
            assert name in defined, f"architecture.md: {files} does not define {name}"
            checked += 1
    assert checked >= 35


def section_of(way: str) -> str:
    return (DOCS / "architecture.md").read_text(encoding="utf-8").partition(f"## {way}")[2].partition("\n## ")[0]


def files_of_way(way: str) -> list[str]:
    """Return the files of a way's table, in order."""
    return re.findall(r"`([\w/]+\.(?:py|ts))`", "".join(re.findall(r"^\|.*\|$", section_of(way), re.MULTILINE)))


def helpers_of_way(way: str, where: str = "") -> list[str]:
    """Return the files that the paragraphs `Helpers ...` (`where`) below a way's table name."""
    paragraphs = re.findall(rf"^Helpers {where}(.*?)\n\n", section_of(way) + "\n\n", re.MULTILINE | re.DOTALL)
    return re.findall(r"`([\w/-]+\.(?:py|ts))`", " ".join(paragraphs))


def test_the_table_of_the_tick_lists_its_stages_in_order() -> None:
    section = section_of("The tick")
    listed = re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE)
    spawn = {"line": {"start": [0, -60, 100], "end": [0, 60, 100]}}
    scenario = {
        "track": "trackdrive",
        "rules": "trackdrive",
        "world": {"gusts": True},
        "contact": True,
        "radio": {"stations": [{"name": "base", "position": [0, 0, 5]}]},
        "vehicles": [
            {"name": "red", "model": "car.bicycle"},
            {"name": "uav", "count": 2, "model": "fixed_wing", "spawn": spawn},
        ],
        "mission": {"members": ["uav"], "tasks": [{"name": "gate", "point": {"at": [600, 200]}}]},
    }
    with paddock.load(scenario) as sim:
        pipeline = sim.engine.stages.pipeline
        stages = [*pipeline.before, pipeline.motion, *pipeline.after]
    assert listed == [stage.name for stage in stages]


@pytest.mark.parametrize(
    ("way", "most"),
    [
        ("A command from the browser to the tick and back", 14),
        ("A task from the client to a turning", 15),
        ("A mission item from a ground station", 15),
        ("A snapshot for a client", 11),
        ("A vehicle that a program adds", 14),
        ("From a cone to a reading", 8),
    ],
)
def test_ways_are_short(way: str, most: int) -> None:
    """The files that hold the logic, of a way's table: helpers are listed below it."""
    files = files_of_way(way)
    assert most - 3 <= len(set(files)) <= most, files
    helpers = helpers_of_way(way)
    assert len(helpers) >= 5 and not set(files) & set(helpers)
    for name in helpers:
        assert (ROOT / name).exists() or (ROOT / "src" / "paddock" / name).exists(), name


@contextmanager
def executed_files(folders: tuple[str, ...]) -> Iterator[set[str]]:
    """Collect the files of these folders of the package of which this thread executes a function in the block."""
    package, files = f"{ROOT / 'src' / 'paddock'}/", set[str]()

    def on_event(frame: FrameType, event: str, argument: Any) -> None:
        name = frame.f_code.co_filename
        if event == "call" and name.startswith(package) and name.removeprefix(package).startswith(folders):
            files.add(name.removeprefix(package))

    earlier = sys.getprofile()
    sys.setprofile(on_event)
    try:
        yield files
    finally:
        sys.setprofile(earlier)


def test_the_way_of_a_command_lists_every_file_that_it_executes() -> None:
    """From the JSON of the message to the end of the tick that applies it, in one process: without sockets and hub."""
    method, inputs = "set_control", {"vehicle_id": 1, "throttle": 0.5, "timeout": 0.5}
    line = json.dumps({"jsonrpc": "2.0", "method": method, "params": inputs}).encode()
    with paddock.load({"vehicles": [{"name": "red", "id": 1, "model": "car.bicycle"}]}) as sim:
        source = LiveSource(sim)
        source.attach(lambda kind, changed: None, lambda snapshot: None, lambda tick, gone: None)

        def send_command() -> None:
            message = rpc.parse(line)
            assert isinstance(message, rpc.Notification) and message.method == method
            operate(source, "command", "eve", OPERATIONS["command"].read(message.params))
            sim.step()

        send_command()  # what is computed once is not part of the way
        with executed_files(("engine/", "serve/", "wire/", "world/")) as executed:
            send_command()
        source.detach()
        assert sim.vehicles.inspect("red")["command"]["throttle"] == 0.5
    way = "A command from the browser to the tick and back"
    table, helpers = files_of_way(way), helpers_of_way(way)
    assert sorted(executed - {*table, *helpers}) == []
    simulated = re.findall(r"^\| (?:both|simulation) \| `(.*?)`", section_of(way), re.MULTILINE)
    called = helpers_of_way(way, "in the simulation") + helpers_of_way(way, "in the tick")
    assert {*simulated, *called} <= executed  # no other files are listed


@pytest.mark.parametrize("page", [p for p in WRITTEN if blocks(p, "yaml")], ids=lambda page: page.stem)
def test_scenarios_can_be_built_and_missions_do_all_tasks(page: Path, tmp_path: Path) -> None:
    """A block without vehicles or mission is a part of a scenario."""
    for text in blocks(page, "yaml"):
        whole = text if {"vehicles", "mission"} & yaml.safe_load(text).keys() else f"vehicles: []\n{text}"
        scenario = load_scenario(whole)
        assert build_problems(scenario) == []
        if scenario.mission is not None:
            (tmp_path / "mission.yaml").write_text(whole, encoding="utf-8")
            assert plan(str(tmp_path / "mission.yaml"), options=PlanOptions(no_files=True, strict=True)) == 0


@pytest.mark.parametrize("page", [p for p in WRITTEN if blocks(p, "python")], ids=lambda page: page.stem)
def test_python_blocks_run(page: Path, tmp_path: Path, run_program: Callable[..., tuple[int, str, str]]) -> None:
    """The blocks of a page, in order, are one program; one that begins with a file's name writes that file there.

    Where a page walks through an example, the blocks up to the first that imports paddock quote it.
    """
    program: list[str] = []
    started = False
    example = QUOTED.get(page.stem)
    quoted = (ROOT / "examples" / example).read_text(encoding="utf-8") if example else ""
    for language, text in BLOCK.findall(page.read_text(encoding="utf-8")):
        if language not in ("yaml", "python"):
            continue
        if named := FILE.match(text):
            program.append(f"__import__('pathlib').Path({named[1]!r}).write_text({text.removeprefix(named[0])!r})")
        elif language == "python" and example and not started and "import paddock" not in text:
            assert text in quoted
        elif language == "python":
            program.append(text)
            started = True
    (tmp_path / "program.py").write_text("\n".join(program), encoding="utf-8")
    code, _, err = run_program(tmp_path / "program.py", tmp_path, ROOT / "examples")
    assert (code, err) == (0, "")
