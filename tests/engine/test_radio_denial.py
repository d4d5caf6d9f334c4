"""Jammers that keep radios off the channel in a run, and beacons that do not collide again and again."""

from typing import Any

import numpy as np
import pytest

import paddock
from paddock import PaddockError, Simulation
from paddock.compute.threads import available_threads, limit_threads
from paddock.radio.links.jamming import find_emitter
from paddock.radio.packets.queues import BEACONS_HEARD, LEFT
from paddock.world.archive import pack, unpack

RADIO = {"bandwidth": 2e6, "bit_rate": 1e6, "power": 10.0, "sensitivity": -90.0, "noise_figure": 0.0}
APART = 36.6  # m: stations receive each other with -61.32 dBm
FAR = 1000.0  # m: free space costs 100.05 dB
AIRTIME, SLOT, DIFS = 1e-4 + 272e-6, 2e-5, 2  # s, of an empty broadcast; slots


def two_stations(jammer: dict[str, Any], count: int = 1, **messages: Any) -> Simulation:
    """Return stations a and b, and a jammer, or several, far from both with all its power in their band."""
    stations = [{"name": name, "position": [0, y, 0], "radio": "t"} for name, y in (("a", 0.0), ("b", APART))]
    red = {"name": "red", "kind": "spot", "position": [FAR, APART / 2, 0], "power": 32.0, "bandwidth": 2e6, **jammer}
    tree = {
        "types": {"t": RADIO},
        "stations": stations,
        "jammers": [{**red, "name": f"red{k or ''}"} for k in range(count)],
        "messages": {"mailbox": 1024, "queue": 64, **messages},
    }
    point = {"name": "p", "model": "point", "pose": [0, 0, 0, 0]}
    return paddock.load({"clock": {"rate": 100}, "radio": {"rate": 10, **tree}, "vehicles": [point]})


def talk(sim: Simulation, seconds: float, bits: int = 0) -> None:
    """Send a broadcast of a in every tick."""
    for _ in range(round(100 * seconds)):
        sim.radio.send("a", "*", b"", bits=bits)
        sim.step(1)


@pytest.mark.parametrize(
    ("messages", "denied"),
    [
        ({"energy": -69.0}, True),
        ({"energy": -67.0}, False),
        ({}, True),  # 20 dB above the sensitivity
        ({"sense": -87.0}, False),  # 20 dB above it
        ({"energy": -80.0, "sharing": "aloha"}, False),
        ({"energy": -80.0, "sharing": "none"}, False),
    ],
)
def test_a_jammer_above_the_threshold_denies_the_channel(messages: dict[str, Any], denied: bool) -> None:
    """It arrives with 32 - 100.05 = -68.05 dBm. Packets that go out are damaged with the error rate of the link."""
    with two_stations({}, lifetime=0.5, **messages) as sim:
        assert sim.radio.links().jamming == pytest.approx(10.0**-6.805, rel=0.005)
        lost = sim.radio.link("a", "b").per
        assert lost == 1.0 if denied else 0.02 < lost < 0.1
        talk(sim, 4.0, bits=8192 - 272)
        traffic = sim.radio.traffic()
        if denied:
            assert traffic["transmitted"] == traffic["delivered"] == traffic["damaged"] == 0
            waiting = traffic["sent"] - traffic["expired"] - traffic["queue_full"]
            assert 50 <= waiting <= 61  # those of the last half second, and until the next update
            assert traffic["queue_full"] == 0
        else:
            assert traffic["transmitted"] >= 398 and traffic["expired"] == 0
            assert traffic["damaged"] == pytest.approx(400 * lost, abs=4.0 * np.sqrt(400 * lost))
            assert traffic["delivered"] + traffic["damaged"] == pytest.approx(400, abs=2)


def starts(sim: Simulation) -> Any:
    """Return when the packets that b has received began, s."""
    return np.array([message.arrived for message in sim.radio.received("b")]) - AIRTIME - APART / 299_792_458.0


