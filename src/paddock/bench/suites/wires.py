"""Latency, throughput and cost of the wires."""

from collections.abc import Callable, Iterator
from math import inf
from statistics import median
from time import perf_counter, sleep
from typing import Any
from urllib.request import urlopen

import numpy as np

from paddock.bench.processes import Server, Subscriber, cars, swarm
from paddock.bench.result import Bench, Result, best_time, measured

CASES = ((1_000, 60, 5), (5_000, 60, 10), (10_000, 30, 20), (50_000, 30, 50), (100_000, 30, 100))
"""(vehicles, groups per second, maximum p99 in ms)."""
RING = "paddock_bench"


def latency(quick: bool) -> Iterator[Result]:
    """Measure one subscriber, over the stream and over shared memory."""
    for count, rate, limit in CASES[: 2 if quick else None]:
        for wire in ("stream", "shm"):
            figures, share = watched(wire, count, rate, 3.0 if quick else 8.0)
            case = f"{wire}, {count:,} vehicles at {rate} Hz"
            p99, arrived = figures.get("p99", inf), figures["groups"] / (figures["seconds"] * rate)
            yield measured(f"{case}: age, p99", p99, "ms", None if quick else f"<= {limit}")
            yield measured(f"{case}: age, median", figures.get("p50", inf), "ms")
            yield measured(f"{case}: groups that arrived", 100.0 * arrived, "%")
            yield measured(f"{case}: rate kept by the simulation", share, "%", None if quick else ">= 99")


def watched(wire: str, count: int, rate: int, seconds: float) -> tuple[dict[str, Any], float]:
    """Return the figures of a subscriber, and the simulation's speed meanwhile (% of real time)."""
    shm = {"shm": {"name": RING, "rate": rate, "kinds": ["positions"]}}
    with Server(swarm(count, rate), shm if wire == "shm" else {"stream": {"port": 0, "rate": rate}}) as server:
        sleep(0.5)
        where = server.addresses[wire].get("port", RING)
        return speed(server, lambda: Subscriber(wire, where, rate, seconds).result())


def speed(server: Server, work: Callable[[], Any]) -> tuple[Any, float]:
    """Return the result of the work, and the simulation's speed meanwhile, in % of real time."""
    before = server.figures()
    result = work()
    after = server.figures()
    return result, 100.0 * (after["time"] - before["time"]) / (after["wall"] - before["wall"])


def many_subscribers(quick: bool) -> Iterator[Result]:
    """Measure four subscribers at 30 Hz, then with a fifth that never reads, and the effect on the others."""
    count, seconds = (10_000, 2.0) if quick else (100_000, 8.0)
    with Server(swarm(count, 30), {"stream": {"port": 0, "rate": 30}}) as server:
        port = server.addresses["stream"]["port"]
        sleep(1.0)
        _, alone = speed(server, lambda: sleep(seconds))
        four, with_four = speed(server, lambda: _watching(port, seconds, stalled=0))
        five, with_five = speed(server, lambda: _watching(port, seconds, stalled=1))
    for case, speed_then, figures in (("to 4 subscribers", with_four, four), ("and 1 stalled", with_five, five)):
        name = f"stream, {count:,} vehicles at 30 Hz {case}"
        lost = 100.0 * (alone - speed_then) / alone
        yield measured(f"{name}: ticks lost by the simulation", lost, "%", None if quick else "<= 10")
        yield measured(f"{name}: slowest subscriber", figures["rate"], "Hz")
        yield measured(f"{name}: age, worst p99", figures["p99"], "ms")


def _watching(port: int, seconds: float, stalled: int) -> dict[str, Any]:
    others = [Subscriber("stalled", port, 30, seconds + 1.0) for _ in range(stalled)]
    subscribers = [Subscriber("stream", port, 30, seconds) for _ in range(4)]
    figures = [subscriber.result() for subscriber in subscribers]
    for subscriber in others:
        subscriber.result()
    worst = max(figure.get("p99", inf) for figure in figures)
    return {"p99": worst, "rate": min(figure["groups"] / figure["seconds"] for figure in figures)}


def datagrams(quick: bool) -> Iterator[Result]:
    """Measure 64 cars to 4 clients at 100 Hz, each of which drives one car at 100 Hz."""
    count, clients, seconds = (16, 2, 2.0) if quick else (64, 4, 8.0)
    serve = {"vds1": {"port": 0, "rate": 100, "state": None}, "metrics": {"port": 0}}
    with Server(cars(count, 1000), serve) as server:
        sleep(0.5)
        before = counters(server.addresses["metrics"]["port"])
        figures, share = speed(server, lambda: _driven(server.addresses["vds1"]["port"], clients, seconds))
        after = counters(server.addresses["metrics"]["port"])
    publishes = after["publishes"] - before["publishes"]
    late = 100.0 * (after["publishes_late"] - before["publishes_late"]) / max(publishes, 1)
    name = f"vds1, {count} cars to {clients} clients at 100 Hz"
    yield measured(f"{name}: publishes late", late, "%", None if quick else "<= 1")
    yield measured(f"{name}: datagrams that arrived", 100.0 * figures["share"] / count, "%")
    yield measured(f"{name}: rate kept by the simulation", share, "%", None if quick else ">= 99")


