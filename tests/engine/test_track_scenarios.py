"""The track of a scenario: cones, friction, start grid, paths of behaviours, recordings, files of clients."""

from __future__ import annotations

import base64
import json
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from mcap.reader import make_reader

import paddock
from paddock import track
from paddock.errors import InvalidValueError, PaddockError
from paddock.record import Player, Recorder
from paddock.record.rerun import verify
from paddock.scenario import ScenarioError, load_scenario
from paddock.serve.replay import ReplaySource
from paddock.world.solids import BASE, HIGH

CAR: dict[str, Any] = {"name": "car", "model": "car.kinematic"}


def scenario(course: Any, *vehicles: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"clock": {"rate": 100}, "track": course, "vehicles": list(vehicles or (CAR,)), **more}


def test_a_lap_along_the_middle_line() -> None:
    driver = {"pure_pursuit": {"path": "track", "speed": 8, "lookahead": 2.5, "lookahead_time": 0.2}}
    with paddock.load(scenario("autocross", {**CAR, "driver": driver})) as sim:
        t = sim.world.track
        assert t is not None and t.name == "autocross"
        assert sim.snapshot()["car"].position[:2] == pytest.approx(t.start[:2])  # at the start pose
        assert sim.snapshot()["car"].yaw == pytest.approx(t.start[2])
        farthest, most = 0.0, 0.0
        for _ in range(60):
            sim.step(100)
            along, offset = t.locate(*sim.snapshot()["car"].position[:2])
            farthest, most = max(farthest, along), max(most, abs(offset))
        assert farthest > t.length - 8.0 and most < 0.5


def test_cones_are_obstacles_and_with_contact_vehicles_of_formula_student_sizes() -> None:
    with paddock.load(scenario("autocross")) as sim:
        t, obstacles = sim.world.track, sim.engine.world.scenery.obstacles
        assert t is not None and obstacles.count == len(t.cones)
        np.testing.assert_array_equal(obstacles.table[:, :2], t.cones)
        big = obstacles.table[t.colours == 3]
        np.testing.assert_allclose(big[:, HIGH], 0.505)
        np.testing.assert_allclose(2.0 * big[:, BASE], 0.285)
        small = obstacles.table[t.colours == 0]
        np.testing.assert_allclose(small[:, HIGH], 0.325)
        np.testing.assert_allclose(2.0 * small[:, BASE], 0.228)
        tree = sim.world.scenery()
        assert tree["obstacles"] == [] and not tree["track"]["movable"]
        assert len(tree["track"]["cones"]) == len(t.cones)
    with paddock.load(scenario("autocross", contact=True)) as sim:
        fleets = {fleet.name: fleet for fleet in sim.snapshot()}
        assert sorted(fleets) == ["car", "cones_big_orange", "cones_blue", "cones_yellow"]
        np.testing.assert_allclose(fleets["cones_blue"].position[:, :2], t.of_colour("blue"))
        parameters = sim.engine.programs["cones_big_orange"].parameters.fields()
        assert (parameters.mass, parameters.height, parameters.width) == (1.05, 0.505, 0.285)
        assert sim.world.scenery()["track"]["movable"]


def test_a_hit_cone_moves_and_the_run_can_be_restored_and_verified(tmp_path: Path) -> None:
    blue = track.load("acceleration").of_colour("blue")[0]  # the first one, at x = -5 m
    pose = [float(blue[0]) - 5.0, float(blue[1]), 0.0]
    car = {"name": "car", "model": "car.bicycle", "pose": pose, "speed": 10}
    path = tmp_path / "hit.mcap"
    with paddock.load(scenario("acceleration", car, contact=True)) as sim, Recorder(sim, path):
        sim.step(20)
        saved = sim.save()
        sim.step(60)
        after = sim.state_hash()
        assert np.abs(sim.snapshot().fleet("cones_blue").position[0, :2] - blue).max() > 0.5
        sim.restore(saved)
        sim.step(60)
        assert sim.state_hash() == after
    assert verify(path).same


