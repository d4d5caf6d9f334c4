"""`paddock sitl`: its options, its output and its error messages."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from paddock.cli import session
from paddock.cli.main import exit_code
from paddock.record.reader import open_run
from paddock.wire.ardupilot_json import ServoPacket, encode_servos


@pytest.fixture
def ports(udp_block: Callable[[int], int]) -> list[str]:
    """Flags with UDP ports that are free now, a block each for the vehicles and their stations."""
    base = udp_block(40)
    return ["--base-port", str(base), "--station-port", str(base + 20), "--tcp", "0"]


def test_the_number_of_vehicles(ports: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    flags = ["--vehicles", "3", "--type", "rover", "--seconds", "2", "--pace", "0", "--headless", *ports]
    assert exit_code(["sitl", *flags]) == 0
    out = capsys.readouterr().out
    assert f"1       rover[0]  builtin rover  udp 127.0.0.1:{ports[1]}  udp 127.0.0.1:{ports[3]}" in out
    for station in ("QGroundControl", "Mission Planner", "MAVProxy", "MAVSDK"):
        assert station in out
    assert "3 vehicles, 2.000 s simulated" in out and "autopilots: 3, 0 armed\n" in out


def test_ports_are_printed_when_clients_are_answered(
    ports: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    printed_before: list[str] = []
    first_tick = session._first_tick

    def watched(*arguments: Any) -> None:
        first_tick(*arguments)  # kernels are compiled here, which may take a minute
        printed_before.append(capsys.readouterr().out)

    monkeypatch.setattr(session, "_first_tick", watched)
    assert exit_code(["sitl", "--vehicles", "1", "--seconds", "0.5", "--pace", "0", "--headless", *ports]) == 0
    assert printed_before == [""] and f"udp 127.0.0.1:{ports[1]}" in capsys.readouterr().out


def test_a_line_says_that_kernels_are_compiled(
    ports: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise nothing is printed until ground stations get answers; once, and not for what the cache has."""
    numba, first_tick = pytest.importorskip("numba"), session._first_tick

    def compiled(*arguments: Any) -> None:
        for number in (1, 2):
            assert numba.njit(lambda x, number=number: x + number)(1) == 1 + number
        first_tick(*arguments)

    flags = ["sitl", "--vehicles", "1", "--seconds", "0.5", "--pace", "0", "--headless", *ports]
    assert exit_code(flags) == 0
    capsys.readouterr()  # the cache may have been empty
    assert exit_code(flags) == 0 and "compiling" not in capsys.readouterr().err
    monkeypatch.setattr(session, "_first_tick", compiled)
    assert exit_code(flags) == 0
    assert capsys.readouterr().err.count("paddock: compiling kernels; the first run takes up to a minute\n") == 1


