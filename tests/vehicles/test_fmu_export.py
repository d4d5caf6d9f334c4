"""Exported models in FMPy, an independent implementation of FMI, against runs of the simulator."""

import zipfile
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

import paddock
from paddock.cli.main import exit_code
from paddock.compute.c_source import CSource
from paddock.errors import PaddockError
from paddock.vehicles.fmu.export import export_fmu, unit_exponents
from paddock.vehicles.fmu.imported import _callbacks, _messages
from paddock.vehicles.model import Placement, find_model
from paddock.world.columns import Environment, defaults_of

fmpy = pytest.importorskip("fmpy")
from fmpy.fmi1 import FMICallException  # noqa: E402
from fmpy.fmi2 import FMU2Slave  # noqa: E402
from fmpy.validation import validate_fmu  # noqa: E402

RATE = 100
POSE = ("x", "y", "z", "qx", "qy", "qz", "qw", "vx", "vy", "vz", "wx", "wy", "wz")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("fmus")


def exported(folder: Path, model: str, fmi: int = 2) -> str:
    path = folder / f"{model}{fmi}.fmu"
    if not path.exists():
        assert exit_code(["export", "fmu", model, "--fmi", str(fmi), "--output", str(path)]) == 0
    return str(path)


def inputs(model: str, seconds: float) -> dict[str, np.ndarray]:
    """Inputs that change at every tick, up to full lock, full throttle and full brake."""
    t = np.arange(round(seconds * RATE)) / RATE
    if model.startswith("car"):
        return {
            "steer": 0.35 * np.sin(0.9 * t) * (t > 2),
            "throttle": np.clip(0.7 - 0.08 * t, 0.0, 1.0),
            "brake": np.where(t > 16, 0.8, 0.0),
        }
    if model == "quad":
        return {"vx": 3.0 * np.sin(t), "vy": 2.0 * np.cos(0.7 * t), "vz": 0.5 * np.sin(0.3 * t)}
    return {"aileron": 0.1 * np.sin(t), "elevator": 0.05 * np.cos(t), "throttle": 0.6 + 0.2 * np.sin(0.5 * t)}


def native(model: str, commands: dict[str, np.ndarray], height: float, speed: float) -> np.ndarray:
    entry = {"name": "one", "model": model, "pose": [4.0, -3.0, height, 0.4], "speed": speed}
    rows = []
    with paddock.load({"clock": {"rate": RATE}, "vehicles": [entry]}) as sim:
        for k in range(len(next(iter(commands.values())))):
            sim.command("one", **{name: float(values[k]) for name, values in commands.items()})
            sim.step(1)
            rows.append(sim.engine.programs["one"].pose_block(sim.tick)[:, 0].copy())
    return np.array(rows)


def simulated(path: str, commands: dict[str, np.ndarray], height: float, speed: float) -> np.ndarray:
    steps = len(next(iter(commands.values())))
    times = np.arange(steps) / RATE
    names = [f"command.{name}" for name in commands]
    table = np.array(
        list(zip(times, *commands.values(), strict=True)), dtype=[("time", float), *((name, float) for name in names)]
    )
    start = {"start.x": 4.0, "start.y": -3.0, "start.z": height, "start.yaw": 0.4, "start.speed": speed}
    description = fmpy.read_model_description(path)
    unpacked = fmpy.extract(path)
    instance = fmpy.instantiate_fmu(unpacked, description, "CoSimulation")
    references = {variable.name: variable.valueReference for variable in description.modelVariables}
    old = description.fmiVersion == "2.0"
    put, get = (instance.setReal, instance.getReal) if old else (instance.setFloat64, instance.getFloat64)
    put([references[name] for name in start], list(start.values()))
    if old:
        instance.setupExperiment(startTime=0.0)
    instance.enterInitializationMode()
    instance.exitInitializationMode()
    rows = []
    for k in range(steps):
        put([references[name] for name in names], [float(table[name][k]) for name in names])
        instance.doStep(currentCommunicationPoint=k / RATE, communicationStepSize=1.0 / RATE)
        rows.append(get([references[f"pose.{name}"] for name in POSE]))
    instance.terminate()
    instance.freeInstance()
    return np.array(rows)


