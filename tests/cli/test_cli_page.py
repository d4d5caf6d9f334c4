"""The page of a run: its link, its port, and loading another scenario."""

import json
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from rich.text import Text
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect

import paddock
from paddock.cli.main import exit_code
from paddock.cli.options import free_port, page_link
from paddock.cli.panels import with_link
from paddock.record import open_run
from paddock.serve.live import serve_options

LINK = re.compile(r"open (http://127\.0\.0\.1:(\d+)/\S*)")
WARMED_UP = 30
"""Ticks: more than 0.25 s of any scenario here."""
OTHER = """\
name: other
clock: {rate: 50}
vehicles: [{name: a, model: point}, {name: b, model: point}]
record: never.mcap
serve: {stream: 0, bind: 0.0.0.0}
"""


class Run:
    """A process of `paddock run`, and the address of its page."""

    def __init__(self, folder: Path, *arguments: str) -> None:
        command = [sys.executable, "-m", "paddock", "run", *arguments]
        self.process = subprocess.Popen(  # unbuffered: reading the first line reads nothing else
            command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0
        )
        assert self.process.stderr is not None
        self.first = self.process.stderr.readline().decode()
        matched = LINK.match(self.first)
        assert matched is not None, self.first + self.process.stderr.read().decode()
        self.link, self.port = matched[1], int(matched[2])

    def end(self) -> tuple[str, str]:
        self.process.send_signal(signal.SIGINT)
        out, err = self.process.communicate(timeout=60)
        return out.decode(), err.decode()


@contextmanager
def running(folder: Path, *arguments: str) -> Iterator[Run]:
    run = Run(folder, *arguments)
    try:
        yield run
    finally:
        if run.process.poll() is None:
            run.process.kill()
        run.process.communicate()


def wait_for(port: int) -> None:
    """Wait until the port is open."""
    end = time.monotonic() + 60
    while True:
        try:
            socket.create_connection(("127.0.0.1", port)).close()
            return
        except OSError:
            assert time.monotonic() < end
            time.sleep(0.05)


@contextmanager
def connected(port: int) -> Iterator[ClientConnection]:
    """The WebSocket connection of a page."""
    wait_for(port)
    with connect(f"ws://127.0.0.1:{port}/ws", compression=None, max_size=None) as page:
        yield page


def call(page: ClientConnection, method: str, **params: Any) -> Any:
    """Return the result of a call, or the message of its error."""
    page.send(json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}))
    while True:
        message = page.recv(timeout=60)
        if isinstance(message, str) and "id" in (answer := json.loads(message)):
            return answer["result"] if "result" in answer else answer["error"]["message"]


def wait_until_it_runs(port: int) -> None:
    """Wait for the end of the first 0.25 s: while kernels are loaded, a signal ends the process immediately."""
    with connected(port) as page:
        end = time.monotonic() + 60
        while call(page, "ping")["tick"] <= WARMED_UP:
            assert time.monotonic() < end
            time.sleep(0.05)


def receive_until_closed(page: ClientConnection) -> None:
    """Receive all messages until the server closes the connection."""
    while True:
        page.recv(timeout=60)


