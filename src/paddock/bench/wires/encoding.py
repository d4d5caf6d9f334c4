"""Encoding all positions against a fast JSON encoder with the same data, and straight into shared memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import inf
from typing import Any

import numpy as np

from paddock.bench.result import Result, best_time, measured

NAMES = ("x", "y", "z", "qx", "qy", "qz", "qw")


def encoding(quick: bool) -> Iterator[Result]:
    """How long a frame takes, and how much longer JSON would."""
    from paddock.wire.stream.positions import Poses, encode_positions

    count, ids, block, out = _data(quick)
    works: dict[str, Callable[[], object]] = {"frame": lambda: encode_positions([Poses(ids, block)], into=out)}
    works |= _orjson(ids, block)
    best = dict.fromkeys(works, inf)
    for _ in range(2 if quick else 5):  # in turns, for noise hits all; each several times, for caches to be its own
        best = {name: min(best[name], best_time(work, 0.3)) for name, work in works.items()}
    yield measured("wires", f"encode positions of {count:,} vehicles", 1000 * best["frame"], "ms")
    for name in ("records", "arrays"):
        if name in best:
            case = f"encode {count:,} vehicles: faster than orjson of {name}"
            yield measured("wires", case, best[name] / best["frame"], "x", None if quick else ">= 50")


def shared_memory(quick: bool) -> Iterator[Result]:
    """Groups per second that can be encoded into shared memory and published."""
    from paddock.wire.stream.positions import Poses, encode_positions
    from paddock.world.ring import FrameRingWriter

    count, ids, block, out = _data(quick)
    with FrameRingWriter("paddock_bench_encoding") as ring:

        def publish() -> None:
            encode_positions([Poses(ids, block)], into=ring.slot(len(out)))
            ring.publish(len(out), 1, 0.0, 0.0, 0, 0)

        rate = 1.0 / best_time(publish, 1.0 if quick else 3.0)
    yield measured("wires", f"shm, {count:,} vehicles: groups published", rate, "per s", None if quick else ">= 1000")


def _data(quick: bool) -> tuple[int, Any, Any, Any]:
    """(count, ids, poses (7, count), room for the frame)."""
    count = 10_000 if quick else 100_000
    block = np.random.default_rng(1).normal(size=(7, count))
    return count, np.arange(count), block, np.empty(9 + 32 * count, np.uint8)


def _orjson(ids: Any, block: Any) -> dict[str, Callable[[], object]]:
    """JSON of the same data, as one object per vehicle and as a few long arrays; nothing where orjson is missing."""
    try:
        import orjson
    except ModuleNotFoundError:
        return {}
    rows = zip(ids.tolist(), block.T.tolist(), strict=True)
    records = [{"id": number, **dict(zip(NAMES, row, strict=True))} for number, row in rows]
    arrays = {"id": ids.tolist(), **dict(zip(NAMES, block.tolist(), strict=True))}
    return {"records": lambda: orjson.dumps(records), "arrays": lambda: orjson.dumps(arrays)}
