"""The links of a saved state: what no run can have saved is refused."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from paddock.errors import PaddockError
from paddock.radio.collisions import COLLISION_ROWS
from paddock.radio.links import BURST_ROWS, Links
from paddock.world.archive import whole

KINDS = {
    "start": np.int64, "peer": np.int64, "power": np.float64, "sinr": np.float64, "per": np.float64, "up": np.uint8,
    "interference": np.float64, "jamming": np.float64, "outside": np.int64,
    "bursts": np.float64, "collisions": np.float64,
}  # fmt: skip
STRONGEST = 1e6  # dB or mW


def links_tree(links: Links) -> dict[str, Any]:
    """Return links as a tree of arrays; before the first update the tick is -1."""
    arrays = {name: np.asarray(getattr(links, name), kind).ravel() for name, kind in KINDS.items()}
    return {"tick": links.tick + 1, **arrays}


def loaded_links(tree: Any) -> Links:
    """Return the links of a tree; PaddockError unless it has these arrays."""
    if not isinstance(tree, Mapping) or tree.keys() != {"tick", *KINDS}:
        raise PaddockError("saved links lack a part")
    for name, kind in KINDS.items():
        if not isinstance(tree[name], np.ndarray) or tree[name].dtype != kind or tree[name].ndim != 1:
            raise PaddockError(f"saved links: {name} is not an array of {np.dtype(kind)}")
    arrays = {name: tree[name].copy() for name in KINDS} | {"peer": tree["peer"].astype(np.int32)}
    if (arrays["peer"] != tree["peer"]).any():
        raise PaddockError("saved links: peer is not valid")
    for name, rows in (("bursts", BURST_ROWS), ("collisions", COLLISION_ROWS)):
        if arrays[name].size % rows:
            raise PaddockError(f"saved links: {name} are not {rows} rows")
        arrays[name] = arrays[name].reshape(rows, -1)
    return Links(whole(tree["tick"], "tick of links") - 1, **arrays)


def check_links(links: Links, n: int, tick: int, period: int) -> None:
    """Refuse links that an update of `n` radios at or before a tick cannot have made."""
    m = len(links.peer)
    start, rows = links.start, (links.power, links.sinr, links.per, links.up)
    shapes = len(start) == n + 1 and {len(one) for one in rows} == {m}
    if not shapes or any(
        one.shape[-1] != n for one in (links.interference, links.jamming, links.outside, links.bursts)
    ):
        raise PaddockError(f"saved links are not those of {n} radios")
    if start[0] != 0 or start[-1] != m or (np.diff(start) < 0).any():
        raise PaddockError("saved links: the rows do not follow each other")
    if not -1 <= links.tick <= tick or (links.tick >= 0 and links.tick % period):
        raise PaddockError(f"saved links are of tick {links.tick}, the run is at {tick}")
    receiver = np.repeat(np.arange(n), np.diff(start))
    if ((links.peer < 0) | (links.peer >= n) | (links.peer == receiver)).any():
        raise PaddockError("saved links have transmitters that do not exist")
    rises = (np.diff(links.peer) > 0) | (np.diff(receiver) > 0)
    if not rises.all():
        raise PaddockError("saved links: transmitters do not ascend within their row")
    numbers = all(
        (np.abs(one) <= STRONGEST).all() for one in (links.power, links.sinr, links.interference, links.jamming)
    )
    if not numbers or not ((links.per >= 0.0) & (links.per <= 1.0)).all() or (links.up > 1).any():
        raise PaddockError("saved links have values that are not valid")
    if any((one < 0).any() for one in (links.interference, links.jamming, links.outside)):
        raise PaddockError("saved links have powers below 0")
    _, share, period, cycle, _, length = links.bursts
    bursts = ((links.bursts >= 0.0) & (links.bursts <= STRONGEST)).all() and (share <= 1.0).all()
    some = (share == 0.0) | ((period > 0.0) & (cycle > 0.0) & (length <= cycle))
    if not bursts or not some.all():
        raise PaddockError("saved links: bursts of jammers are not valid")
    calm, load = links.collisions
    if len(calm) not in (0, m) or not (np.abs(links.collisions) <= STRONGEST).all() or (load < 0.0).any():
        raise PaddockError("saved links: collisions are not valid")
