"""The whole chain in one process: scenario, world, sensors, estimators, autopilots, MAVLink, station."""

from __future__ import annotations

import json
import os
import socket
import sys
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import paddock
from paddock.autopilot.autopilot import BuiltInAutopilot
from paddock.errors import PaddockError
from paddock.serve.link import operate
from paddock.serve.live import LiveSource
from paddock.sitl import from_scenario
from paddock.sitl.from_scenario import quick_scenario
from paddock.sitl.ground_station import mission_file
from paddock.sitl.host import SitlHost
from paddock.world.state import SETTLED


def host_of(sim: Any) -> SitlHost:
    return next(o for c in sim.engine.listeners.close if isinstance(o := getattr(c, "__self__", None), SitlHost))


Links = Callable[[int], dict[str, Any]]
SQUARE = [[0.0, 15.0, 0.0], [15.0, 15.0, 0.0], [15.0, 0.0, 0.0], [0.0, 0.0, 0.0]]


def mixed(links: dict[str, Any], log: Path | None = None, seed: int = 3) -> dict[str, Any]:
    """A rover and a copter, each with a mission that the station uploads."""
    return {
        "seed": seed,
        "clock": {"rate": 250},
        "vehicles": [
            {"name": "rover", "model": "rover", "preset": "skid", "pose": [0, 0, 1.5708]},
            {"name": "copter", "model": "quad", "preset": "iris", "pose": [20, 0, 1.5708]},
        ],
        "sitl": {
            "mavlink": links | ({} if log is None else {"log": str(log)}),
            "pilots": [
                {"vehicles": "rover", "mission": SQUARE},
                {"vehicles": "copter", "mission": [[0, 10, 8], [10, 10, 8]]},
            ],
        },
    }


@pytest.mark.slow
def test_missions_uploaded_over_mavlink_are_driven_and_flown(own_links: Links) -> None:
    with paddock.load(mixed(own_links(2))) as sim:
        rover, copter = (vehicle.autopilot for vehicle in host_of(sim).vehicles)
        track, heights = [], []
        for _ in range(120 * 5):
            sim.step(50)
            shot = sim.snapshot()
            track.append(shot["rover"].position[:2].copy())
            heights.append(float(shot["copter"].position[2]))
            if not copter.armed and sim.time > 30 and rover.executor.finished:
                break
        way = np.array([[0.0, 0.0], [0.0, 15.0], [15.0, 15.0], [15.0, 0.0], [0.0, 0.0]])
        assert max(crosstrack(np.array(track), way)) < 2.0
        assert np.linalg.norm(track[-1]) < 3.0  # it ended at its last point
        assert 7.0 < max(heights) < 25.0  # the return may climb
        assert heights[-1] < 0.05 and not copter.armed
        x, y, _ = sim.snapshot()["copter"].position
        assert np.hypot(x - 20.0, y) < 2.0  # home again


def test_a_page_sees_mode_link_and_waypoints_and_may_not_drive(own_links: Links) -> None:
    links = own_links(2)
    with paddock.load(mixed(links)) as sim:
        sim.step(10)
        assert [tree["mode"] for tree in sim.vehicles.autopilots.status()] == ["MANUAL", "STABILIZE"]
        for _ in range(200):  # until the missions have been uploaded and started
            sim.step(50)
            rover, copter = sim.vehicles.autopilots.status()
            if rover["mode"] == copter["mode"] == "AUTO" and copter["armed"]:
                break
        ids = {name: sim.snapshot()[name].id for name in ("rover", "copter")}
        assert [rover["id"], rover["system"], copter["id"], copter["system"]] == [ids["rover"], 1, ids["copter"], 2]
        assert copter["link"] == f"udp 127.0.0.1:{links['port'] + 1}, to udp 127.0.0.1:{links['station'] + 1}"
        assert rover["item"] == "1/4" and copter["autopilot"] == "builtin"
        assert rover["waypoints"] == pytest.approx(np.array(SQUARE), abs=1.0)  # home has the error of the receiver
        assert copter["waypoints"] == pytest.approx(np.array([[20, 0, 8], [20, 10, 8], [30, 10, 8]]), abs=1.0)
        with pytest.raises(PaddockError, match="it is flown by its autopilot"):
            operate(LiveSource(sim), "drive", "a page", {"target": "copter"})


def crosstrack(points: np.ndarray, way: np.ndarray) -> list[float]:
    """Distance of each point from a polyline, m."""
    starts, ends = way[:-1], way[1:]
    distances = []
    for point in points:
        along = np.clip(
            np.einsum("ij,ij->i", point - starts, ends - starts) / np.einsum("ij,ij->i", ends - starts, ends - starts),
            0,
            1,
        )
        distances.append(float(np.linalg.norm(starts + along[:, None] * (ends - starts) - point, axis=1).min()))
    return distances


