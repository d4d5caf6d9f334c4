"""MAVProxy, in a separate process, flies a copter from its prompt."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from paddock.autopilot.log import OnboardLog
from paddock.autopilot.mission_items import PlanKind

if importlib.util.find_spec("MAVProxy") is None:
    missing = "MAVProxy is not installed: pip install '.[dev]'"
    if os.environ.get("PADDOCK_REQUIRE_CLIENTS") == "1":
        pytest.fail(f"clients are required here: {missing}", pytrace=False)
    pytest.skip(f"{missing} (PADDOCK_REQUIRE_CLIENTS=1 makes this a failure)", allow_module_level=True)

PATIENCE = 120.0  # s of wall time for anything that is waited for
WORLD = {"seed": 6, "clock": {"rate": 1000}, "world": {"origin": [35.6812, 139.7671, 40.0]}, "vehicles": []}
MISSION = """QGC WPL 110
0 1 0 16 0 0 0 0 35.6812000 139.7671000 40 1
1 0 3 22 0 0 0 0 0 0 10 1
2 0 3 16 0 0 0 0 35.6813803 139.7671000 10 1
3 0 3 16 0 0 0 0 35.6812901 139.7671000 10 1
"""
MODULES = "link,output,mode,arm,cmdlong,misc,param,wp,fence,rally,rc"


class Proxy:
    """MAVProxy with its prompt on a pipe."""

    def __init__(self, master: str, folder: Path, modules: str = MODULES) -> None:
        options = [f"--master={master}", f"--default-modules={modules}", f"--state-basedir={folder}"]
        environment = {**os.environ, "HOME": str(folder), "PYTHONUNBUFFERED": "1", "TERM": "dumb"}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "MAVProxy.mavproxy", *options, "--no-state"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            cwd=folder,
            env=environment,
        )
        self.lines: list[str] = []
        self._changed = threading.Condition()
        self._read = 0  # lines before this one have been waited for
        self._reader = threading.Thread(target=self._listen)
        self._reader.start()

    def _listen(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            with self._changed:
                self.lines.append(line.rstrip())
                self._changed.notify_all()

    def type(self, command: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(command + "\n")
        self.process.stdin.flush()

    def wait(self, text: str) -> str:
        """The next line with that text, after the last one that was waited for."""
        end = time.monotonic() + PATIENCE
        with self._changed:
            while True:
                for number in range(self._read, len(self.lines)):
                    if text in self.lines[number]:
                        self._read = number + 1
                        return self.lines[number]
                self._changed.wait(1.0)
                assert time.monotonic() < end, f"MAVProxy never printed {text!r}:\n" + "\n".join(self.lines)
                assert self._reader.is_alive(), "MAVProxy ended:\n" + "\n".join(self.lines)

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        self._reader.join()
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                pipe.close()


def test_mavproxy_starts_and_reads_the_parameters(make_fleet: Callable[..., Any], tmp_path: Path) -> None:
    fleet = make_fleet(1).settle()
    fleet.run_aside(2.0)
    proxy = Proxy(f"udpin:127.0.0.1:{fleet.ports.station(1)[1]}", tmp_path, "link,mode,arm,cmdlong,misc,param")
    try:
        proxy.wait("Detected vehicle 1:1")
        proxy.wait("Received")  # ... parameters
        proxy.type("mode HOLD")
        proxy.wait("HOLD")
    finally:
        proxy.close()
    assert fleet.hub.vehicles[1].failures == 0


@pytest.mark.slow
def test_mavproxy_flies_a_mission_from_its_prompt(
    make_fleet: Callable[..., Any], tmp_path: Path, standalone_world: Any
) -> None:
    fleet = make_fleet(1, "copter", standalone_world(scenario=WORLD)).settle()
    copter, track = fleet.autopilots[0], []
    fleet.bridge.after_exchange.append(lambda _: track.append((copter.estimate.north, -copter.estimate.down)))
    fleet.run_aside(10.0)
    plan, kept = tmp_path / "plan.txt", tmp_path / "kept.txt"
    plan.write_text(MISSION.replace(" ", "\t").replace("QGC\tWPL\t110", "QGC WPL 110"))
    proxy = Proxy(f"udpin:127.0.0.1:{fleet.ports.station(1)[1]}", tmp_path)
    try:
        look_around(proxy, copter)
        exchange_missions(proxy, plan, kept)
        fly(proxy)
    finally:
        proxy.close()
    assert "breach" not in "\n".join(proxy.lines)
    assert fleet.hub.vehicles[1].failures == 0
    assert copter.parameters.value("FENCE_RADIUS") == 250.0
    assert max(north for north, _ in track) == pytest.approx(20.0, abs=3.0)
    assert max(height for _, height in track) > 9.0


def look_around(proxy: Proxy, copter: Any) -> None:
    proxy.wait("Detected vehicle 1:1")
    proxy.wait("Received")  # ... parameters
    proxy.type("param set FENCE_RADIUS 250")
    end = time.monotonic() + PATIENCE
    while copter.parameters.value("FENCE_RADIUS") != 250.0:  # MAVProxy sends it when it gets round to it
        assert time.monotonic() < end
        time.sleep(0.01)
    proxy.type("param fetch FENCE_RADIUS")
    proxy.wait("FENCE_RADIUS = 250.0")


def exchange_missions(proxy: Proxy, plan: Path, kept: Path) -> None:
    proxy.type(f"wp load {plan}")
    proxy.wait("MISSION_ACK: TYPE_MISSION: ACCEPTED")
    proxy.type(f"wp save {kept}")
    proxy.wait("Saved 4 waypoints")
    saved = [line.split() for line in kept.read_text().splitlines()[1:]]
    assert [int(row[3]) for row in saved] == [16, 22, 16, 16]
    assert float(saved[2][8]) == pytest.approx(35.6813803, abs=1e-6)  # it keeps six digits


def fly(proxy: Proxy) -> None:
    proxy.type("mode GUIDED")
    proxy.wait("Mode GUIDED")
    proxy.type("arm throttle")
    proxy.wait("ARMED")
    proxy.type("takeoff 5")
    proxy.wait("NAV_TAKEOFF: ACCEPTED")
    proxy.type("mode AUTO")
    proxy.wait("Mission complete")  # lines arrive in any order: wait for the last only
    proxy.type("mode RTL")
    proxy.wait("DISARMED")
    assert any("Mode RTL" in line for line in proxy.lines)


@pytest.mark.slow
def test_mavproxy_transfers_files_over_tcp(
    make_fleet: Callable[..., Any], tmp_path: Path, udp_block: Callable[[int], int]
) -> None:
    fleet = make_fleet(1, ports={"tcp_port": udp_block(1)}).settle()
    rover, log = fleet.autopilots[0], tmp_path / "logs" / "00000001.BIN"
    rover.log = OnboardLog(rover, log.parent)
    log.write_bytes(bytes(range(256)) * 200)
    fleet.run_aside(2.0)
    plan, got = tmp_path / "plan.txt", tmp_path / "got.bin"
    rows = [line for line in MISSION.splitlines(keepends=True) if " 22 " not in line]  # a rover does not take off
    plan.write_text("".join(rows).replace(" ", "\t").replace("QGC\tWPL\t110", "QGC WPL 110"))
    proxy = Proxy(f"tcp:127.0.0.1:{fleet.ports.tcp(1)}", tmp_path, f"{MODULES},ftp")
    try:
        proxy.wait("Detected vehicle 1:1")
        proxy.wait(f"Received {len(rover.parameters.names())} parameters (ftp)")
        proxy.type(f"wp ftpload {plan}")
        proxy.wait("Sent waypoint of length 3")
        proxy.type("ftp list /APM/LOGS")
        proxy.wait("00000001.BIN\t51200")
        proxy.type(f"ftp get /APM/LOGS/00000001.BIN {got}")
        proxy.wait("Wrote 51200 bytes")
        proxy.type(f"ftp put {plan} /../../{got}.evil")
        proxy.wait("Create failed")
    finally:
        proxy.close()
    assert got.read_bytes() == log.read_bytes()
    assert [item.command for item in rover.plans[PlanKind.MISSION]] == [16, 16, 16]
    assert fleet.hub.vehicles[1].failures == 0
