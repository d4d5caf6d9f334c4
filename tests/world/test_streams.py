"""Random streams: no two vehicles share one, and a draw depends only on the vehicle."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from paddock.world.fleet import draw_uniforms, stream_ids


def test_a_million_vehicles_have_a_million_streams() -> None:
    names = [f"fleet_{k}" for k in range(10)] + [
        "fleet",
        "Fleet",
        "fleet_00",
        "a",
        "b",
        "scouts",
        "scouts2",
        "x",
        "y",
        "z",
    ]
    ids = np.concatenate([stream_ids(name, np.arange(50_000)) for name in names])
    assert len(ids) == 1_000_000 and len(np.unique(ids)) == len(ids)
    assert ids.dtype == np.int64


def test_a_stream_depends_on_its_name_and_number_only() -> None:
    whole = stream_ids("scouts", np.arange(1000))
    assert np.array_equal(stream_ids("scouts", np.array([17, 3, 999])), whole[[17, 3, 999]])
    # one vehicle's stream, worked out by hand: xxh3_64 of the name, SplitMix64's finaliser
    import xxhash

    mask = 2**64 - 1
    z = (18 * 0x9E3779B97F4A7C15 + xxhash.xxh3_64_intdigest(b"scouts")) & mask
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & mask
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
    assert int(whole[17]) & mask == z ^ (z >> 31)


def test_the_bits_of_streams_are_balanced() -> None:
    ids = stream_ids("scouts", np.arange(100_000)).view(np.uint64)
    ones = [int(((ids >> np.uint64(bit)) & np.uint64(1)).sum()) for bit in range(64)]
    assert np.abs(np.array(ones) - 50_000).max() < 6 * np.sqrt(100_000 / 4)


@pytest.mark.parametrize("seed", [0, 7, 2**64 - 1])
def test_draws_are_uniform_and_independent(seed: int) -> None:
    draws = draw_uniforms(seed, stream_ids("scouts", np.arange(20_000)), purpose=1, columns=4)
    assert draws.shape == (20_000, 4) and draws.min() >= 0.0 and draws.max() < 1.0
    for column in draws.T:
        assert stats.kstest(column, "uniform").pvalue > 1e-6
    off = np.corrcoef(draws.T)[~np.eye(4, dtype=bool)]
    assert np.abs(off).max() < 6 / np.sqrt(20_000)
    neighbours = np.corrcoef(draws[:-1, 0], draws[1:, 0])[0, 1]
    assert abs(neighbours) < 6 / np.sqrt(20_000)


def test_a_draw_depends_only_on_its_own_vehicle() -> None:
    streams = stream_ids("scouts", np.arange(100))
    whole = draw_uniforms(3, streams, 1, 4)
    assert np.array_equal(draw_uniforms(3, streams[[40]], 1, 4)[0], whole[40])
    assert np.array_equal(draw_uniforms(3, streams, 1, 2), whole[:, :2])
    assert np.array_equal(draw_uniforms(3, streams, 1, 3), whole[:, :3])


@pytest.mark.parametrize("other", [{"seed": 4}, {"purpose": 9}, {"tick": 1}])
def test_seed_purpose_and_tick_each_change_every_draw(other: dict[str, int]) -> None:
    streams = stream_ids("scouts", np.arange(200))
    arguments = {"seed": 3, "purpose": 1, "tick": 0}
    first = draw_uniforms(streams=streams, columns=2, **arguments)
    two = draw_uniforms(streams=streams, columns=2, **{**arguments, **other})
    assert not (first == two).any()


def test_no_vehicles_draw_nothing() -> None:
    assert draw_uniforms(3, stream_ids("scouts", np.arange(0)), 1, 4).shape == (0, 4)