class Reference(NamedTuple):
    """A run of 4 s, the reference of repeated runs."""

    scenario: Any
    entries: Any
    state_hash: str
    world_hash: str
    logs: list[bytes]


TICKS = 1000


def logs_in(folder: Path) -> list[bytes]:
    return [path.read_bytes() for path in sorted(folder.glob("*.tlog"))]


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory, own_links: Links) -> Reference:
    folder = tmp_path_factory.mktemp("reference")
    with paddock.load(mixed(own_links(2), folder)) as sim:
        sim.step(TICKS)
        world = sim.engine.state_hash(SETTLED)
        results = sim.scenario, sim.control.log.complete(), sim.state_hash(), world
    return Reference(*results, logs_in(folder))


def test_runs_with_the_same_seed_are_identical_in_their_mavlink_logs(
    tmp_path: Path, own_links: Links, reference: Reference
) -> None:
    assert len(reference.logs) == 2 and all(len(log) > 3000 for log in reference.logs)
    with paddock.load(mixed(own_links(2), tmp_path / "same")) as sim:
        for ticks in (100, 7, TICKS - 107):  # however it is stepped
            sim.step(ticks)
        assert sim.state_hash() == reference.state_hash
    assert logs_in(tmp_path / "same") == reference.logs
    with paddock.load(mixed(own_links(2), tmp_path / "other", seed=4)) as sim:
        sim.step(TICKS // 2)
    other = logs_in(tmp_path / "other")[0]
    assert other != reference.logs[0][: len(other)]


def test_a_recorded_run_is_replayed_without_its_autopilots(reference: Reference) -> None:
    with paddock.replayed(reference.scenario, reference.entries, TICKS) as again:
        assert again.tick == TICKS and again.engine.state_hash(SETTLED) == reference.world_hash
        assert not again.vehicles.autopilots.partners


def test_a_reset_repeats_the_run(own_links: Links, reference: Reference) -> None:
    with paddock.load(mixed(own_links(2))) as sim:
        sim.step(TICKS // 4)
        sim.reset()
        sim.step(TICKS)
        assert sim.state_hash() == reference.state_hash


def test_a_port_in_use_is_an_error_and_releases_the_others(own_links: Links) -> None:
    ports = own_links(3)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as taken:
        taken.bind(("127.0.0.1", ports["port"] + 1))
        with pytest.raises(PaddockError, match=f"vehicle 2: UDP port {ports['port'] + 1} is in use"):
            paddock.load(quick_scenario("rover", 3, mavlink=ports))
    with paddock.load(quick_scenario("rover", 3, mavlink=ports)) as sim:
        assert [row.sysid for row in host_of(sim).status()] == [1, 2, 3]


def test_other_simulators_follow_the_engine(own_links: Links) -> None:
    scenario = {
        "clock": {"rate": 100},
        "vehicles": [],
        "sitl": {
            "mavlink": own_links(3),
            "adapters": [{"name": "arena", "type": "lightweight"}],
            "pilots": [{"adapter": "arena", "craft": "rover", "count": 3, "mission": SQUARE}],
        },
    }
    with paddock.load(scenario) as sim:
        sim.step(100 * 20)
        host = host_of(sim)
        assert host.bridge.links["arena"].adapter.sim_time_us == pytest.approx(20e6, abs=20_001)
        assert all(row.armed and row.mode == "AUTO" for row in host.status())


def test_ports_and_hints(own_links: Links) -> None:
    ports = own_links(2)
    ports["tcp"] = tcp = ports["port"]
    with paddock.load(quick_scenario("copter", 2, mavlink=ports)) as sim:
        host = host_of(sim)
        assert [(row.sysid, row.name, row.listens, row.speaks) for row in host.ports()] == [
            (1, "copter[0]", f"udp 127.0.0.1:{ports['port']}, tcp {tcp}", f"udp 127.0.0.1:{ports['station']}"),
            (
                *(2, "copter[1]", f"udp 127.0.0.1:{ports['port'] + 1}, tcp {tcp + 10}"),
                f"udp 127.0.0.1:{ports['station'] + 1}",
            ),
        ]
        assert f"mavproxy.py --master=tcp:127.0.0.1:{tcp}" in "\n".join(host.hints())
        text = "\n".join(host.hints())
        for station in ("QGroundControl", "Mission Planner", "MAVProxy", "MAVSDK"):
            assert station in text
        assert f"udpin:127.0.0.1:{ports['station']}" in text


def bound() -> dict[tuple[str, int], str]:
    """The sockets of this process that receive, as the kernel lists them: (protocol, port) -> address."""
    links = (os.readlink(path) for path in Path("/proc/self/fd").iterdir() if path.is_symlink())
    own = {link[8:-1] for link in links if link.startswith("socket:[")}
    ports = {}
    for protocol, receiving in (("udp", "07"), ("tcp", "0A")):
        for line in Path(f"/proc/self/net/{protocol}").read_text().splitlines()[1:]:
            _, local, _, state, *_, inode = line.split()[:10]
            if inode in own and state == receiving:
                address, port = local.split(":")
                ports[protocol, int(port, 16)] = socket.inet_ntoa(int(address, 16).to_bytes(4, sys.byteorder))
    return ports


def all_kinds(links: dict[str, Any]) -> dict[str, Any]:
    """A built-in autopilot, an ArduPilot, a PX4 and a Gazebo, with every kind of socket."""
    copters = [{"name": name, "model": "quad", "preset": "iris"} for name in ("own", "ardu", "px4")]
    pilots = [
        {"vehicles": "own"},
        {"vehicles": "ardu", "autopilot": "ardupilot", "instance": 71},
        {"vehicles": "px4", "autopilot": "px4", "instance": 71},
        {"adapter": "garden", "craft": "copter", "count": 1},
    ]
    garden = {"name": "garden", "type": "ardupilot_gazebo", "options": {"port": 19302}}
    section = {"mavlink": links, "adapters": [garden], "pilots": pilots}
    return {"clock": {"rate": 1000}, "vehicles": copters, "sitl": section}


@pytest.mark.skipif(not Path("/proc/self/net/udp").exists(), reason="where the kernel lists no sockets")
def test_autopilots_bind_loopback_unless_the_user_asks_for_more(own_links: Links) -> None:
    links = own_links(5)
    links["shared"] = links["port"] + 4
    scenario, before = all_kinds(links), bound()
    own = {("udp", links["port"]), ("udp", links["port"] + 3), ("udp", links["shared"]), ("udp", 9712), ("tcp", 4631)}
    with paddock.load(scenario) as sim:
        opened = {key: address for key, address in bound().items() if key not in before}
        assert own <= opened.keys() and set(opened.values()) == {"127.0.0.1"}
        assert all("127.0.0.1:" in row.listens for row in host_of(sim).ports())
    scenario["sitl"]["listen"] = "0.0.0.0"
    with paddock.load(scenario) as sim:
        opened = {key: address for key, address in bound().items() if key not in before}
        assert {opened[key] for key in own} == {"0.0.0.0"}
        assert f"udp 0.0.0.0:{links['port']}" in [row.listens for row in host_of(sim).ports()]


def test_ground_stations_elsewhere_need_an_address_to_listen_on(own_links: Links) -> None:
    scenario = all_kinds(own_links(4))
    scenario["sitl"]["mavlink"]["host"] = "192.0.2.77"
    with pytest.raises(PaddockError, match=r"sitl\.mavlink\.host: ground stations at 192\.0\.2\.77 cannot .* listen"):
        paddock.load(scenario)
    scenario["sitl"]["listen"] = "127.0.0.1"
    with pytest.raises(PaddockError, match="cannot be reached from 127"):
        paddock.load(scenario)
    for wrong in ("::1", "everywhere", "10.0.0"):
        scenario["sitl"]["listen"] = wrong
        with pytest.raises(PaddockError, match=rf"sitl\.listen: listen is an IPv4 address .*, not '{wrong}'"):
            paddock.load(scenario)
    scenario["sitl"] |= {"listen": None, "pilots": scenario["sitl"]["pilots"][1:2]}  # an ArduPilot has its own links
    paddock.load(scenario).close()


def test_a_shared_port_sends_all_systems_to_the_first_ground_station(own_links: Links) -> None:
    ports = own_links(3)
    ports["shared"] = ports["port"] + 2
    with paddock.load(quick_scenario("rover", 2, mavlink=ports)) as sim:
        host = host_of(sim)
        assert [row.speaks for row in host.ports()] == [
            f"with all others: udp 127.0.0.1:{ports['station']}",
            f"udp 127.0.0.1:{ports['station'] + 1}, with all others: udp 127.0.0.1:{ports['station']}",
        ]
        text = "\n".join(host.hints())
        assert "To connect to all systems:" in text and f"udpin:127.0.0.1:{ports['station']}" in text
        assert f"udpout:127.0.0.1:{ports['shared']}" in text


def test_hints_show_how_to_start_real_autopilots() -> None:
    with paddock.load(quick_scenario("copter", 2, "ardupilot", instance=70)) as sim:
        host = host_of(sim)
        assert [row.listens for row in host.ports()] == ["udp 127.0.0.1:9702", "udp 127.0.0.1:9712"]
        text = "\n".join(host.hints())
        assert "--model JSON:127.0.0.1" in text and "-I 70" in text and "--home 35.6812" in text
        sim.step(12)  # no wait for a peer that never connected
        assert not host.status()[0].connected
    slow = quick_scenario("copter", 1, "ardupilot", instance=70) | {"clock": {"rate": 500}}
    with pytest.raises(PaddockError, match=r"sitl.pilots\[0\].*720"):
        paddock.load(slow)


@pytest.mark.soak
@pytest.mark.parametrize("pace", [0.0, 20.0])
def test_the_mavlink_log_does_not_depend_on_the_pace(
    pace: float, tmp_path: Path, own_links: Links, reference: Reference
) -> None:
    """As fast as possible, and in slices that the wall clock cuts."""
    with paddock.load(mixed(own_links(2), tmp_path)) as sim:
        sim.run(until=4.0, pace=pace)
        assert sim.tick == TICKS
    assert logs_in(tmp_path) == reference.logs


def test_a_vehicle_with_an_autopilot_refuses_other_commands(own_links: Links) -> None:
    with paddock.load(mixed(own_links(2))) as sim:
        for refused in (
            lambda: sim.command("rover", speed=1.0),
            lambda: sim.behaviours.override("copter", "hold"),
            lambda: sim.control.claim("rover"),
        ):
            with pytest.raises(PaddockError, match="flown by its autopilot"):
                refused()
        host_of(sim).close()
        sim.command("rover", speed=1.0)
        sim.step(10)
        assert sim.snapshot()["rover"].speed > 0.0


def test_qgroundcontrol_connects_automatically_at_its_default_port_only(own_links: Links) -> None:
    ports = own_links(1)
    with paddock.load(quick_scenario("rover", mavlink=ports)) as sim:
        text = "\n".join(host_of(sim).hints())
        assert f"QGroundControl   add a UDP link with port {ports['station']}" in text and "automatically" not in text
    with paddock.load(quick_scenario("rover", mavlink=ports | {"station": 14550})) as sim:
        assert "QGroundControl   start it: it connects automatically" in "\n".join(host_of(sim).hints())


ADAPTER = {"name": "arena", "type": "lightweight"}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"speed_max": "x"}, r"sitl.adapters\[0\].options.speed_max must be a number, not 'x'"),
        ({"bogus": 1}, r"sitl.adapters\[0\].options: unknown option 'bogus' of adapter 'lightweight'; valid: "),
    ],
)
def test_options_of_adapters_are_checked(options: dict[str, Any], message: str) -> None:
    section = {"adapters": [ADAPTER | {"options": options}], "pilots": [{"adapter": "arena", "craft": "rover"}]}
    with pytest.raises(PaddockError, match=message):
        paddock.load({"vehicles": [], "sitl": section})


