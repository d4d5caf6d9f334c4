"""Tyre property files in scenarios: found beside the file, kept in recordings, refused from clients."""

from math import atan, sin
from pathlib import Path
from typing import Any

import pytest

import paddock
from paddock.errors import PaddockError
from paddock.record import Recorder
from paddock.scenario import ScenarioError, load_preset, load_scenario
from paddock.scenario.loading import scenario_from_text
from paddock.serve.protection.trust import refuse_foreign
from paddock.vehicles.model import PartFile, Placement, find_model
from paddock.vehicles.parts.car import Command
from paddock.world.columns import Environment

TEXT = (Path(__file__).parents[1] / "support" / "tyres" / "touring_61.tir").read_text()
SCENARIO = """\
vehicles:
  - name: red
    model: car.bicycle
    pose: [0, 0, 0]
    speed: 15
    subsystems: {tyre: touring.tir}
    commands: {steer: 0.01, throttle: 0.1}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "touring.tir").write_text(TEXT)
    (tmp_path / "s.yaml").write_text(SCENARIO)
    return tmp_path


def test_a_file_is_found_beside_its_scenario_and_travels_with_it(folder: Path) -> None:
    scenario = load_scenario(folder / "s.yaml")
    assert scenario.vehicles[0].subsystems["tyre"].text == TEXT
    (folder / "touring.tir").unlink()
    assert scenario_from_text(scenario.to_yaml(), files=False) == scenario
    with paddock.load(scenario) as sim:
        assert sim.engine.programs["red"].model.fixed_parameters["tyre_load"] == 4000.0
    with pytest.raises(ScenarioError, match=r"s.yaml:6:24: cannot read .*touring.tir: No such file"):
        load_scenario(folder / "s.yaml")


def test_errors_name_the_scenario_and_the_line_of_the_tyre(folder: Path) -> None:
    (folder / "touring.tir").write_text(TEXT.replace("PDX1 = ", "PDX1 = x"))
    line = 1 + next(k for k, text in enumerate(TEXT.splitlines()) if text.startswith("PDX1"))
    problem = rf"s.yaml:6:24: touring.tir:{line}: \[LONGITUDINAL_COEFFICIENTS\] PDX1 must be a number"
    with pytest.raises(PaddockError, match=problem):
        paddock.load(folder / "s.yaml")
    (folder / "touring.tir").write_bytes(b"\xff" * 300_000)
    with pytest.raises(ScenarioError, match="it has more than 256 KiB, the most that are read"):
        load_scenario(folder / "s.yaml")
    entry = {"name": "red", "model": "car.bicycle"}
    with pytest.raises(
        PaddockError, match=r"subsystems.brake: brake of car.bicycle cannot be read from a file.*: tyre"
    ):
        paddock.load({"vehicles": [{**entry, "subsystems": {"brake": {"file": "a.tir", "text": TEXT}}}]})
    with pytest.raises(ScenarioError, match="a subsystem is a name, a dotted path or a file, not 3"):
        paddock.load({"vehicles": [{**entry, "subsystems": {"tyre": 3}}]})


def test_clients_send_texts_not_paths_or_modules(folder: Path) -> None:
    with pytest.raises(ScenarioError, match="files are not read here"):
        scenario_from_text(SCENARIO, files=False)
    with paddock.load({"vehicles": []}) as sim:
        entry = {"name": "blue", "model": "car.bicycle"}
        refuse_foreign(sim, {**entry, "subsystems": {"tyre": {"file": "touring.tir", "text": TEXT}}})
        refuse_foreign(sim, {**entry, "subsystems": {"tyre": "brush"}})
        choices: tuple[tuple[Any, str], ...] = (
            (str(folder / "touring.tir"), "files are not read here"),
            ("os.path.join", "unknown subsystem 'os.path.join'"),
            ({"function": "os.path.join", "parameters": {"a": 1.0}}, "unknown subsystem 'os.path.join'"),
        )
        for choice, problem in choices:
            with pytest.raises(PaddockError, match=problem):
                refuse_foreign(sim, {**entry, "subsystems": {"tyre": choice}})


@pytest.mark.slow
def test_runs_with_a_file_are_saved_restored_and_replayed(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    scenario = load_scenario(folder / "s.yaml")
    with paddock.load(scenario) as sim, Recorder(sim, folder / "run.mcap"):
        sim.step(50)
        sim.spawn(name="blue", model="car.bicycle", pose=[0, 5, 0], speed=10.0, subsystems={"tyre": "touring.tir"})
        state = sim.save()
        sim.step(50)
        end = sim.state_hash()
    (folder / "touring.tir").unlink()
    with paddock.load(scenario) as sim:
        sim.restore(state)
        sim.step(50)
        assert sim.state_hash() == end
    from paddock.cli.main import exit_code

    assert exit_code(["replay", str(folder / "run.mcap"), "--verify"]) == 0


@pytest.mark.parametrize("level", ["car.bicycle", "car.double_track"])
def test_a_steady_turn_has_the_understeer_of_the_files_cornering_stiffness(level: str) -> None:
    """Per wheel C = PKY1 Fz0 sin(PKY4 atan(Fz / (PKY2 Fz0))) (Pacejka, 4.E25), then the linear single track.

    Yaw rate = v steer / (L + K v^2) with K = m (b / (L Cf) - a / (L Cr)); in plain Python.
    """
    model = find_model(level).fitted({"tyre": PartFile("touring.tir", TEXT)})
    values = {**load_preset(level, "sedan"), **model.fixed_parameters, "lift_front": 0.0, "lift_rear": 0.0}
    p, w, steer = model.parameters(**{**values, "ackermann": 0.0, "engine_brake": 0.0}), Environment(), 0.004
    state = model.place(Placement(0.0, 0.0, 0.0, 0.0, 20.0), p, w)
    for _ in range(750):
        state = model.step(state, Command(steer=steer), p, w, 2e-3)
    a, b, base = p.cg_to_front, p.cg_to_rear, p.cg_to_front + p.cg_to_rear
    loads = [0.5 * p.mass * w.gravity * arm / base for arm in (b, a)]
    front, rear = (2.0 * 15.324 * 4000.0 * sin(2.0 * atan(load / (1.715 * 4000.0))) for load in loads)
    gradient = p.mass * (b / (base * front) - a / (base * rear))
    assert state.yaw_rate == pytest.approx(state.vx * steer / (base + gradient * state.vx**2), rel=0.02)
    default = find_model(level).parameters(**load_preset(level, "sedan"))
    assert abs(front / 2.0 / loads[0] / (default.tyre_b_lat * default.tyre_c_lat) - 1.0) > 0.05  # not the default tyre
