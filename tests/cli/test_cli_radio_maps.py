"""`paddock radio fit`, `query` and `coverage` of a map."""

import json
from pathlib import Path

import numpy as np
import pytest
import yaml

from paddock.cli.main import exit_code

MAST = np.array([20.0, -10.0, 15.0])


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Samples of a transmitter in the open, -30 dBm at 1 m, exponent 2; and their map."""
    path = tmp_path_factory.mktemp("radio")
    position = np.random.default_rng(1).uniform((-80, -80, 0), (80, 80, 30), (120, 3))
    dbm = -30.0 - 10.0 * np.log10(((position - MAST) ** 2).sum(axis=1) + 1.0)
    rows = [f"{x:.6f},{y:.6f},{z:.6f},{p:.6f}" for (x, y, z), p in zip(position.tolist(), dbm.tolist(), strict=True)]
    (path / "walk.csv").write_text("\n".join(["x,y,z,dbm", *rows]))
    (path / "points.csv").write_text("x,y,z\n0,0,10\n1000,0,10\n")
    assert exit_code(["radio", "fit", str(path / "walk.csv"), "--folds", "2", "--out", str(path / "walk.npz")]) == 0
    return path


def test_fit_prints_the_error_and_the_transmitter(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = folder / "json.npz"
    arguments = [
        "radio",
        "fit",
        str(folder / "walk.csv"),
        "--out",
        str(out),
        "--frequency",
        "2.4e9",
        "--folds",
        "2",
        "--json",
    ]
    assert exit_code(arguments) == 0 and out.exists()
    tree = json.loads(capsys.readouterr().out)
    np.testing.assert_allclose(tree["transmitter"], MAST, atol=0.5)
    assert tree["samples"] == 120 and tree["held_out_error"] < 0.5 and not tree["transmitter_given"]
    assert tree["exponent"] == pytest.approx(2.0, abs=0.02)
    assert tree["eirp"] == pytest.approx(-30.0 + 40.05, abs=0.3)  # free space at 1 m and 2.4 GHz: 40.05 dB
    assert exit_code([*arguments[:5], "--transmitter", "-1,2,3", "--folds", "0"]) == 0
    text = capsys.readouterr().out
    assert "-1.0, 2.0, 3.0 m\n" in text and "held-out error  not computed" in text


def test_the_error_of_one_place_is_unknown(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without `--out` the map is written to the current folder, and its place is printed."""
    (folder / "same.csv").write_text("x,y,z,dbm\n" + "1,2,3,-50\n" * 30)
    monkeypatch.chdir(tmp_path)
    assert exit_code(["radio", "fit", str(folder / "same.csv")]) == 0
    text = capsys.readouterr().out
    assert "held-out error  unknown: samples at 1 place; a cross-validation needs 13" in text
    assert f"{tmp_path / 'same.npz'}\n" in text and (tmp_path / "same.npz").exists()
    assert exit_code(["radio", "fit", str(folder / "same.csv"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["held_out_error"] is None


def test_query_prints_values(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert (
        exit_code(["radio", "query", str(folder / "walk.npz"), "--points", str(folder / "points.csv"), "--json"]) == 0
    )
    near, far = (json.loads(line) for line in capsys.readouterr().out.splitlines())
    assert near["dbm"] == pytest.approx(-30.0 - 10.0 * np.log10(526.0), abs=0.5)
    assert far["dbm"] == pytest.approx(-30.0 - 20.0 * np.log10(980.0), abs=0.5)
    assert far["gradient"][0] == pytest.approx(-20.0 / np.log(10.0) / 980.0, rel=0.03)
    assert exit_code(["radio", "query", str(folder / "walk.npz"), "--at", "-5,0,10", "--at", "0,0,10"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 3


def test_coverage_is_the_area_of_a_circle(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("matplotlib")
    picture = folder / "cover.png"
    arguments = ["radio", "coverage", str(folder / "walk.npz"), "--height", "15", "--threshold", "-64"]
    assert exit_code([*arguments, "--area", "-80,-110,120,90", "--out", str(picture), "--json"]) == 0
    tree = json.loads(capsys.readouterr().out)
    radius = 10.0 ** ((64.0 - 30.0) / 20.0)  # where the path loss reaches the threshold
    assert tree["covered"] == pytest.approx(np.pi * radius**2 / 200.0**2, rel=0.05)
    assert picture.read_bytes().startswith(b"\x89PNG") and tree["most"] == pytest.approx(-30.0, abs=12.0)
    assert tree["picture"] == str(picture)


def test_coverage_has_a_height_by_default(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The median height of the samples of a map; pictures are in the current folder."""
    pytest.importorskip("matplotlib")
    monkeypatch.chdir(tmp_path)
    assert exit_code(["radio", "coverage", str(folder / "walk.npz")]) == 0
    heights = [float(line.split(",")[2]) for line in (folder / "walk.csv").read_text().splitlines()[1:]]
    median = f"{np.median(heights):.1f}".removesuffix(".0")
    assert f"{tmp_path / 'walk.png'}: received power at {median} m, " in capsys.readouterr().out
    assert (tmp_path / "walk.png").exists()


def test_points_need_no_power(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "poles.csv").write_text("x,y,z,power,rssi\n0,0,10,unknown,\n")
    assert exit_code(["radio", "query", str(folder / "walk.npz"), "--points", str(folder / "poles.csv"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["dbm"] == pytest.approx(-30.0 - 10.0 * np.log10(526.0), abs=0.5)


def test_weights_of_zero_name_the_file(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "zero.csv").write_text("x,y,z,dbm,weight\n" + "".join(f"{k},0,1,-50,0\n" for k in range(30)))
    assert exit_code(["radio", "fit", str(folder / "zero.csv")]) == 2
    assert (
        "zero.csv:31:1: a radio map needs at least 10 samples of weight > 0; the file has 0" in capsys.readouterr().err
    )


@pytest.mark.parametrize("after", ["-1", "nan"])
def test_a_link_after_an_impossible_time(after: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code(["radio", "link", "relay", "base", "rover", "--after", after]) == 2
    assert f"--after must be a number >= 0 in s, not {after}" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["fit", "missing.csv"], "missing.csv: no such file"),
        (
            ["fit", "{walk}.csv", "--transmitter", "1,2"],
            "--transmitter takes x,y,z in m, each within +-1e+07,",
        ),
        (["fit", "{walk}.csv", "--frequency", "-3"], "--frequency must be a number > 0 in Hz, not -3"),
        (["fit", "{walk}.csv", "--folds", "1"], "--folds must be 0 or within 2..50, not 1"),
        (["fit", "{walk}.csv", "--out", "map.txt"], "--out map.txt: a map is an .npz file"),
        (["query", "{walk}.npz"], "give the points with --at x,y,z or with --points FILE"),
        (["query", "{walk}.csv", "--at", "0,0,0"], "walk.csv: not a radio map (.npz): `paddock radio fit` makes a map"),
        (["coverage", "{walk}.csv", "--height", "5"], "coverage takes a map (.npz) or a scenario; `paddock radio fit`"),
        (["query", "{walk}.npz", "--at", "0,zero,0"], "--at takes x,y,z in m, each within +-1e+07, not '0,zero,0'"),
        (["query", "{walk}.npz", "--at", "1e300,0,0"], "--at takes x,y,z in m, each within +-1e+07, not '1e300,0,0'"),
        (["fit", "{folder}/folder.parquet"], "folder.parquet: cannot be read: it is a folder"),
        (["fit", "{folder}/folder.csv"], "folder.csv: cannot be read: it is a folder"),
        (["query", "{folder}/empty.npz", "--at", "0,0,0"], "empty.npz: not a radio map: the file is empty"),
        (["covrage", "x.npz"], "paddock radio: unknown verb or option 'covrage'; did you mean 'coverage'?"),
        (["coverage", "{walk}.npz", "--height", "nan"], "--height must be a number in m, at most 1e+07, not nan"),
        (["coverage", "{walk}.npz", "--height", "1e300"], "--height must be a number in m, at most 1e+07, not 1e+300"),
        (["coverage", "{walk}.npz", "--height", "1", "--area", "5,0,0,5"], "--area takes x0,y0,x1,y1 with x0 < x1"),
        (["coverage", "{walk}.npz", "--height", "1", "--out", "a.jpg"], "--out a.jpg: a picture is a .png file"),
    ],
)
def test_mistakes_are_one_line(
    folder: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    walk = str(folder / "walk")
    for name in ("folder.parquet", "folder.csv"):
        (folder / name).mkdir(exist_ok=True)
    (folder / "empty.npz").touch()
    filled = (text.replace("{walk}", walk).replace("{folder}", str(folder)) for text in arguments)
    assert exit_code(["radio", *filled]) == 2
    error = capsys.readouterr().err
    assert message in error and error.count("\n") == 1


TABLE = "azimuths_deg: [-180, 0, 180], elevations_deg: [-90, 90], gains: [[0, 1, 0], [0, 1, 0]]"


@pytest.mark.parametrize(
    ("wrong", "at", "message"),
    [
        ("bandwidth: -2.0e+6", "-2.0", "radio.types.t.bandwidth must be >= 1, not -2000000.0"),
        ("modulation: qpks", "qpks", "unknown modulation 'qpks'; did you mean 'qpsk'?"),
        ("frequency: 100", "100", "radio.types.t.frequency must be >= 1e+06, not 100"),
        ("antenna: {sector: {beamwidth_deg: -3}}", "-3", "radio.types.t.antenna.sector.beamwidth_deg must be > 0"),
        (TABLE.replace("[0, 1, 0]]", "[0, 1]]"), "[0, 1]]", "a row of gains has a value for each of its 3 azimuths"),
        (TABLE.replace("[-180, 0,", "[0, -180,"), "-180", "azimuths_deg must ascend: -180 follows 0"),
        (TABLE.replace("0, 180]", "0, 190]"), "190", "azimuths_deg must lie within 360 degrees, not -180 to 190"),
        (TABLE.replace("[-90, 90]", "[90, -90]"), "-90", "elevations_deg must ascend: -90 follows 90"),
        (TABLE.replace("[-90, 90]", "[-90, 91]"), "91", "elevations_deg are from -90 to 90, not 91"),
        (TABLE.replace("[-90, 90]", "[0]"), "[[0", "gains of a pattern have a row for each of its 1 elevations, not 2"),
        (TABLE.replace("[[0, 1", "[[0, .nan"), ".nan", "'.nan' is not a finite number"),
        ("fading: {rician: x}", "x", "fading 'rician' takes a number: {rician: 2}, not 'x'"),
        ("model: cost231_hata", "cost", "cost231_hata is valid from 1500 to 2000 MHz, not for the 2400 MHz of 'd'"),
    ],
)
def test_mistakes_of_scenarios_have_a_place(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], wrong: str, at: str, message: str
) -> None:
    kind = f"antenna: {{pattern: {{{wrong}}}}}" if wrong.startswith("azimuths") else wrong
    line = (
        f"  default: {{{wrong}}}"
        if wrong.startswith(("model", "fading"))
        else f"  types: {{default: {{}}, t: {{{kind}}}}}"
    )
    rest = ["  stations: [{name: base, position: [0, 0, 5]}]", "vehicles: [{name: d, model: quad, radio: default}]"]
    file = tmp_path / "wrong.yaml"
    file.write_text("\n".join(["radio:", line, *rest]))
    for command in (["link", str(file), "base", "d"], ["coverage", str(file), "--height", "5"]):
        assert exit_code(["radio", *command]) == 2
        error = capsys.readouterr().err
        assert f"wrong.yaml:2:{line.rindex(at) + 1}: {message}" in error and error.count("\n") == 1


SCENARIO = """
world: {obstacles: [{box: {center: [100, 0], size: [20, 60, 30]}, material: metal}]}
radio:
  types: {t: {frequency: 2.4e+9, bandwidth: 2.0e+6, power: 20, antenna: isotropic}}
  default: {model: free_space, obstacles: true, fading: rayleigh}
  stations: [{name: base, position: [0, 0, 10], radio: t}, {name: east, position: [500, 0, 10], radio: t}]
  jammers: [{name: red, kind: barrage, position: [-200, 0, 5], power: 20, frequency: 2.4e+9}]
vehicles: [{name: d, model: quad, pose: [0, 50, 5, 0], radio: t}]
"""


def test_coverage_of_a_scenario_is_that_of_its_stations() -> None:
    import paddock
    from paddock.radio.physics.signal import noise_dbm

    tree = yaml.safe_load(SCENARIO)
    places = np.array([[50.0, 0.0, 10.0], [0.0, -1000.0, 10.0], [480.0, 30.0, 10.0], [130.0, 0.0, 10.0]])

    def free(at: np.ndarray, station: tuple[float, float, float]) -> np.ndarray:
        distance = np.linalg.norm(at - station, axis=1)
        return 20.0 - 20.0 * np.log10(4.0 * np.pi * 2.4e9 / 299_792_458.0 * distance)

    with paddock.load(tree) as sim:
        both, only = sim.radio.levels(places), sim.radio.levels(places, of="base")
    assert both.best.tolist() == [0, 0, 1, 1]
    np.testing.assert_allclose(both.power[:2], free(places, (0.0, 0.0, 10.0))[:2], atol=1e-6)
    np.testing.assert_allclose(both.power[2:], free(places, (500.0, 0.0, 10.0))[2:], atol=1e-6)
    assert only.power[3] < free(places, (0.0, 0.0, 10.0))[3] - 6.0  # behind the box
    # the jammer fills 2 of its 100 MHz
    jammer = free(places, (-200.0, 0.0, 5.0)) + 10.0 * np.log10(2.0 / 100.0)
    noise = noise_dbm(2.0e6, 6.0)
    against = 10.0 * np.log10(10.0 ** (jammer / 10.0) + 10.0 ** (noise / 10.0))
    np.testing.assert_allclose(both.sinr[:2], (both.power - against)[:2], atol=0.05)


def test_coverage_of_a_scenario_is_above_the_ground_and_marks_carried_jammers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from paddock.radio.maps import fitting

    pytest.importorskip("matplotlib")
    tree = yaml.safe_load(SCENARIO)
    rising = {"origin": [-250, -250], "cell": 250, "values": [[-250, 0, 250]] * 3}
    tree["world"] = {"ground": {"height_map": rising}}
    tree["radio"]["stations"][1:] = []
    tree["radio"]["jammers"][0] = {"name": "red", "kind": "spot", "vehicle": "d", "power": 0, "frequency": 2.4e9}
    (tmp_path / "hill.yaml").write_text(yaml.safe_dump(tree))
    drawn: list[fitting.HeatMap] = []
    monkeypatch.setattr(fitting, "draw_coverage", lambda grid, *rest: drawn.append(grid))
    arguments = ["radio", "coverage", str(tmp_path / "hill.yaml"), "--height", "10", "--area", "0,-100,250,100"]
    assert exit_code([*arguments, "--out", str(tmp_path / "hill.png")]) == 0
    [grid] = drawn
    k, m = int(np.argmin(np.abs(grid.x - 250.0))), int(np.argmin(np.abs(grid.y)))
    waves = np.hypot(250.0, 250.0) * 2.4e9 / 299_792_458.0  # from the station at 10 m to 10 m above the slope
    assert grid.values[m, k] == pytest.approx(20.0 - 20.0 * np.log10(4.0 * np.pi * waves), abs=0.1)
    assert ("red", 0.0, 50.0, "jammer") in list(grid.marks)


def test_coverage_of_a_scenario_is_drawn(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("matplotlib")
    (tmp_path / "town.yaml").write_text(SCENARIO)
    command = ["radio", "coverage", str(tmp_path / "town.yaml"), "--height", "10", "--out", str(tmp_path / "town.png")]
    assert exit_code([*command, "--sinr", "--threshold", "10"]) == 0
    assert "SINR" in capsys.readouterr().out and (tmp_path / "town.png").exists()
    assert exit_code([*command, "--station", "bse"]) == 2
    assert "did you mean 'base'?" in capsys.readouterr().err
    assert exit_code([*command, "--receiver", "tt"]) == 2
    assert "unknown" in capsys.readouterr().err