def test_an_exception_in_an_adapters_init_is_an_error_of_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    def mine(name: str, mesh: str = "") -> None:
        raise FileNotFoundError(2, "no such mesh", mesh)

    monkeypatch.setattr(from_scenario, "find_adapter", lambda kind: mine)
    section = {"adapters": [ADAPTER | {"options": {"mesh": "a"}}], "pilots": [{"adapter": "arena", "craft": "rover"}]}
    with pytest.raises(PaddockError, match=r"adapters\[0\]: adapter 'lightweight': FileNotFoundError: .* no such mesh"):
        paddock.load({"vehicles": [], "sitl": section})


HEAD = "QGC WPL 110\n0\t1\t0\t16\t0\t0\t0\t0\t35.68\t139.76\t40\t1\n"


@pytest.mark.parametrize(
    ("item", "message"),
    [
        ("1\t0\t3\t16\t0\t0\t0\t0\tnan\t139.76\t10\t1", "item 1: latitude cannot be nan"),
        ("1\t0\t3\t16\t0\t0\t0\t0\t500\t139.76\t10\t1", "item 1: latitude cannot be 500"),
        ("1\t0\t3\t16\t0\t0\t0\t0\t35.6\t190\t10\t1", "item 1: longitude cannot be 190"),
        ("1\t0\t3\t16\t0\t0\t0\t0\t35.6\t139.7\t1e99\t1", r"item 1: altitude cannot be 1e\+99"),
        (
            "1\t0\t3\t99999\t0\t0\t0\t0\t35.6\t139.7\t10\t1",
            "item 1: command 99999 is not supported in a mission of a rover",
        ),
        ("1\t0\t3\t22\t0\t0\t0\t0\t35.6\t139.7\t10\t1", "item 1: command 22 is not supported"),
        ("1\t0\t900\t16\t0\t0\t0\t0\t35.6\t139.7\t10\t1", "item 1: frame 900 is not valid"),
    ],
)
def test_an_invalid_mission_file_is_an_error_with_the_item(
    item: str, message: str, tmp_path: Path, own_links: Links
) -> None:
    file = tmp_path / "bad.waypoints"
    file.write_text(HEAD + item + "\n")
    scenario = quick_scenario("rover", mavlink=own_links(1))
    scenario["sitl"]["pilots"][0]["mission"] = str(file)
    with pytest.raises(PaddockError, match=f"bad.waypoints: {message}"):
        paddock.load(scenario)


