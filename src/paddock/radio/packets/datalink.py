"""The way of a packet of a program outside the simulation, hop by hop: MAVLink between autopilots and ground stations.

Such packets are no input of the run, so they do not enter the channel of the simulated packets (`channel.py`): each
takes the route of fewest expected transmissions at the time of sending, with airtime, error rate and distance of every
hop as of the last update of the links.
"""

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from paddock.compute.math import exp
from paddock.radio.links.bursts import burst_error
from paddock.radio.links.collisions import split_load
from paddock.radio.links.radios import Radios
from paddock.radio.links.table import (
    BANDWIDTH,
    BURST,
    DUTY,
    GROWING,
    MODULATION,
    OWNER,
    PERIOD,
    SHARE,
    SPREAD,
    Links,
    airtime_of,
    packet_error,
    pair_distance,
)
from paddock.radio.packets.network import NO_HOP, Graph, Ints, find_entry, shortest_ways
from paddock.radio.physics.signal import NEPERS

UP_PURPOSE, DOWN_PURPOSE = 50_100, 50_101  # of draws: to the vehicle, to the ground station


class LinkQuality(NamedTuple):
    """A hop at the last update of the links."""

    ratio: float  # Eb/N0, between bursts of jammers and packets of other radios
    modulation: int
    bit_rate: float  # bit/s
    distance: float  # m
    jammed: float = 0.0  # Eb/N0 during bursts
    share: float = 0.0  # of time in bursts; 0: there are none
    period: float = 1.0  # s from one to the next
    load: float = 0.0  # of collisions with packets of other radios, at no length of a packet
    pace: float = 0.0  # 1/s, what it gains with the length

    def error_rate(self, bits: float) -> float:
        """Return the packet error rate of a packet of some bits."""
        airtime = bits / self.bit_rate
        if self.share <= 0.0:
            lost = packet_error(self.modulation, self.ratio, bits)
        else:
            lost = burst_error(self.modulation, bits, airtime, self.ratio, self.jammed, self.share, self.period)
        return 1.0 - (1.0 - lost) * exp(-(self.load + self.pace * airtime))


Route = tuple[LinkQuality, ...]
"""The hops of a way; () if there is none."""


def ways_to(graph: Graph, radio: int) -> Ints:
    """Return the next radio on the way from each radio to one; NO_HOP where there is none."""
    n = len(graph.start) - 1
    distance, towards = np.empty(n), np.empty(n, np.int64)
    shortest_ways(*graph, radio, distance, towards)
    return towards


def route_both_ways(radios: Radios, links: Links, towards: Ints, source: int, goal: int) -> tuple[Route, Route]:
    """Return the routes from a radio to the goal of `towards`, and back over the same radios."""
    way = [source]
    while way[-1] != goal:
        hop = int(towards[way[-1]])
        if hop == NO_HOP:
            return (), ()
        way.append(hop)
    owner = radios.table[OWNER]
    hops = [(a, b) for a, b in pairwise(way) if owner[a] < 0 or owner[a] != owner[b]]
    there = tuple(_hop(radios, links, b, a) for a, b in hops)
    return there, tuple(_hop(radios, links, a, b) for a, b in reversed(hops))


def _hop(radios: Radios, links: Links, i: int, j: int) -> LinkQuality:
    """Return the hop from radio j to radio i, which are neighbours of the network."""
    table, entry = radios.table, find_entry(links.start, links.peer, i, j)
    signal, spread = float(exp(NEPERS * links.power[entry])), float(table[SPREAD, i])
    power, share, period = links.bursts[[BURST, SHARE, PERIOD], i].tolist()
    ratio, load = float(links.sinr[entry]), 0.0
    if links.collisions.shape[1]:
        ratio, load = links.collisions[:, entry].tolist()
    loads = split_load(load, float(table[DUTY, i]), float(table[GROWING, i]), airtime_of(table, i))
    quiet = max(signal * float(exp(-NEPERS * ratio)) - power * share, 1e-300)
    rate = float(table[BANDWIDTH, j] / table[SPREAD, j])
    given = signal / quiet * spread, int(table[MODULATION, i]), rate, float(pair_distance(table, i, j))
    return LinkQuality(*given, signal / (quiet + power) * spread, share, period, *loads)