def check_gaps(gaps: Any, cycle: float, begin: float, length: float) -> None:
    """Check that packets begin at any time but during bursts (s), and DIFS after them."""
    phase = (gaps - begin) % cycle
    assert phase.min() >= length + DIFS * SLOT - 1e-9
    assert phase.min() < length + 30 * SLOT and phase.max() > cycle - 0.02  # one waits at the end of a burst


@pytest.mark.parametrize(("period", "duty"), [(0.03, 0.4), (0.37, 0.5), (1.0, 0.25)])
def test_packets_go_out_between_pulses(period: float, duty: float) -> None:
    """Pulses of less than a tick, or longer than the time between two updates, begin at multiples of the period."""
    with two_stations({"kind": "pulsed", "period": period, "duty": duty}) as sim:
        talk(sim, 4.0)
        check_gaps(starts(sim), period, 0.0, duty * period)
        assert sim.radio.traffic()["transmitted"] > 380  # those that wait follow


def test_jammers_with_pulses_at_the_same_times_are_one_with_their_powers() -> None:
    """Four jammers of -68.05 - 6.02 dBm are like one of -68.05 dBm, which denies the channel; one of four does not."""
    pulses = {"kind": "pulsed", "period": 0.03, "duty": 0.4}
    hashes = []
    for count, power in ((1, 32.0), (4, 32.0 - 10.0 * np.log10(4.0)), (1, 32.0 - 10.0 * np.log10(4.0))):
        with two_stations({**pulses, "power": power}, count) as sim:
            talk(sim, 2.0)
            hashes.append((sim.radio.links().bursts, starts(sim), sim.radio.traffic()["damaged"]))
    assert hashes[1][0] == pytest.approx(hashes[0][0], rel=1e-9)
    assert hashes[1][1] == pytest.approx(hashes[0][1], abs=1e-12) and hashes[1][2] == hashes[0][2]
    check_gaps(hashes[1][1], 0.03, 0.0, 0.012)
    assert (hashes[2][1] % 0.03 < 0.012).mean() == pytest.approx(2 / 3, abs=0.02)  # of ticks: 0 and 10 of 30 ms


def test_pulses_damage_packets_that_they_meet() -> None:
    """40 dB more, so that what a pulse meets is lost; a saturated sender of packets of 1 ms, 1.04 ms with DIFS.

    In a gap of 10 ms, 9 packets end that begin after a pulse. Without sensing, packets begin at any time: of those in
    a cycle of 20 ms, (10 - 1) / 1.04 meet no pulse. The link is down: it loses more than half of such packets.
    """
    for sharing, arrived, sent in (("csma", 9.0, 10.0), ("aloha", 9.0 / 1.04, 20.0 / 1.04)):
        pulses = {"kind": "pulsed", "period": 0.02, "duty": 0.5, "power": 72.0}
        fields = {"overhead": 0.0, "header_bits": 0, "window": [1, 1], "mailbox": 4096}
        with two_stations(pulses, sharing=sharing, **fields) as sim:
            for _ in range(200):
                for _ in range(11):
                    sim.radio.send("a", "*", b"", bits=1000, lifetime=0.02)
                sim.step(1)
            traffic = sim.radio.traffic()
            assert traffic["delivered"] / 100 == pytest.approx(arrived, rel=0.02)
            assert traffic["transmitted"] / 100 == pytest.approx(sent, rel=0.02)
            assert not sim.radio.link("a", "b").up


def test_packets_go_out_while_a_sweep_is_elsewhere() -> None:
    """2 MHz that sweep over 40 MHz in 47 ms: for 2 of 40 MHz, around the middle, more than half is in the band."""
    with two_stations({"kind": "swept", "sweep": [2.38e9, 2.42e9], "period": 0.047}) as sim:
        talk(sim, 4.0)
        check_gaps(starts(sim), 0.047, 0.047 * 19 / 40, 0.047 * 2 / 40)


def test_packets_go_out_before_and_after_a_schedule() -> None:
    """Its ends are between two updates."""
    with two_stations({"on": [[0.53, 1.07], [1.99, 2.02]]}) as sim:
        talk(sim, 2.5)
        sent = starts(sim)
        for begin, end in ((0.53, 1.07), (1.99, 2.02)):
            inside = sent[(sent > begin - 0.02) & (sent < end + 30 * SLOT)]
            assert len(inside) >= 3 and not ((inside >= begin) & (inside < end + DIFS * SLOT - 1e-9)).any()


