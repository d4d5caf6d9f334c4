"""Radio in recordings: columns, arrays, links as lines, jammers, and metrics of links."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from foxglove_schemas_protobuf.SceneUpdate_pb2 import SceneUpdate
from mcap.reader import make_reader

import paddock
from paddock.cli.replay import _metric_lines
from paddock.engine.events import Event
from paddock.errors import PaddockError
from paddock.record import Player, Recorder, metrics, open_run
from paddock.record.radio import (
    in_contact,
    link_colour,
    message_summary,
    recorded_radio,
    recorded_traffic,
    snapshot_links,
)
from paddock.record.run_report import link_tables, traffic_lines, write_report
from paddock.record.surroundings import described_radio
from paddock.serve.link import operate
from paddock.serve.replay import ReplaySource
from paddock.world.archive import pack, unpack

RANGE = 1000.0  # m
LOSS = 20.0 * np.log10(4.0 * np.pi * RANGE * 2.4e9 / 299_792_458.0)  # of free space
TYPE = {"bandwidth": 1e6, "noise_figure": 0.0, "duty": 0.0, "power": 20.0, "sensitivity": 20.0 - LOSS}
PLACES = [[500, 0, 20, 0], [1300, 0, 20, 0], [2100, 0, 20, 0], [9000, 0, 20, 0]]


def scenario(**more: Any) -> dict[str, Any]:
    """A station, a chain of three vehicles 800 m apart, and one far away: links reach 1 km."""
    radio = {
        "types": {"t": TYPE},
        "hysteresis": 0.0,
        "stations": [{"name": "base", "position": [0, 0, 20], "radio": "t"}],
        "jammers": [{"name": "red", "kind": "barrage", "position": [500, 50, 20], "power": 40, "enabled": False}],
    }
    chain = {"name": "chain", "count": 4, "model": "point", "spawn": {"poses": PLACES}, "radio": "t"}
    return {"clock": {"rate": 100}, "radio": radio, "vehicles": [chain, {"name": "mute", "model": "point"}], **more}


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One second in contact, one second jammed, one second in contact."""
    path = tmp_path_factory.mktemp("radio") / "run.mcap"
    with paddock.load(scenario()) as sim:
        assert sim.radio is not None
        with Recorder(sim, path, rate=20):
            sim.step(100)
            sim.radio.jammers.set("red", on=True)
            sim.step(100)
            sim.radio.jammers.set("red", on=False, position=[0.0, 100.0, 20.0])
            sim.step(100)
    return path


def test_contact_over_several_hops() -> None:
    with paddock.load(scenario()) as sim:
        snapshot = sim.snapshot()
        assert (snapshot.fleet("chain")["radio.sinr"] > -100.0).tolist() == [True, False, False, False]
        assert in_contact(snapshot)["chain"].tolist() == [1.0, 1.0, 1.0, 0.0]
        tree = described_radio(sim)
        assert tree is not None
        a, b, margin = snapshot_links(snapshot, tree)
        pairs = {tuple(sorted((first[0], other[0]))) for first, other in zip(a.tolist(), b.tolist(), strict=True)}
        assert pairs == {(0.0, 500.0), (500.0, 1300.0), (1300.0, 2100.0)}
        assert (np.diff(margin) <= 0.0).all()
        needed = tree["stations"][0]["radio"]["needed"]
        assert margin[0] == pytest.approx(20.0 - LOSS + 20.0 * np.log10(2.0) + 173.98 - 60.0 - needed, abs=0.1)


def one_way() -> dict[str, Any]:
    """A jammer beside `far`, so weak that it spoils what `far` receives and nothing else."""
    radio = {
        "types": {"t": {"bandwidth": 2e6}},
        "stations": [{"name": "base", "position": [0, 0, 5], "radio": "t"}],
        "jammers": [{"name": "j", "kind": "barrage", "power": -10, "position": [1000, 30, 10], "bandwidth": 2e6}],
    }
    far = {"name": "far", "model": "point", "pose": [1000, 0, 10, 0], "via": {"radio": "base", "telemetry": 5}}
    mid = {"name": "mid", "model": "point", "pose": [300, 0, 10, 0]}
    return {"clock": {"rate": 100}, "radio": radio, "vehicles": [far | {"radio": "t"}, mid | {"radio": "t"}]}


