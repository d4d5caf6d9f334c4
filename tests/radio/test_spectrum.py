"""Allocation of channels and hopping."""

from typing import Any

import numpy as np
from radio_messages import links_of

from paddock.engine.radio.tuning import OccupiedBands, best_channel, hop
from paddock.scenario.radio_types import HoppingSection

WIFI = np.array([2.412e9, 2.437e9, 2.462e9])  # channels 1, 6 and 11


def allocated(method: str, links: Any, bands: OccupiedBands, groups: list[int], candidates: Any) -> list[int]:
    """The channels of groups, chosen one after the other."""
    chosen = []
    for k, group in enumerate(groups):
        chosen.append(best_channel(method, links, bands, groups[k:], candidates))
        bands.frequency[bands.group == group] = candidates[chosen[-1]]
    return chosen


def test_groups_that_hear_each_other_get_different_channels() -> None:
    group = np.repeat([0, 1, 2], 3)
    links = links_of(~np.eye(9, dtype=bool))
    for method in ("least_used", "least_interfered"):
        bands = OccupiedBands(group, np.full(9, 2.412e9), np.full(9, 2e7), np.ones(9))
        assert sorted(allocated(method, links, bands, [0, 1, 2], WIFI)) == [0, 1, 2]


def test_groups_out_of_range_share_a_channel() -> None:
    """Four groups on a line of which only neighbours hear each other need two channels."""
    group = np.repeat(np.arange(4), 2)
    heard = np.abs(np.subtract.outer(group, group)) <= 1
    np.fill_diagonal(heard, False)
    bands = OccupiedBands(group, np.full(8, 2.4e9), np.full(8, 2e7), np.ones(8))
    assert allocated("least_used", links_of(heard), bands, [0, 1, 2, 3], WIFI) == [0, 1, 0, 1]


def test_many_weak_transmitters_against_one_strong() -> None:
    """Three on channel 1 at -90 dBm, one on channel 6 at -50 dBm: the counts prefer 6, the powers 1."""
    group = np.array([0, 1, 1, 1, 2])
    frequency = np.array([0.0, WIFI[0], WIFI[0], WIFI[0], WIFI[1]])
    power = np.full((5, 5), -90.0)
    power[0, 4] = -50.0
    links, bands = (
        links_of(~np.eye(5, dtype=bool), power=power),
        OccupiedBands(group, frequency, np.full(5, 2e7), np.ones(5)),
    )
    assert best_channel("least_used", links, bands, [0], WIFI[:2]) == 1
    assert best_channel("least_interfered", links, bands, [0], WIFI[:2]) == 0


def test_channels_that_overlap_in_part_interfere_in_part() -> None:
    group, frequency = np.array([0, 1]), np.array([0.0, 2.4e9])
    links = links_of(~np.eye(2, dtype=bool))
    candidates = np.array([2.4e9, 2.41e9, 2.421e9])  # wholly, by half, not at all within 20 MHz
    bands = OccupiedBands(group, frequency, np.full(2, 2e7), np.ones(2))
    assert best_channel("least_interfered", links, bands, [0], candidates) == 2
    assert best_channel("least_interfered", links, bands, [0], candidates[:2]) == 1


def test_hopping_is_uniform_and_shared_by_the_key() -> None:
    red, also, blue = (HoppingSection(key=key, channels=(1, 6, 11, 14), dwell=0.1) for key in ("red", "red", "blue"))
    times = np.arange(4000) * 0.1 + 0.05
    first, same, other = ([hop(7, network, time) for time in times] for network in (red, also, blue))
    assert first == same != other
    counts = np.array([first.count(channel) for channel in red.channels])
    assert (((counts - 1000.0) ** 2 / 1000.0).sum()) < 16.27  # chi-squared, 3 degrees of freedom, 0.1 %
    meetings = sum(a == b for a, b in zip(first, other, strict=True)) / len(times)
    assert abs(meetings - 0.25) < 4 * np.sqrt(0.25 * 0.75 / len(times))
    assert [hop(7, red, t) for t in (0.1, 0.15, 0.1999)] == [hop(7, red, 0.1)] * 3
