"""A bound of the interference that pruning leaves out: transmitters beyond the reach of their receivers."""

import numpy as np

from paddock.radio.link_update import LinkUpdate
from paddock.radio.links import DUTY, FREQUENCY, GROUP, POWER
from paddock.radio.propagation import LOG_DISTANCE
from paddock.radio.radios import CLASS, COLUMN, Floats, boost, largest_gain

CELLS = 10  # along each axis


def far_interference(update: LinkUpdate) -> Floats:
    """Return at most how much power (mW) of transmitters beyond its reach each receiver gets in its band, (n,).

    Radios are counted in cells. All transmitters of a cell count as if they stood at its nearest edge to the cell of
    the receiver, or at the reach where that is farther, in the best directions of both antennas; those of cells that
    are within reach as a whole do not count.
    """
    table, n = update.radios.table, update.radios.n
    place = table[:3, :n]
    low, high = place.min(axis=1, initial=np.inf), place.max(axis=1, initial=-np.inf)
    size = max(float((high - low).max(initial=0.0)) / CELLS, 1e-6) if n else 1.0
    at = np.floor((place - low[:, None]) / size).astype(np.int64) if n else np.zeros((3, 0), np.int64)
    cells, cell = np.unique(at, axis=1, return_inverse=True)
    cell = cell.reshape(-1)
    step = np.abs(cells[:, :, None] - cells[:, None, :])
    nearest = size * np.sqrt((np.maximum(step - 1, 0) ** 2).sum(axis=0))
    farthest = size * np.sqrt(((step + 1) ** 2).sum(axis=0))
    group = table[GROUP, :n].astype(np.int64)
    far = np.zeros(n)
    for g in np.unique(group):
        mine = np.flatnonzero(group == g)
        bound = np.zeros(cells.shape[1])
        for h in np.unique(group):
            theirs = np.flatnonzero(group == h)
            duty = np.bincount(cell[theirs], weights=table[DUTY, theirs], minlength=cells.shape[1])
            reach = update.reach[g, h]
            level = _levels(update, int(mine[0]), int(theirs[0]), np.maximum(nearest, reach))
            bound += np.where(farthest > reach, level, 0.0) @ duty
        far[mine] = bound[cell[mine]]
    return far


def _levels(update: LinkUpdate, i: int, j: int, distance: Floats) -> Floats:
    """Return the largest power (mW) of radio j in the band of radio i at distances (m)."""
    table, classes = update.radios.table, update.classes
    values = classes.table[:, classes.of[int(table[GROUP, i]), int(table[GROUP, j])]]
    best = sum(largest_gain(table[:, k], update.radios.patterns) for k in (i, j)) + boost(values)
    f, width = table[FREQUENCY], table[COLUMN.bandwidth]
    common = min(f[i] + 0.5 * width[i], f[j] + 0.5 * width[j]) - max(f[i] - 0.5 * width[i], f[j] - 0.5 * width[j])
    wave = 4.0 * np.pi * f[j] / 299_792_458.0
    reference, exponent = values[CLASS.reference], values[CLASS.exponent]
    if values[CLASS.model] == LOG_DISTANCE:
        near = np.maximum(wave * np.minimum(distance, reference), 1.0) ** 2
        loss = near * (np.maximum(distance, reference) / reference) ** exponent
    else:
        loss = np.maximum(wave * distance, 1.0) ** 2
    share: float = max(float(common) / float(width[j]), 0.0)
    return share * 10.0 ** (0.1 * (table[POWER, j] + best)) / loss  # type: ignore[no-any-return]
