"""The wire benchmarks, with few vehicles and for a short time."""

from __future__ import annotations

import pytest

from paddock.bench.processes import Server, cars, swarm
from paddock.bench.suites.wires import encoding, shared_memory, speed, watched


def test_worlds_have_the_size_and_rate_of_their_cases() -> None:
    assert swarm(1000, 60)["clock"]["rate"] == 240 and swarm(1000, 30)["clock"]["rate"] == 240
    assert swarm(77, 30)["vehicles"][0]["count"] == 77
    assert [entry["id"] for entry in cars(3, 1000)["vehicles"]] == [1, 2, 3]


@pytest.mark.slow
def test_encoding_is_compared_with_json_of_the_same_data() -> None:
    results = [*encoding(True), *shared_memory(True)]
    assert [result.unit for result in results] == ["ms", "x", "x", "per s"]
    assert all(result.value > 0 for result in results)


@pytest.mark.parametrize("wire", ["stream", pytest.param("shm", marks=pytest.mark.slow)])
def test_a_subscriber_sees_every_vehicle_of_a_simulation_that_keeps_its_rate(wire: str) -> None:
    figures, kept = watched(wire, 50, 30, 0.5)
    assert figures["vehicles"] == 50
    assert 0 < figures["groups"] <= 3 * 30 * figures["seconds"]  # a simulation that lagged publishes faster for a while
    assert 0 < figures["p50"] <= figures["p99"]
    assert 0 < kept < 110


@pytest.mark.slow
def test_a_server_reports_its_tick() -> None:
    with Server(cars(2, 200), {"metrics": {"port": 0}}) as server:
        before = server.figures()
        _, kept = speed(server, dict)
        assert before["vehicles"] == 2 and server.figures()["tick"] >= before["tick"] >= 1
        assert kept < 1000
