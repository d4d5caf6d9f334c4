"""Counts of link changes, contact and what stations hear, against plain Python over the table of links."""

from typing import Any

import numpy as np

import paddock
from paddock.engine.radio.links import changed_entries, count_changes
from paddock.radio.links.table import no_links

QUIET = {"bandwidth": 20e6, "noise_figure": 0.0, "duty": 0.0, "power": 20.0}


def scenario(**radio: Any) -> dict[str, Any]:
    """Return 40 radios, more than those whose links are events, and a jammer from 0.2 s to 0.5 s."""
    jammer = {"name": "j", "kind": "barrage", "position": [0, 0, 30], "power": 10.0, "on": [[0.2, 0.5]]}
    grid = {"grid": {"spacing": 150, "z": 20}}
    fleet = {"name": "p", "count": 40, "model": "point", "spawn": grid, "radio": "t"}
    return {"clock": {"rate": 100}, "radio": {"types": {"t": QUIET}, "jammers": [jammer], **radio}, "vehicles": [fleet]}


def usable(links: Any) -> set[tuple[int, int]]:
    """Return receiver and transmitter of every usable link."""
    rows = np.repeat(np.arange(len(links.start) - 1), np.diff(links.start))
    return {(int(a), int(b)) for a, b, up in zip(rows, links.peer, links.up, strict=True) if up}


def test_all_links_are_counted_in_each_direction() -> None:
    """Without a station no link is an event, but all changes count: the sums follow from the tables of all updates."""
    with paddock.load(scenario()) as sim:
        assert sim.radio is not None
        before, ups, downs = usable(sim.radio.links()), 0, 0
        for _ in range(7):
            sim.step(10)
            now = usable(sim.radio.links())
            ups, downs, before = ups + len(now - before), downs + len(before - now), now
        report = sim.radio.report()
        assert (report.ups, report.downs) == (ups, downs) and downs > 100 and ups == downs
        assert report.up == len(before)
        assert not [event for event in sim.events.since() if event.kind in ("link_up", "link_down")]
        kept = sim.save()
        sim.restore(kept)
        assert (sim.radio.report().ups, sim.radio.report().downs) == (ups, downs)
        links = sim.radio.links()
        none = no_links(40)
        assert count_changes(none, links) == (len(before), 0) and count_changes(links, none) == (0, len(before))
        counts = np.zeros((2, 40), np.int64)
        changed_entries.plain(*none[1:3], none.up, links.start, links.peer, links.up, counts)
        assert counts.sum(axis=1).tolist() == [len(before), 0]
        fleet = sim.snapshot().fleet("p")
        assert fleet["radio.contact"].tolist() == (fleet["radio.links"] > 0).astype(float).tolist()


def test_contact_and_what_stations_hear() -> None:
    """Two stations: the columns follow from the table of links and from the network, also while a jammer is on."""
    stations = [{"name": name, "position": [x, 0, 5], "radio": "t"} for name, x in (("a", -700.0), ("b", 900.0))]
    with paddock.load(scenario(stations=stations)) as sim:
        assert sim.radio is not None
        for power in (-50.0, 20.0):
            sim.radio.jammers.set("j", on=True, power=power, position=[-300.0, 0.0, 30.0])
            sim.step(10)
            radios, links, fleet = sim.radio.radios, sim.radio.links(), sim.snapshot().fleet("p")
            network, names = sim.radio.network(), fleet.names
            expected = [network.reach(name, "a") or network.reach(name, "b") for name in names]
            assert fleet["radio.contact"].tolist() == [float(radio) for radio in expected]
            for k in range(40):
                heard = {}
                for receiver in range(radios.carried, radios.n):
                    row = slice(int(links.start[receiver]), int(links.start[receiver + 1]))
                    own = np.flatnonzero((links.peer[row] == k) & (links.up[row] != 0))
                    if len(own):
                        heard[receiver - radios.carried] = float(links.sinr[row][own[0]])
                best = max(heard, key=lambda radio: heard[radio], default=-1)
                assert (fleet["radio.station"][k], fleet["radio.uplink"][k]) == (best, heard.get(best, -100.0))
        assert 0 < fleet["radio.contact"].sum() < 40
