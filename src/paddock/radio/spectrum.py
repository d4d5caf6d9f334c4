"""Spectrum: which channel is least used or least interfered, and hopping by a sequence that a network shares."""

from typing import Any, NamedTuple

import numpy as np
from numpy import int64, zeros

from paddock.compute.math import exp
from paddock.compute.philox import signed, words
from paddock.compute.routine import routine
from paddock.radio.air import NEPERS, Floats, Ints
from paddock.radio.links import common_band
from paddock.world.fleet import stream_ids

HOP_PURPOSE = 903
LEAST_USED, LEAST_INTERFERED = "least_used", "least_interfered"
METHODS = (LEAST_USED, LEAST_INTERFERED)


class ChannelLoads(NamedTuple):
    """What the radios of a group would hear on each channel."""

    used: Ints  # (k,) transmitters of others that overlap and are within reach
    interference: Floats  # (k,) mW, the sum over the radios of the group


def _loads(
    start: Any, peer: Any, power: Any, group: Any, frequency: Any, bandwidth: Any, duty: Any, settled: Any, mine: int,
    candidates: Any,
) -> tuple[Ints, Floats]:  # fmt: skip
    """Return what a group would hear on candidate frequencies of radios whose channel is `settled` (n,)."""
    n, k = len(start) - 1, len(candidates)
    heard, sums = zeros((k, n), int64), zeros(k)
    for i in range(n):
        if group[i] != mine:
            continue
        for entry in range(start[i], start[i + 1]):
            j = peer[entry]
            if group[j] == mine or settled[j] == 0:
                continue
            for c in range(k):
                share = common_band(candidates[c], bandwidth[i], frequency[j], bandwidth[j])
                if share > 0.0:
                    heard[c, j] = 1
                    sums[c] += exp(NEPERS * power[entry]) * share * duty[j]
    used = zeros(k, int64)
    for c in range(k):
        for j in range(n):
            used[c] += heard[c, j]
    return used, sums


group_loads = routine(_loads)


def allocated(
    method: str, links: Any, group: Ints, frequency: Floats, bandwidth: Floats, duty: Floats, groups: list[int],
    candidates: Floats, jamming: Floats | None = None,
) -> list[int]:  # fmt: skip
    """Return the index of the channel for each of `groups`, one after the other.

    `links` are those of all radios as if they shared one channel; radios of other groups keep their `frequency`.
    `candidates` (k,) are centre frequencies; `jamming` (k, n) is what each radio receives there of jammers, mW. Equal
    channels: the first.
    """
    frequency = frequency.copy()
    settled = (~np.isin(group, groups)).astype(np.int64)
    chosen = []
    for mine in groups:
        rows = np.asarray(links.start, np.int64), np.asarray(links.peer, np.int64), np.asarray(links.power)
        loads = ChannelLoads(*group_loads(*rows, group, frequency, bandwidth, duty, settled, mine, candidates))
        jammed = 0.0 if jamming is None else jamming[:, group == mine].sum(axis=1)
        best = int(np.argmin(loads.used if method == LEAST_USED else loads.interference + jammed))
        chosen.append(best)
        frequency[group == mine], settled[group == mine] = candidates[best], 1
    return chosen


class HopNetwork(NamedTuple):
    """Radios that hop together."""

    key: str
    channels: tuple[int, ...]
    dwell: float  # s


def hop(seed: int, network: HopNetwork, time: float) -> int:
    """Return the channel of a network at a time (s): a draw of its key and the number of the dwell."""
    step = int(np.floor(time / network.dwell + 1e-9))
    [stream] = stream_ids(network.key, np.zeros(1, np.int64)).tolist()
    drawn = words(signed(seed), stream, HOP_PURPOSE, step)[0]
    return network.channels[drawn % len(network.channels)]