def test_the_surface_has_friction_of_its_own() -> None:
    surface = {"mu": 1.1, "outside": 0.4, "transition": 1.0}
    with paddock.load(scenario({"name": "trackdrive", "surface": surface})) as sim:
        t, ground = sim.world.track, sim.engine.world.uneven
        assert t is not None and ground is not None
        mu = lambda offset: ground.ground.at(*t.point_at(t.along, offset).T, sim.engine.world.environment).mu  # noqa: E731
        np.testing.assert_allclose(mu(0.0), 1.1, atol=1e-6)
        np.testing.assert_allclose(mu(t.left_width - 0.8), 1.1, atol=0.02)
        assert abs(np.median(mu(t.left_width)) - 0.75) < 0.03  # halfway at the boundary
        np.testing.assert_allclose(np.median(mu(-t.right_width - 0.8)), 0.4, atol=0.01)
        assert sim.vehicles.inspect("car")["ground"]["mu"] == pytest.approx(1.1, abs=1e-6)
        assert sim.world.scenery()["ground"]["friction"] is not None
    world = {"ground": {"friction_map": {"values": [[1, 1], [1, 1]], "cell": 1}}}
    with pytest.raises(ScenarioError, match=r"give track.surface or world.ground.friction_map, not both"):
        load_scenario(scenario({"name": "trackdrive", "surface": {}}, world=world))


def test_a_start_grid_and_racing_with_the_width_of_the_track() -> None:
    cars = {"name": "cars", "count": 4, "model": "car.kinematic", "spawn": {"track": {"gap": 10, "lanes": 2}}}
    driver = {"racing": {"path": "track", "speed": 15}}
    with paddock.load(scenario("park", {**cars, "driver": driver})) as sim:
        t = sim.world.track
        assert t is not None
        np.testing.assert_allclose(sim.snapshot().fleet("cars").position[:, :2], t.grid(4, 10.0, 2)[:, :2])
        assert sim.engine.programs["cars"].control.behaviour.setup.road().width == pytest.approx(
            t.width.min(), abs=0.05
        )
        sim.step(800)
        along, offset = t.locate(*sim.snapshot().fleet("cars").position[:, :2].T)
        left, right = t.widths_at(along)
        assert (offset < left).all() and (-offset < right).all() and (along > 60.0).all()
        sim.spawn(name="late", model="car.kinematic")
        assert sim.snapshot()["late"].position[:2] == pytest.approx(t.start[:2])


def test_a_car_is_staged_with_its_front_before_the_line() -> None:
    car = {"name": "car", "model": "car.bicycle", "preset": "formula"}
    with paddock.load(scenario("acceleration", car, contact=True)) as sim:
        x, y, _ = sim.snapshot()["car"].position
        body = sim.engine.programs["car"].model.body(sim.engine.programs["car"].parameters.fields())
        assert y == 0.0 and x + body.half_length + body.centre_x == pytest.approx(-0.30)
        assert x < -1.0


def test_overrides_on_the_track_are_saved() -> None:
    with paddock.load(scenario("autocross")) as sim:
        sim.behaviours.override("car", {"pure_pursuit": {"path": "track", "speed": 5}})
        sim.step(100)
        saved, at = sim.save(), sim.snapshot()["car"].position
        assert np.hypot(*(at[:2] - sim.world.track.start[:2])) > 1.0
        sim.step(100)
        after = sim.state_hash()
        sim.restore(saved)
        sim.step(100)
        assert sim.state_hash() == after


def recorded_track(path: Path) -> dict[str, Any]:
    with path.open("rb") as file:
        (metadata,) = (record for record in make_reader(file).iter_metadata() if record.name == "paddock")
    tree = json.loads(zlib.decompress(base64.b64decode(metadata.metadata["scenery"])))["track"]
    assert isinstance(tree, dict)
    return tree


def test_a_file_beside_the_scenario_is_kept_in_recordings(tmp_path: Path) -> None:
    course = track.generate(5)
    (tmp_path / "mine.csv").write_text(track.dump(course))
    (tmp_path / "race.yaml").write_text("track: mine.csv\nvehicles:\n- {name: car, model: car.kinematic}\n")
    with paddock.load(tmp_path / "race.yaml") as sim, Recorder(sim, tmp_path / "run.mcap"):
        assert (
            sim.world.track is not None
            and (sim.world.track.centre == course.centre).all()
            and sim.world.track.name == "mine"
        )
        sim.step(5)
    (tmp_path / "mine.csv").unlink()
    assert len(recorded_track(tmp_path / "run.mcap")["cones"]) == len(course.cones)
    with Player(tmp_path / "run.mcap") as player:
        source = ReplaySource(player)
        assert source.scenery("me")["track"]["name"] == "mine"
        tree = source.track("me")
        assert tree is not None and tree["centre"] == course.centre.tolist()
    assert verify(tmp_path / "run.mcap").same