def test_links_that_work_in_one_direction_are_no_contact(tmp_path: Path) -> None:
    """The station hears `far`, which hears nothing: no route, no telemetry, no contact; the link is drawn."""
    path = tmp_path / "one_way.mcap"
    with paddock.load(one_way()) as sim:
        assert sim.radio is not None
        with Recorder(sim, path, rate=20):
            sim.step(100)
        assert sim.radio.network().components == [["mid", "base"], ["far"]]
        assert sim.radio.telemetry("far").received == 0
        far, links, at = sim.snapshot().fleet("far"), sim.radio.links(), sim.radio.number
        row = slice(int(links.start[at("base")]), int(links.start[at("base") + 1]))
        heard = dict(zip(links.peer[row].tolist(), links.sinr[row].tolist(), strict=True))
        assert (far["radio.uplink"][0], far["radio.station"][0]) == (heard[at("far")], 0.0)
    with open_run(path) as run:
        numbers = metrics(run)
        sample = run.sample(10)
        tree = recorded_radio(run.scenario, sample, [])
        assert tree is not None
        a, b, _ = snapshot_links(sample, tree)
        assert {name: contact.tolist() for name, contact in in_contact(sample).items()} == {"far": [0.0], "mid": [1.0]}
    own = {name: fleet["radio"] for name, fleet in numbers["fleets"].items()}
    assert (own["far"]["link_availability"], own["far"]["outages"]) == (0.0, 1)
    assert (own["mid"]["link_availability"], own["mid"]["outages"]) == (1.0, 0)
    assert (0.0, 1000.0) in {tuple(sorted((p[0], q[0]))) for p, q in zip(a.tolist(), b.tolist(), strict=True)}


def test_metrics_of_links(recorded: Path) -> None:
    """The jammer breaks the links of the first vehicle, and with them the chain, for one of three seconds."""
    with open_run(recorded) as run:
        numbers = metrics(run)
    own = numbers["fleets"]["chain"]["per_vehicle"]
    assert own["link_availability"][:3] == pytest.approx([2.0 / 3.0] * 3, abs=0.07)
    assert own["link_availability"][3] == 0.0
    assert own["longest_outage_s"][:3] == pytest.approx([1.0] * 3, abs=0.11)
    assert own["longest_outage_s"][3] == pytest.approx(3.0, abs=0.06)
    assert own["outages"] == [1, 1, 1, 1]
    noise = -173.98 + 60.0  # kT at 290 K in 1 MHz, dBm
    assert own["mean_sinr_db"][0] == pytest.approx(20.0 - LOSS + 20.0 * np.log10(2.0) - noise, abs=0.1)
    assert own["mean_sinr_db"][3] is None
    assert own["jammed_s"][0] == pytest.approx(1.0, abs=0.11)
    assert "radio" in numbers["fleets"]["chain"] and "radio" not in numbers["fleets"]["mute"]
    events = numbers["events"]
    assert events["link_down"] >= 1 and events["link_up"] >= 1 and events["jammer"] == 2
    assert events["jammed"] == 4 and "unjammed" not in events  # three vehicles and the station


def test_jammers_and_stations_at_a_time(recorded: Path) -> None:
    with open_run(recorded) as run:
        events = list(run.events())
        expected = {10: (False, (500.0, 50.0, 20.0)), 30: (True, (500.0, 50.0, 20.0)), 55: (False, (0.0, 100.0, 20.0))}
        for sample, (on, position) in expected.items():
            snapshot = run.sample(sample)
            tree = recorded_radio(run.scenario, snapshot, [event for event in events if event.tick <= snapshot.tick])
            assert tree is not None
            [red] = tree["jammers"]
            assert (red["on"], red["position"]) == (on, position)
            assert [station["name"] for station in tree["stations"]] == ["base"]
            assert tree["fleets"][0]["radios"][0]["range"] == pytest.approx(RANGE, rel=1e-3)


