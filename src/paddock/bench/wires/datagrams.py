"""VDS1: many cars, several subscribers; how many publishes are late, and does everything arrive?"""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from collections.abc import Iterator
from time import monotonic, sleep
from typing import Any
from urllib.request import urlopen

from paddock.bench.result import Result, measured
from paddock.bench.wires.latency import speed
from paddock.bench.wires.server import Server
from paddock.bench.wires.swarms import cars
from paddock.wire.vds1 import Command, encode_command

COMMAND_EVERY = 0.01
"""s between two commands of a client."""


def datagrams(quick: bool) -> Iterator[Result]:
    """64 cars to 4 clients at 100 Hz, each of which drives one car at 100 Hz."""
    count, clients, seconds, judged = (16, 2, 2.0, False) if quick else (64, 4, 8.0, True)
    serve = {"vds1": {"port": 0, "rate": 100, "state": None}, "metrics": {"port": 0}}
    with Server(cars(count, 1000), serve) as server:
        sleep(0.5)
        before = counters(server.addresses["metrics"]["port"])
        figures, kept = speed(server, lambda: _driven(server.addresses["vds1"]["port"], clients, seconds))
        after = counters(server.addresses["metrics"]["port"])
    publishes = after["publishes"] - before["publishes"]
    late = 100.0 * (after["publishes_late"] - before["publishes_late"]) / max(publishes, 1)
    name = f"vds1, {count} cars to {clients} clients at 100 Hz"
    yield measured("wires", f"{name}: publishes late", late, "%", "<= 1" if judged else None)
    yield measured("wires", f"{name}: datagrams that arrived", 100.0 * figures["share"] / count, "%")
    yield measured("wires", f"{name}: rate kept by the simulation", kept, "%", ">= 99" if judged else None)


def counters(port: int) -> dict[str, float]:
    """The hub's counts of publishes, from its metrics."""
    with urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10) as page:
        lines = page.read().decode().splitlines()
    found = {"publishes": 0.0, "publishes_late": 0.0}
    for line in lines:
        name, _, value = line.partition(" ")
        key = name.partition("{")[0].removeprefix("paddock_hub_").removesuffix("_total")
        if key in found:
            found[key] = float(value)
    return found


def _driven(port: int, clients: int, seconds: float) -> dict[str, Any]:
    command = [sys.executable, "-m", "paddock.bench.wires.datagrams", str(port)]
    started = [
        subprocess.Popen([*command, str(k + 1), str(seconds)], stdout=subprocess.PIPE, text=True)
        for k in range(clients)
    ]
    shares = [json.loads(one.communicate(timeout=120)[0])["rate"] / 100.0 for one in started]
    return {"share": min(shares)}


def drive(port: int, vehicle: int, seconds: float) -> float:
    """Command one car and count the states of all; datagrams per second."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp:
        udp.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4 << 20)
        udp.settimeout(COMMAND_EVERY)
        begin, heard, sequence, due = monotonic() + 1.0, 0, 0, 0.0
        while (now := monotonic()) < begin + seconds:
            if now >= due:
                sequence, due = sequence + 1, now + COMMAND_EVERY
                udp.sendto(encode_command(Command(sequence, vehicle, 0.0, 0.1, 0.2, 0.0)), ("127.0.0.1", port))
            try:
                udp.recv(2048)
                heard += now >= begin
            except TimeoutError:
                continue
        return heard / seconds


if __name__ == "__main__":
    print(json.dumps({"rate": drive(int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3]))}))
