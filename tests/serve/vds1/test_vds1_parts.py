"""Parts of the VDS1 endpoint: the 51 values, sequence numbers, subscribers, its log."""

from __future__ import annotations

import logging

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from paddock.serve.endpoints.vds1.endpoint import StateMapping, StatePublisher
from paddock.serve.protection.admission import LimitedLog
from paddock.serve.protection.datagram_senders import UNVERIFIED, Senders, SequenceTrack
from paddock.wire.vds1 import STATE_NAMES, CarCommand, Subscribe, decode_states
from paddock.world.layout import POSE, FleetLayout, Layout
from paddock.world.snapshot import Snapshot

WHEELS = ("fl", "fr", "rl", "rr")
REPORT = (
    *("ax", "ay", "load_fl", "load_fr", "load_rl", "load_rr", "slip_angle_front", "slip_angle_rear"),
    *("force_x_front", "force_y_front", "force_x_rear", "force_y_rear"),
)
BICYCLE = (*POSE, "steer", "wheel_speed", *REPORT)


def random_block(columns: tuple[str, ...], n: int, seed: int = 1) -> tuple[np.ndarray, Rotation]:
    rng = np.random.default_rng(seed)
    block = rng.normal(size=(len(columns), n))
    attitude = Rotation.random(n, rng)
    block[3:7] = attitude.as_quat().T
    return block, attitude


def values_of(columns: tuple[str, ...], block: np.ndarray, radius: float = 0.3) -> dict[str, np.ndarray]:
    values = StateMapping(columns).values(block, np.full(block.shape[1], radius))
    return dict(zip(STATE_NAMES, values, strict=True))


def test_attitude_and_body_velocity_are_those_of_scipy() -> None:
    block, attitude = random_block(BICYCLE, 200)
    values = values_of(BICYCLE, block)
    yaw, pitch, roll = attitude.as_euler("ZYX").T
    body = attitude.inv().apply(block[7:10].T).T
    for name, expected in (("roll", roll), ("pitch", pitch), ("yaw", yaw)):
        np.testing.assert_allclose(values[name], expected, atol=1e-12)
    for name, expected in zip(("vx", "vy", "vz"), body, strict=True):
        np.testing.assert_allclose(values[name], expected, atol=1e-12)
    for k, name in enumerate(("x", "y", "z")):
        assert (values[name] == block[k]).all()
    for k, name in enumerate(("roll_rate", "pitch_rate", "yaw_rate")):
        assert (values[name] == block[10 + k]).all()


def test_wheels_have_half_the_values_of_their_axle() -> None:
    block, _ = random_block(BICYCLE, 5)
    column = dict(zip(BICYCLE, block, strict=True))
    values = values_of(BICYCLE, block)
    for wheel in WHEELS:
        axle = "front" if wheel[0] == "f" else "rear"
        assert (values[f"wheel_spin_{wheel}"] == column["wheel_speed"]).all()
        assert (values[f"load_{wheel}"] == column[f"load_{wheel}"]).all()
        assert (values[f"slip_angle_{wheel}"] == column[f"slip_angle_{axle}"]).all()
        assert (values[f"force_x_{wheel}"] == 0.5 * column[f"force_x_{axle}"]).all()
        assert (values[f"force_y_{wheel}"] == 0.5 * column[f"force_y_{axle}"]).all()
        assert not values[f"suspension_{wheel}"].any() and not values[f"slip_ratio_{wheel}"].any()
    assert (values["wheel_radius"] == 0.3).all() and not values["rack_torque"].any()


def test_columns_of_a_wheel_take_precedence_over_its_axle() -> None:
    own = tuple(f"{what}_{wheel}" for what in ("wheel_spin", "force_x", "slip_ratio", "suspension") for wheel in WHEELS)
    columns = (*BICYCLE, *own, "rack_torque")
    block, _ = random_block(columns, 3)
    values = values_of(columns, block)
    for name in (*own, "rack_torque"):
        assert (values[name] == block[columns.index(name)]).all()