@pytest.mark.parametrize(
    ("duties", "fields", "share"),
    [
        ([0.2], {}, 0.8),
        ([0.2, 0.1, 0.5], {}, 0.8 * 0.9 * 0.5),
        ([0.2], {"sense": -60.0}, 1.0),  # weaker than that
        ([0.2], {"sharing": "aloha"}, 1.0),
        ([0.2], {"sharing": "none"}, 1.0),
    ],
)
def test_traffic_by_duty_takes_its_share_of_time(duties: list[float], fields: dict[str, Any], share: float) -> None:
    """a, which receives radios with a duty with -61.32 dBm, always has packets: it sends for the rest of the time."""
    with two_stations({"enabled": False}, **fields) as sim:
        tree = sim.scenario.model_dump(mode="json", exclude_unset=True)
    del tree["radio"]["jammers"]
    sent = []
    for some in ([], duties):
        tree["radio"]["stations"][1:] = [
            {"name": f"c{k}", "position": [0, APART, 0], "radio": {"type": "t", "duty": duty}}
            for k, duty in enumerate(some)
        ]
        with paddock.load(tree) as sim:
            for _ in range(100):
                for _ in range(25):
                    sim.radio.send("a", "*", b"", lifetime=0.05)
                sim.step(1)
            sent.append(sim.radio.traffic()["transmitted"])
    assert sent[0] > 1700 and sent[1] / sent[0] == pytest.approx(share, rel=0.03)


def test_traffic_by_duty_that_a_radio_senses_is_saved() -> None:
    """Radios wait for longer than their window."""
    with two_stations({"enabled": False}) as sim:
        tree = sim.scenario.model_dump(mode="json", exclude_unset=True)
    tree["radio"]["stations"][1]["radio"] = {"type": "t", "duty": 0.25}
    with paddock.load(tree) as sim:
        talk(sim, 0.3, bits=50_000)
        assert sim.engine.radio.messages.messages.state.whole[LEFT].max() > 16
        blob = sim.save()
        talk(sim, 0.3, bits=50_000)
        known = sim.state_hash()
        sim.restore(blob)
        talk(sim, 0.3, bits=50_000)
        assert sim.state_hash() == known
        state = unpack(blob)
        packets = state["radio"]["packets"]
        packets["whole"] = packets["whole"].copy()
        packets["whole"][LEFT, 0] = (1 << 20) + 1025
        with pytest.raises(PaddockError, match="a radio has an event at a time that is not valid"):
            sim.restore(pack(state))


def test_followers_do_not_hear_a_radio_that_waits() -> None:
    follower = {"name": "amber", "kind": "follower", "position": [0, 50, 0], "power": -100, "reaction": 0.0}
    for on in (True, False):
        with two_stations({"enabled": on}) as sim:
            pass
        tree = sim.scenario.model_dump(mode="json", exclude_unset=True)
        tree["radio"]["jammers"].append(follower)
        with paddock.load(tree) as sim:
            talk(sim, 0.5)
            state = find_emitter("jammer", sim.engine.radio.state.jammers, "amber")
            assert state.heard == (0.0 if on else 2.4e9)
            transmits = sim.engine.radio.survey().transmits  # what spectra have of radios
            assert transmits == pytest.approx([0.0 if on else AIRTIME / 0.01, 0.0], rel=0.15)


