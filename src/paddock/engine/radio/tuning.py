"""Channels: allocation of the channel that is least used or least interfered, and hopping.

Radios of a network hop by a sequence that they share.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy import int64, zeros

from paddock.compute.math import exp
from paddock.compute.philox import signed, words
from paddock.compute.routine import routine
from paddock.engine.radio.roster import HIGHEST_CHANNEL
from paddock.errors import InvalidValueError, PaddockError, unknown_name
from paddock.radio.links.paths import Bands
from paddock.radio.links.radios import COLUMN, Floats, Ints, Radios, group_names
from paddock.radio.links.table import BURST_ROWS, common_band, no_links
from paddock.radio.links.update import LinkUpdate
from paddock.radio.physics.signal import NEPERS
from paddock.scenario.radio_types import HIGHEST_FREQUENCY, LOWEST_FREQUENCY, HoppingSection, RadioType
from paddock.wire.radio_results import Links
from paddock.world.fleet import stream_ids

HOP_PURPOSE = 903
LEAST_USED, LEAST_INTERFERED = "least_used", "least_interfered"
METHODS = (LEAST_USED, LEAST_INTERFERED)


class OccupiedBands(NamedTuple):
    """The bands of radios, (n,) each."""

    group: Ints  # of radios that have one channel
    frequency: Floats  # Hz
    bandwidth: Floats  # Hz
    duty: Floats  # share of time


def _loads(
    start: Any, peer: Any, power: Any, bands: OccupiedBands, settled: Any, mine: int, candidates: Any
) -> tuple[Ints, Floats]:
    """Return what a group would hear on candidate frequencies (k,) of radios whose channel is `settled` (n,).

    That is the number of transmitters of others that overlap and are within reach, and the sum of their power at the
    radios of the group, mW.
    """
    group, frequency, bandwidth, duty = bands
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


def best_channel(
    method: str,
    links: Any,
    bands: OccupiedBands,
    waiting: list[int],
    candidates: Floats,
    jamming: Floats | None = None,
) -> int:
    """Return the index of the best channel for the first of the groups that wait for one; of equal channels the first.

    links: of all radios as if they shared one channel
    bands: of all radios; those of groups that wait do not count
    candidates: (k,) Hz, centre frequencies
    jamming: (k, n) mW, what each radio receives there of jammers
    """
    mine, settled = waiting[0], (~np.isin(bands.group, waiting)).astype(np.int64)
    rows = np.asarray(links.start, np.int64), np.asarray(links.peer, np.int64), np.asarray(links.power)
    used, interference = group_loads(*rows, bands, settled, mine, candidates)
    jammed = 0.0 if jamming is None else jamming[:, bands.group == mine].sum(axis=1)
    return int(np.argmin(used if method == LEAST_USED else interference + jammed))


def hop(seed: int, network: HoppingSection, time: float) -> int:
    """Return the channel of radios that hop together at a time (s): a draw of their key and the number of the dwell."""
    step = int(np.floor(time / network.dwell + 1e-9))
    [stream] = stream_ids(network.key, np.zeros(1, np.int64)).tolist()
    drawn = words(signed(seed), stream, HOP_PURPOSE, step)[0]
    return network.channels[drawn % len(network.channels)]


# tuning ---------------------------------------------------------------------------------------------------------------


def tune(radios: Radios, channels: Mapping[str, int], seed: int, time: float) -> bool:
    """Set the frequencies of all radios at a time (s); return whether one has changed.

    `channels`, here and below, were allocated, by names of groups of radios (`group_names`).
    """
    if not channels and all(group.radio.hopping is None for group in radios.groups):
        return False
    centres = []
    for name, radio in radio_types(radios).items():
        fixed = channels.get(name, radio.channel)
        centres.append(radio.centre_of(fixed if radio.hopping is None else hop(seed, radio.hopping, time)))
    n = radios.n
    frequency = np.array(centres)[radios.table[COLUMN.group, :n].astype(np.int64)]
    changed = not np.array_equal(frequency, radios.table[COLUMN.frequency, :n])
    radios.table[COLUMN.frequency, :n] = frequency
    return changed


def checked_allocation(arguments: Mapping[str, Any], radios: Radios) -> dict[str, Any]:
    """Return the arguments of an `allocate` in plain values; PaddockError if it cannot be applied."""
    types, known = radio_types(radios), ("groups", "channels", "method")
    for name in arguments:
        if name not in known:
            raise unknown_name("argument of allocate", name, known)
    groups, channels = (arguments.get(name) for name in ("groups", "channels"))
    if not isinstance(groups, list | tuple) or not groups or len(set(map(str, groups))) != len(groups):
        raise InvalidValueError(
            f"allocate: groups are a list of names of fleets and stations, each once, not {groups!r:.60}"
        )
    for name in groups:
        if not isinstance(name, str) or name not in types:
            raise unknown_name("fleet or station with radios", str(name), types)
        if types[name].hopping is not None:
            raise PaddockError(f"allocate: the radios of {name!r} hop: they have no channel of their own")
    if not isinstance(channels, list | tuple) or not channels or len(set(map(str, channels))) != len(channels):
        raise InvalidValueError(f"allocate: channels are a list of numbers, each once, not {channels!r:.60}")
    for channel in channels:
        if type(channel) is not int or not 0 <= channel <= HIGHEST_CHANNEL:
            raise InvalidValueError(f"allocate: a channel is a number from 0 to {HIGHEST_CHANNEL}, not {channel!r}")
        for name in groups:
            if problem := _centre_problem(types[name], name, channel):
                raise InvalidValueError(f"allocate: {problem}")
    method = arguments.get("method", LEAST_INTERFERED)
    if not isinstance(method, str) or method not in METHODS:
        raise unknown_name("method of allocation", str(method), METHODS)
    return {"groups": list(groups), "channels": list(channels), "method": method}


def _centre_problem(radio: RadioType, name: str, channel: int) -> str:
    """Return why a radio cannot use a channel; "" if it can."""
    centre = radio.centre_of(channel)
    possible = LOWEST_FREQUENCY <= centre <= HIGHEST_FREQUENCY
    return "" if possible else f"channel {channel} of {name!r} would be at {centre:g} Hz"


def allocated_bands(arguments: Mapping[str, Any], radios: Radios, channels: Mapping[str, int]) -> dict[str, Bands]:
    """Return the frequencies on which radios may be after an `allocate`."""
    bands: dict[str, Bands] = {}
    for name, radio in radio_types(radios).items():
        own = [channels[name]] if name in channels else []
        centres = [radio.centre_of(k) for k in (arguments["channels"] if name in arguments["groups"] else own)]
        if centres:
            bands[name] = [(centre, centre) for centre in centres]
    return bands


def allocate(
    arguments: Mapping[str, Any], radios: Radios, links: Links, jamming: Callable[[float], Floats]
) -> dict[str, int]:
    """Choose a channel for each group, in their order; return them.

    `links` are those of all radios as if they shared one channel; `jamming` (Hz) is what each radio would receive
    of jammers at a frequency, mW.
    """
    types, table = radio_types(radios), radios.table[:, : radios.n]
    names, group = list(types), table[COLUMN.group].astype(np.int64)
    always = np.ones(radios.n)  # as if all transmitted: how much they do is not known
    bands = OccupiedBands(group, table[COLUMN.frequency].copy(), table[COLUMN.bandwidth].copy(), always)
    waiting, chosen = [names.index(name) for name in arguments["groups"]], {}
    while waiting:
        name = names[waiting[0]]
        candidates: Floats = np.array([types[name].centre_of(channel) for channel in arguments["channels"]])
        jammed = np.stack([jamming(float(candidate)) for candidate in candidates])
        best = best_channel(arguments["method"], links, bands, waiting, candidates, jammed)
        chosen[name] = int(arguments["channels"][best])
        bands.frequency[group == waiting.pop(0)] = candidates[best]
    return chosen


def check_channels(channels: Mapping[str, int], radios: Radios) -> None:
    """Refuse channels of a loaded state that no radio can have; PaddockError."""
    types = radio_types(radios)
    for name, channel in channels.items():
        if name not in types or types[name].hopping is not None:
            raise PaddockError(f"saved channels of radios: {name!r:.80} has no radios with a channel")
        if problem := _centre_problem(types[name], name, channel):
            raise PaddockError(f"saved channels of radios: {problem}")


def radio_types(radios: Radios) -> dict[str, RadioType]:
    """Return the types of radios by the names of their groups, in their order; jammers have no channel."""
    jammers = len(np.unique(radios.table[COLUMN.group, radios.n :]))
    named = zip(group_names(radios.groups), radios.groups, strict=True)
    return {name: group.radio for name, group in list(named)[: len(radios.groups) - jammers]}


def links_on_one_channel(update: LinkUpdate, tick: int) -> Links:
    """Return the links of all radios at their present positions if they shared one channel and waveform."""
    radios = update.radios
    table = radios.table.copy()
    if radios.n:
        table[[COLUMN.frequency, COLUMN.waveform], : radios.n] = table[[COLUMN.frequency, COLUMN.waveform], :1]
    options = update.classes, update.paths, update.hysteresis, update.margin, update.longest
    shared = LinkUpdate(replace(radios, table=table), *options)
    return shared.run(tick, np.zeros(radios.n), np.zeros((BURST_ROWS, radios.n)), no_links(radios.n))