@pytest.mark.parametrize(
    ("model", "fmi", "height", "speed"),
    [
        ("car.kinematic", 2, 0.0, 12.0),
        pytest.param("car.bicycle", 2, 0.0, 12.0, marks=pytest.mark.slow),
        pytest.param("car.bicycle", 3, 0.0, 12.0, marks=pytest.mark.slow),
        ("quad", 2, 20.0, 0.0),
        ("plane", 3, 80.0, 20.0),
    ],
)
def test_an_fmu_runs_like_the_model(folder: Path, model: str, fmi: int, height: float, speed: float) -> None:
    commands = inputs(model, 20.0)
    expected = native(model, commands, height, speed)
    outputs = simulated(exported(folder, model, fmi), commands, height, speed)
    assert np.abs(expected[-1, :2] - expected[0, :2]).max() > 1.0  # it has moved
    assert np.abs(outputs - expected).max() < 1e-9  # equal bits, on the processors where it was measured


def test_fmpys_own_simulation_gives_the_same_braking_distance(folder: Path) -> None:
    """From 20 m/s with 0.9 of the friction: about v^2 / (2 mu g), within the load sensitivity of the tyres."""
    result = fmpy.simulate_fmu(
        exported(folder, "car.bicycle"),
        start_values={"start.speed": 20.0, "command.brake": 1.0, "environment.mu": 0.5},
        stop_time=8.0,
        step_size=0.01,
        output=["pose.x", "state.vx", "report.ax"],
    )
    assert result["state.vx"][-1] == 0.0
    assert result["pose.x"][-1] == pytest.approx(20.0**2 / (2 * 0.5 * 9.80665), rel=0.12)


@pytest.mark.parametrize(
    ("model", "fmi"),
    [
        ("car.kinematic", 2),
        pytest.param("car.bicycle", 2, marks=pytest.mark.slow),
        pytest.param("car.bicycle", 3, marks=pytest.mark.slow),
        ("quad", 2),
        ("plane", 3),
    ],
)
def test_fmpy_finds_no_problem_in_the_description(folder: Path, model: str, fmi: int) -> None:
    assert validate_fmu(exported(folder, model, fmi)) == []


def test_variables_have_units_ranges_and_start_values(folder: Path) -> None:
    path = exported(folder, "car.bicycle")
    variables = {variable.name: variable for variable in fmpy.read_model_description(path).modelVariables}
    mass, steer, yaw_rate = variables["parameters.mass"], variables["command.steer"], variables["state.yaw_rate"]
    assert (mass.causality, mass.unit, float(mass.start), float(mass.min)) == ("parameter", "kg", 1500.0, 0.1)
    assert (steer.causality, steer.unit, float(steer.max)) == ("input", "rad", 1.5)
    assert (yaw_rate.causality, yaw_rate.unit, yaw_rate.start) == ("output", "rad/s", None)
    assert variables["report.ay"].causality == "local"


def test_units_reduce_to_si_base_units() -> None:
    assert unit_exponents("kg m2") == (1.0, {"kg": 1, "m": 2})
    assert unit_exponents("N m") == (1.0, {"kg": 1, "m": 2, "s": -2})
    assert unit_exponents("V") == (1.0, {"kg": 1, "m": 2, "s": -3, "A": -1})
    assert unit_exponents("mAh") == (3.6, {"A": 1, "s": 1})
    assert unit_exponents("furlong/s") is None


def test_the_archive_has_source_and_is_reproducible(folder: Path) -> None:
    path = exported(folder, "car.kinematic")
    with zipfile.ZipFile(path) as archive:
        assert {"modelDescription.xml", "sources/model.c"} <= set(archive.namelist())
        assert "binaries/linux64/car_kinematic.so" in archive.namelist()
        root = ElementTree.fromstring(archive.read("modelDescription.xml"))
        assert root.get("guid") in archive.read("sources/model.c").decode()
    again = folder / "again.fmu"
    assert exit_code(["export", "fmu", "car.kinematic", "--output", str(again)]) == 0
    assert again.read_bytes() == Path(path).read_bytes()


def opened(path: str) -> tuple[FMU2Slave, dict[str, int]]:
    description = fmpy.read_model_description(path)
    arguments = {"guid": description.guid, "modelIdentifier": description.coSimulation.modelIdentifier}
    instance = FMU2Slave(**arguments, unzipDirectory=fmpy.extract(path))
    instance.instantiate(callbacks=_callbacks())
    instance.setupExperiment(startTime=0.0)
    return instance, {variable.name: variable.valueReference for variable in description.modelVariables}


