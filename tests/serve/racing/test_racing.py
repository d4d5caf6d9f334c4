"""Racing over the network: one server process, two that drive, one that watches, one that sends garbage."""

from __future__ import annotations

import json
import math
import re
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families

HERE = Path(__file__).parent
RATE = 200.0
SCENARIO = """
name: race
clock: {rate: 1000}
vehicles:
  - {id: 1, name: red, model: car.bicycle, preset: sports, pose: [15, 0, 1.5707963267948966]}
  - {id: 2, name: blue, model: car.bicycle, preset: sports, pose: [-15, 0, -1.5707963267948966]}
  - {id: 3, name: parked, model: car.kinematic, pose: [40, 0, 0]}
"""
Start = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture
def start() -> Iterator[Start]:
    """Starts Python processes; those that still run in the end are killed."""
    with ExitStack() as stack:

        def begin(*arguments: Any, **options: Any) -> subprocess.Popen[str]:
            command = [sys.executable, *map(str, arguments)]
            process = stack.enter_context(subprocess.Popen(command, text=True, **options))
            stack.callback(lambda: process.poll() is None and process.kill())
            return process

        yield begin


def serve(start: Start, tmp_path: Path) -> tuple[subprocess.Popen[str], dict[str, int]]:
    """The server's process and its ports, as it prints them."""
    scenario, log = tmp_path / "race.yaml", tmp_path / "stderr.txt"
    scenario.write_text(SCENARIO, encoding="utf-8")
    endpoints = [text for name in ("vds1", "stream", "metrics") for text in ("--serve", f"{name}=0")]
    arguments = ["-m", "paddock", "run", scenario, "--headless", "--pace", "1", *endpoints]
    with log.open("w") as errors:
        server = start(*arguments, stdout=subprocess.PIPE, stderr=errors)
    ports: dict[str, int] = {}
    end = time.monotonic() + 60.0
    while len(ports) < 3:
        assert server.poll() is None and time.monotonic() < end, log.read_text()
        served = re.findall(r"^serving (\w+) on 127\.0\.0\.1:(\d+)$", log.read_text(), re.MULTILINE)
        ports = {name: int(port) for name, port in served}
        time.sleep(0.05)
    return server, ports


def counts(port: int) -> dict[tuple[str, str, str], float]:
    """(name, endpoint, reason) -> value."""
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=5) as answer:
        page = answer.read().decode()
    samples = [sample for family in text_string_to_metric_families(page) for sample in family.samples]
    return {(s.name, s.labels.get("endpoint", ""), s.labels.get("reason", "")): s.value for s in samples}


def saw_all(report: dict[str, Any]) -> bool:
    """Whether more than half the states of every car arrived."""
    return all(report["seen"].get(car, 0) > 0.5 * RATE * report["seconds"] for car in ("1", "2", "3"))


@pytest.mark.slow
def test_two_race_one_watches_and_one_sends_garbage(start: Start, tmp_path: Path) -> None:
    server, ports = serve(start, tmp_path)
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    vandal = start(HERE / "vandal.py", ports["vds1"], ports["stream"])
    watcher = start(HERE / "watcher.py", ports["vds1"], 3, **pipes)
    drivers = [start(HERE / "driver.py", ports["vds1"], car, **pipes) for car in (1, 2)]
    laps = [json.loads(driver.communicate(timeout=40)[0]) for driver in drivers]
    seen = json.loads(watcher.communicate(timeout=10)[0])
    assert vandal.poll() is None
    for lap in laps:
        assert lap["winding"] >= 2 * math.pi
        assert lap["radius"][0] > 14.0 and lap["radius"][1] < 16.0
        assert saw_all(lap)
    assert saw_all(seen) and seen["seconds"] > 5.0
    assert seen["places"] == 1  # watching has driven nothing
    page = counts(ports["metrics"])
    for reason in ("length", "crc"):
        assert page["paddock_hub_datagrams_refused_total", "vds1", reason] > 50
    assert page["paddock_hub_misdirected_total", "vds1", ""] > 50
    assert page["paddock_hub_cut_off_total", "stream", "type"] > 5
    assert page["paddock_clients", "vds1", ""] <= 3  # garbage is not sent any states
    assert page["paddock_hub_restarts", "", ""] == 0
    with urllib.request.urlopen(f"http://127.0.0.1:{ports['metrics']}/healthz", timeout=5) as answer:
        assert answer.status == 200
    server.send_signal(signal.SIGINT)
    out, _ = server.communicate(timeout=20)
    assert server.returncode == 128 + signal.SIGINT and "race" in out
