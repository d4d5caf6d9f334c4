"""How late, how fast and how cheap the wires are."""

from __future__ import annotations

from collections.abc import Iterator

from paddock.bench.result import Bench, Result


def run(quick: bool) -> Iterator[Result]:
    """All of them, over loopback."""
    from paddock.bench.wires.control import control
    from paddock.bench.wires.datagrams import datagrams
    from paddock.bench.wires.encoding import encoding, shared_memory
    from paddock.bench.wires.latency import latency, many_subscribers

    for part in (encoding, shared_memory, control, datagrams, latency, many_subscribers):
        yield from part(quick)


BENCH = Bench("latency and throughput of the stream, shared memory, VDS1 and ZeroMQ", run, by_default=False)
