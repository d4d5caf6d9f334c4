"""Random streams: each vehicle draws from its own, found by its name and by nothing else."""

from __future__ import annotations

import numpy as np
import xxhash
from numpy.typing import NDArray

from paddock.compute.philox import signed
from paddock.compute.philox import uniforms as scalar_uniforms
from paddock.compute.twin import vectorised

GOLDEN = np.uint64(0x9E3779B97F4A7C15)


def stream_ids(fleet: str, members: NDArray[np.int64]) -> NDArray[np.int64]:
    """One 64-bit stream per vehicle `fleet[member]`: the hash of the fleet's name mixed with the member's number."""
    base = np.uint64(xxhash.xxh3_64_intdigest(fleet.encode()))
    with np.errstate(over="ignore"):
        mixed = (members.astype(np.uint64) + np.uint64(1)) * GOLDEN + base
        mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return (mixed ^ (mixed >> np.uint64(31))).view(np.int64)


def draw_uniforms(
    seed: int, streams: NDArray[np.int64], purpose: int, columns: int, tick: int = 0
) -> NDArray[np.float64]:
    """Numbers in [0, 1), one row per stream: shape (n, columns). Each pair of columns has a purpose of its own."""
    draw = vectorised(scalar_uniforms)
    pairs = [draw(signed(seed), streams, purpose + k, tick) for k in range((columns + 1) // 2)]
    return np.stack([u for pair in pairs for u in pair][:columns], axis=1)
