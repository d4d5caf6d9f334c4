"""Perception in a run: what sensors see of the world, determinism, save and restore, sensors of wheels and motor."""

from typing import Any

import numpy as np
import pytest

import paddock
from paddock.compute.threads import limit_threads
from paddock.errors import PaddockError

LIDAR = {"lidar": {"noise": 0.0, "beams": 361, "fov_deg": 360}}
CAR = {"model": "car.kinematic", "sensors": [LIDAR, "cones"]}


def ranges(sim: Any, vehicle: str) -> Any:
    return sim.snapshot()[vehicle]["lidar.ranges"]


def ahead(sim: Any, vehicle: str = "red") -> float:
    return float(ranges(sim, vehicle)[180])


def test_a_lidar_sees_boxes_cones_cylinders_vehicles_and_not_itself() -> None:
    beams = {"lidar": {"noise": 0.0, "beams": 5, "fov_deg": 180}}  # right, ..., ahead, ..., left
    world = {
        "obstacles": [
            {"box": {"center": [10, 0], "size": [2, 6, 3]}},
            {"cylinder": {"center": [0, 8], "radius": 1.0, "height": 3}},
            {"cone": {"center": [0, -6], "radius": 0.2, "height": 0.8}},
        ]
    }
    vehicles = [
        {"name": "red", "model": "car.kinematic", "sensors": [beams]},
        {"name": "blue", "model": "car.kinematic", "pose": [7, 7, 0]},
    ]
    with paddock.load({"world": world, "vehicles": vehicles}) as sim:
        right, _, straight, oblique, left = ranges(sim, "red").tolist()
        assert straight == pytest.approx(9.0)
        assert left == pytest.approx(7.0)
        assert right == pytest.approx(6.0 - 0.15)  # the radius of the cone at the height of the scanner, 0.2 m
        sim.remove("blue")
        sim.step(25)
        assert oblique < 10 and ranges(sim, "red")[3] == np.inf


@pytest.mark.parametrize("contact", [False, True])
def test_cones_are_seen_where_they_are_with_and_without_contact(contact: bool) -> None:
    scenario = {
        **({"contact": True} if contact else {}),
        "world": {"obstacles": [{"name": "cones_yellow", "cone": {"center": [6.0, 0.5]}}]},
        "vehicles": [{"name": "red", "model": "car.kinematic", "sensors": [{"cones": {"delay": 0.0}}, LIDAR]}],
    }
    with paddock.load(scenario) as sim:
        truth = sim.snapshot()["red"]["cones.truth"][0]
        np.testing.assert_allclose(truth, [6.0, 0.5, 1, 100_000], atol=1e-3)
        assert np.isfinite(ranges(sim, "red")).sum() >= 1


def test_a_delayed_reading_has_the_pose_at_which_it_was_measured() -> None:
    """The car turns at 12 m/s: in the delay of 0.15 s it moves 1.8 m, so a later pose would miss every cone."""
    seeing = {"cones": {"delay": 0.15, "rate": 20, "occlusion": 0, "fov_deg": 360, "range_max": 60}}
    car = {"name": "red", "model": "car.kinematic", "speed": 12, "commands": {"steer": 0.2}, "sensors": [seeing]}
    cone = np.array([20.0, 15.0])
    world = {"obstacles": [{"name": "blue", "cone": {"center": cone.tolist()}}]}
    poses: dict[int, Any] = {}
    with paddock.load({"clock": {"rate": 100}, "world": world, "vehicles": [car]}) as sim:
        for _ in range(200):
            red = sim.snapshot()["red"]
            poses[sim.tick] = [red[name] for name in ("x", "y", "z", "qx", "qy", "qz", "qw")]
            if (tick := int(red["cones.sample_tick"])) >= 0:
                pose = red["cones.sample_pose"]
                assert pose.tolist() == poses[tick] and sim.tick - tick >= 15
                yaw = 2.0 * np.arctan2(pose[5], pose[6])
                x, y = red["cones.truth"][0][:2]
                c, s = np.cos(yaw), np.sin(yaw)
                seen = [pose[0] + c * x - s * y, pose[1] + s * x + c * y]
                np.testing.assert_allclose(seen, cone, atol=1e-4)
            else:
                assert np.isnan(red["cones.sample_pose"]).all()
            sim.step()


def test_a_cone_that_is_knocked_over_is_seen_where_it_lies() -> None:
    seeing = {"cones": {"delay": 0.0, "occlusion": 0, "fov_deg": 360}}
    scenario = {
        "contact": True,
        "clock": {"rate": 500},
        "world": {"obstacles": [{"name": "blue", "cone": {"center": [9.0, 0.0]}}]},
        "vehicles": [
            {"name": "red", "model": "car.kinematic", "speed": 12},
            {"name": "judge", "model": "car.kinematic", "pose": [20, -6, 1.57], "sensors": [seeing]},
        ],
    }
    with paddock.load(scenario) as sim:
        sim.step(1000)
        snap = sim.snapshot()
        cone, judge = snap["blue[0]"] if "blue[0]" in snap else snap["blue"], snap["judge"]
        assert np.hypot(cone.position[0] - 9.0, cone.position[1]) > 0.5
        dx, dy = (cone.position - judge.position)[:2]
        c, s = np.cos(judge.yaw), np.sin(judge.yaw)
        truth = judge["cones.truth"][0]
        np.testing.assert_allclose(truth[:2], [c * dx + s * dy, c * dy - s * dx], atol=1e-3)


