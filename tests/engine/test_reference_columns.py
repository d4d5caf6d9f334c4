"""Columns of all demos against digests that an earlier version stored: a change of structure keeps every bit."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import xxhash

import paddock
from paddock.engine.simulation import Simulation

REFERENCE: dict[str, dict[str, dict[str, str]]] = json.loads(
    (Path(__file__).parent / "data" / "reference_columns.json").read_text()
)
LONG = ("driverless", "survey")  # take more than ten seconds

DIGITS = 6


def column_digests(sim: Simulation) -> dict[str, str]:
    """Return for each fleet its columns and arrays, each with a short digest of its bytes."""
    snapshot, digests = sim.snapshot(), {}
    for layout in snapshot.layout.fleets:
        fleet = snapshot.fleet(layout.name)
        columns = {"ids": layout.ids} | {name: fleet[name] for name in (*fleet.columns, *fleet.arrays)}
        digests[layout.name] = " ".join(
            f"{name}={xxhash.xxh3_64_hexdigest(np.ascontiguousarray(values).tobytes())[:DIGITS]}"
            for name, values in sorted(columns.items())
        )
    return digests


@pytest.mark.parametrize("demo", [pytest.param(d, marks=pytest.mark.slow if d in LONG else ()) for d in REFERENCE])
def test_columns_of_demos_keep_their_bits(demo: str) -> None:
    with paddock.load(demo) as sim:
        for tick, fleets in REFERENCE[demo].items():
            sim.step(int(tick) - sim.tick)
            assert column_digests(sim) == fleets