def counters(port: int) -> dict[str, float]:
    """Return the hub's counts of publishes, from its metrics."""
    from prometheus_client.parser import text_string_to_metric_families

    with urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10) as page:
        families = list(text_string_to_metric_families(page.read().decode()))
    values = {sample.name: float(sample.value) for family in families for sample in family.samples}
    return {name: values.get(f"paddock_hub_{name}_total", 0.0) for name in ("publishes", "publishes_late")}


def _driven(port: int, clients: int, seconds: float) -> dict[str, Any]:
    drivers = [Subscriber("drive", port, k + 1, seconds) for k in range(clients)]
    return {"share": min(driver.result()["rate"] / 100.0 for driver in drivers)}


NAMES = ("x", "y", "z", "qx", "qy", "qz", "qw")


def encoding(quick: bool) -> Iterator[Result]:
    """Measure the encoding of a frame, compared with JSON."""
    from paddock.wire.stream.positions import Poses, encode_positions

    count, ids, block, out = _data(quick)
    works: dict[str, Callable[[], object]] = {"frame": lambda: encode_positions([Poses(ids, block)], into=out)}
    works |= _orjson(ids, block)
    best = dict.fromkeys(works, inf)
    for _ in range(2 if quick else 5):  # in turns, so that noise affects all; each several times, to warm its caches
        best = {name: min(best[name], best_time(work, 0.3)) for name, work in works.items()}
    yield measured(f"encode positions of {count:,} vehicles", 1000 * best["frame"], "ms")
    for name in ("records", "arrays"):
        if name in best:
            case = f"encode {count:,} vehicles: faster than orjson of {name}"
            yield measured(case, best[name] / best["frame"], "x", None if quick else ">= 50")


def shared_memory(quick: bool) -> Iterator[Result]:
    """Measure groups per second that are encoded into shared memory and published."""
    from paddock.wire.stream.positions import Poses, encode_positions
    from paddock.world.ring import FrameRingWriter

    count, ids, block, out = _data(quick)
    with FrameRingWriter("paddock_bench_encoding") as ring:

        def publish() -> None:
            encode_positions([Poses(ids, block)], into=ring.slot(len(out)))
            ring.publish(len(out), 1, 0.0, 0.0, 0, 0)

        rate = 1.0 / best_time(publish, 1.0 if quick else 3.0)
    yield measured(f"shm, {count:,} vehicles: groups published", rate, "per s", None if quick else ">= 1000")


def _data(quick: bool) -> tuple[int, Any, Any, Any]:
    """Return (count, ids, poses (7, count), buffer for the frame)."""
    count = 10_000 if quick else 100_000
    block = np.random.default_rng(1).normal(size=(7, count))
    return count, np.arange(count), block, np.empty(9 + 32 * count, np.uint8)


def _orjson(ids: Any, block: Any) -> dict[str, Callable[[], object]]:
    """Return encoders of the same data as JSON: one object per vehicle, and a few long arrays; none without orjson."""
    try:
        import orjson
    except ModuleNotFoundError:
        return {}
    rows = zip(ids.tolist(), block.T.tolist(), strict=True)
    records = [{"id": number, **dict(zip(NAMES, row, strict=True))} for number, row in rows]
    arrays = {"id": ids.tolist(), **dict(zip(NAMES, block.tolist(), strict=True))}
    return {"records": lambda: orjson.dumps(records), "arrays": lambda: orjson.dumps(arrays)}


def control(quick: bool) -> Iterator[Result]:
    """Measure one car at 1 kHz: plain steps, and steps with synchronous control."""
    from paddock import connect

    steps = 200 if quick else 3000
    with (
        Server(cars(1, 1000), {"zmq": {"port": 0}}) as server,
        connect(f"tcp://127.0.0.1:{server.addresses['zmq']['port']}") as sim,
    ):
        plain = _times(sim, steps)
        own: list[float] = []

        @sim.control.on_request("car_1")
        def drive(request: Any) -> dict[str, dict[str, float]]:
            started = perf_counter()
            commands = {"car_1": {"steer": 0.1, "throttle": 0.3}}
            own.append(perf_counter() - started)
            return commands

        asked = _times(sim, steps)
    trip = 1000 * (median(asked) - median(plain) - median(own))
    yield measured("zmq, step(1): median", 1000 * median(plain), "ms")
    yield measured("zmq, step(1) with control: median", 1000 * median(asked), "ms")
    name = "zmq, control round trip above the client's own work: median"
    yield measured(name, trip, "ms", None if quick else "<= 0.5")
    yield measured("zmq, steps with control", len(asked) / sum(asked), "per s", None if quick else ">= 1000")


def _times(sim: Any, steps: int) -> list[float]:
    """Return the s of each step, after a warm-up."""
    times = []
    for k in range(steps + 100):
        started = perf_counter()
        sim.step(1)
        if k >= 100:
            times.append(perf_counter() - started)
    return times


def run(quick: bool) -> Iterator[Result]:
    """Run all wire benchmarks over loopback."""
    for part in (encoding, shared_memory, control, datagrams, latency, many_subscribers):
        yield from part(quick)


BENCH = Bench("latency and throughput of the stream, shared memory, VDS1 and ZeroMQ", run, by_default=False)