def test_a_demo_with_other_ports_and_a_log(
    ports: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    flags = ["--seconds", "3", "--pace", "0", "--json", "--log", str(tmp_path), *ports]
    assert exit_code(["sitl", "sitl", *flags]) == 0
    numbers = json.loads(capsys.readouterr().out)
    assert numbers["vehicles"] == 10
    rows = numbers["autopilots"]
    assert [row["sysid"] for row in rows] == list(range(1, 11))
    assert {row["mode"] for row in rows[:5]} == {"AUTO"} and not any(row["rejected"] for row in rows)
    assert len(list(tmp_path.glob("*.tlog"))) == 10


def test_the_physics_of_ardupilots(capsys: pytest.CaptureFixture[str]) -> None:
    flags = ["--instances", "2", "--first-instance", "80", "--seconds", "0.1", "--headless"]
    assert exit_code(["sitl", "--ardupilot", "rover-skid", *flags]) == 0
    out = capsys.readouterr().out
    assert "udp 127.0.0.1:9802" in out and "udp 127.0.0.1:9812" in out
    assert "--model JSON:127.0.0.1" in out and "tcp:127.0.0.1:6560" in out


def test_the_physics_of_a_px4(capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code(["sitl", "--px4", "copter", "--first-instance", "80", "--seconds", "0.1", "--headless"]) == 0
    out = capsys.readouterr().out
    assert "tcp 127.0.0.1:4640" in out and "px4 -i 80" in out


def test_the_wind_of_the_command_line_has_a_profile(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "run.mcap"
    flags = ["--seconds", "0.1", "--headless", "--wind", "12,270", "--record", str(file)]
    assert exit_code(["sitl", "--px4", "plane", "--first-instance", "81", *flags]) == 0
    assert "PX4_SYS_AUTOSTART=1030" in capsys.readouterr().out
    with open_run(file) as run:
        world = run.scenario.world
    assert world.wind == pytest.approx((12.0, 0.0, 0.0), abs=1e-9)  # from the west
    assert world.wind_profile is not None and world.wind_profile.roughness == 0.03
    for wrong in ("12", "12,270,1", "a,b", "-1,0", "nan,0", "1,inf"):
        assert exit_code(["sitl", "--px4", "plane", f"--wind={wrong}"]) == 2
        assert "--wind takes" in capsys.readouterr().err


def test_without_a_view_events_of_autopilots_are_printed(capsys: pytest.CaptureFixture[str]) -> None:
    """A stand-in connects, a second one is refused, and the first one starts again."""
    port = 9002 + 10 * 82
    done = threading.Event()

    def packet(count: int) -> bytes:
        return encode_servos(ServoPacket(100, count, (1500,) * 16))

    def fly() -> None:
        with (
            socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as first,
            socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as second,
        ):
            first.settimeout(0.2)
            count = 0
            while not done.is_set() and count < 40:
                first.sendto(packet(count), ("127.0.0.1", port))
                with suppress(OSError):
                    first.recv(4096)
                    count += 1
                if count == 20:
                    second.sendto(packet(0), ("127.0.0.1", port))
            first.sendto(packet(0), ("127.0.0.1", port))  # counts from 0: it has restarted

    thread = threading.Thread(target=fly)
    thread.start()
    try:
        flags = ["--first-instance", "82", "--seconds", "3", "--headless", "--pace", "1"]
        assert exit_code(["sitl", "--ardupilot", "rover", *flags]) == 0
    finally:
        done.set()
        thread.join()
    lines = [line.split(": ", 2)[1:] for line in capsys.readouterr().err.splitlines() if line.startswith("t ")]
    events = dict(lines)
    assert events["connected"] == "ardupilot answers"
    assert events["rejected"].startswith("refused 127.0.0.1:") and events["rejected"].endswith("start it with -I")
    assert events["restarted"] == "ardupilot has restarted (1 in this run)"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "give one of SCENARIO, --vehicles, --ardupilot and --px4"),
        (["sitl", "--vehicles", "2"], "give one of SCENARIO, --vehicles, --ardupilot and --px4"),
        (["--vehicles", "0"], "the number of vehicles must be 1 to 254, not 0"),
        (["--vehicles", "255"], "the number of vehicles must be 1 to 254, not 255"),
        (["--vehicles", "2", "--type", "rovr"], "unknown vehicle type 'rovr'; did you mean 'rover'?"),
        (["--vehicles", "2", "--instances", "3"], "require --ardupilot or --px4"),
        (["--px4", "copter", "--no-lockstep"], "--no-lockstep requires --ardupilot"),
        (["--vehicles", "2", "--base-port", "70000"], "--base-port"),
        (["--vehicles", "2", "--timeout", "-1"], "--timeout"),
        (["--ardupilot", "heli"], "--ardupilot"),
        (
            ["--vehicles", "3", "--base-port", "42001", "--station-port", "42000", "--headless"],
            "UDP port 42001 is both the port of vehicle 1 and the ground station port of vehicle 2",
        ),
        (["survey"], "survey: no sitl section"),
        (["no_such.yaml"], "no such scenario file or demo"),
    ],
)
def test_mistakes(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code(["sitl", *arguments]) == 2
    error = capsys.readouterr().err
    assert message in error and len(error.splitlines()) == 1


def test_a_port_in_use(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        flags = ["--base-port", str(port), "--seconds", "1", "--headless"]
        assert exit_code(["sitl", "--vehicles", "1", *flags]) == 2
    error = capsys.readouterr().err
    assert f"vehicle 1: UDP port {port} is in use" in error and "--base-port" in error
    assert "mavlink: {port: ...} in the scenario" in error  # where there is no such flag