def test_sensors_where_there_are_some_and_the_truth_until_they_have_sampled() -> None:
    columns = (*BICYCLE, "imu.ax", "imu.ay", "imu.wz", "gnss.x", "gnss.y")
    block, _ = random_block(columns, 4)
    block[-2:, 1] = np.nan
    values = values_of(columns, block)
    assert (values["measured_ax"] == block[-5]).all() and (values["measured_ay"] == block[-4]).all()
    assert (values["measured_yaw_rate"] == block[-3]).all()
    assert (values["measured_steer"] == values["steer_applied"]).all()
    assert values["measured_x"][[0, 2, 3]].tolist() == block[-2, [0, 2, 3]].tolist()
    assert values["measured_x"][1] == values["x"][1] and values["measured_y"][1] == values["y"][1]
    bare, _ = random_block(POSE, 2)
    assert (values_of(POSE, bare)["measured_yaw_rate"] == bare[12]).all()


def snapshot_of(layout: Layout, blocks: list[np.ndarray]) -> Snapshot:
    buffer = np.zeros(layout.nbytes, np.uint8)
    for k, block in enumerate(blocks):
        layout.block(buffer, k)[:] = block
    return Snapshot(5, 0.25, 0, layout, buffer)


def fleet(name: str, ids: list[int], columns: tuple[str, ...], kind: str = "car") -> FleetLayout:
    n = len(ids)
    return FleetLayout(name, kind, "any", columns, n, np.array(ids), np.arange(n), False)


def test_fleets_of_any_columns_are_encoded_together_and_counted_per_car() -> None:
    fleets = (
        fleet("a", [3, 9], POSE),
        fleet("drone", [4], POSE, "drone"),
        fleet("b", [7], BICYCLE),
        fleet("c", [1], POSE),
    )
    layout = Layout(fleets, 1)
    blocks = [random_block(fleet.columns, fleet.n, seed)[0] for seed, fleet in enumerate(fleets)]
    blocks[2][0] = np.inf
    publisher = StatePublisher(most=10)
    publisher.plan(layout, {"a": np.array([0.3, 0.4]), "b": np.array([0.5]), "c": np.array([0.6])})
    records = decode_states(publisher.encode(snapshot_of(layout, blocks)))
    assert records["vehicle"].tolist() == [3, 9, 1, 7] and (records["time"] == 0.25).all()
    assert records["wheel_radius"].tolist() == [0.3, 0.4, 0.6, 0.5]
    assert records["y"].tolist() == [*blocks[0][1], *blocks[3][1], *blocks[2][1]]
    assert records["x"][3] == 0.0 and publisher.not_finite == 2  # x and the measured x
    assert records["sequence"].tolist() == [0, 0, 0, 0]
    publisher.sent()
    smaller = Layout((fleet("a", [9, 12], POSE),), 2)
    publisher.plan(smaller, {"a": np.array([0.3, 0.4])})
    records = decode_states(publisher.encode(snapshot_of(smaller, blocks[:1])))
    assert records["vehicle"].tolist() == [9, 12] and records["sequence"].tolist() == [1, 0]


def test_no_more_cars_than_allowed() -> None:
    layout = Layout((fleet("a", [3, 9], POSE), fleet("b", [7, 8], BICYCLE)), 1)
    publisher = StatePublisher(most=3)
    publisher.plan(layout, {"a": np.zeros(2), "b": np.zeros(2)})
    blocks = [random_block(fleet.columns, fleet.n)[0] for fleet in layout.fleets]
    assert decode_states(publisher.encode(snapshot_of(layout, blocks)))["vehicle"].tolist() == [3, 9, 7]
    assert publisher.left_out == 1


def test_old_duplicate_and_replayed_sequence_numbers_are_refused() -> None:
    track = SequenceTrack(10, 0.0)
    assert [track.takes(s, 0.1) for s in (11, 11, 10, 12, 9, 5, 20, 13, 21)] == [
        *(True, False, False, True, False, False, True, False, True),
    ]


def test_sequence_numbers_wrap() -> None:
    track = SequenceTrack(2**32 - 2, 0.0)
    assert [track.takes(s, 0.1) for s in (2**32 - 1, 0, 2**32 - 1, 1)] == [True, True, False, True]


def test_a_restarted_client_is_accepted() -> None:
    far = SequenceTrack(5000, 0.0)
    assert [far.takes(s, 0.1) for s in (0, 1, 2)] == [True, True, True]
    silent = SequenceTrack(500, 0.0)
    assert [silent.takes(s, 1.1) for s in (0, 1, 0)] == [True, True, False]
    at_once = SequenceTrack(500, 0.0)
    assert [at_once.takes(s, 0.1) for s in (0, 1, 2, 3, 2)] == [False, False, True, True, False]


HELLO = Subscribe(0)


