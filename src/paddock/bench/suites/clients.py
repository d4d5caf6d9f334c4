"""Speed of a run beside clients that ask as fast as they can."""

import json
from collections.abc import Iterator
from time import sleep
from typing import Any

from paddock.bench.result import Bench, Result, measured
from paddock.bench.server import Server
from paddock.bench.subscriber import Subscriber

CONNECTIONS = 16
RATE = 1000  # ticks per s
ROUNDS = 3  # of each: alone, then with clients

ROVER = {"name": "guest", "model": "rover", "pose": [0, 0, 0]}
ASKED: dict[str, dict[str, Any]] = {
    "save": {},
    "metadata": {},
    "state_hash": {},
    "inspect": {"target": "scouts[7]"},
    "snapshot": {},
    "sensors": {"target": "scouts"},
    "events": {},
    "log": {"complete": False},
    "orders": {},
    "routes": {},
    "transform": {"target": "world", "source": "scouts[7]"},
    "clock": {},
    "command": {"target": "red", "inputs": {"steer": 0.1}},
    "place": {"target": "red", "pose": [0, 0, 0, 0]},
    "order": {"target": "scouts[7]", "behaviour": "hold"},
    "set_frame": {"name": "mast", "position": [0, 0, 1]},
    "spawn": {"entry": ROVER},
    "remove": {"target": "guest"},
    "reset": {},
}
"""The operations, and their arguments."""


def crowd(count: int) -> dict[str, Any]:
    """Return a scenario: rovers with a sensor, and a car that takes commands, in real time."""
    return {
        "clock": {"rate": RATE, "pace": 1.0},
        "vehicles": [
            {"name": "red", "model": "car.kinematic"},
            {
                "name": "scouts",
                "count": count,
                "model": "rover",
                "spawn": {"grid": {"spacing": 3}},
                "sensors": ["gnss"],
            },
        ],
    }


def speed_beside(server: Server, operation: str, seconds: float) -> tuple[float, float, dict[str, Any]]:
    """Return the ticks per s alone and beside the clients, measured in turns, and the figures of the clients."""
    port, ticks, walls, figures = server.addresses["zmq"]["port"], [0.0, 0.0], [0.0, 0.0], {}
    for turn in range(2 * ROUNDS):
        asked, before = turn % 2, None
        if asked:
            clients = Subscriber("ask", port, operation, json.dumps(ASKED[operation]), seconds + 0.5, CONNECTIONS)
            sleep(0.5)
        before = server.figures()
        sleep(seconds)
        after = server.figures()
        if asked:
            figures = clients.result()
        ticks[asked] += after["ticked"] - before["ticked"]
        walls[asked] += after["wall"] - before["wall"]
    return ticks[0] / walls[0], ticks[1] / walls[1], figures


def run(quick: bool) -> Iterator[Result]:
    """Measure each operation asked by 16 connections."""
    count, seconds = (100, 0.5) if quick else (1000, 2.0)
    for operation in list(ASKED)[: 2 if quick else None]:
        with Server(crowd(count), {"zmq": {"port": 0}}) as server:
            alone, beside, figures = speed_beside(server, operation, seconds)
        case = f"{CONNECTIONS} connections asking for {operation}"
        yield measured("clients", f"{case}: speed of the run", beside / alone, "x", None if quick else ">= 0.95")
        yield measured("clients", f"{case}: answers", figures["answers"], "per s")


BENCH = Bench("speed of a 1 kHz run beside 16 connections that ask as fast as they can", run, by_default=False)