@pytest.fixture(scope="module")
def busy() -> Iterator[int]:
    """A port that is in use."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


def test_the_link_is_printed_first_and_opens_the_page(tmp_path: Path, small: Path) -> None:
    with running(tmp_path, str(small)) as run:
        wait_for(run.port)
        with urllib.request.urlopen(run.link, timeout=30) as answer:
            assert answer.status == 200 and answer.headers["Content-Type"].startswith("text/html")
        wait_until_it_runs(run.port)
        out, err = run.end()
    assert run.process.returncode == 130 and "state hash" in out and err == ""


def test_a_free_port_is_found(busy: int) -> None:
    free = free_port("127.0.0.1", busy)
    assert free not in (0, busy)
    with socket.create_server(("127.0.0.1", free)):
        assert free_port("127.0.0.1", free) != free
    assert free_port("127.0.0.1", free) == free


def test_a_requested_port_that_is_in_use(capsys: pytest.CaptureFixture[str], small: Path, busy: int) -> None:
    assert exit_code(["run", str(small), "--seconds", "0.1", "--serve", f"web={busy}"]) == 2
    assert f"paddock: error: web cannot listen on 127.0.0.1:{busy}" in capsys.readouterr().err


@pytest.mark.parametrize("flag", ["--no-web", "--headless", "--json"])
def test_runs_without_a_page(capsys: pytest.CaptureFixture[str], small: Path, flag: str) -> None:
    assert exit_code(["run", str(small), "--seconds", "0.2", flag]) == 0
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("flags", "error"),
    [
        (["--no-web", "--serve", "web"], "--serve web and --no-web are mutually exclusive"),
        (["--no-web", "--open"], "--open requires --serve: nothing is served"),
        (["--headless", "--token", "12345678"], "--token requires --serve: nothing is served"),
        (["--bind", "0.0.0.0"], "listening on 0.0.0.0 needs a token, or --insecure"),
        (["--hosts", "http://sim"], "--hosts: hosts are names such as sim.example"),
    ],
)
def test_invalid_flags(capsys: pytest.CaptureFixture[str], small: Path, flags: list[str], error: str) -> None:
    assert exit_code(["run", str(small), "--seconds", "0.1", *flags]) == 2
    assert error in capsys.readouterr().err


@pytest.mark.parametrize(
    ("fields", "link"),
    [
        ({}, "http://127.0.0.1:8000/"),
        ({"token": "a&b c/d=e"}, "http://127.0.0.1:8000/?token=a%26b%20c%2Fd%3De"),
        ({"bind": "0.0.0.0", "insecure": True}, "http://127.0.0.1:8000/"),
        ({"bind": "::1"}, "http://[::1]:8000/"),
        ({"bind": "localhost"}, "http://localhost:8000/"),
    ],
)
def test_links(fields: dict[str, Any], link: str) -> None:
    assert page_link(serve_options({"web": True, **fields}), 8000) == link


def test_the_link_in_the_view_is_complete() -> None:
    link = "http://127.0.0.1:8000/?token=0123456789"
    wide, narrow = (with_link(Text(" space pause   q quit"), link, width) for width in (80, 50))
    assert (wide.cell_len, narrow.cell_len) == (80, 50)
    assert wide.plain.startswith(" space pause   q quit ") and wide.plain.endswith(f" {link} ")
    assert narrow.plain == f" space pa {link} "  # 50 - 39 - 2 = 9 characters for the keys


def test_another_scenario_is_loaded_from_the_page(tmp_path: Path, small: Path) -> None:
    with running(tmp_path, str(small), "--record", "first.mcap", "--serve", "metrics=0") as run:
        with connected(run.port) as page:
            before = call(page, "metadata")
            assert (before["name"], before["can_load"]) == ("small", True)
            assert call(page, "running_scenario") == {"name": "small", "text": small.read_text()}
            cards = {card["name"]: card for card in call(page, "list_scenarios")["scenarios"]}
            assert cards["swarm"]["vehicles"] == 10_000 and "flock" in cards["swarm"]["description"]
            assert call(page, "get_scenario", name="race")["text"].count("model: car.bicycle") >= 1
            wrong = "vehicles:\n  - {model: quod}\n  - {model: os.path}\n"
            problems = call(page, "check_scenario", text=wrong)["problems"]
            assert [(problem["line"], problem["column"]) for problem in problems] == [
                (2, 13),
                (3, 13),
            ]
            assert call(page, "load_scenario", text=wrong).startswith("line 2, column 13: unknown model 'quod'")
            assert call(page, "metadata")["name"] == "small"
            assert call(page, "load_scenario", text=OTHER) == {"ignored": ["serve", "record"]}
            with pytest.raises(ConnectionClosed):
                receive_until_closed(page)
        with connected(run.port) as page:
            after = call(page, "metadata")
            assert (after["name"], after["rate"], after["can_load"]) == ("other", 50.0, True)
            assert call(page, "running_scenario") == {"name": "other", "text": OTHER}
        wait_until_it_runs(run.port)
        out, err = run.end()
    assert run.process.returncode == 130
    assert out.count("state hash") == 2 and "\nother: 2 vehicles" in out
    assert "other was loaded without sections serve and record" in err
    assert "first.mcap contains only the first run" in err and err.count("serving metrics") == 1
    assert not (tmp_path / "never.mcap").exists()
    with open_run(tmp_path / "first.mcap") as recording:
        assert recording.complete and recording.metadata["name"] == "small"


@pytest.mark.slow
def test_token_and_lock(tmp_path: Path, small: Path) -> None:
    with running(tmp_path, str(small), "--token", "open sesame", "--lock") as run:
        assert run.link.endswith("/?token=open%20sesame")
        with connected(run.port) as page:
            assert "token" in call(page, "load_scenario", name="race")
            assert call(page, "authenticate", token="open sesame") == {}
            assert call(page, "list_scenarios")["scenarios"]
            assert call(page, "load_scenario", text=OTHER) == "load refused: the clock belongs to the server"
        run.end()


@pytest.mark.slow
def test_a_run_that_starts_paused(tmp_path: Path, small: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    options = ("--paused", "--seconds", "3", "--serve", f"zmq={port}")
    with running(tmp_path, str(small), *options) as run, connected(run.port) as page:
        end = time.monotonic() + 60
        while call(page, "ping")["preparing"]:
            assert time.monotonic() < end
            time.sleep(0.05)
        with paddock.connect(f"tcp://127.0.0.1:{port}") as remote:
            remote.vehicles.place("red", [1.0, 2.0, 0.0, 0.0])
            assert call(page, "simulation_step", ticks=40)["tick"] == 40
            assert [(entry.tick, entry.kind) for entry in remote.control.log.complete()] == [(0, "place")]
        call(page, "release_clock")
        time.sleep(0.3)
        assert call(page, "ping")["tick"] == 40
        call(page, "resume")
        out, err = run.process.communicate(timeout=60)
        assert run.process.returncode == 0, err
        assert "3.000 s simulated (300 ticks)" in out.decode()
