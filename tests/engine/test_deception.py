"""Deceptive jammers: frames in bursts, how many are accepted, messages that claim to be from others."""

from math import erfc, log10, pi, sqrt
from pathlib import Path
from typing import Any

import pytest
from radio_rules import OBEY

import paddock
from paddock import Simulation
from paddock.engine import build
from paddock.errors import PaddockError
from paddock.record import verify, write_run

QUIET = {"bandwidth": 20e6, "noise_figure": 0.0, "power": 20.0}
NOISE = -173.975 + 10 * log10(20e6)  # dBm, kTB at 290 K


def free_space(distance: float) -> float:
    return 20 * log10(4 * pi * distance * 2.4e9 / 299_792_458.0)


def loaded(liar: dict[str, Any], distance: float = 300.0, seed: int = 1, **fleet: Any) -> Simulation:
    """Return two vehicles at the origin, a station 50 m above, and a deceptive jammer at a distance."""
    jammer = {"name": "liar", "kind": "deceptive", "position": [0, distance, 50], "power": 0, **liar}
    section = {
        "types": {"t": QUIET},
        "stations": [{"name": "base", "position": [0, 0, 100], "radio": "t"}],
        "jammers": [jammer],
    }
    poses = [[0, 0, 50, 0], [0, 0.5, 50, 0]]
    vehicles = {"name": "p", "count": 2, "model": "point", "spawn": {"poses": poses}, "radio": "t", **fleet}
    return paddock.load({"seed": seed, "clock": {"rate": 100}, "radio": section, "vehicles": [vehicles]})


def test_accepted_frames_are_frames_times_probability_times_time() -> None:
    """QPSK of 1,000 bits at Eb/N0 = SINR / 2: (1 - erfc(sqrt g) / 2)^1000 of 200 frames/s are accepted."""
    distance, frames, seconds = 350.0, 200, 20
    ratio = 10 ** ((-free_space(distance) - NOISE) / 10)
    chance = (1 - 0.5 * erfc(sqrt(ratio / 2))) ** 1000
    assert 0.2 < chance < 0.8
    with loaded({"frames": frames, "packet_bits": 1000, "claims": "base"}, distance) as sim:
        sim.remove("p[1]")
        shown = float(sim.snapshot().fleet("p")["radio.deceived"][0])
        assert shown == pytest.approx(chance, abs=2e-3)
        sim.step(100 * seconds)
        [liar] = sim.radio.jammers()
        expected = frames * seconds * shown
        assert liar.false_frames == pytest.approx(expected, abs=4 * sqrt(expected * (1 - shown)))
        traffic = sim.radio.traffic()
        assert traffic["forged"] == liar.false_frames and traffic["delivered"] == traffic["sent"] == 0
        assert traffic["mailbox_full"] == traffic["forged"] - 32 and len(sim.radio.received("p")) == 32
        newest = sim.radio.received("p")[-1]
        assert (newest.source, newest.data, newest.bits, newest.hops) == ("base", None, 1000, 1)
        assert newest.arrived - newest.sent == pytest.approx(1000 / 40e6, abs=1e-9)  # 2 bits per symbol and Hz


def test_frames_disturb_others_for_their_share_of_time() -> None:
    """100 frames of 0.5 ms in a second: SINR has a twentieth of the jammer's power, and no more."""
    for frames, share in ((100, 0.05), (1, 0.0005)):
        with loaded({"frames": frames, "packet_bits": 20_000, "power": 30}) as sim:
            link = sim.radio.link("base", "p[0]")
            first = share * (1 if frames == 100 else 10)  # of the first 0.1 s: one frame in it
            noise, jammer = 10 ** (NOISE / 10), 10 ** ((30 - free_space(300.0)) / 10)
            signal = 20 - free_space(50.0)
            assert link.sinr == pytest.approx(signal - 10 * log10(noise + first * jammer), abs=0.05)
            if frames == 1:
                sim.step(50)
                assert sim.radio.link("base", "p[0]").sinr == pytest.approx(signal - NOISE, abs=0.05)
                assert sim.snapshot().fleet("p")["radio.deceived"][0] == 1.0  # whatever the moment


@pytest.mark.parametrize(("power", "velocity"), [(20.0, [-1.0, 2.0, 0.0]), (-40.0, [3.0, 0.0, 0.0])])
def test_a_follower_of_messages_is_led_astray(
    monkeypatch: pytest.MonkeyPatch, power: float, velocity: list[float]
) -> None:
    monkeypatch.setattr(build, "find_rule", lambda name: OBEY)
    liar = {"frames": 20, "power": power, "packet_bits": 256, "claims": "base", "data": [-1.0, 2.0], "on": [[1, 9]]}
    with loaded(liar, behaviour="obey") as sim:
        sim.radio.send("base", "*", [3.0, 0.0])
        sim.step(100)
        assert sim.snapshot()["p[0]"].velocity == pytest.approx([3.0, 0.0, 0.0], abs=0.1)
        sim.step(250)
        assert sim.snapshot()["p[0]"].velocity == pytest.approx(velocity, abs=1e-3)
        assert (sim.radio.traffic()["forged"] > 0) == (power > 0)
        assert sim.radio.received("base") == []  # the one that it claims to be


def test_false_frames_are_part_of_the_run(tmp_path: Path) -> None:
    """A restored state goes on in the same way, and so does a replay; the name of a removed vehicle stays."""
    liar = {"frames": 30, "packet_bits": 1000, "claims": "p[1]", "data": {"go": 1}}
    with loaded(liar, 350.0) as sim:
        sim.step(105)
        saved = sim.save()
        sim.step(95)
        sim.radio.jammers.set("liar", on=False)
        sim.step(50)
        later, forged = sim.state_hash(), sim.radio.traffic()["forged"]
        sim.step(50)
        assert sim.radio.traffic()["forged"] == forged > 10
        sim.restore(saved)
        assert sim.save() == saved
        sim.step(95)
        sim.radio.jammers.set("liar", on=False)
        sim.step(50)
        assert sim.state_hash() == later
        sim.remove("p[1]")
        sim.radio.jammers.set("liar", on=True)
        sim.step(100)
        assert {message.source for message in sim.radio.received("p[0]")} == {"p[1]"}
        sim.restore(sim.save())
    with loaded(liar, 350.0) as sim:
        sim.step(200)
        write_run(sim, tmp_path / "run.mcap")
    assert verify(tmp_path / "run.mcap").same


def test_claims_are_checked_at_load() -> None:
    cases = [
        ({"claims": "bsae"}, "unknown vehicle or station 'bsae'; did you mean 'base'"),
        ({"claims": "p"}, "'p' is a fleet of 2: name one vehicle"),
        ({"claims": "p[2]"}, "'p' has the vehicles 0 to 1"),
        ({"data": 1}, "data need claims"),
        ({"claims": "base", "data": {"a", "b"}}, "data"),
        ({"kind": "spot", "claims": "base"}, "claims is an option of deceptive jammers"),
    ]
    for claim, message in cases:
        with pytest.raises(PaddockError, match=r"radio\.jammers\[0\]") as error:
            loaded(claim)
        assert message in str(error.value)
