"""Standings over the wire: those of the simulation, live and of a recording."""

import asyncio
from pathlib import Path
from typing import Any

import paddock
from paddock.engine.columns import snapshot_columns
from paddock.record import Player, Recorder
from paddock.serve.host import Host
from paddock.serve.live import serve_options
from paddock.serve.replay import ReplaySource

RACE: dict[str, Any] = {
    "clock": {"rate": 50, "pace": 0},
    "track": "acceleration",
    "rules": {"discipline": "acceleration", "stop_distance": 0},
    "vehicles": [
        {"name": "red", "model": "car.kinematic", "preset": "driverless", "commands": {"throttle": 1.0}},
        {"name": "blue", "model": "car.kinematic", "preset": "driverless", "pose": [-4, 0.2, 0]},
    ],
}


def test_standings_are_those_of_the_simulation(serve: Any) -> None:
    served = serve(RACE)
    with paddock.connect(served.url) as sim:
        sim.step(300)
        assert sim.race.standings() == served.sim.race.standings()
        row = sim.race.standings()["red"]
        assert row.laps == 1 and row.result is not None
        snapshot = sim.snapshot()
        assert [snapshot[name]["race.position"] for name in ("red", "blue")] == [1.0, 2.0]

    async def read() -> Any:
        async with await paddock.connect_async(served.url) as sim:
            return await sim.race.standings()

    assert asyncio.run(read()) == served.sim.race.standings()


def test_columns_have_meanings() -> None:
    columns = snapshot_columns(["race.gap", "race.status"], None, {})
    assert columns["race.gap"].unit == "s" and columns["race.status"].choices[-1] == "dnf"


def test_no_race(shared: Any) -> None:
    with paddock.connect(shared.url) as sim:
        assert sim.race is None
    assert shared.sim.race is None


def test_standings_of_a_replay(tmp_path: Path) -> None:
    with paddock.load(RACE) as sim, Recorder(sim, tmp_path / "run.mcap"):
        sim.step(300)
        wanted = sim.race.standings()
    with (
        Player(tmp_path / "run.mcap") as player,
        Host(ReplaySource(player), serve_options({"zmq": {"port": 0}})) as host,
    ):
        player.seek(player.duration)
        with paddock.connect(f"tcp://127.0.0.1:{host.addresses['zmq']['port']}") as sim:
            standings = sim.race.standings()
    assert [row.name for row in standings.rows] == [row.name for row in wanted.rows]
    assert abs(standings["red"].result - wanted["red"].result) < 1e-9
