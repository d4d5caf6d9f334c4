"""The estimated memory of vehicles, compared with what Python measures, and its limits."""

import tracemalloc
from typing import Any

import pytest

import paddock
from paddock.engine import fleets
from paddock.errors import PaddockError

COUNT = 5000
GRID = {"grid": {"spacing": 3}}


@pytest.mark.parametrize(
    "fields",
    [{"model": "rover"}, {"model": "point", "behaviour": {"flock": {}}}, {"model": "rover", "sensors": ["imu"]}],
)
def test_an_estimate_covers_what_building_and_watching_allocate(fields: dict[str, Any]) -> None:
    entry = {**fields, "name": "few", "count": COUNT, "spawn": GRID}
    with paddock.load({"vehicles": [entry]}) as sim:
        sim.snapshot()  # imports modules and loads kernels
    tracemalloc.start()
    try:
        with paddock.load({"vehicles": [entry]}) as sim:
            sim.snapshot()
            _, peak = tracemalloc.get_traced_memory()
            estimated = COUNT * fleets.vehicle_bytes(sim.engine.programs["few"])
    finally:
        tracemalloc.stop()
    assert 0.8 * peak < estimated < 6 * peak  # up to eight snapshots are in use at once while a run is served


def test_a_snapshot_that_is_not_kept_leaves_its_memory_to_the_next() -> None:
    with paddock.load({"vehicles": [{"model": "point", "count": 1000, "spawn": GRID}]}) as sim:

        def address() -> int:
            sim.step()
            return sim.snapshot().buffer.ctypes.data

        assert len({address() for _ in range(5)}) == 1


def test_a_scenario_that_does_not_fit_is_refused_at_its_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fleets, "available_bytes", lambda: 8 << 30)
    monkeypatch.setattr("paddock.engine.fleets.admit", lambda *arguments: pytest.fail("vehicles were built"))
    entries = [{"name": f"f{k}", "model": "point", "count": 10_000_000, "spawn": GRID} for k in range(20)]
    with pytest.raises(PaddockError) as caught:
        paddock.load({"vehicles": entries})
    message = str(caught.value)
    assert message.startswith("vehicles[0].count: 200,000,000 vehicles need about ")
    assert message.endswith(" GiB of memory, more than the 8.0 GiB available on this machine")
    assert 100 < float(message.split("about ")[1].split()[0]) < 1000  # 0.5 to 5 kB each


def test_a_spawn_that_does_not_fit_is_refused_and_the_run_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    with paddock.load({"vehicles": [{"model": "point"}]}) as sim:
        monkeypatch.setattr(fleets, "available_bytes", lambda: 1 << 30)
        with pytest.raises(PaddockError, match=r"more than the 1\.0 GiB available on this machine"):
            sim.spawn(name="many", model="point", count=10_000_000, spawn=GRID)
        sim.step(1)
        assert sim.tick == 1 and sim.engine.world.vehicles == 1


def test_samples_in_transit_from_a_sensor_count(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fleets, "available_bytes", lambda: 4 << 30)
    monkeypatch.setattr("paddock.engine.fleets.admit", lambda *arguments: pytest.fail("vehicles were built"))
    slow = {"imu": {"rate": 100_000.0, "delay": 10.0}}  # a million samples of 6 numbers: 48 MB
    entries = [{"name": f"r{k}", "model": "rover", "sensors": [slow]} for k in range(200)]
    with pytest.raises(PaddockError, match=r"200 vehicles need about \d+\.\d GiB") as caught:
        paddock.load({"clock": {"rate": 100_000}, "vehicles": entries})
    assert float(str(caught.value).split("about ")[1].split()[0]) == pytest.approx(200 * 48e6 / 2**30, abs=0.06)


def test_the_memory_of_this_machine_is_known_where_the_system_shows_it() -> None:
    available = fleets.available_bytes()
    assert available is None or 0 < available < 1 << 50