def test_track_cones_have_their_colours_and_numbers() -> None:
    scenario = {
        "track": "acceleration",
        "vehicles": [{"name": "red", "model": "car.kinematic", "sensors": [{"cones": {"delay": 0.0}}]}],
    }
    with paddock.load(scenario) as sim:
        red, track = sim.snapshot()["red"], sim.world.track
        truth = red["cones.truth"]
        truth = truth[np.isfinite(truth[:, 0])]
        assert len(truth) > 8
        numbers = truth[:, 3].astype(int)
        np.testing.assert_array_equal(track.colours[numbers], truth[:, 2])
        c, s = np.cos(red.yaw), np.sin(red.yaw)
        world = red.position[:2] + truth[:, :2] @ np.array([[c, s], [-s, c]])
        np.testing.assert_allclose(world, track.cones[numbers], atol=1e-4)


def test_uneven_ground_is_met_where_the_beam_reaches_its_slope() -> None:
    scenario = {
        "world": {"ground": {"grade": 0.2, "heading": 0.0}},  # rises 0.2 m per m to the east
        "vehicles": [
            {
                "name": "eye",
                "model": "point",
                "pose": [0, 0, 5, 0],
                "sensors": [{"lidar": {"noise": 0.0, "beams": 1, "z": 0.0, "range_max": 60}}],
            }
        ],
    }
    with paddock.load(scenario) as sim:
        assert float(ranges(sim, "eye")[0]) == pytest.approx(5.0 / 0.2, rel=1e-4)  # level beam, ground 5 m below


RACE = {
    "clock": {"rate": 200},
    "contact": True,
    "track": "acceleration",
    "vehicles": [
        {"name": "red", **CAR, "speed": 6},
        {"name": "pack", "count": 3, "spawn": {"track": {"first": 1}}, **CAR},
    ],
}


def test_save_and_restore_in_the_middle_of_a_delay_continue_the_same() -> None:
    with paddock.load(RACE) as sim:
        sim.step(47)
        saved, at = sim.save(), sim.state_hash()
        sim.step(61)
        expected, snap = sim.state_hash(), sim.snapshot()
        sim.restore(saved)
        assert sim.state_hash() == at
        sim.step(61)
        assert sim.state_hash() == expected
        for name in (*snap.fleet("pack").arrays, "cones.sample_tick", "cones.detected"):
            np.testing.assert_array_equal(sim.snapshot().fleet("pack")[name], snap.fleet("pack")[name])


def test_step_grouping_threads_and_watching_change_nothing() -> None:
    hashes = []
    for threads, steps in ((1, [120]), (None, [1] * 40 + [80]), (None, [60, 60])):
        limit_threads(threads)
        with paddock.load(RACE) as sim:
            for count in steps:
                sim.step(count)
                sim.snapshot()
            hashes.append(sim.state_hash())
    assert len(set(hashes)) == 1


def test_other_vehicles_out_of_sight_change_no_reading() -> None:
    def seen(more: list[dict[str, Any]]) -> Any:
        noisy = {"name": "red", "model": "car.kinematic", "sensors": [{"lidar": {"beams": 90}}, "cones"], "speed": 3}
        with paddock.load({"clock": {"rate": 200}, "track": "acceleration", "vehicles": [noisy, *more]}) as sim:
            sim.step(100)
            return [sim.snapshot()["red"][name].copy() for name in sim.snapshot()["red"].arrays]

    far = {"name": "far", "model": "car.kinematic", "pose": [0, 900, 0], "sensors": ["lidar", "cones"]}
    for first, other in zip(seen([]), seen([far]), strict=True):
        np.testing.assert_array_equal(first, other)


def test_a_reset_starts_again() -> None:
    with paddock.load(RACE) as sim:
        sim.step(80)
        first = sim.snapshot().fleet("pack")["cones.detections"].copy()
        sim.reset()
        assert (sim.snapshot().fleet("pack")["cones.sample_tick"] == -1).all()
        sim.step(80)
        np.testing.assert_array_equal(sim.snapshot().fleet("pack")["cones.detections"], first)


def test_vehicles_may_join_and_leave_a_fleet_with_arrays() -> None:
    with paddock.load(RACE) as sim:
        sim.step(60)
        before = sim.snapshot().fleet("pack")["lidar.ranges"].copy()
        sim.remove("pack[1]")
        np.testing.assert_array_equal(sim.snapshot().fleet("pack")["lidar.ranges"], before[[0, 2]])
        sim.step(10)
        assert sim.snapshot().fleet("pack")["lidar.ranges"].shape == (2, 361)


# sensors that read columns of their vehicle -----------------------------------------------------------------------

EXACT = ["steering_angle", "wheel_speeds", "motor_torque"]
QUIET = [{name: {"noise": 0.0}} for name in EXACT]