def test_a_saved_state_continues_with_the_same_bits(folder: Path) -> None:
    instance, at = opened(exported(folder, "car.bicycle"))
    instance.setReal([at["start.speed"], at["command.steer"]], [15.0, 0.1])
    instance.enterInitializationMode()
    instance.exitInitializationMode()
    instance.doStep(0.0, 0.5)
    state = instance.getFMUstate()
    blob = instance.serializeFMUstate(state)
    instance.doStep(0.5, 0.5)
    ahead = instance.getReal([at["pose.x"], at["pose.y"], at["state.yaw"]])
    instance.setFMUstate(instance.deSerializeFMUstate(blob))
    instance.doStep(0.5, 0.5)
    assert instance.getReal([at["pose.x"], at["pose.y"], at["state.yaw"]]) == ahead
    instance.reset()
    instance.setupExperiment(startTime=0.0)
    instance.enterInitializationMode()
    instance.exitInitializationMode()
    assert instance.getReal([at["pose.x"], at["state.vx"], at["parameters.mass"]]) == [0.0, 0.0, 1500.0]
    instance.freeInstance()


def test_values_out_of_range_and_wrong_calls_are_refused(folder: Path) -> None:
    instance, at = opened(exported(folder, "car.bicycle"))
    with pytest.raises(FMICallException, match=r"discard"):
        instance.setReal([at["parameters.mass"]], [-5.0])
    assert _messages[-1] == "parameters.mass must lie in 0.1 to 100000: -5"
    with pytest.raises(FMICallException, match=r"discard"):
        instance.setReal([at["command.steer"]], [float("nan")])
    with pytest.raises(FMICallException, match=r"error"):
        instance.setReal([at["state.x"]], [1.0])
    with pytest.raises(FMICallException, match=r"error"):
        instance.doStep(0.0, 0.01)  # before the initialization
    with pytest.raises(FMICallException, match=r"error"):
        instance.getReal([100_000])
    instance.enterInitializationMode()
    instance.exitInitializationMode()
    with pytest.raises(FMICallException, match=r"error"):
        instance.setReal([at["start.x"]], [1.0])
    with pytest.raises(FMICallException, match=r"error"):
        instance.doStep(0.0, -1.0)
    instance.freeInstance()


def test_mistakes_of_the_command_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def message(*arguments: str) -> str:
        assert exit_code(["export", "fmu", *arguments]) == 2
        return capsys.readouterr().err

    monkeypatch.chdir(tmp_path)
    assert "did you mean 'sedan'" in message("sedn")
    assert "unknown preset 'mcro' of quad; did you mean 'micro'" in message("quad", "--preset", "mcro")
    assert "folder no does not exist" in message("quad", "--output", "no/x.fmu")
    assert "--fmi is 2 or 3, not 1" in message("quad", "--fmi", "1")
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("CC", "mycc")
    assert "there is no C compiler (mycc, cc, gcc, clang)" in message("quad")
    assert list(tmp_path.iterdir()) == []


def branching(x: float) -> float:
    if x > 0.0:
        return x
    return -x


def reading(x: float) -> float:
    return unknown_thing(x)  # type: ignore[name-defined]  # noqa: F821


def test_what_has_no_c_is_named_with_its_line(tmp_path: Path) -> None:
    with pytest.raises(PaddockError, match=r"test_fmu_export.py:\d+: cannot be written as C: if statement"):
        CSource().add(branching, "double")
    with pytest.raises(PaddockError, match="unknown name 'unknown_thing'"):
        CSource().add(reading, "double")
    model = find_model("point")
    with pytest.raises(PaddockError, match="FMI version 1"):
        export_fmu(model, defaults_of(model.parameters), tmp_path / "x.fmu", fmi=1)


def test_the_first_outputs_are_those_of_place(folder: Path) -> None:
    instance, at = opened(exported(folder, "car.bicycle"))
    instance.setReal([at["start.x"], at["start.yaw"], at["start.speed"]], [7.0, 0.5, 9.0])
    instance.enterInitializationMode()
    model = find_model("car.bicycle")
    state = model.place(Placement(7.0, 0.0, 0.0, 0.5, 9.0), model.parameters(), Environment())
    names = [f"state.{name}" for name in state._fields]
    assert instance.getReal([at[name] for name in names]) == list(state)
    instance.freeInstance()