def test_generated_and_swapped_tracks() -> None:
    with paddock.load(scenario({"generate": {"seed": 3, "width": 4.0, "length": [300, 320]}})) as sim:
        assert sim.world.track is not None and (sim.world.track.cones == track.generate(3, 4.0, (300, 320)).cones).all()
    text = track.dump(track.load("autocross"), "cones")
    with paddock.load(scenario({"file": "x.yaml", "text": text, "swap_colours": True})) as sim:
        assert sim.world.track is not None and len(sim.world.track.of_colour("yellow")) == len(
            track.load("autocross").of_colour("blue")
        )
    with paddock.load(scenario({"name": "autocross", "start": [12.0, 0.0, 0.0]})) as sim:
        assert sim.world.track is not None and sim.world.track.start == (12.0, 0.0, 0.0)
    assert load_scenario(scenario("autocross")).to_dict()["track"] == "autocross"
    again = load_scenario(load_scenario(scenario({"name": "park", "surface": {"mu": 0.9}})).to_yaml())
    assert again.track is not None and again.track.surface is not None and again.track.surface.mu == 0.9


NO_TRACK = "no such track file or track of the catalog"
KINDS_OF_TRACKS = "name (a track of the catalog), file (a track file) or generate (a random track)"
MISTAKES = [
    ("autocros", f"1:8: autocros: {NO_TRACK}; did you mean 'autocross'?"),
    ("none.csv", "1:8: {folder}/none.csv: cannot be read: No such file or directory"),
    ("bad.csv", "1:8: bad.csv:2:1: unknown tag 'bleu'; did you mean 'blue'?"),
    ("{name: park, file: bad.csv}", f"1:27: the track has both name and file: keep one of {KINDS_OF_TRACKS}"),
    ("{name: park, file: none.csv}", f"1:27: the track has both name and file: keep one of {KINDS_OF_TRACKS}"),
    ("{}", f"1:8: the track has no source: give one of {KINDS_OF_TRACKS}"),
    ("{nam: park}", "1:9: unknown key 'nam' in track; did you mean 'name'?"),
    ("{generate: {width: 2}}", "1:27: track.generate.width must be >= 3, not 2"),
    ("{generate: {length: [300, 250]}}", "1:28: length must rise within 200 to 500 m, not [300.0, 250.0]"),
]


@pytest.mark.parametrize(("text", "message"), MISTAKES)
def test_mistakes_are_named_at_their_place(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "bad.csv").write_text("tag,x,y,yaw\nbleu,1,2,0\n")
    (tmp_path / "race.yaml").write_text(f"track: {text}\nvehicles:\n- {{name: car, model: car.kinematic}}\n")
    with pytest.raises(PaddockError) as error:
        paddock.load(tmp_path / "race.yaml").close()
    assert str(error.value) == f"{tmp_path}/race.yaml:{message}".format(folder=tmp_path)


def test_what_needs_a_track() -> None:
    with pytest.raises(ScenarioError, match=r"spawn.track needs a section track"):
        load_scenario({"vehicles": [{**CAR, "spawn": {"track": {}}}]})
    with pytest.raises(InvalidValueError, match="'path: track' needs a section `track` in the scenario"):
        paddock.load({"vehicles": [{**CAR, "driver": {"pure_pursuit": {"path": "track"}}}]})
    with pytest.raises(InvalidValueError, match="a path is a list of points, a shape or 'track', not 'trak'"):
        paddock.load({"vehicles": [{**CAR, "driver": {"pure_pursuit": {"path": "trak"}}}]})
    with pytest.raises(InvalidValueError, match="racing needs a closed track; acceleration is open"):
        paddock.load(scenario("acceleration", {**CAR, "driver": {"racing": {"path": "track"}}}))
    with pytest.raises(ScenarioError, match="files are not read here"):
        load_scenario(scenario("mine.csv"), files=False)
    with paddock.load({"vehicles": [CAR]}) as sim:
        assert sim.world.track is None and sim.world.scenery()["track"] is None
