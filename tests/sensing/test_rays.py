"""Rays against solids: analytic distances, and an independent brute-force caster over random scenes."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paddock.compute.threads import limit_threads
from paddock.sensing.rays import Beams, scan
from paddock.world.solids import BOX, FRUSTUM, NO_SOLIDS, NOTHING, ROUND_BALL, ROUND_BAR, SOLID, solids_of

REACH = 40.0


def beams(count: int, fov_deg: float, elevations: Any = (0.0,), mount: Any = (0.0, 0.0, 0.0)) -> Beams:
    step = np.radians(fov_deg) / (count if fov_deg == 360 else max(count - 1, 1))
    azimuth = -0.5 * np.radians(fov_deg) + step * np.arange(count)
    rise = np.radians(np.array(elevations, np.float64))
    axes = np.concatenate([np.array(mount, np.float64), np.eye(3).reshape(-1)])
    return Beams(
        axes, np.stack([np.cos(azimuth), np.sin(azimuth)]), np.stack([np.cos(rise), np.sin(rise)]), azimuth[0], step
    )


def rotation(x: float, y: float, z: float, w: float) -> Any:
    """The matrix of a unit quaternion, from body to world."""
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def solid(shape: float, at: Any, half: Any, turned: Any = None, base: float = 0.0, top: float = 0.0) -> Any:
    row = np.zeros(SOLID.size)
    row[:3], row[12:15], row[15], row[16], row[17] = at, half, shape, base, top
    row[3:12] = (np.eye(3) if turned is None else turned).T.reshape(-1)  # its axes, one after the other
    row[18], row[19] = np.linalg.norm(half), -1
    return row


def poses(n: int) -> Any:
    block = np.zeros((13, n))
    block[6] = 1.0
    block.flags.writeable = False
    return block


def cast(solids: Any, chosen: Beams, pose: Any = None, ground: float = np.nan, **more: Any) -> Any:
    table = np.array(solids).reshape(-1, SOLID.size)
    pose = poses(1) if pose is None else pose
    ids = np.arange(pose.shape[1])
    obstacles = solids_of(table), more.pop("bodies", NO_SOLIDS)
    return scan(pose, ids, chosen, REACH, ground if ground == ground else -1e6, *obstacles, **more)


def test_a_wall_ahead_is_at_its_distance_over_the_cosine() -> None:
    wall = solid(BOX, (10.5, 0.0, 0.0), (0.5, 50.0, 1.0))
    distances = cast([wall], beams(181, 180.0))[0, 0]
    angle = np.radians(np.arange(181) - 90.0)
    expected = 10.0 / np.cos(angle)
    hit = expected <= REACH
    np.testing.assert_allclose(distances[hit], expected[hit], rtol=0, atol=1e-9)
    assert (distances[~hit] == NOTHING).all()


def test_a_round_post_is_at_the_distance_of_the_law_of_cosines() -> None:
    post = solid(FRUSTUM, (8.0, 0.0, 0.0), (0.7, 0.7, 2.0), base=0.7, top=0.7)
    distances = cast([post], beams(1001, 20.0))[0, 0]
    angle = np.radians(np.linspace(-10, 10, 1001))
    inside = np.abs(8.0 * np.sin(angle)) < 0.7
    expected = 8.0 * np.cos(angle) - np.sqrt(np.maximum(0.49 - (8.0 * np.sin(angle)) ** 2, 0.0))
    np.testing.assert_allclose(distances[inside], expected[inside], rtol=0, atol=1e-9)
    assert (distances[~inside] == NOTHING).all()


def test_a_cone_is_narrower_where_the_beam_is_higher() -> None:
    cone = solid(FRUSTUM, (5.0, 0.0, 0.25), (0.2, 0.2, 0.25), base=0.2)
    for height, radius in ((0.1, 0.16), (0.25, 0.1), (0.4, 0.04)):
        assert cast([cone], beams(3, 10.0, mount=(0.0, 0.0, height)))[0, 0, 1] == pytest.approx(5.0 - radius, abs=1e-12)
    assert cast([cone], beams(3, 10.0, mount=(0.0, 0.0, 0.51)))[0, 0, 1] == NOTHING


def test_a_ring_that_looks_down_meets_flat_ground_at_height_over_sine() -> None:
    distances = cast([], beams(8, 360.0, (-30.0, -10.0, 5.0), (0.0, 0.0, 1.5)), ground=0.0)
    np.testing.assert_allclose(distances[0, 0], 1.5 / np.sin(np.radians(30)), atol=1e-12)
    np.testing.assert_allclose(distances[0, 1], 1.5 / np.sin(np.radians(10)), atol=1e-12)
    assert (distances[0, 2] == NOTHING).all()


def test_a_sensor_inside_a_solid_measures_nothing_ahead() -> None:
    assert (cast([solid(BOX, (0.2, 0.0, 0.0), (1.0, 1.0, 1.0))], beams(90, 360.0)) == 0.0).all()


def test_a_vehicle_does_not_see_itself_but_the_others_do() -> None:
    bodies = np.stack([solid(BOX, (6.0 * k, 0.0, 0.0), (2.0, 1.0, 1.0)) for k in range(3)])
    bodies[:, SOLID.number] = np.arange(3)
    pose = poses(3).copy()
    pose[0] = 6.0 * np.arange(3)
    pose.flags.writeable = False
    distances = cast([], beams(3, 120.0), pose, bodies=solids_of(bodies))
    ahead = distances[:, 0, 1]
    np.testing.assert_allclose(ahead[:2], 4.0, atol=1e-12)
    assert ahead[2] == NOTHING


# brute force: every ray against every solid, with other formulas ---------------------------------------------------


def brute(origin: Any, direction: Any, row: Any) -> float:
    """Return the distance of one ray to one solid by clipping against planes or by solving quadratics in the world."""
    axes, half = row[3:12].reshape(3, 3), row[12:15]
    at = axes @ (origin - row[:3])
    d = axes @ direction
    if row[15] == BOX:
        enters, leaves = 0.0, np.inf
        for k in range(3):
            if abs(d[k]) < 1e-14:
                if abs(at[k]) > half[k]:
                    return np.inf
                continue
            first, two = sorted(((-half[k] - at[k]) / d[k], (half[k] - at[k]) / d[k]))
            enters, leaves = max(enters, first), min(leaves, two)
        return enters if enters <= leaves else np.inf
    if row[15] == ROUND_BALL:
        return ball(at, d, np.zeros(3), half[0])
    if row[15] == ROUND_BAR:
        length = half[0] - half[2]
        ends = [ball(at, d, np.array([s * length, 0.0, 0.0]), half[2]) for s in (-1.0, 1.0)]
        return min(*ends, tube(at, d, length, half[2]))
    return frustum(at, d, half[2], row[16], row[17])


def real_roots(a: float, b: float, c: float) -> list[float]:
    """Return the roots >= 0 of a t^2 + b t + c."""
    if abs(a) < 1e-14:
        roots = [] if b == 0 else [-c / b]
    else:
        root = b * b - 4 * a * c
        roots = [] if root < 0 else [(-b - root**0.5) / (2 * a), (-b + root**0.5) / (2 * a)]
    return [t for t in roots if t >= 0]


def ball(at: Any, d: Any, centre: Any, radius: float) -> float:
    q = at - centre
    if q @ q <= radius**2:
        return 0.0
    return min(real_roots(d @ d, 2 * q @ d, q @ q - radius**2), default=np.inf)


def tube(at: Any, d: Any, length: float, radius: float) -> float:
    if at[1] ** 2 + at[2] ** 2 <= radius**2 and abs(at[0]) <= length:
        return 0.0
    a, b, c = d[1] ** 2 + d[2] ** 2, 2 * (at[1] * d[1] + at[2] * d[2]), at[1] ** 2 + at[2] ** 2 - radius**2
    return min((t for t in real_roots(a, b, c) if abs(at[0] + t * d[0]) <= length), default=np.inf)


def frustum(at: Any, d: Any, half: float, base: float, top: float) -> float:
    def radius(z: float) -> float:
        return base + (top - base) * (z + half) / (2 * half)

    hits: list[float] = []
    if abs(at[2]) <= half and np.hypot(at[0], at[1]) <= radius(at[2]):
        return 0.0
    slope = (top - base) / (2 * half)
    r0 = radius(at[2])
    coefficients = [
        d[0] ** 2 + d[1] ** 2 - (slope * d[2]) ** 2,
        2 * (at[0] * d[0] + at[1] * d[1] - r0 * slope * d[2]),
        at[0] ** 2 + at[1] ** 2 - r0**2,
    ]
    hits += [t for t in real_roots(*coefficients) if abs(at[2] + t * d[2]) <= half]
    for end, wide in ((-half, base), (half, top)):  # the lids
        if abs(d[2]) > 1e-14 and (t := (end - at[2]) / d[2]) >= 0 and np.hypot(*(at + t * d)[:2]) <= wide:
            hits.append(t)
    return min(hits, default=np.inf)


def scene(rng: Any, count: int, tilted: bool) -> Any:
    rows = []
    for _ in range(count):
        shape = rng.choice([BOX, FRUSTUM, ROUND_BALL, ROUND_BAR])
        half = rng.uniform(0.1, 2.0, 3)
        if rng.random() < 0.2:
            half[0] *= 12.0  # a wall
        base, top = rng.uniform(0.1, 1.5), rng.uniform(0.0, 1.0)
        if shape == FRUSTUM:
            half[:2] = max(base, top)
        if shape == ROUND_BALL:
            half[:] = half[0] = min(half[0], 2.0)
        if shape == ROUND_BAR:
            half[1] = half[2]
            half[0] += half[2]
        q = rng.normal(size=4) if tilted else np.array([0.0, 0.0, rng.normal(), rng.normal()])
        position = rng.uniform(-30, 30, 3) * (1, 1, 0.1)
        rows.append(solid(shape, position, half, rotation(*(q / np.linalg.norm(q))), base, top))
    return np.array(rows)


@given(seed=st.integers(0, 2**32 - 1), tilted=st.booleans())
@settings(max_examples=8, deadline=None)
def test_scans_of_random_scenes_equal_brute_force(seed: int, tilted: bool) -> None:
    rng = np.random.default_rng(seed)
    solids = scene(rng, 14, tilted)
    chosen = beams(36, rng.choice([270.0, 360.0, 90.0]), (-12.0, 0.0, 7.0), rng.uniform(-1, 1, 3))
    pose = poses(1).copy()
    q = rng.normal(size=4) if tilted else np.array([0.0, 0.0, rng.normal(), rng.normal()])
    pose[:3, 0], pose[3:7, 0] = rng.uniform(-5, 5, 3) * (1, 1, 0.1), q / np.linalg.norm(q)
    pose.flags.writeable = False
    distances = cast(solids, chosen, pose)[0]
    turned = rotation(*pose[3:7, 0])
    origin = pose[:3, 0] + turned @ chosen.mount[:3]
    grazing = 0
    for r in range(3):
        for b in range(36):
            (ca, sa), (ce, se) = chosen.directions[:, b], chosen.rises[:, r]
            direction = turned @ np.array([ce * ca, ce * sa, se])
            expected = min(brute(origin, direction, row) for row in solids)
            expected = expected if expected <= REACH else NOTHING
            if abs(distances[r, b] - expected) > 1e-9:
                grazing += 1  # a beam that touches an edge may hit or miss it
    assert grazing <= 1


@given(seed=st.integers(0, 2**32 - 1), fov=st.sampled_from([90.0, 270.0, 359.0, 360.0]), lying=st.booleans())
@settings(max_examples=12, deadline=None)
def test_level_scans_of_random_scenes_equal_brute_force(seed: int, fov: float, lying: bool) -> None:
    """One level ring among upright solids, where `lying` adds some that are not, and solids may surround the sensor."""
    rng = np.random.default_rng(seed)
    solids = np.concatenate([scene(rng, 20, False), scene(rng, 4, True)[: 4 if lying else 0]])
    down = rng.random(len(solids)) < 0.3  # upside down: turned by half a turn about the forward axis
    down[20:] = False
    solids[down, 6:12] *= -1.0
    chosen = beams(48, fov, mount=rng.uniform(-1, 1, 3) * (1, 1, 0.2))
    pose, yaw = poses(1).copy(), rng.uniform(-np.pi, np.pi)
    pose[:2, 0], pose[5:7, 0] = rng.uniform(-5, 5, 2), (np.sin(0.5 * yaw), np.cos(0.5 * yaw))
    pose.flags.writeable = False
    distances = cast(solids, chosen, pose)[0, 0]
    turned = rotation(*pose[3:7, 0])
    origin = pose[:3, 0] + turned @ chosen.mount[:3]
    grazing = 0
    for b in range(48):
        direction = turned @ np.array([*chosen.directions[:, b], 0.0])
        expected = min(brute(origin, direction, row) for row in solids)
        grazing += not abs(distances[b] - (expected if expected <= REACH else NOTHING)) <= 1e-9
    assert grazing <= 1  # a beam that touches an edge may hit or miss it


def test_a_level_scan_equals_one_whose_ring_rises_by_next_to_nothing() -> None:
    """Both ways of scanning agree, also where a sensor stands in the line of a wall or almost touches a box."""
    turns = [rotation(0, 0, np.sin(k), np.cos(k)) for k in range(-3, 4)]
    walls = [solid(BOX, (4.0, 3.0 * k, 0.0), (2.0, 0.01, 1.0), turns[k + 3]) for k in range(-3, 4)]
    walls += [solid(BOX, (0.0, 2.0, 0.0), (1.0, 1.0, 1.0)), solid(BOX, (-3.0, 0.0, 0.0), (1.0, 0.5, 1.0))]
    pose = poses(4).copy()
    pose[0], pose[1] = (0.0, 1.5, 1.0 + 1e-7, -0.5), (0.0, 0.0, 1.5, 2.5)  # the last one is inside a box
    pose.flags.writeable = False
    level = cast(walls, beams(720, 360.0), pose)
    general = cast(walls, beams(720, 360.0, (1e-13,)), pose)
    assert (~(np.abs(level - general) <= 1e-9)).sum() <= 4  # beams that touch an edge
    assert (level[3] == 0.0).all()
    assert level[2, 0, 0] == pytest.approx(1e-7, abs=1e-12)  # the beam to the back meets the box
    assert (level[0] < REACH).sum() > 200


def test_many_solids_over_a_large_area_give_the_same_as_a_few_cells() -> None:
    rng = np.random.default_rng(5)
    solids = scene(rng, 300, False)
    solids[:, :2] *= 8.0
    chosen = beams(360, 360.0)
    pose = poses(1)
    together = scan(pose, np.zeros(1, np.int64), chosen, REACH, -1e6, solids_of(solids), NO_SOLIDS)
    two = scan(pose, np.zeros(1, np.int64), chosen, REACH, -1e6, solids_of(solids, 1000.0), NO_SOLIDS)
    np.testing.assert_array_equal(together, two)
    assert (together < NOTHING).any()


@pytest.mark.slow  # compiles another loop
def test_threads_do_not_change_a_bit() -> None:
    rng = np.random.default_rng(6)
    solids, pose = scene(rng, 60, True), poses(20).copy()
    pose[:2] = rng.uniform(-20, 20, (2, 20))
    pose.flags.writeable = False
    obstacles = solids_of(solids), NO_SOLIDS
    ids, chosen = np.arange(20), beams(540, 270.0)
    few = scan(pose, ids, chosen, REACH, 0.0, *obstacles)
    for threads in (1, None):
        limit_threads(threads)
        np.testing.assert_array_equal(scan(pose, ids, chosen, REACH, 0.0, *obstacles, many=True), few)
