"""Speed of a run beside clients that ask as fast as they can."""

import json
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from time import sleep
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from paddock.bench.processes import Server, Subscriber
from paddock.bench.result import Bench, Result, measured
from paddock.bench.suites.sitl import OWN_PORTS
from paddock.bench.suites.web import processor_seconds
from paddock.sitl.from_scenario import quick_scenario
from paddock.wire.operations import OPERATIONS
from paddock.wire.operations.radio_entries import RadioOperations

CONNECTIONS = 16
RATE = 1000  # ticks per s
ROUNDS = 6  # alone, then beside clients: short ones, because other programs disturb some
DISTURBED = 0.1  # share of the time for which the ticking thread waits for a core in a round that is repeated
WARM_UP = 0.5  # s in which the clients begin
COPTERS = 10  # with autopilots


def asked(radio: bool) -> list[str]:
    """Return the measured operations, those with an example in the table, of runs with or without radio."""
    measured = [name for name, operation in OPERATIONS.items() if operation.entry.example is not None]
    return [name for name in measured if hasattr(RadioOperations, name) is radio]


def rovers(count: int) -> dict[str, Any]:
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


def rovers_with_radio(count: int) -> dict[str, Any]:
    """Return the scenario with a radio on every vehicle, a station, a jammer and a spoofer that are off."""
    scenario = rovers(count)
    off = {"position": [0, 0, 10], "enabled": False}
    section = {
        "types": {"t": {"power": 0.0, "sensitivity": -60.0}},
        "stations": [{"name": "base", "position": [0, 0, 10], "radio": "t"}],
        "jammers": [{"name": "noise", "kind": "barrage", **off}],
        "spoofers": [{"name": "decoy", "offset": [5, 0, 0], **off}],
    }
    red, scouts = ({**entry, "radio": "t"} for entry in scenario["vehicles"])
    return {**scenario, "radio": section, "vehicles": [{**red, "via": {"telemetry": 5}}, scouts]}


class ClientLoad(NamedTuple):
    """A run with clients, compared with the same run alone just before: medians of some rounds."""

    ratio: float  # of the speeds
    spent: float  # processor time of the simulation's process with clients minus that alone, per s
    answers: float  # per s
    refused: float


def measure_load(server: Server, operation: str, seconds: float, count: int = ROUNDS) -> ClientLoad:
    """Measure a run alone and with clients that call an operation.

    Of `count` rounds, those in which other programs kept the ticking thread from a core are repeated, up to as many.
    """
    rounds = list[NDArray[np.float64]]()  # (alone, asked) x (ticks, processor time, waiting, wall time), s
    while len(rounds) < 2 * count and sum(map(_is_quiet, rounds)) < count:
        alone = _rates(server, seconds)
        port, example = server.addresses["zmq"]["port"], json.dumps(OPERATIONS[operation].entry.example)
        clients = Subscriber("ask", port, operation, example, WARM_UP + seconds, CONNECTIONS).started()
        sleep(WARM_UP)
        rounds.append(np.array([alone, _rates(server, seconds)]))
        figures = clients.result()
    quiet = np.array(list(filter(_is_quiet, rounds)) or rounds)
    (ticks_alone, spent_alone), (ticks, spent) = quiet[:, 0, :2].T, quiet[:, 1, :2].T
    ratio, more = np.median(ticks / ticks_alone), np.median(spent - spent_alone)
    return ClientLoad(float(ratio), float(more), figures["answers"], figures["refused"])


def _rates(server: Server, seconds: float) -> NDArray[np.float64]:
    """Return the changes of the counters over some seconds, per second of wall time."""
    before = _counters(server)
    sleep(seconds)
    change = _counters(server) - before
    return np.asarray(change / change[-1])


def _is_quiet(turns: NDArray[np.float64]) -> bool:
    return bool((turns[:, 2] < DISTURBED).all())


def _counters(server: Server) -> NDArray[np.float64]:
    """Return ticks, processor time of the process, how long its ticking thread has waited for a core, wall time, s."""
    figures, process = server.figures(), server.process.pid
    waited = 0.0
    with suppress(OSError):  # not on every system
        waited = 1e-9 * int(Path(f"/proc/{process}/task/{process}/schedstat").read_text().split()[1])
    return np.array([figures["ticked"], processor_seconds(process), waited, figures["wall"]])


def run(quick: bool) -> Iterator[Result]:
    """Measure each operation asked by 16 connections, and those that take long beside autopilots, too."""
    count, seconds = (100, 0.3) if quick else (1000, 1.0)
    cases = [(rovers(count), operation, "") for operation in asked(radio=False)[: 2 if quick else None]]
    cases += [] if quick else [(rovers_with_radio(count), operation, "") for operation in asked(radio=True)]
    pilots = quick_scenario("copter", COPTERS, mavlink=OWN_PORTS)
    cases += [] if quick else [(pilots, name, f" of {COPTERS} autopilots") for name in ("save", "restore")]
    for scenario, operation, of in cases:
        with Server(scenario, {"zmq": {"port": 0}}) as server:
            load = measure_load(server, operation, seconds, 1 if quick else ROUNDS)
        least = 0.98 if OPERATIONS[operation].entry.handling in ("fact", "read") else 0.95
        case, target = f"{CONNECTIONS} connections asking for {operation}{of}", None if quick else f">= {least}"
        yield measured(f"{case}: speed of the run", load.ratio, "x", target)
        yield measured(f"{case}: cost for the simulation's process", 100.0 * load.spent, "% of a core")
        yield measured(f"{case}: answers", load.answers, "per s")


BENCH = Bench("speed of a 1 kHz run beside 16 connections that ask as fast as they can", run, by_default=False)
