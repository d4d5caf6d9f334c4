"""Contact in whole runs: vehicles, props, obstacles, crashes, settings, events, determinism."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import paddock
from paddock.compute.threads import limit_threads
from paddock.engine.simulation import Simulation
from paddock.errors import PaddockError
from paddock.record import Recorder, open_run, verify
from paddock.record.run_metrics import metrics
from paddock.serve.subscribers.groups import encode_status
from paddock.serve.subscribers.subscription import select
from paddock.vehicles.model import find_model
from paddock.wire.stream.positions import decode_telemetry

DROP = {"low": [-0.6, -0.6, 0.5], "high": [0.6, 0.6, 1.5]}


def loaded(*vehicles: dict[str, Any], contact: Any = None, **more: Any) -> Simulation:
    tree = {"clock": {"rate": 240}, "contact": {} if contact is None else contact, **more}
    return paddock.load({**tree, "vehicles": list(vehicles)})


def kinds(sim: Simulation) -> list[tuple[str, str]]:
    return [(event.kind, event.subject) for event in sim.events.since()]


def health(sim: Simulation, **impaired: list[int]) -> list[float]:
    snapshot = sim.snapshot()
    frame = encode_status(snapshot, select(snapshot.layout, None), **impaired)
    return decode_telemetry(frame[5:])["health"].tolist()  # after the header


def upright(sim: Simulation, fleet: str) -> Any:
    block = sim.snapshot().fleet(fleet).block
    return 1.0 - 2.0 * (block[3] ** 2 + block[4] ** 2)


def momentum(sim: Simulation, *names: str) -> Any:
    total = np.zeros(3)
    for name in names:
        program, _ = sim.engine.applier.found(name)
        mass = program.parameters.column("mass")
        total += (mass * sim.snapshot().fleet(name).block[7:10]).sum(axis=1)
    return total


# vehicles and each other ---------------------------------------------------------------------------------------------


def test_a_rear_end_collision_of_cars_conserves_momentum() -> None:
    """The tyres change less than 0.1 % of the momentum in that tick; speeds by the law of restitution."""
    sim = loaded(
        {"name": "red", "model": "car.bicycle", "pose": [0, 0, 0], "speed": 20},
        {"name": "blue", "model": "car.bicycle", "preset": "sports", "pose": [5.2, 0, 0], "speed": 5},
        contact={"restitution": 0.3, "friction": 0.0},
    )
    while not any(kind == "contact" for kind, _ in kinds(sim)):
        before, p = {n: sim.snapshot()[n].velocity[0] for n in ("red", "blue")}, momentum(sim, "red", "blue")
        sim.step()
    after = {n: sim.snapshot()[n].velocity[0] for n in ("red", "blue")}
    assert momentum(sim, "red", "blue")[0] == pytest.approx(p[0], rel=1e-3)
    assert after["blue"] - after["red"] == pytest.approx(0.3 * (before["red"] - before["blue"]), rel=0.01)
    sim.step(240)
    apart = sim.snapshot()["blue"].position[0] - sim.snapshot()["red"].position[0]
    assert apart > 4.0  # neither has passed through the other


def test_the_momentum_of_colliding_points_is_conserved_to_rounding() -> None:
    """Points coast (they are commanded their own velocity); only the touch changes it."""
    sim = loaded(
        {"name": "a", "model": "point", "pose": [0, 0, 5, 0], "speed": 8},
        {"name": "b", "model": "point", "pose": [1.0, 0.1, 5, 0]},
        contact={"restitution": 1.0, "friction": 0.0},
    )
    sim.command("a", vx=8.0)
    p = sim.snapshot()["a"].velocity + sim.snapshot()["b"].velocity
    while ("contact", "a") not in kinds(sim):
        sim.step()
    total = sim.snapshot()["a"].velocity + sim.snapshot()["b"].velocity
    assert np.abs(total - p).max() < 1e-9
    assert np.linalg.norm(sim.snapshot()["a"].velocity) < 3.0


def test_a_side_impact_turns_the_struck_car() -> None:
    sim = loaded(
        {"name": "red", "model": "car.bicycle", "pose": [0, -12, 1.5708], "speed": 15},
        {"name": "blue", "model": "car.bicycle", "pose": [-1.6, 0, 0]},
    )
    sim.step(240)
    assert sim.snapshot()["blue"].position[1] > 0.5
    assert abs(sim.vehicles.inspect("blue")["state"]["yaw"]) > 0.1


@pytest.mark.parametrize("model", ["rover", "car.kinematic"])
def test_vehicles_on_rolling_wheels_stop_at_each_other(model: str) -> None:
    gap = {"rover": 0.5, "car.kinematic": 8.0}[model]
    sim = loaded(
        {"name": "a", "model": model, "pose": [0, 0, 0], "speed": gap},
        {"name": "b", "model": model, "pose": [gap, 0, 3.1416], "speed": gap},
    )
    sim.step(480)
    first, two = (sim.snapshot()[name].position[0] for name in "ab")
    assert two - first > 0.4 * gap


def test_fleets_on_ignored_layers_pass_through_each_other() -> None:
    ghosts = {"layer": "ghosts", "ignores": ["vehicles", "ghosts"]}
    sim = loaded(
        {"name": "a", "count": 2, "model": "car.bicycle", "spawn": {"poses": [[0, 0, 0], [-1, 0, 0]]}, "speed": 10,
         "contact": ghosts},
        {"name": "b", "model": "car.bicycle", "pose": [8, 0, 0]},
        {"name": "c", "model": "car.bicycle", "pose": [8, 0.5, 0], "contact": False},
    )  # fmt: skip
    sim.step(360)
    assert sim.snapshot().fleet("a").position[:, 0].min() > 9.0
    assert kinds(sim) == []


# props ---------------------------------------------------------------------------------------------------------------


def test_a_stack_of_three_crates_stays_and_falls_asleep() -> None:
    poses = [[0, 0, 0.3 + 0.6 * k, 0.1 * k] for k in range(3)]
    sim = loaded({"name": "crates", "model": "prop.crate", "count": 3, "spawn": {"poses": poses}})
    sim.step(480)
    first = sim.snapshot().fleet("crates").block[:13].copy()
    assert np.abs(first[:3].T - np.array(poses)[:, :3]).max() < 0.01
    assert (first[7:13] == 0.0).all()
    sim.step(2400)
    assert np.array_equal(sim.snapshot().fleet("crates").block[:13], first)


def test_a_crate_at_rest_does_not_jitter_before_it_sleeps() -> None:
    """Half a second of ticks: after the first touch it moves by less than a micrometre per tick."""
    sim = loaded({"name": "crate", "model": "prop.crate", "pose": [0, 0, 0.3, 0.4]})
    places = []
    for _ in range(110):
        sim.step()
        places.append(sim.snapshot()["crate"].position)
    assert np.abs(np.diff(places, axis=0))[60:].max() < 1e-6


def test_a_sliding_crate_stops_after_the_coulomb_distance() -> None:
    """v2 / (2 mu g), without the drag of the air."""
    sim = loaded(
        {"name": "crate", "model": "prop.crate", "pose": [0, 0, 0], "speed": 4, "parameters": {"drag": 0.0}},
        contact={"friction": 0.4},
    )
    sim.step(480)
    assert sim.snapshot()["crate"].position[0] == pytest.approx(16 / (2 * 0.4 * 9.80665), rel=0.02)


def test_cones_are_knocked_over_fly_and_come_to_rest() -> None:
    sim = loaded(
        {"name": "red", "model": "car.bicycle", "pose": [0, 0, 0], "speed": 20},
        {"name": "cones", "model": "prop.cone", "count": 3, "spawn": {"poses": [[10, 0, 0], [14, 0.5, 0], [10, 9, 0]]}},
    )
    sim.step(90)
    assert upright(sim, "cones") == pytest.approx(1.0)
    least = upright(sim, "cones")
    for k in range(84):
        if k == 10:
            assert sim.snapshot()["red"].velocity[0] > 15.0
            sim.command("red", brake=1.0)  # or it would push them along
        sim.step(20)
        least = np.minimum(least, upright(sim, "cones"))
    assert least[:2].max() < 0.3  # one may come to rest on its base again
    assert least[2] == pytest.approx(1.0)
    after = sim.snapshot().fleet("cones")
    assert after.position[:2, 0].min() > 12.0
    assert after.position[:, 2].max() < 0.3
    assert np.abs(after.block[7:10]).max() == 0.0


def test_sleeping_props_cost_nothing() -> None:
    sim = loaded({"name": "cones", "model": "prop.cone", "count": 300, "spawn": {"grid": {"spacing": 2}}})
    sim.step(240)
    roster = sim.engine.parts.contact.roster
    assert sim.engine.parts.contact._still(roster, roster.gather(sim.tick), sim.tick).all()
    searches = roster.candidates.searches
    sim.step(60)
    assert roster.candidates.searches == searches


@pytest.mark.parametrize("fleets", [1, 9])
def test_poses_of_few_and_of_many_fleets_have_one_layout(fleets: int) -> None:
    """Another layout would compile the search and the solver a second time, in the middle of a run."""
    crew = {"model": "point", "count": 4}
    vehicles = [{**crew, "name": f"f{k}", "spawn": {"line": {"start": [0, k], "end": [9, k]}}} for k in range(fleets)]
    with paddock.load({"contact": {}, "vehicles": vehicles}) as sim:
        roster = sim.engine.parts.contact.roster
        gathered, chosen = roster.gather(0), roster.poses(np.arange(4 * fleets), 0)
        assert (gathered is None) == (fleets == 1)
        assert all(poses.flags.c_contiguous for poses in (chosen, gathered) if poses is not None)
        np.testing.assert_array_equal(chosen[0], np.tile([0.0, 3.0, 6.0, 9.0], fleets))


# obstacles -----------------------------------------------------------------------------------------------------------


def box(centre: list[float], half: list[float], yaw: float = 0.0) -> dict[str, Any]:
    """Return an obstacle from its centre and half its size, m, and its heading, rad."""
    foot = [centre[0], centre[1], centre[2] - half[2]]
    return {"box": {"center": foot, "size": [2.0 * side for side in half], "heading": yaw}}


def cylinder(centre: list[float], radius: float, half: float) -> dict[str, Any]:
    """Return an upright cylinder from its centre, its radius and half its height, m."""
    return {"cylinder": {"center": [centre[0], centre[1], centre[2] - half], "radius": radius, "height": 2.0 * half}}


def test_a_car_at_100_m_s_does_not_pass_a_thin_wall() -> None:
    wall = box([30.0, 0.0, 0.5], [0.05, 10.0, 1.0])
    car = {"name": "red", "model": "car.bicycle", "pose": [0, 0, 0], "speed": 100}
    sim = loaded(car, clock={"rate": 200}, world={"obstacles": [wall]})
    sim.step(200)
    assert sim.snapshot()["red"].position[0] < 30.0 - 1.5
    assert sim.events.since()[0].detail.startswith("obstacle 0: ")


def test_a_car_that_pushes_against_a_wall_stands_still() -> None:
    """Its nose, half a length ahead of the centre of its box, is at the wall, and nothing moves from tick to tick."""
    wall = box([10.0, 0.0, 1.0], [0.1, 10.0, 1.0])
    car = {"name": "red", "model": "car.bicycle", "pose": [7.7, 0, 0], "commands": {"throttle": 0.5}}
    sim = loaded(car, world={"obstacles": [wall]})
    sim.step(480)
    places = []
    for _ in range(60):
        sim.step()
        places.append(sim.snapshot()["red"].position)
    assert places[-1][0] == pytest.approx(9.9 - (0.82 * 2.7 - 0.15), abs=1e-3)
    assert np.ptp(places, axis=0).max() < 1e-9


def test_drones_and_rovers_stop_at_posts_and_boxes() -> None:
    wall, post = box([2.0, 0.0, 2.0], [0.2, 1.0, 2.0], 0.3), cylinder([1.0, 5.0, 0.5], 0.2, 0.5)
    sim = loaded(
        {"name": "quad", "model": "quad", "pose": [0, 0, 2, 0], "commands": {"mode": "velocity", "vx": 1.0}},
        {"name": "rover", "model": "rover", "pose": [0, 5, 0], "commands": {"speed": 0.5}},
        world={"obstacles": [wall, post]},
    )
    sim.step(1200)
    assert 1.0 < sim.snapshot()["quad"].position[0] < 2.0
    assert 0.5 < sim.snapshot()["rover"].position[0] < 0.8 - 0.07


def test_a_crate_can_stand_on_an_obstacle() -> None:
    crates = {"name": "crate", "model": "prop.crate", "count": 2, "spawn": {"poses": [[0, 0, 2, 0], [9, 0, 2, 0]]}}
    supports = [box([0, 0, 0.5], [1, 1, 0.5], 0.2), cylinder([9.0, 0.0, 0.6], 0.8, 0.6)]
    sim = loaded(crates, world={"obstacles": supports})
    sim.step(480)
    assert sim.snapshot().fleet("crate").position[:, 2] == pytest.approx([1.3, 1.5], abs=0.01)


# crashes -------------------------------------------------------------------------------------------------------------


def test_a_drone_that_is_hit_hard_is_disarmed_and_falls() -> None:
    sim = loaded(
        {
            "name": "a",
            "model": "quad",
            "pose": [0, 0, 10, 0],
            "speed": 12,
            "behaviour": {"goto": {"x": 60, "y": 0, "z": 10}},
        },
        {"name": "b", "model": "quad", "pose": [4, 0, 10, 0]},
    )
    sim.step(240)
    assert {("contact", "a"), ("disarmed", "a"), ("disarmed", "b")} <= set(kinds(sim))
    sim.step(720)
    assert sim.snapshot()["b"].position[2] < 0.5
    assert float(sim.engine.programs["a"].fleet.command[0, 0]) == 0.0
    sim.vehicles.place("b", [0, 30, 5, 0])
    sim.command("b", armed=1.0)
    sim.step(480)
    assert sim.snapshot()["b"].position[2] == pytest.approx(5.0, abs=1.0)


def test_a_hard_landing_and_a_drone_on_its_back_are_disarmed() -> None:
    sim = loaded(
        {"name": "fallen", "model": "quad", "pose": [0, 0, 6, 0], "commands": {"armed": 0}},
        {"name": "tipped", "model": "quad", "pose": [9, 0, 0]},
    )
    state = sim.engine.world.fleets["tipped"].state
    state[6:10, 0] = 1.0, 0.0, 0.0, 0.0  # upside down
    sim.engine.publisher.forget()
    sim.step(600)
    assert ("disarmed", "fallen") in kinds(sim)
    assert ("disarmed", "tipped") in kinds(sim)
    assert health(sim) == [0.0, 0.0]  # of frame 0x02


# settings and bad input ----------------------------------------------------------------------------------------------


def test_contact_is_off_unless_the_scenario_asks() -> None:
    cars = [{"name": n, "model": "car.bicycle", "pose": [0.0, 0, 0]} for n in ("a", "b")]
    sim = paddock.load({"vehicles": cars})
    sim.step(10)
    assert "contact" not in sim.engine.stages.pipeline.times
    assert "contact.collided" not in sim.engine.programs["a"].published.layout().columns


def test_overlap_at_the_start_is_refused_with_both_names(tmp_path: Path) -> None:
    text = "contact: true\nvehicles:\n  - {name: red, model: car.bicycle, pose: [0, 0, 0]}\n"
    text += "  - {name: blue, model: car.bicycle, pose: [3, 0, 0]}\n"
    (tmp_path / "s.yaml").write_text(text)
    with pytest.raises(PaddockError, match=r"s.yaml:4:.* 'blue' and 'red' overlap by 1.4\d m at the start; move one"):
        paddock.load(tmp_path / "s.yaml")


def test_overlap_can_be_resolved_slowly() -> None:
    sim = loaded(
        {"name": "red", "model": "car.bicycle", "pose": [0, 0, 0]},
        {"name": "blue", "model": "car.bicycle", "pose": [3, 0, 0]},
        contact={"overlap": "resolve"},
    )
    assert sim.events.since()[0].kind == "overlap"
    assert "'blue' and 'red'" in sim.events.since()[0].detail
    sim.step(480)
    apart = sim.snapshot()["blue"].position[0] - sim.snapshot()["red"].position[0]
    assert apart == pytest.approx(2 * 2.214, abs=0.01)
    assert max(np.linalg.norm(sim.snapshot()[n].velocity) for n in ("red", "blue")) < 1e-3


@pytest.mark.parametrize(
    ("entry", "contact", "problem"),
    [
        ({"model": "prop.cone"}, None, "'prop.cone' needs contact"),
        ({"model": "prop.cone", "contact": False}, {}, "'prop.cone' needs contact"),
        ({"model": "point", "contact": {"layer": "x"}}, None, "contact is off: add a section"),
        ({"model": "point", "contact": {"ignores": ["obstacle"]}}, {}, "unknown contact layer 'obstacle'.*'obstacles'"),
        ({"model": "point"}, {"restitution": 1.5}, "must be <= 1, not 1.5"),
        ({"model": "point"}, {"overlap": "ignore"}, "'refuse' or 'resolve'"),
        ({"model": "point"}, {"crash_speed": 0}, "must be > 0, not 0"),
    ],
)
def test_mistakes_are_named(entry: dict[str, Any], contact: Any, problem: str) -> None:
    with pytest.raises(PaddockError, match=problem):
        paddock.load({"vehicles": [entry], **({} if contact is None else {"contact": contact})})


def test_a_model_with_half_a_contract_is_refused() -> None:
    from dataclasses import replace

    with pytest.raises(PaddockError, match="body and bumped belong together"):
        replace(find_model("point"), bumped=None)


# records -------------------------------------------------------------------------------------------------------------


def test_snapshots_carry_the_last_contact() -> None:
    """Who, where, normal and impulse; `collided` for half a second."""
    sim = loaded(
        {"name": "a", "model": "point", "pose": [0, 0, 5, 0], "speed": 4, "parameters": {"acceleration_max": 0.001}},
        {"name": "b", "model": "point", "pose": [1, 0, 5, 0], "parameters": {"acceleration_max": 0.001}},
        contact={"restitution": 1.0},
    )
    sim.step(60)
    snapshot = sim.snapshot()
    a, b = snapshot["a"], snapshot["b"]
    assert (a["contact.collided"], a["contact.other"], b["contact.other"]) == (1.0, b.id, a.id)
    assert a["contact.impulse"] == pytest.approx(4.0, rel=1e-3)  # 1 kg from 4 m/s to rest
    assert (a["contact.nx"], b["contact.nx"]) == (-1.0, 1.0)
    assert a["contact.x"] == pytest.approx(0.85, abs=0.01)
    assert a["contact.tick"] == pytest.approx((0.7 / 4.0) * 240, abs=1)
    sim.step(120)
    assert sim.snapshot()["a"]["contact.collided"] == 0.0
    assert [kind for kind, _ in kinds(sim)] == ["contact"]
    assert sim.engine.parts.contact.total == 1


def test_the_telemetry_frame_carries_collided() -> None:
    """Bit 3 of the flags of frame 0x02: 17 bytes per vehicle, the flags last."""
    sim = loaded(
        {"name": "a", "model": "point", "pose": [0, 0, 5, 0], "speed": 4},
        {"name": "b", "model": "point", "pose": [1, 0, 5, 0]},
        {"name": "c", "model": "point", "pose": [9, 0, 5, 0]},
    )
    sim.command("a", vx=4.0)

    def flags() -> list[int]:
        snapshot = sim.snapshot()
        frame = bytes(encode_status(snapshot, select(snapshot.layout, None)))
        return [value & 8 for value in frame[-3 * 17 :][16::17]]

    assert flags() == [0, 0, 0]
    while ("contact", "a") not in kinds(sim):
        sim.step()
    assert flags() == [8, 8, 0]


def test_health_in_the_telemetry_frame() -> None:
    """1 is sound, 0.5 a low battery or an active failsafe, 0 a vehicle that is lost."""
    sim = loaded(
        *({"name": name, "model": "quad", "pose": [x, 0, 5, 0]} for name, x in (("a", 0), ("b", 9), ("c", 18)))
    )
    a, b, c = (sim.snapshot()[name].id for name in "abc")
    assert health(sim) == [1.0, 1.0, 1.0]
    assert health(sim, failsafes=[b]) == [1.0, 0.5, 1.0]
    assert health(sim, failsafes=[b, c], damaged=[a, c]) == [0.0, 0.5, 0.0]
    charge = find_model("quad").state._fields.index("charge")
    sim.engine.world.fleets["a"].state[charge, 0] = 0.19
    sim.engine.publisher.forget()
    assert health(sim) == [0.5, 1.0, 1.0]
    sim.engine.world.fleets["b"].state[0, 0] = np.nan
    sim.engine.publisher.forget()
    assert health(sim) == [0.5, 0.0, 1.0]


def test_a_storm_neither_explodes_nor_loses_determinism() -> None:
    """Drones at random in a ball of their own size, and others at exactly one point."""
    hashes = []
    for grouping in ((20,), (7, 13)):
        sim = loaded(
            {"name": "ball", "model": "quad", "count": 250, "spawn": {"random": DROP}},
            {"name": "spot", "model": "point", "count": 60, "spawn": {"random": {"low": [9, 9, 5], "high": [9, 9, 5]}}},
            contact={"overlap": "resolve"},
        )
        for ticks in grouping:
            sim.step(ticks)
        for name in ("ball", "spot"):
            block = sim.snapshot().fleet(name).block
            assert np.isfinite(block).all()
            assert np.abs(block[7:10]).max() < 10.0
        assert np.ptp(sim.snapshot().fleet("spot").position, axis=0).min() > 0.01  # they have moved apart
        hashes.append(sim.state_hash())
    assert len(set(hashes)) == 1


@pytest.mark.slow
def test_ten_thousand_drones_on_one_spot() -> None:
    hashes = []
    for _ in range(2):
        over = {"low": [-0.5, -0.5, 5.0], "high": [0.5, 0.5, 5.5]}
        sim = loaded(
            {"name": "ball", "model": "quad", "count": 10_000, "spawn": {"random": over}},
            contact={"overlap": "resolve"},
        )
        sim.step(3)
        block = sim.snapshot().fleet("ball").block
        assert np.isfinite(block).all()
        assert np.abs(block[7:10]).max() < 5.0
        hashes.append(sim.state_hash())
    assert hashes[0] == hashes[1]


# determinism ---------------------------------------------------------------------------------------------------------

CROWDED: list[dict[str, Any]] = [
    {"name": "swarm", "model": "point", "count": 400, "spawn": {"grid": {"spacing": 1, "z": 3}}, "speed": 2,
     "behaviour": {"goto": {"x": 0, "y": 0, "z": 3}}},
    {"name": "red", "model": "car.bicycle", "pose": [-20, 40, 0], "speed": 15},
    {"name": "blue", "model": "car.bicycle", "pose": [-10, 40.5, 0]},
    {"name": "cones", "model": "prop.cone", "count": 3, "spawn": {"poses": [[-15, 40, 0], [-14, 40, 0], [-6, 41, 0]]}},
]  # fmt: skip


def crowded(order: int = 1) -> Simulation:
    return loaded(*CROWDED[::order], seed=3)


def test_threads_grouping_and_declaration_do_not_matter() -> None:
    hashes = {}
    for name, threads, order, groups in (
        ("plain", None, 1, (240,)),
        ("one thread", 1, 1, (240,)),
        ("order", None, -1, (240,)),
        ("groups", None, 1, (1, 2, 3, 4, 30, 100, 100)),
    ):
        limit_threads(threads)
        sim = crowded(order)
        for ticks in groups:
            sim.step(ticks)
        hashes[name] = sim.state_hash()
    assert len(set(hashes.values())) == 1, hashes
    assert sim.engine.parts.contact.total > 40


def test_save_and_restore_in_mid_collision() -> None:
    sim = crowded()
    sim.step(150)
    while not len(sim.engine.parts.contact.contacts):
        sim.step()
    blob = sim.save()
    sim.step(60)
    expected = sim.state_hash()
    sim.restore(blob)
    sim.step(60)
    assert sim.state_hash() == expected
    other = crowded()
    other.restore(blob)
    other.step(31)
    other.step(29)
    assert other.state_hash() == expected


def test_a_recording_with_contact_is_verified(tmp_path: Path) -> None:
    sim = crowded()
    with Recorder(sim, tmp_path / "run.mcap", rate=60):
        sim.step(120)
        sim.vehicles.place("red", [-20, 40.3, 0, 0], speed=10)
        sim.step(120)
    assert verify(tmp_path / "run.mcap").same
    with open_run(tmp_path / "run.mcap") as run:
        assert metrics(run)["events"]["contact"] == sum(kind == "contact" for kind, _ in kinds(sim))
