"""FMUs as vehicles: beside the native model, with other names and abilities, and with mistakes.

FMUs of other shapes are made of exported ones by rewriting their descriptions, as FMPy shows them to any importer.
"""

import shutil
import subprocess
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

import paddock
from paddock import record
from paddock.cli.main import exit_code
from paddock.errors import PaddockError
from paddock.plugins import installed_only
from paddock.scenario import Scenario, load_scenario
from paddock.scenario.serve import ClientLimits
from paddock.serve.protection.trust import (
    foreign_names,
    installed_names,
    known_names,
    refuse_foreign,
    refuse_foreign_state,
)
from paddock.vehicles.fmu.imported import FmuInstance
from paddock.world.archive import pack, unpack

pytest.importorskip("fmpy")

Root = ElementTree.Element
INPUTS = {"steer": 0.12, "throttle": 0.4}


@pytest.fixture(scope="module")
def car(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("fmus") / "car.fmu"
    assert exit_code(["export", "fmu", "car.bicycle", "--output", str(path)]) == 0
    return path


def rewritten(
    source: Path, target: Path, change: Callable[[Root], None], leave_out: Callable[[str], bool] = lambda name: False
) -> Path:
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(target, "w") as new:
        for name in old.namelist():
            content = old.read(name)
            if name == "modelDescription.xml":
                root = ElementTree.fromstring(content)
                change(root)
                content = ElementTree.tostring(root)
            if not leave_out(name):
                new.writestr(name, content)
    return target


def variables(root: Root) -> Any:
    return root.find("ModelVariables")


def foreign(root: Root) -> None:
    """Other names, no parameters for the start, no saving of the state, no limits of the inputs."""
    simulation = root.find("CoSimulation")
    assert simulation is not None
    for ability in ("canGetAndSetFMUstate", "canSerializeFMUstate"):
        del simulation.attrib[ability]
    names = {"pose.x": "body.east", "pose.y": "body.north", "state.yaw": "body.heading", "command.steer": "wheel[1]"}
    for variable in list(variables(root)):
        name = variable.get("name")
        variable.set("name", names.get(name, name.replace("pose.", "hidden.").replace("start.", "initial.")))
        if name.startswith("command."):
            variable[0].attrib.pop("max", None)


def entry(file: Path, **more: Any) -> dict[str, Any]:
    return {"name": "guest", "model": "fmu", "fmu": {"file": str(file), "kind": "car"}, **more}


def scenario(*entries: dict[str, Any], rate: int = 100, **more: Any) -> dict[str, Any]:
    return {"clock": {"rate": rate}, "vehicles": list(entries), **more}


def poses(sim: Any, name: str) -> np.ndarray:
    return np.array(sim.engine.programs[name].pose_block(sim.tick)[:, 0])


def test_an_exported_car_drives_beside_the_native_one_with_equal_poses(car: Path) -> None:
    start = {"pose": [5.0, 2.0, 0.4], "speed": 14.0, "parameters": {"mass": 1620.0}}
    native = {"name": "native", "model": "car.bicycle", **start}
    with paddock.load(scenario(native, entry(car, **start), world={"mu": 0.7, "wind": [4.0, 1.0, 0.0]})) as sim:
        worst = 0.0
        for k in range(1000):
            commands = {"steer": 0.3 * float(np.sin(0.02 * k)), "throttle": 0.5, "brake": 0.6 if k > 800 else 0.0}
            for name in ("native", "guest"):
                sim.command(name, **commands)
            sim.step(2)
            worst = max(worst, float(np.abs(poses(sim, "native") - poses(sim, "guest")).max()))
        assert worst < 1e-9
        snap = sim.snapshot()
        assert snap["guest"].position[0] != 5.0
        assert snap["guest"]["state_wheel_speed"] == pytest.approx(snap["native"]["wheel_speed"], abs=1e-9)
        assert snap["guest"]["command.steer"] == snap["native"]["command.steer"]


def test_commands_have_the_ranges_of_the_inputs(car: Path) -> None:
    with paddock.load(scenario(entry(car))) as sim:
        sim.command("guest", steer=2.0)
        sim.step(1)
        assert sim.vehicles.inspect("guest")["command"]["steer"] == 1.5
        with pytest.raises(PaddockError, match="did you mean 'throttle'"):
            sim.command("guest", throtle=0.1)


def test_restoring_and_resetting_repeat_the_run(car: Path) -> None:
    with paddock.load(scenario(entry(car, speed=10.0, commands=INPUTS))) as sim:
        first = sim.state_hash()
        sim.step(150)
        saved = sim.save()
        sim.step(150)
        after, ahead = sim.state_hash(), poses(sim, "guest")
        sim.restore(saved)
        sim.step(150)
        assert (poses(sim, "guest") == ahead).all() and sim.state_hash() == after
        sim.reset()
        assert sim.state_hash() == first
        sim.step(300)
        assert (poses(sim, "guest") == ahead).all()


def once_per_process(root: Root) -> None:
    simulation = root.find("CoSimulation")
    assert simulation is not None
    simulation.set("canBeInstantiatedOnlyOncePerProcess", "true")


def test_an_fmu_that_runs_once_per_process_is_stopped_before_the_next_one_starts(
    car: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where a state is refused: the FMU then continues where it was."""
    single, running, most = rewritten(car, tmp_path / "single.fmu", once_per_process), set[int](), list[int]()
    begin, close = FmuInstance.begin, FmuInstance.close

    def begun(self: FmuInstance, *arguments: Any) -> None:
        running.add(id(self))
        most.append(len(running))
        begin(self, *arguments)

    def closed(self: FmuInstance) -> None:
        running.discard(id(self))
        close(self)

    monkeypatch.setattr(FmuInstance, "begin", begun)
    monkeypatch.setattr(FmuInstance, "close", closed)
    with paddock.load(scenario(entry(single))) as sim, paddock.load(scenario(entry(car))) as other:
        running.difference_update([id(other.engine.world.fleets["guest"].fmu.running[0].instance)])
        most.clear()
        for run in (sim, other):
            run.command("guest", **INPUTS)
            run.step(50)
        saved, own = sim.save(), set(running)
        tree = unpack(saved)
        tree["fleets"]["guest"]["tables"]["state"][0] = np.nan
        with pytest.raises(PaddockError, match=r"fleets.*guest.*state"):
            sim.restore(pack(tree))
        assert own.isdisjoint(running)
        for run in (sim, other):
            run.step(50)
        assert np.array_equal(poses(sim, "guest"), poses(other, "guest"))
        sim.restore(saved)
        sim.step(50)
        assert np.array_equal(poses(sim, "guest"), poses(other, "guest"))
        sim.reset()
        assert set(most) == {1}


def test_a_fleet_of_fmus_has_one_instance_each_and_members_can_be_removed(car: Path) -> None:
    fleet = {"count": 3, "spawn": {"line": {"start": [0, 0, 0], "end": [0, 20, 0], "heading": 0.0}}, "speed": 10.0}
    with paddock.load(scenario(entry(car, **fleet))) as sim:
        sim.command("guest", throttle=np.array([0.0, 0.5, 1.0]))
        sim.step(100)
        x = sim.snapshot().fleet("guest").position[:, 0]
        assert x[0] < x[1] < x[2]
        sim.remove("guest[0]")
        sim.step(100)
        y = sim.snapshot().fleet("guest").position[:, 1]
        assert y == pytest.approx([10.0, 20.0], abs=1e-6)
        sim.spawn(fleet="guest", spawn={"line": {"start": [0, 40, 0], "end": [0, 40, 0], "heading": 0.0}}, count=1)
        sim.step(10)
        assert sim.snapshot().fleet("guest").position[2] == pytest.approx([0.0, 40.0, 0.0], abs=1e-6)


def test_outputs_without_a_start_are_relative_to_the_pose_and_velocities_are_differences(
    car: Path, tmp_path: Path
) -> None:
    file = rewritten(car, tmp_path / "foreign.fmu", foreign)
    mapping = {
        "file": str(file),
        "inputs": {"wheel": "wheel[1]", "pedal": "command.throttle"},
        "outputs": {"x": "body.east", "y": "body.north", "yaw": "body.heading"},
        "telemetry": ["state.vx"],
    }
    guest = {"name": "guest", "model": "fmu", "fmu": mapping, "pose": [10.0, -4.0, 0.7], "parameters": {
        "initial.speed": 8.0}}  # fmt: skip
    own = {"name": "own", "model": "car.bicycle", "speed": 8.0}
    with paddock.load(scenario(guest, own)) as sim:
        sim.command("guest", wheel=0.1, pedal=0.3)
        sim.command("own", steer=0.1, throttle=0.3)
        sim.step(300)
        local, turned = poses(sim, "own"), poses(sim, "guest")
        cosine, sine = np.cos(0.7), np.sin(0.7)
        assert turned[0] == pytest.approx(10.0 + cosine * local[0] - sine * local[1], abs=1e-9)
        assert turned[1] == pytest.approx(-4.0 + sine * local[0] + cosine * local[1], abs=1e-9)
        assert turned[7] == pytest.approx(cosine * local[7] - sine * local[8], abs=0.05)  # over one tick of 10 ms
        assert turned[12] == pytest.approx(local[12], abs=0.01)
        assert sim.snapshot()["guest"]["state_vx"] == pytest.approx(
            sim.vehicles.inspect("own")["state"]["vx"], abs=1e-9
        )
        with pytest.raises(PaddockError, match=r"'guest' cannot be saved: FMU foreign.fmu has no canSerializeFMUstate"):
            sim.save()
        assert sim.state_hash()


def test_an_fmu_that_fails_ends_the_run_or_is_removed_and_is_named(car: Path, tmp_path: Path) -> None:
    def unlimited(root: Root) -> None:
        for variable in variables(root):
            variable[0].attrib.pop("max", None)

    file = rewritten(car, tmp_path / "unlimited.fmu", unlimited)
    with paddock.load(scenario(entry(file))) as sim:
        sim.step(3)
        sim.command("guest", steer=9.0)
        with pytest.raises(
            PaddockError, match=r"'guest' failed at tick 4: FMU unlimited.fmu: fmi2SetReal .*steer must"
        ):
            sim.step(10)
        assert sim.tick == 4
        assert [event.kind for event in sim.events.since() if event.subject == "guest"] == ["fmu_failed"]
    other = {"name": "own", "model": "point"}
    with paddock.load(scenario(entry(file), other, on_nan="remove")) as sim:
        sim.command("guest", steer=9.0)
        sim.step(10)
        assert sim.tick == 10 and list(sim.engine.programs) == ["own"]


FIXED, DISCRETE = 'causality="parameter" variability="fixed"', 'causality="input" variability="discrete"'
NUMBERS = [
    ("h", 0, 'causality="output" initial="exact"', 'Real start="1" unit="m"'),
    ("v", 1, 'causality="output" initial="exact"', 'Real start="0" unit="m/s"'),
    ("east", 2, 'causality="output"', "Real"),
    ("north", 6, 'causality="output"', "Real"),
    ("g", 3, FIXED, 'Real start="9.81"'),
    ("e", 4, FIXED, 'Real start="0.7"'),
    ("push", 5, 'causality="input"', 'Real start="0"'),
    ("gear", 0, DISCRETE, 'Integer start="1"'),
    ("stuck", 0, DISCRETE, 'Boolean start="false"'),
]
BALL = """<fmiModelDescription fmiVersion="2.0" modelName="Ball" guid="ball"><CoSimulation modelIdentifier="ball"/>
<ModelVariables>{}</ModelVariables><ModelStructure/></fmiModelDescription>
""".format(
    "".join(
        f'<ScalarVariable name="{name}" valueReference="{reference}" {about}><{kind}/></ScalarVariable>'
        for name, reference, about, kind in NUMBERS
    )
)


@pytest.fixture(scope="module")
def ball(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An FMU that Paddock has not written."""
    folder = tmp_path_factory.mktemp("ball")
    source = Path(__file__).parents[1] / "support" / "ball.c"
    subprocess.run(["cc", "-shared", "-fPIC", str(source), "-o", str(folder / "ball.so"), "-lm"], check=True)
    with zipfile.ZipFile(folder / "ball.fmu", "w") as archive:
        archive.writestr("modelDescription.xml", BALL)
        archive.write(folder / "ball.so", "binaries/linux64/ball.so")
    return folder / "ball.fmu"


def test_a_bouncing_ball_written_by_hand_follows_its_analytic_path(ball: Path) -> None:
    outputs = {"x": "east", "y": "north", "z": "h"}
    vehicle = {"name": "ball", "model": "fmu", "fmu": {"file": str(ball), "outputs": outputs}}
    vehicle |= {"pose": [3.0, 1.0, 0.0, 0.5], "parameters": {"g": 10.0, "e": 0.5, "h": 5.0}, "commands": {"push": 2.0}}
    with paddock.load(scenario(vehicle)) as sim:
        assert sim.snapshot()["ball"].position[2] == 5.0
        sim.step(50)  # 0.5 s: g t^2 / 2 = 1.25 m lower
        assert sim.snapshot()["ball"].position[2] == pytest.approx(5.0 - 1.25, abs=1e-12)
        assert poses(sim, "ball")[9] == pytest.approx(-5.0, abs=0.06)  # difference over a tick of 10 ms
        sim.step(100)  # it bounces after 1 s with 10 m/s, rises with half of that, and is at the top at 1.5 s
        assert sim.snapshot()["ball"].position[2] == pytest.approx(5.0 * 0.5**2, abs=1e-12)
        assert sim.snapshot()["ball"]["v"] == pytest.approx(0.0, abs=1e-12)
        assert sim.snapshot()["ball"].position[:2] == pytest.approx(
            [3.0 + 3.0 * np.cos(0.5), 1.0 + 3.0 * np.sin(0.5)], abs=1e-12
        )
        sim.command("ball", stuck=1, gear=-2)
        sim.step(10)
        assert sim.snapshot()["ball"].position[2] == pytest.approx(1.25, abs=1e-12)
        sim.command("ball", stuck=0)
        sim.step(10)
        assert sim.vehicles.inspect("ball")["state"]["x"] == pytest.approx(3.0 + (3.0 - 0.4) * np.cos(0.5), abs=1e-12)
        sim.command("ball", gear=4)
        with pytest.raises(PaddockError, match=r"'ball' failed at tick 171: FMU ball.fmu: .*gear 4 does not exist"):
            sim.step(1)


def test_a_bouncing_ball_agrees_with_the_results_of_the_reference_fmu(ball: Path) -> None:
    """BouncingBall of the FMI project's Reference FMUs: 1 m, 9.81 m/s2, 0.7; its published heights and speeds."""
    outputs = {"x": "east", "y": "north", "z": "h"}
    published = {
        0.1: (0.950944, -0.981),
        0.5: (0.138778, 2.62503),
        1.0: (0.225043, -2.27997),
        1.5: (0.0533682, -1.91398),
    }
    with paddock.load(scenario({"name": "b", "model": "fmu", "fmu": {"file": str(ball), "outputs": outputs}})) as sim:
        for time, (height, speed) in published.items():
            sim.run(until=time, pace=0)
            assert sim.snapshot()["b"].position[2] == pytest.approx(height, abs=1e-4)
            assert sim.snapshot()["b"]["v"] == pytest.approx(speed, abs=1e-4)


def problem(file: Path | str, mapping: dict[str, Any] | None = None, **more: Any) -> str:
    entry = {"name": "guest", "model": "fmu", "fmu": {"file": str(file), **(mapping or {})}, **more}
    with pytest.raises(PaddockError) as caught, paddock.load(scenario(entry)):
        pass
    text = str(caught.value)
    assert "\n" not in text and "Traceback" not in text
    return text


def test_mistakes_are_reported_at_load(car: Path, tmp_path: Path) -> None:
    def exchange_only(root: Root) -> None:
        simulation = root.find("CoSimulation")
        assert simulation is not None
        simulation.tag = "ModelExchange"

    text = tmp_path / "text.fmu"
    text.write_text("not an archive")
    archive = shutil.copy(car, tmp_path / "empty.fmu")
    with zipfile.ZipFile(archive, "w") as empty:
        empty.writestr("readme.txt", "nothing")
    exchange = rewritten(car, tmp_path / "exchange.fmu", exchange_only)
    bare = rewritten(car, tmp_path / "bare.fmu", lambda root: None, lambda name: name.endswith(".so"))
    old = rewritten(car, tmp_path / "old.fmu", lambda root: root.set("guid", "{another}"))
    assert "vehicles[0].fmu: cannot read the FMU" in problem(tmp_path / "none.fmu")
    assert "is not an FMU: it is no ZIP archive" in problem(text)
    assert "is not a valid FMU" in problem(archive)
    assert "is an FMU for model exchange only" in problem(exchange)
    assert "has no binary for this platform, binaries/linux64/car_bicycle.so; it has: c-code" in problem(bare)
    assert "FMU old.fmu: Failed to instantiate model the GUID is another one" in problem(old)
    assert "unknown input 'command.ster' of car.fmu; did you mean 'command.steer'" in problem(
        car, {"inputs": {"steer": "command.ster"}}
    )
    assert "did you mean 'pose.x'" in problem(car, {"outputs": {"x": "pos.x", "y": "pose.y"}})
    assert "did you mean 'yaw'" in problem(car, {"outputs": {"x": "pose.x", "y": "pose.y", "jaw": "state.yaw"}})
    assert "outputs: name the variable of car.fmu that is y" in problem(car, {"outputs": {"x": "pose.x"}})
    assert "qx, qy, qz, qw belong together: qy is missing" in problem(
        car, {"outputs": {"x": "pose.x", "y": "pose.y", "qx": "pose.qx"}}
    )
    assert "did you mean 'parameters.mass'" in problem(car, parameters={"parameters.mas": 1.0})
    assert "must lie in 0.1 to 100000 kg" in problem(car, parameters={"mass": -1.0})
    assert "name of a command has letters, digits and _, not 'a b'" in problem(car, {"inputs": {"a b": "command.gear"}})
    assert "kind" in problem(car, {"kind": "tank"})
    assert "no behaviour can drive an FMU" in problem(car, behaviour="hold")
    with pytest.raises(PaddockError, match="model: fmu and the section fmu belong together"):
        load_scenario(scenario({"name": "guest", "model": "fmu"}))
    with pytest.raises(PaddockError, match="model: fmu and the section fmu belong together"):
        load_scenario(scenario({"name": "guest", "model": "quad", "fmu": {"file": "x.fmu"}}))


def test_an_fmu_cannot_be_placed_or_driven_by_a_behaviour(car: Path) -> None:
    with paddock.load(scenario(entry(car))) as sim:
        with pytest.raises(PaddockError, match="'guest' is moved by an FMU: it cannot be placed"):
            sim.vehicles.place("guest", [0.0, 0.0, 0.0, 0.0])
        with pytest.raises(PaddockError, match="'guest' is an FMU, which no behaviour can drive"):
            sim.behaviours.override("guest", "hold")


def test_an_fmu_takes_no_part_in_missions(car: Path) -> None:
    mission = {"base": [0, 0, 0], "tasks": [{"point": {"at": [100, 100]}}]}
    with pytest.raises(PaddockError, match=r"vehicles\[0\]: 'guest' cannot take part in missions"):
        paddock.load(scenario(entry(car), mission=mission))


def test_a_relative_path_begins_beside_the_scenario(car: Path, tmp_path: Path) -> None:
    shutil.copy(car, tmp_path / "beside.fmu")
    (tmp_path / "run.yaml").write_text("vehicles: [{name: guest, model: fmu, fmu: {file: beside.fmu}, speed: 3}]\n")
    with paddock.load(str(tmp_path / "run.yaml")) as sim:
        sim.step(10)
        assert poses(sim, "guest")[7] == pytest.approx(3.0, abs=0.05)  # the engine brakes a little


def test_clients_may_use_only_the_fmus_of_the_servers_scenario(car: Path, tmp_path: Path) -> None:
    def read(file: str) -> Scenario:
        return load_scenario(scenario({"name": "guest", "model": "fmu", "fmu": {"file": file}}))

    assert "unknown model 'fmu'" in foreign_names(read("x.fmu"), installed_names())[0]
    with paddock.load(scenario(entry(car))) as sim:
        assert foreign_names(read(str(car)), known_names(sim)) == []
        assert "unknown FMU '/tmp/evil.fmu'" in foreign_names(read("/tmp/evil.fmu"), known_names(sim))[0]
        refuse_foreign(sim, entry(car))
        with pytest.raises(PaddockError, match=r"vehicles\[0\].fmu.file: unknown FMU '/tmp/evil.fmu'"):
            refuse_foreign(sim, entry(Path("/tmp/evil.fmu")))
        with pytest.raises(PaddockError, match="clients cannot restore a state of FMUs"):
            refuse_foreign_state(sim, sim.save(), ClientLimits())
    with installed_only(), pytest.raises(PaddockError, match="is native code of another file"):
        paddock.load(scenario(entry(car)))


def test_fmpy_is_named_where_it_is_missing(car: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    copy = Path(shutil.copy(car, tmp_path / "copy.fmu"))
    monkeypatch.setitem(__import__("sys").modules, "fmpy", None)
    assert "vehicles of model fmu need FMPy: pip install 'paddock[fmi]'" in problem(copy)


def test_a_recording_verifies_where_native_code_is_allowed(car: Path, tmp_path: Path) -> None:
    with (
        paddock.load(scenario(entry(car, speed=9.0))) as sim,
        record.Recorder(sim, str(tmp_path / "run.mcap"), rate=20),
    ):
        sim.command("guest", **INPUTS)
        sim.step(120)
    with pytest.raises(PaddockError, match="is native code of another file"):
        record.verify(str(tmp_path / "run.mcap"))
    result = record.verify(str(tmp_path / "run.mcap"), allow_imports=True)
    assert result.same and result.hashes > 1
