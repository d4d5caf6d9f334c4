"""On-board logs of a flight, read by pymavlink."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

DFReader = pytest.importorskip("pymavlink.DFReader", reason="pymavlink is not installed")

from paddock.autopilot.estimate import LocalFrame  # noqa: E402
from paddock.autopilot.log import MAX_LOGS, OnboardLog, gps_time  # noqa: E402
from paddock.autopilot.mission_items import MissionItem, PlanKind  # noqa: E402

PLACE = (35.6812, 139.7671, 40.0)


def flight(rig: Any, folder: Path) -> Any:
    """A take-off, a waypoint and a landing, logged."""
    craft = rig("iris", noisy=True, LAND_SPEED_HIGH=300, LAND_ALT_LOW=200)
    craft.autopilot.log = OnboardLog(craft.autopilot, folder)
    latitude, longitude, _ = LocalFrame(*PLACE).to_geodetic(15.0, 0.0, 0.0)
    items = [MissionItem(16), MissionItem(22, z=4.0), MissionItem(206, 2, 3.0)]
    items += [MissionItem(16, x=latitude, y=longitude, z=4.0), MissionItem(21)]
    assert craft.autopilot.set_plan(PlanKind.MISSION, items)[0] == 0
    craft.ready()
    assert craft.autopilot.command(300, [0.0] * 7).accepted
    craft.run(60.0, lambda: not craft.autopilot.armed)
    craft.run(0.3)
    return craft


@pytest.fixture(scope="module")
def log(request: Any, tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, Path]:
    rig = request.getfixturevalue("module_rig")
    folder = tmp_path_factory.mktemp("logs")
    return flight(rig, folder), folder


def read(path: Path) -> dict[str, list[Any]]:
    reader, messages = DFReader.DFReader_binary(str(path)), {}
    while (message := reader.recv_msg()) is not None:
        messages.setdefault(message.get_type(), []).append(message)
    close(reader)
    return messages


def close(reader: Any) -> None:
    """Close its file, which it leaves to the garbage collector."""
    reader.data_map.close()
    reader.filehandle.close()


def test_pymavlink_reads_the_flight(log: tuple[Any, Path], capfd: pytest.CaptureFixture[str]) -> None:
    craft, folder = log
    (path,) = folder.iterdir()
    assert path.name == "00000001.BIN"
    records = read(path)
    assert not capfd.readouterr().err  # no bad header, no unknown type
    counts = Counter({name: len(messages) for name, messages in records.items()})
    assert {"FMT", "FMTU", "UNIT", "MULT", "PARM", "MSG", "MODE", "EV", "CMD", "ORGN", "CAM"} <= counts.keys()
    assert {"ATT", "POS", "GPS", "IMU", "MAG", "BARO", "BAT", "RCOU", "RCIN"} <= counts.keys()
    assert counts["PARM"] == len(craft.autopilot.parameters.names())
    times = np.array([m.TimeUS for m in records["ATT"]])
    assert np.median(np.diff(times)) == 100_000  # 10 Hz of simulated time
    flown = np.array(craft.log)
    heights = np.interp([m.TimeUS * 1e-6 for m in records["POS"]], flown[:, 0], flown[:, 3])
    assert [m.RelHomeAlt for m in records["POS"]] == pytest.approx(heights.tolist(), abs=1.5)
    norths = [(m.Lat - PLACE[0]) * 110_940.0 for m in records["POS"]]  # m per degree at this latitude
    assert max(norths) == pytest.approx(flown[:, 1].max(), abs=1.5)
    assert [m.Id for m in records["EV"]].count(10) == 1 and records["EV"][-1].Id == 11  # armed, disarmed
    assert [(m.ModeNum, m.Rsn) for m in records["MODE"]] == [(4, 2), (3, 2)]  # both of a ground station
    assert [m.CId for m in records["CMD"]][:5] == [16, 22, 206, 16, 21]
    assert any(m.Message == "Mission: 1 Takeoff" for m in records["MSG"])
    assert len(records["CAM"]) == craft.autopilot.camera.taken > 0
    assert 900 < records["RCOU"][10].C1 < 2000 and records["RCOU"][10].C9 == 0
    assert records["IMU"][0].AccZ == pytest.approx(-9.8, abs=0.6)


def test_the_clock_is_gps_time_of_the_simulated_date(log: tuple[Any, Path]) -> None:
    _, folder = log
    reader = DFReader.DFReader_binary(str(next(folder.iterdir())))
    message = reader.recv_match(type="ATT")
    assert reader.flightmode == "GUIDED" and reader.mav_type == 2  # a quadrotor, from MSG
    # 1 January 2026 00:00 UTC, plus the simulated time
    assert message._timestamp == pytest.approx(1_767_225_600 + message.TimeUS * 1e-6, abs=0.01)
    close(reader)
    assert gps_time(0) == (2399, 345_618_000)  # a Thursday, and 18 leap seconds


def test_mavlogdump_prints_it(log: tuple[Any, Path]) -> None:
    _, folder = log
    tool = Path(sys.executable).with_name("mavlogdump.py")
    if not tool.exists():
        pytest.skip("mavlogdump.py is not installed")
    path = next(folder.iterdir())
    done = subprocess.run(
        [sys.executable, str(tool), "--types", "MODE,EV", str(path)], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0 and "EV {" in done.stdout and "MODE {" in done.stdout


def test_the_same_flight_writes_the_same_bytes(log: tuple[Any, Path], rig: Any, tmp_path: Path) -> None:
    _, folder = log
    flight(rig, tmp_path)
    assert (tmp_path / "00000001.BIN").read_bytes() == next(folder.iterdir()).read_bytes()


def test_log_bitmask_log_disarmed_and_a_full_folder(rig: Any, tmp_path: Path) -> None:
    craft = rig("iris", LOG_DISARMED=1, LOG_BITMASK=4)
    craft.autopilot.log = OnboardLog(craft.autopilot, tmp_path)
    craft.run(1.0)
    craft.autopilot.log.close()
    records = read(tmp_path / "00000001.BIN")
    assert len(records["GPS"]) > 5 and "ATT" not in records
    craft.autopilot.reset()  # the next boot starts the next log
    craft.tick = 0
    craft.run(0.5)
    assert [path.name for path in craft.autopilot.log.files()] == ["00000001.BIN", "00000002.BIN"]
    craft.autopilot.log.close()
    for number in range(3, MAX_LOGS + 1):
        (tmp_path / f"{number:08d}.BIN").touch()
    craft.autopilot.parameters.set("LOG_DISARMED", 1)
    craft.run(0.5)
    assert any("Logging stopped: 500 logs" in getattr(notice, "text", "") for notice in craft.autopilot.outbox)
    craft.autopilot.log.erase()
    assert craft.autopilot.log.files() == []