def test_a_mission_file_with_an_action_is_uploaded(tmp_path: Path, own_links: Links) -> None:
    """Items that go nowhere have no degrees: their numbers are not scaled on the wire."""
    file = tmp_path / "good.waypoints"
    places = "1\t0\t2\t178\t0\t1.5\t0\t0\t300\t0\t0\t1\n2\t0\t3\t16\t0\t0\t0\t0\t35.6813\t139.7671\t0\t1\n"
    file.write_text(HEAD + places)
    scenario = quick_scenario("rover", mavlink=own_links(1))
    scenario["sitl"]["pilots"][0]["mission"] = str(file)
    with paddock.load(scenario) as sim:
        sim.step(250 * 8)
        pilot = host_of(sim).vehicles[0].autopilot
        assert [(item.command, item.x) for item in next(iter(pilot.plans.values()))][1:] == [
            (178, 300.0),
            (16, 35.6813),
        ]
        assert pilot.mode.name == "AUTO" and pilot.failsafes.gcs_us == -1  # only a real ground station can be lost


def test_a_plan_file_needs_a_home_and_items_only(tmp_path: Path) -> None:
    """Not `fileType`, `version` and the other sections that QGroundControl writes."""
    simple = {"type": "SimpleItem", "command": 16, "frame": 3, "params": [0, 0, 0, None, 35.6813, 139.7671, 5]}
    survey = {"type": "ComplexItem", "complexItemType": "survey", "version": 5}
    items = [simple, survey | {"TransectStyleComplexItem": {"Items": [simple]}}]
    file = tmp_path / "short.plan"
    file.write_text(json.dumps({"mission": {"plannedHomePosition": [35.68, 139.76, 40], "items": items}}))
    read = mission_file(file, "rover")
    assert [(item.command, int(item.frame), item.x, item.z) for item in read] == [
        (16, 0, 35.68, 40.0),
        (16, 3, 35.6813, 5.0),
        (16, 3, 35.6813, 5.0),
    ]
    file.write_text(json.dumps({"mission": {"items": items}}))
    with pytest.raises(PaddockError, match="plannedHomePosition is missing"):
        mission_file(file, "rover")