def test_silent_clients_are_removed_after_two_seconds() -> None:
    clients = Senders(most=2, rate=100)
    ann, bob, eve = (("127.0.0.1", port) for port in (1, 2, 3))
    assert clients.receive(ann, HELLO, 0.0) and clients.receive(bob, HELLO, 1.0)
    assert clients.receive(eve, HELLO, 1.5) is None and len(clients.subscribers) == 2
    assert clients.forget(2.0) == 0 and clients.forget(2.5) == 1
    assert list(clients.subscribers) == [bob]
    assert clients.receive(eve, HELLO, 2.6) and clients.receive(ann, HELLO, 3.5)  # bob is forgotten for ann
    assert list(clients.subscribers) == [eve, ann]


def test_the_rate_of_a_client_is_limited() -> None:
    client = Senders(most=1, rate=3).receive(("127.0.0.1", 1), HELLO, 0.0)
    assert client is not None
    assert [client.allowance.take(0.1) for _ in range(5)] == [True, True, True, False, False]
    assert client.allowance.take(1.0)


def test_senders_elsewhere_subscribe_with_the_cookie_of_their_address() -> None:
    clients = Senders(most=2, rate=100)
    ann, eve = ("192.0.2.7", 4000), ("192.0.2.7", 4001)
    assert clients.receive(("127.0.0.1", 1), HELLO, 0.0) and clients.receive(("::ffff:127.0.0.1", 2, 0, 0), HELLO, 0.0)
    assert len(clients.subscribers) == 2 and clients.forget(3.0) == 2
    cookie = clients.cookies.fresh(ann, 4.0)
    for message in (HELLO, cookie.echo._replace(vehicle=cookie.vehicle ^ 1), CarCommand(1, 1, 0.0, 0.0, 0.0, 0.0)):
        stranger = clients.receive(ann, message, 4.0)
        assert stranger is not None and not clients.subscribers
    assert stranger.challenge_due(4.0) and not stranger.challenge_due(4.1) and stranger.challenge_due(4.2)
    clients.receive(eve, cookie.echo, 4.5)  # of another address
    assert not clients.subscribers
    assert clients.receive(ann, cookie.echo, 5.0) is stranger and list(clients.subscribers) == [ann]
    assert Senders(most=2, rate=100).cookies.fresh(ann, 4.0) != cookie  # each server has a secret of its own


def test_a_proof_expires_unless_a_newer_cookie_is_echoed() -> None:
    clients = Senders(most=1, rate=100)
    ann = ("192.0.2.7", 4000)
    first = clients.cookies.fresh(ann, 10.0)  # of the period from 0 to 30 s
    ticks = [0.5 * k for k in range(20, 240)]
    for now in ticks:
        clients.receive(ann, first.echo, now)
        clients.forget(now)
        assert (ann in clients.subscribers) == (now < 60.0), now
    second = clients.cookies.fresh(ann, 120.0)
    asked = []
    for now in [120.0 + tick for tick in ticks]:
        client = clients.receive(ann, second.echo, now)
        assert client is not None and clients.forget(now) == 0
        if client.challenge_due(now):
            asked.append(now)
            second = clients.cookies.fresh(ann, now)
    assert asked == [165.0, 195.0, 225.0]  # 15 s before the end of each proof


def test_unverified_senders_are_forgotten_and_take_no_place_of_a_subscriber() -> None:
    clients = Senders(most=1, rate=100)
    for number in range(UNVERIFIED + 50):
        clients.receive((f"192.0.2.{number % 250}", 1000 + number), HELLO, 0.0)
    assert len(clients.unverified_senders) == UNVERIFIED and not clients.subscribers
    ann = ("198.51.100.1", 7)
    assert clients.receive(ann, clients.cookies.fresh(ann, 1.0).echo, 1.0) and list(clients.subscribers) == [ann]
    clients.forget(2.5)
    assert not clients.unverified_senders


def test_one_line_per_reason_and_interval(caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr("paddock.serve.protection.admission.monotonic", lambda: now[0])
    log = LimitedLog("paddock.vds1")
    with caplog.at_level(logging.WARNING, "paddock.vds1"):
        for _ in range(5):
            log.warn("crc", "wrong crc")
        log.warn("magic", "wrong magic")
        now[0] += 10.0
        log.warn("crc", "wrong crc")
    assert caplog.messages == ["wrong crc", "wrong magic", "wrong crc (4 more like this since the last line)"]