def test_links_are_lines_for_viewers(recorded: Path) -> None:
    with recorded.open("rb") as file:
        scenes = [
            (message.log_time / 1e9, SceneUpdate.FromString(message.data))
            for _, _, message in make_reader(file).iter_messages(topics=["/radio"])
        ]
    counts = [len(update.entities[0].lines[0].points) // 2 for _, update in scenes]
    names = {entity.id for _, update in scenes for entity in update.entities}
    assert counts[3] == 3 and min(counts) < 3 and counts[-1] == 3
    assert names == {"radio/links", "radio/base", "radio/red"}
    line = scenes[3][1].entities[0].lines[0]
    assert len(line.colors) == len(line.points)
    assert link_colour(0.0)[0] == 1.0 and link_colour(0.0)[1] == 0.0  # red
    assert link_colour(10.0)[:2] == (1.0, 1.0)  # yellow
    assert link_colour(20.0)[0] == 0.0 and link_colour(20.0)[1] == 1.0  # green


def test_a_served_recording_has_radio(recorded: Path) -> None:
    with Player(recorded) as player:
        source = ReplaySource(player)
        player.seek(1.5)
        tree = operate(source, "radio_view", "c", {})
        assert tree["jammers"][0]["on"] is True and tree["jammed"] >= 1
        assert operate(source, "jammers", "c", {}) == tree["jammers"]
        mode = operate(source, "set_visualization_mode", "c", {"show_comm_links": True, "show_rf_range": None})
        assert mode["show_comm_links"] is True and mode["version"] == 1
        assert source.figures()["visualization"] == mode


def test_report(recorded: Path, tmp_path: Path) -> None:
    """Of a run without a race, the report is about its links: vehicles with the longest outage first."""
    pytest.importorskip("matplotlib")
    names = write_report(recorded, tmp_path / "report")
    assert names == ["report.md", "results.json", "links.png"]
    text = (tmp_path / "report" / "report.md").read_text()
    rows = [line for line in text.splitlines() if line.startswith("| chain\\[")]
    assert rows[0].startswith("| chain\\[3\\] | 0.0 % | - | 3.0 | 1 |")
    assert len(rows) == 4 and "| mute" not in text
    numbers = json.loads((tmp_path / "report" / "results.json").read_text())
    assert numbers["fleets"]["chain"]["radio"]["outages"] == 4
    lines = _metric_lines(numbers)
    assert any(line.startswith("  radio of chain: available ") for line in lines)


def test_a_report_without_stations_counts_what_a_vehicle_hears(tmp_path: Path) -> None:
    """3 km: 109.6 dB of free space. The strong radio is above the sensitivity of -85 dBm, the weak one is not."""
    quiet = {"duty": 0.0, "sensitivity": -85.0}
    types = {"strong": {**quiet, "power": 30.0}, "weak": {**quiet, "power": 10.0}}
    places = (("strong", 0), ("weak", 3000))
    vehicles = [{"name": name, "model": "point", "pose": [x, 0, 50, 0], "radio": name} for name, x in places]
    tree = {"clock": {"rate": 100}, "radio": {"types": types}, "vehicles": vehicles}
    with paddock.load(tree) as sim, Recorder(sim, tmp_path / "run.mcap", rate=20):
        sim.step(100)
    with open_run(tmp_path / "run.mcap") as run:
        numbers = metrics(run)
    shares = {name: numbers["fleets"][name]["radio"]["link_availability"] for name in types}
    assert shares == {"strong": 0.0, "weak": 1.0}
    text = "\n".join(link_tables(numbers))
    assert "without stations, while it hears another radio over a usable link." in text


@pytest.mark.filterwarnings("ignore::paddock.errors.ScenarioWarning")  # no vehicle has the sensor gnss
def test_messages_and_spoofers(tmp_path: Path) -> None:
    """A message over two hops, one to a vehicle out of reach; a spoofer that is switched off."""
    radio = scenario()["radio"] | {
        "spoofers": [{"name": "liar", "position": [0, 300, 2], "offset": [100, 0, 0], "on": [[0, 60]]}]
    }
    path = tmp_path / "messages.mcap"
    with paddock.load(scenario(radio=radio)) as sim:
        assert sim.radio is not None
        with Recorder(sim, path, rate=20):
            sim.radio.send("base", "chain[1]", {"go": 1})
            sim.step(50)
            sim.radio.send("base", "chain[3]", {"go": 2})
            sim.radio.spoofers.set("liar", on=False)
            sim.step(50)
            traffic = sim.radio.traffic()
    with open_run(path) as run:
        numbers = metrics(run)
        figures = numbers["messages"]
        events = list(run.events())
        last = run.sample(len(run) - 1)
        tree = recorded_radio(run.scenario, last, events)
        section = json.loads(run.metadata["radio"])["section"]
        spoofed = [Event(k, 10, "gnss_spoofed", f"chain[{k}]", "liar") for k in range(3)]
        released = [Event(3, 20, "gnss_released", "chain[1]", "liar")]
        captured = [recorded_radio(run.scenario, last, some) for some in (spoofed, spoofed + released)]
    assert section == {"jammers": [{"name": "red"}], "spoofers": [{"name": "liar", "on": [[0.0, 60.0]]}]}
    assert [spoofer and spoofer["spoofers"][0]["captured"] for spoofer in captured] == [3, 2]
    assert (figures["sent"], figures["delivered"]) == (2, 1) and figures["no_route"] + figures["lost"] >= 1
    assert figures == traffic and "services" not in numbers  # as in recordings of earlier versions
    lost = ", ".join(f"{figures[name]} {name.replace('_', ' ')}" for name in ("no_route", "lost") if figures[name])
    line = f"2 sent, 1 delivered; dropped: {lost}"
    assert f"## Messages\n\n{line}.\n" in "\n".join(traffic_lines({"messages": figures}))
    assert message_summary(figures | {"damaged": 7}) == line  # packets that were damaged may be repeated
    replaced = message_summary(figures | {"mailbox_full": 168})  # they have arrived: not dropped
    assert replaced == f"{line}; 168 made room for newer ones in full mailboxes"
    assert tree is not None
    [liar] = tree["spoofers"]
    assert (liar["name"], liar["on"], liar["position"]) == ("liar", False, (0.0, 300.0, 2.0))


def test_packets_by_service(tmp_path: Path) -> None:
    """Commands and telemetry of a vehicle in reach and of one out of reach, against the counters of both."""
    entry = {**scenario()["vehicles"][0], "via": {"radio": "base", "telemetry": 10}}
    path = tmp_path / "services.mcap"
    with paddock.load(scenario(vehicles=[entry])) as sim:
        assert sim.radio is not None and sim.radio.services() == {}
        with Recorder(sim, path, rate=20):
            for _ in range(10):
                sim.command("chain", vx=0.0)
                sim.command("chain[3]", vx=0.0)
                sim.step(20)
            commands, now = sim.radio.commands("chain"), sim.radio.services()
            states = [sim.radio.telemetry(f"chain[{k}]") for k in range(4)]
        kept = sim.save()
        sim.step(30)
        sim.restore(kept)
        assert sim.radio.services() == now
    assert now["commands"].sent == commands.sent == 50 and now["commands"].delivered == commands.delivered == 30
    assert now["commands"].dropped == commands.dropped and now["commands"].lost == commands.lost
    assert now["commands"].lost + now["commands"].dropped + now["commands"].waiting == 20  # those of chain[3]
    assert now["telemetry"].sent == sum(state.sent for state in states) == 4 * 20  # 10 per second for 2 s
    assert now["telemetry"].delivered == sum(state.received for state in states)
    assert 59 <= now["telemetry"].delivered <= 60 and sum(now["telemetry"][1:]) == 80
    with open_run(path) as run:
        assert recorded_traffic(run, 2.0).services == {name: state._asdict() for name, state in now.items()}
        assert recorded_traffic(run, 0.0).services == {}
        numbers = metrics(run)
    assert set(numbers["services"]) == {"commands", "telemetry"}
    lines = "\n".join(_metric_lines(numbers))
    assert "\n  packets of commands: 50 sent, 30 delivered, " in lines and "\n  packets of telemetry: " in lines
    assert "| commands | 50 | 30 | " in "\n".join(traffic_lines(numbers))
    with Player(path) as player:
        player.seek(2.0)
        tree = operate(ReplaySource(player), "radio_view", "c", {})
        assert tree["services"]["commands"]["sent"] == 50 and tree["traffic"]["served"] > 0


def test_counts_of_services_in_saved_states() -> None:
    with paddock.load(scenario()) as sim:
        tree = unpack(sim.save())
        for wrong in (np.zeros((3, 6), np.int64), np.full((3, 5), -1), np.zeros((3, 5))):
            tree["radio"]["packets"]["services"] = wrong
            with pytest.raises(PaddockError, match=r"radio\.packets\.services"):
                sim.restore(pack(tree))