@pytest.mark.parametrize("shared", [False, True])
def test_ports_that_overlap_are_refused(shared: bool, own_links: Links) -> None:
    links = own_links(3)
    wrong = links | ({"shared": links["station"] + 1} if shared else {"station": links["port"] + 2})
    with pytest.raises(PaddockError, match=r"is both the .* and the ground station port"):
        paddock.load(quick_scenario("rover", 3, mavlink=wrong))
    with paddock.load(quick_scenario("rover", 3, mavlink={**wrong, "host": "127.0.0.1", **links, "shared": None})):
        pass


def test_pictures_are_events_of_the_run(own_links: Links) -> None:
    with paddock.load(quick_scenario("copter", 1, mavlink=own_links(1))) as sim:
        sim.step(500)
        autopilot = host_of(sim).vehicles[0].autopilot
        assert isinstance(autopilot, BuiltInAutopilot)
        assert autopilot.command(2000, (0.0, 0.5, 3.0)).accepted
        sim.step(500)
        events = [event for event in sim.events.since() if event.kind == "picture"]
        assert [event.subject for event in events] == ["copter"] * 3
        assert [event.detail.split(" at ")[0] for event in events] == ["1", "2", "3"]
        assert [after.tick - before.tick for before, after in pairwise(events)] == [125, 125]  # 0.5 s at 250 Hz