def busy_run() -> dict[str, Any]:
    """Return vehicles with beacons under a pulsed, a swept and a scheduled jammer."""
    common = {"power": 15, "bandwidth": 2e6}
    jammers = [
        {"name": "one", "kind": "pulsed", "position": [300, 0, 20], "period": 0.0173, **common},
        {"name": "two", "kind": "swept", "position": [0, 300, 20], "sweep": [2.39e9, 2.41e9], "period": 0.3, **common},
        {"name": "three", "kind": "spot", "position": [0, 0, 50], "on": [[0.35, 0.62]], **common},
    ]
    scouts = {"name": "s", "count": 9, "model": "point", "spawn": {"grid": {"spacing": 60, "z": 20}}, "radio": "t"}
    radio = {
        "rate": 10,
        "types": {"t": RADIO},
        "jammers": jammers,
        "messages": {"beacons": {"rate": 20}, "energy": -80},
    }
    return {"seed": 5, "clock": {"rate": 100}, "radio": radio, "vehicles": [{**scouts, "behaviour": "flock"}]}


@pytest.mark.parametrize("several", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_denied_radios_are_saved_and_do_not_depend_on_steps_or_threads(
    several: bool, request: pytest.FixtureRequest
) -> None:
    if several:
        request.getfixturevalue("shared_loops")
    hashes = []
    for sizes, threads in (([100], 1), ([1] * 100, available_threads()), ([33, 7, 60], available_threads())):
        limit_threads(threads)
        with paddock.load(busy_run()) as sim:
            for size in sizes:
                sim.step(size)
            hashes.append(sim.state_hash())
            traffic = sim.radio.traffic()
    assert len(set(hashes)) == 1
    assert 20 < traffic["transmitted"] < 150 and traffic["beacons_heard"] > 0
    with paddock.load(busy_run()) as sim:
        for at in (37, 52, 64):  # before, during and after the third jammer
            sim.step(at - sim.tick)
            saved, before = sim.save(), sim.state_hash()
            sim.restore(saved)
            assert sim.state_hash() == before
        sim.step(36)
        assert sim.state_hash() == hashes[0]


# beacons ----------------------------------------------------------------------------------------------------------


def hidden(rate: float, bits: int, clock: int, seed: int = 1) -> Simulation:
    """Return three vehicles in a row, of which the outer ones do not hear each other and send with equal power."""
    row = [[-1000, 0, 50, 0], [0, 0, 50, 0], [1000, 0, 50, 0]]
    fleet = {"name": "v", "count": 3, "model": "point", "spawn": {"poses": row}, "radio": "t"}
    beacons = {"beacons": {"rate": rate, "bits": bits}, "overhead": 0.0, "header_bits": 0, "window": [1, 1]}
    radio = {"types": {"t": {**RADIO, "sensitivity": -93.0}}, "rate": 1, "range": 1500.0}
    tree = {"seed": seed, "clock": {"rate": clock}, "radio": {**radio, "messages": beacons}}
    return paddock.load({**tree, "vehicles": [fleet]})


def heard_by_the_middle(sim: Simulation) -> set[str]:
    return {str(neighbour["name"]) for neighbour in sim.radio.heard("v[1]")}


def test_beacons_that_collide_once_arrive_soon() -> None:
    """Beacons of 20 ms of two vehicles that do not hear each other, with offsets of up to 50 ms in the same ticks."""
    with hidden(10.0, 20_000, 10, seed=3) as sim:
        sim.step(1)
        assert heard_by_the_middle(sim) == set() and sim.radio.traffic()["damaged"] >= 1
        sim.step(9)
        assert heard_by_the_middle(sim) == {"v[0]", "v[2]"}


@pytest.mark.parametrize(("rate", "clock"), [(10.0, 10), (5.0, 50)])
def test_collisions_of_beacons_are_independent(rate: float, clock: int) -> None:
    """Of two beacons of length T within half an interval W, 2 T / W - (T / W)^2 overlap; the middle one is sensed."""
    length, seconds = 2e-3, 100
    with hidden(rate, round(length * 1e6), clock) as sim:
        count, part = int(seconds * rate), length / (0.5 / rate)
        sim.engine.radio.messages._phases[:] = 0  # the same for all
        sim.step(seconds * clock)
        heard = int(sim.engine.radio.messages.messages.state.counts[BEACONS_HEARD, 1])
        assert sim.radio.traffic()["transmitted"] == pytest.approx(3 * count, abs=3)
        assert heard / (2 * count) == pytest.approx(1.0 - 2.0 * part + part**2, abs=0.03)


# what shows that the channel is denied -----------------------------------------------------------------------------


def beside(power: float = 10.0, **messages: Any) -> dict[str, Any]:
    """Return a vehicle 8 m from a station, and a jammer 60 m away that is 27 dB weaker than their signals."""
    return {
        "clock": {"rate": 100},
        "radio": {
            "types": {"t": {"bandwidth": 2e6, "bit_rate": 1e6}},
            "stations": [{"name": "base", "position": [0, 0, 6], "radio": "t"}],
            "jammers": [{"name": "red", "kind": "spot", "position": [0, 60, 6], "power": power, "enabled": False}],
            "messages": messages,
        },
        "vehicles": [
            {"name": "dot", "model": "point", "pose": [8, 0, 6, 0], "radio": "t", "via": "radio"},
        ],
    }


def shown(sim: Simulation) -> dict[str, float]:
    vehicle = sim.snapshot()["dot"]
    return {name: float(vehicle[f"radio.{name}"]) for name in ("contact", "jammed", "links", "uplink")}


def test_indicators_show_that_the_channel_is_denied() -> None:
    """10 dBm at 60.5 m are -65.7 dBm, above -70 dBm (20 dB above the sensitivity); links have 27.5 dB."""
    with paddock.load(beside()) as sim:
        sim.step(20)
        before = sim.radio.link("dot", "base")
        assert before.up and before.denied == 0.0 and before.throughput == pytest.approx(1e6)
        assert "channel" not in str(before)
        assert shown(sim)["contact"] == 1.0 and sim.radio.network().connected
        sim.radio.jammers.set("red", on=True)
        sim.step(20)
        sim.command("dot", vx=1.0)
        sim.step(100)
        budget = sim.radio.link("dot", "base")
        assert shown(sim) == {"contact": 0.0, "jammed": 1.0, "links": 0.0, "uplink": -100.0}
        assert not sim.radio.network().connected and sim.radio.network().path("base", "dot")[0] == []
        assert sim.radio.commands("dot").delivered == 0 and sim.radio.traffic()["no_route"] == 1
        events = {(event.kind, event.subject, event.detail) for event in sim.events.since()}
        assert {("jammed", "dot", "red"), ("jammed", "base", "red")} <= events
        assert ("link_down", "base", "dot") in events or ("link_down", "dot", "base") in events
        assert (budget.up, budget.mismatch, budget.denied) == (False, "channel denied", 1.0)
        assert (budget.per, budget.throughput, budget.capacity) == (1.0, 0.0, 0.0)
        assert budget.sinr == pytest.approx(27.5, abs=0.1)
        assert budget.denying == pytest.approx(-65.68, abs=0.05) and budget.energy == pytest.approx(-70.0)
        text = str(budget)
        assert "dot -> base: down (channel denied)" in text and "denies the channel from         -70.00 dBm" in text
        assert sim.radio.report().jammed == 2
        sim.radio.jammers.set("red", on=False)
        sim.step(20)
        assert shown(sim)["contact"] == 1.0 and sim.radio.link("dot", "base").up


@pytest.mark.parametrize(
    ("power", "messages"),
    [(5.0, {}), (10.0, {"sharing": "aloha"}), (10.0, {"energy": -60.0}), (10.0, {"sense": -80.0})],
)
def test_links_stay_up_where_jammers_do_not_deny_the_channel(power: float, messages: dict[str, Any]) -> None:
    with paddock.load(beside(power, **messages)) as sim:
        sim.radio.jammers.set("red", on=True)
        sim.step(20)
        sim.command("dot", vx=1.0)
        sim.step(20)
        assert shown(sim)["contact"] == 1.0 and shown(sim)["jammed"] == 0.0 and sim.radio.commands("dot").delivered == 1
        budget = sim.radio.link("dot", "base")
        assert budget.up and (budget.denied, budget.denying, budget.energy) == (0.0, 0.0, 0.0)


def test_a_budget_has_the_share_of_time_that_bursts_deny() -> None:
    """Pulses of 4 ms every 10 ms, and DIFS and a slot after each, of which a saturated sender has the rest."""
    pulses = {"kind": "pulsed", "period": 0.01, "duty": 0.4}
    with two_stations(pulses, energy=-75.0) as sim:
        sim.step(10)
        budget = sim.radio.link("a", "b")
        assert budget.denied == pytest.approx(0.4 + (DIFS + 1) * SLOT / 0.01, abs=1e-4)
        assert budget.throughput == pytest.approx(1e6 * (1.0 - budget.denied) * (1.0 - budget.per), rel=1e-9)
        assert budget.energy == pytest.approx(-75.0) and budget.denying == pytest.approx(-68.05, abs=0.01)


def test_links_of_radios_off_the_channel_are_saved_and_crafted_ones_refused() -> None:
    with paddock.load(beside()) as sim, paddock.load(beside()) as other:
        sim.radio.jammers.set("red", on=True)
        sim.step(25)
        blob = sim.save()
        sim.step(30)
        other.restore(blob)
        assert shown(other)["jammed"] == 1.0 and other.radio.report().jammed == 2
        other.step(30)
        assert other.state_hash() == sim.state_hash()
        tree = unpack(blob)
        tree["radio"]["links"]["up"] = np.ones_like(tree["radio"]["links"]["up"])
        with pytest.raises(PaddockError, match="off the channel"):
            other.restore(pack(tree))


def test_neighbours_of_a_radio_off_the_channel_are_not_jammed() -> None:
    """The jammer denies the channel to p[0] alone: the others hear each other, and one of them is a way to nowhere."""
    radio = {
        "types": {"t": {"bandwidth": 2e6, "bit_rate": 1e6, "power": 20.0}},
        "jammers": [{"name": "red", "kind": "spot", "position": [0, 300, 0], "power": 20}],
        "messages": {"energy": -70.5},
    }
    poses = [[0, 0, 0, 0], [0, -200, 0, 0], [0, -210, 0, 0]]
    fleet = {"name": "p", "model": "point", "count": 3, "spawn": {"poses": poses}, "radio": "t"}
    with paddock.load({"clock": {"rate": 100}, "radio": radio, "vehicles": [fleet]}) as sim:
        sim.step(20)
        assert sim.snapshot().fleet("p")["radio.jammed"].tolist() == [1.0, 0.0, 0.0]
        assert sim.radio.network().components == [["p[1]", "p[2]"], ["p[0]"]]
        assert [event.subject for event in sim.events.since() if event.kind == "jammed"] == ["p[0]"]


@pytest.mark.parametrize("early", [True, False])
def test_the_reported_error_rate_is_that_of_packets_over_a_link_that_starts_jammed(early: bool) -> None:
    """At 11 % a link does not come up, and no packet arrives; one that was up before holds, by its hysteresis."""
    jammer = {"name": "j", "kind": "barrage", "power": 25.65, "position": [300, 300, 50], "enabled": early}
    types = {"t": {"bandwidth": 2e6, "power": 10.0, "sensitivity": -90.0}}
    radio = {"types": types, "default": {"model": "free_space"}, "jammers": [jammer], "messages": {"energy": 0}}
    vehicles = [
        {"name": name, "model": "point", "pose": [x, 0, 50, 0], "radio": "t"} for name, x in (("a", 0), ("b", 100))
    ]
    with paddock.load({"clock": {"rate": 100}, "radio": radio, "vehicles": vehicles}) as sim:
        sim.step(20)
        if not early:
            sim.radio.jammers.set("j", on=True)
            sim.step(20)
        budget = sim.radio.link("a", "b")
        for k in range(400):
            sim.radio.send("a", "*", [k], bits=8192 - 272)
            sim.step(2)
        sim.step(10)
        lost = 1.0 - sim.radio.traffic()["delivered"] / 400
        assert budget.up is not early and budget.per == pytest.approx(lost, abs=0.06)  # four deviations
        assert budget.per == 1.0 if early else 0.1 < budget.per < 0.15
        assert budget.throughput == pytest.approx(4e6 * (1.0 - lost), abs=0.06 * 4e6)
