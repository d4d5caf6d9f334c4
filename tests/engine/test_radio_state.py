"""The state of radio: every leaf is hashed and survives a save; radios that come or go keep the rows of the others."""

from typing import Any

import numpy as np
import pytest

import paddock
from paddock.engine.radio.roster import is_of, new_radio_state
from paddock.engine.simulation import Simulation
from paddock.radio.packets.state import live
from paddock.world.archive import pack, unpack
from paddock.world.parts import ArrayLeaf, ScalarLeaf
from paddock.world.state import HASHED, digest, load, save, slots


def busy(steps: int = 40) -> Simulation:
    """Radios with messages, beacons, telemetry and jammers in the middle of their traffic."""
    radio = {
        "types": {"t": {"bandwidth": 1e5, "bit_rate": 5e4, "power": 20.0}},
        "stations": [{"name": "base", "position": [0, 0, 10], "radio": "t"}],
        "jammers": [
            {"name": "pulse", "kind": "pulsed", "position": [500, 0, 10], "power": 10, "period": 0.1},
            {"name": "tail", "kind": "follower", "position": [0, 600, 10], "power": -20},
        ],
        "messages": {"beacons": {"rate": 2}},
    }
    vehicle = {"name": "p", "count": 4, "model": "point", "spawn": {"grid": {"spacing": 40, "z": 20}}, "radio": "t"}
    sim = paddock.load(
        {"clock": {"rate": 50}, "radio": radio, "vehicles": [{**vehicle, "via": {"radio": "base", "telemetry": 5}}]}
    )
    for k in range(steps):
        if k % 4 == 0:
            sim.radio.send(f"p[{k % 3}]", "base", [k], bits=2000)
            sim.command("p", vx=1.0)
        sim.step(1)
    return sim


def changed(slot: Any) -> bool:
    """Change a leaf; return whether it has a value that can change."""
    value = slot.get()
    if isinstance(slot.leaf, ScalarLeaf):
        slot.set(not value if isinstance(value, bool) else value + 1)
    elif isinstance(slot.leaf, ArrayLeaf) and value.size:
        index: Any = (0,) * value.ndim
        if slot.leaf.ring is not None:
            rows = live(getattr(slot.part, slot.leaf.ring[0]), getattr(slot.part, slot.leaf.ring[1]), value)
            if not len(rows[0]):
                return False
            index = (rows[0][0], rows[1][0], 0)
        if slot.name in ("inbox", "inbox_real") and not slot.part.arrived:
            return False
        value[index] = not value[index] if value.dtype == np.bool_ else value[index] + 1
    else:
        return False
    return True


def test_every_leaf_is_hashed() -> None:
    with busy() as sim:
        state, checked = sim.engine.radio.state, set()
        blob = unpack(pack(save(state)))
        for k, slot in enumerate(slots(state, HASHED)):
            if not slot.leaf.saved or getattr(slot.leaf, "counts", ""):
                continue
            other = new_radio_state(
                *(0, sim.scenario.radio.messages, list(state.jammers), [], {"jammer": 3, "deceptive": 0})
            )
            load(other, blob)
            before = digest(other)
            if changed(list(slots(other, HASHED))[k]):
                assert digest(other) != before, slot.path
                checked.add(slot.path)
        assert len(checked) > 40 and {"links.power", "packets.queue", "packets.whole", "doing", "on_air"} <= checked


def test_a_loaded_state_is_the_same() -> None:
    with busy() as sim:
        tree, known = unpack(pack(save(sim.engine.radio.state))), sim.state_hash()
        blob = sim.save()
        assert is_of(sim.engine.radio.state, sim.radio.radios)
        sim.step(30)
        later = sim.state_hash()
        sim.restore(blob)
        assert sim.state_hash() == known and pack(save(sim.engine.radio.state)) == pack(tree)
        sim.step(30)
        assert sim.state_hash() == later


@pytest.mark.parametrize("gone", [0, 2, 3])
def test_radios_that_stay_keep_their_rows(gone: int) -> None:
    with busy() as sim:
        before = sim.engine.radio.state
        counts, mails = before.packets.counts.copy(), before.packets.mails.copy()
        power = {tuple(pair): value for pair, value in linked(sim)}
        kept = np.delete(np.arange(5), gone)
        sim.remove(f"p[{gone}]")
        sim.radio.links()
        after = sim.engine.radio.state
        assert after.n == 4 and after.packets.n == 4 and is_of(after, sim.radio.radios)
        assert (after.packets.mails == mails[kept]).all()
        assert (after.packets.counts - counts[:, kept]).min() >= 0 and after.packets.removed.sum() > 0
        assert {tuple(pair): value for pair, value in linked(sim)} == {
            pair: value for pair, value in power.items() if f"p[{gone}]" not in pair
        }
        sim.step(20)


def linked(sim: Simulation) -> list[tuple[tuple[str, str], float]]:
    """Return receiver, transmitter and power of all links."""
    links = sim.radio.links()
    receivers = np.repeat(np.arange(len(links.start) - 1), np.diff(links.start)).tolist()
    pairs = zip(receivers, links.peer.tolist(), links.power.tolist(), strict=True)
    return [((sim.radio.name(i), sim.radio.name(j)), power) for i, j, power in pairs]