def driven(model: str, sensors: Any, ticks: int = 600, **inputs: float) -> tuple[Any, Any]:
    car = {"name": "car", "model": model, "speed": 12, "sensors": sensors}
    with paddock.load({"clock": {"rate": 1000}, "vehicles": [car]}) as sim:
        sim.command("car", **inputs)
        sim.step(ticks)
        return sim.vehicles.sensors("car"), {**sim.vehicles.inspect("car"), "snap": sim.snapshot()["car"]}


def test_four_wheels_read_their_own_rotation_also_when_they_lock() -> None:
    measured, car = driven("car.double_track", QUIET, 400, handbrake=1.0)
    wheels, state = measured["wheel_speeds"], car["state"]
    for wheel in ("fl", "fr", "rl", "rr"):
        assert wheels[wheel] == state[f"spin_{wheel}"]
    radius = car["parameters"]["wheel_radius"]
    assert car["snap"].speed > 5.0
    assert wheels["rl"] * radius < 0.1 * car["snap"].speed  # locked
    assert wheels["fl"] * radius == pytest.approx(car["snap"].speed, rel=0.05)


@pytest.mark.parametrize("model", ["car.kinematic", "car.bicycle"])
def test_models_without_four_wheels_read_rolling_wheels_in_a_turn(model: str) -> None:
    measured, car = driven(model, QUIET[:2], steer=0.15)
    wheels, radius = measured["wheel_speeds"], car["parameters"]["wheel_radius"]
    snap, track = car["snap"], car["parameters"]["track_rear"]
    turn = float(snap.angular_velocity[2])
    assert (wheels["rr"] - wheels["rl"]) * radius == pytest.approx(turn * track, rel=1e-9)
    forward = np.cos(snap.yaw) * snap.velocity[0] + np.sin(snap.yaw) * snap.velocity[1]
    assert 0.5 * (wheels["rl"] + wheels["rr"]) * radius == pytest.approx(forward, rel=0.02)
    assert measured["steering_angle"]["angle"] == car["state"]["steer"]


def test_the_motor_reads_the_torque_of_the_shafts_through_the_gears() -> None:
    measured, car = driven("car.double_track", QUIET, throttle=0.5)
    snap, parameters = car["snap"], car["parameters"]
    shafts = sum(snap[f"drive_torque_{wheel}"] for wheel in ("fl", "fr", "rl", "rr"))
    gear = int(snap["gear"])
    ratio = parameters[f"gear_{gear}"] if parameters["gears"] >= 1 else 1.0
    assert measured["motor_torque"]["wheels"] == pytest.approx(shafts) and shafts > 50
    assert measured["motor_torque"]["torque"] == pytest.approx(shafts / (parameters["final_drive"] * ratio))


def test_noise_steps_and_delay_of_a_steering_angle() -> None:
    car = {"model": "car.kinematic", "sensors": [{"steering_angle": {"noise": 0.01, "rate": 1000}}]}
    fleet = {"name": "cars", "count": 100, "spawn": {"grid": {"spacing": 9}}, **car}
    with paddock.load({"clock": {"rate": 1000}, "vehicles": [fleet]}) as sim:
        readings = []
        for _ in range(20):
            sim.step(1)
            readings.append(sim.vehicles.sensors("cars")["steering_angle"]["angle"].copy())
        angle = np.concatenate(readings)
        assert angle.std() == pytest.approx(0.01, rel=0.08) and abs(angle.mean()) < 5 * 0.01 / np.sqrt(2000)
    stepped = {"steering_angle": {"noise": 0.01, "resolution": 0.005, "delay": 0.02, "rate": 100}}
    with paddock.load({"clock": {"rate": 1000}, "vehicles": [{"name": "car", **car, "sensors": [stepped]}]}) as sim:
        sim.step(19)
        assert np.isnan(sim.vehicles.sensors("car")["steering_angle"]["angle"])
        sim.step(1)
        angle = sim.vehicles.sensors("car")["steering_angle"]["angle"] / 0.005
        assert (
            angle == pytest.approx(round(angle)) and sim.vehicles.sensors("car")["steering_angle"]["sample_tick"] == 0
        )


@pytest.mark.parametrize(
    ("model", "sensor", "message"),
    [
        ("rover", "steering_angle", "needs the column 'steer', which model 'rover' does not have"),
        (
            "car.bicycle",
            "motor_torque",
            "which model 'car.bicycle' does not have; models that have it: car.double_track, car.full",
        ),
        ("quad", "wheel_speeds", "needs the option 'radius': model 'quad' has no wheel_radius"),
        ("quad", {"lidar": {"beems": 3}}, "did you mean 'beams'"),
        ("quad", {"lidar": {"rate": 5000}}, "cannot sample at 5000 Hz"),
    ],
)
def test_a_sensor_that_does_not_fit_is_one_line_with_its_place(model: str, sensor: Any, message: str) -> None:
    with pytest.raises(PaddockError) as caught:
        paddock.load({"vehicles": [{"name": "a", "model": model, "sensors": [sensor]}]})
    text = str(caught.value)
    assert message in text and text.startswith("vehicles[0].sensors[0]: ") and "\n" not in text
