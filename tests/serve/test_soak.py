"""Minutes of clients that connect, disconnect and die: no growth. `make soak` runs it; PADDOCK_SOAK: length, s."""

from __future__ import annotations

import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median

import pytest

SECONDS = float(os.environ.get("PADDOCK_SOAK", "240"))
SERVER = """
import json, paddock
red = {"name": "red", "id": 1, "model": "car.bicycle", "preset": "sedan"}
drones = {"name": "drones", "count": 500, "model": "quad", "spawn": {"grid": {"spacing": 3, "z": 20}}}
with paddock.load({"clock": {"rate": 240, "pace": 1.0}, "vehicles": [red, drones]}) as sim:
    sim.control.log.most_bytes = 0  # the log of actions grows as long as the run lasts, up to its limit
    with paddock.share(sim, stream={"port": 0}, vds1={"port": 0}, zmq={"port": 0}) as host:
        print(json.dumps({name: address["port"] for name, address in host.addresses.items()}), flush=True)
        sim.run()
"""
STREAM = """
import socket, sys, time
from paddock.wire import rpc
with socket.create_connection(("127.0.0.1", int(sys.argv[1])), 10) as connection:
    connection.sendall(rpc.request(1, "subscribe", {"kinds": ["positions", "telemetry", "events"], "rate": 30}))
    end = time.monotonic() + float(sys.argv[2])
    while time.monotonic() < end and connection.recv(1 << 20):
        pass
"""
STALLED = STREAM.replace("connection.recv(1 << 20)", "time.sleep(0.1) is None")
GARBAGE = """
import os, socket, sys, time
end = time.monotonic() + float(sys.argv[2])
while time.monotonic() < end:
    with socket.create_connection(("127.0.0.1", int(sys.argv[1])), 10) as connection:
        connection.sendall(os.urandom(2000))
    time.sleep(0.05)
"""
UDP = """
import socket, sys, time
from paddock.wire.vds1 import CarCommand, encode_command
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp:
    udp.settimeout(1.0)
    end, sequence = time.monotonic() + float(sys.argv[2]), 0
    while time.monotonic() < end:
        sequence += 1
        command = CarCommand(sequence, 1, 0.0, 0.1, 0.2, 0.0, 1, False)
        udp.sendto(encode_command(command), ("127.0.0.1", int(sys.argv[1])))
        udp.recv(2048)
"""
REMOTE = """
import sys, time, paddock
with paddock.connect(f"tcp://127.0.0.1:{sys.argv[1]}") as sim:
    end = time.monotonic() + float(sys.argv[2])
    while time.monotonic() < end:
        sim.command("red", steer=0.1)
        sim.snapshot()
        sim.world.markers.put(paddock.Marker.circle("soak", 1, radius=2.0, ttl=0.5))
"""
CLIENTS = {"stream": (STREAM, STALLED, GARBAGE), "vds1": (UDP,), "zmq": (REMOTE,)}


SILENCE = 8.0
"""s after which a silent client is removed."""
Usage = tuple[float, int, int]
"""Resident MB, threads, open files and sockets."""


class Process:
    """What a process of Linux uses."""

    def __init__(self, number: int) -> None:
        self.proc = Path(f"/proc/{number}")

    def measure(self) -> Usage:
        """What it uses now."""
        status = (self.proc / "status").read_text()
        resident = int(re.search(r"VmRSS:\s+(\d+)", status)[1]) / 1024  # type: ignore[index]
        threads = int(re.search(r"Threads:\s+(\d+)", status)[1])  # type: ignore[index]
        return resident, threads, len(list((self.proc / "fd").iterdir()))


@pytest.fixture
def server() -> Iterator[tuple[int, int, dict[str, int]]]:
    """(its process, its hub's process, port by endpoint)."""
    process = subprocess.Popen([sys.executable, "-c", SERVER], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    ports = json.loads(process.stdout.readline())
    threads = Path(f"/proc/{process.pid}/task").iterdir()  # any of them may have started the hub
    children = [child for thread in threads for child in (thread / "children").read_text().split()]
    hub = next(int(c) for c in children if b"paddock.serve" in Path(f"/proc/{c}/cmdline").read_bytes())
    yield process.pid, hub, ports
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=30)


@pytest.mark.soak
@pytest.mark.timeout(SECONDS + 300)
def test_nothing_grows_while_clients_connect_and_disconnect(server: tuple[int, int, dict[str, int]]) -> None:
    number, hub, ports = server
    for name, codes in CLIENTS.items():  # each kind once: objects created for the first client stay
        for code in codes:
            subprocess.run([sys.executable, "-c", code, str(ports[name]), "1"], stderr=subprocess.DEVNULL, check=False)
    time.sleep(SILENCE)
    before = {"simulation": Process(number).measure(), "hub": Process(hub).measure()}
    dice = random.Random(1)
    clients: list[subprocess.Popen[bytes]] = []
    measured: dict[str, list[Usage]] = {"simulation": [], "hub": []}
    end, joined = time.monotonic() + SECONDS, 0
    while time.monotonic() < end:
        for client in [c for c in clients if c.poll() is not None]:
            clients.remove(client)
        if len(clients) < 6:
            name = dice.choice(list(CLIENTS))
            code = dice.choice(CLIENTS[name])
            command = [sys.executable, "-c", code, str(ports[name]), str(dice.uniform(1, 8))]
            clients.append(subprocess.Popen(command, stderr=subprocess.DEVNULL))
            joined += 1
        if dice.random() < 0.1:
            dice.choice(clients).kill()
        measured["simulation"].append(Process(number).measure())
        measured["hub"].append(Process(hub).measure())
        time.sleep(0.5)
    for client in clients:
        client.kill()
        client.wait()
    time.sleep(SILENCE)
    for name, pid in (("simulation", number), ("hub", hub)):
        grown(name, before[name], measured[name], Process(pid).measure())
    assert joined > SECONDS / 10


def grown(name: str, before: Usage, measured: list[Usage], after: Usage) -> None:
    """Compare the second tenth with the last one, and the state after all clients with the initial one."""
    tenth = max(1, len(measured) // 10)
    early, late = (median(m[0] for m in part) for part in (measured[tenth : 2 * tenth], measured[-tenth:]))
    print(f"{name}: {early:.0f} MB, at last {late:.0f} MB; threads and files before {before[1:]}, after {after[1:]}")
    assert late < 1.05 * early + 5, f"the {name} has grown from {early:.0f} to {late:.0f} MB"
    assert after[1] <= before[1], f"the {name} keeps threads"
    assert after[2] <= before[2], f"the {name} keeps files or sockets"
