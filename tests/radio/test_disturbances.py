"""What receivers get of transmitters that they cannot decode, against a table of all pairs in NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from paddock.radio.links.paths import PathTables, classes_of
from paddock.radio.links.radios import COLUMN, FleetRadios, Floats, Radios, radios_of
from paddock.radio.links.table import BURST_ROWS, no_links
from paddock.radio.links.update import LinkUpdate
from paddock.radio.packets.channel_links import (
    Disturbances,
    DisturbanceUpdate,
    channel_links,
    placed_radios,
    unplaced_radios,
)
from paddock.radio.packets.queues import DENIED_ROWS
from paddock.scenario.radio import RadioSection
from paddock.scenario.radio_types import FittedRadio

TYPES = {
    "near": {"bandwidth": 2e6, "power": 10.0, "sensitivity": -70.0},
    "beside": {"bandwidth": 2e6, "power": 12.0, "sensitivity": -70.0, "frequency": 2.4015e9},
    "other": {"bandwidth": 4e6, "power": 8.0, "sensitivity": -72.0, "bit_rate": 1e6},
}
BELOW = 15.0  # dB: hysteresis and margin
SIDE = 3000.0  # m


def radios_in_a_town(count: int, **settings: Any) -> tuple[Radios, LinkUpdate, PathTables]:
    section = RadioSection.model_validate({"types": TYPES, **settings})
    ids, fleets = np.arange(count), []
    for k, name in enumerate(TYPES):
        fleets.append(FleetRadios(name, ids + k * count, ids * 7919 + k + 1, (FittedRadio(type=name),)))
    radios = radios_of(section, fleets)
    move(radios, 7)
    classes = classes_of(section, radios.groups)
    tables = PathTables(radios, classes, None, 0.0, 0)
    tables.place()
    return radios, LinkUpdate(radios, classes, tables.paths, section.hysteresis, section.margin, np.inf), tables


def move(radios: Radios, seed: int) -> None:
    random = np.random.default_rng(seed)
    for part in radios.parts:
        poses = np.zeros((13, part.n))
        poses[:2], poses[2], poses[6] = random.uniform(0.0, SIDE, (2, part.n)), random.uniform(20, 60, part.n), 1.0
        radios.place(part, poses)


def matrix(disturbances: Disturbances) -> Floats:
    """Return the powers (mW) as receivers x transmitters."""
    n = len(disturbances.first)
    made = np.zeros((n, n))
    for i in range(n):
        row = slice(disturbances.first[i], disturbances.first[i] + disturbances.many[i])
        assert (np.diff(disturbances.peer[row]) > 0).all()
        made[i, disturbances.peer[row]] = disturbances.part[row]
    return made


def all_pairs(radios: Radios) -> Floats:
    """Return the same in free space: the part of each power in the band, negative where it cannot be decoded."""
    table, n = radios.table, radios.n
    apart = np.linalg.norm(table[:3, :n, None] - table[:3, None, :n], axis=0) + np.eye(n)
    f, width = table[COLUMN.frequency, :n], table[COLUMN.bandwidth, :n]
    loss = 20.0 * np.log10(4.0 * np.pi * apart * f / 299_792_458.0)
    top = np.minimum((f + width / 2)[:, None], f + width / 2)
    share = np.maximum(top - np.maximum((f - width / 2)[:, None], f - width / 2), 0.0) / width
    group = table[COLUMN.group, :n]
    part = 10.0 ** (0.1 * (table[COLUMN.power, :n] - loss)) * share * np.where(group == group[:, None], 1.0, -1.0)
    least = 10.0 ** (0.1 * (table[COLUMN.sensitivity, :n] - BELOW))
    return np.where((np.abs(part) >= least[:, None]) & ~np.eye(n, dtype=bool), part, 0.0)


@pytest.mark.parametrize("fading", [None, {"rician": 6.0}])
def test_they_are_those_of_all_pairs(fading: Any) -> None:
    """Bands overlap by a quarter, in full, and not at all; after a move, and at the places before it."""
    types = {} if fading is None else {"default": {"fading": fading, "shadowing": {"sigma": 4.0, "distance": 50.0}}}
    radios, update, tables = radios_in_a_town(60, **types)
    finder = DisturbanceUpdate(update, update.keep - update.margin)
    first, placed = matrix(finder.find(placed_radios(radios), tables)), placed_radios(radios)
    move(radios, 8)
    tables.place()
    second = matrix(finder.find(placed_radios(radios), tables))
    if fading is None:
        assert second == pytest.approx(all_pairs(radios), rel=1e-9)
    assert (second > 0.0).sum() > 300 and (second < 0.0).sum() > 1000 and (first != second).any()
    assert (matrix(finder.find(placed, tables)) == first).all()  # fading and shadowing are those of that time, too
    assert (matrix(finder.find(placed_radios(radios), tables)) == second).all()
    fresh = DisturbanceUpdate(update, update.keep - update.margin)
    assert (matrix(fresh.find(placed_radios(radios), tables)) == second).all()


def test_radios_follow_their_channels_and_new_ones_wait_for_an_update() -> None:
    radios, update, tables = radios_in_a_town(40)
    finder, placed = DisturbanceUpdate(update, update.keep - update.margin), placed_radios(radios)
    apart = placed.copy()
    apart[-1, 40:80] = 2.45e9
    pairs = matrix(finder.find(apart, tables))
    assert not pairs[:40, 40:80].any() and pairs[:40, 80:].any()
    placed[:, 100:] = unplaced_radios(radios)[:, 100:]
    pairs = matrix(finder.find(placed, tables))
    assert not pairs[100:].any() and not pairs[:, 100:].any()
    radios.table[:3, : radios.n] = 0.0
    radios.table[:3, 100:] = placed[:3, :20]
    assert not matrix(finder.find(unplaced_radios(radios), tables)).any()
    placed = placed_radios(radios)
    placed[:3] = 100.0 * np.arange(radios.n)
    assert matrix(finder.find(placed, tables)).any()


def test_links_count_once_and_others_are_sensed_by_their_energy() -> None:
    """Of one waveform from -70 dBm on, of another from -65 dBm on: the part of their power in the band."""
    radios, update, tables = radios_in_a_town(60)
    n = radios.n
    links = update.run(0, np.zeros(n), np.zeros((BURST_ROWS, n)), no_links(n))
    others = DisturbanceUpdate(update, update.keep - update.margin).find(placed_radios(radios), tables)
    table, every = radios.table, all_pairs(radios)
    limits = np.full(n, 10.0**-7.0), np.full(n, 10.0**-6.5)
    air = channel_links(
        table, links, others, table[:3, :n], *limits, update.least, np.zeros((DENIED_ROWS, n), np.int64)
    )
    linked = np.zeros((n, n), bool)
    linked[np.repeat(np.arange(n), np.diff(links.start)), links.peer] = True
    rows = [np.arange(*span) for span in zip(air.first.tolist(), air.last.tolist(), strict=True)]
    transmitter, entries = np.repeat(np.arange(n), [len(row) for row in rows]), air.entries[np.concatenate(rows)]
    assert (np.diff(entries["peer"])[np.diff(transmitter) == 0] > 0).all()
    link, by_link = entries["link"], entries["link"] >= 0
    receiver = np.repeat(np.arange(n), np.diff(links.start))
    assert (links.peer[link[by_link]] == transmitter[by_link]).all()
    assert (receiver[link[by_link]] == entries["peer"][by_link]).all()
    heard = np.where(every > 0.0, every >= 10.0**-7.0, every <= -(10.0**-6.5))
    for chosen, expected in ((by_link, linked), (~by_link, (every != 0.0) & ~linked)):
        peer, sender, power = entries["peer"][chosen], transmitter[chosen], entries["power"][chosen]
        assert len(sender) == expected.sum() and expected[peer, sender].all()
        assert np.abs(power) == pytest.approx(np.abs(every[peer, sender]), rel=1e-9)
        assert ((power < 0.0) == heard[peer, sender]).all() and 0 < (power < 0.0).sum() < len(sender)
