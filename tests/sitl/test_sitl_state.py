"""Saved states hold the built-in autopilots: a restored flight continues as if it had not been interrupted."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import deepcopy
from importlib import import_module
from inspect import getsource
from itertools import islice
from pathlib import Path
from pkgutil import walk_packages
from typing import Any, ClassVar, get_origin

import numpy as np
import pytest
from pymavlink import DFReader

import paddock
import paddock.autopilot as autopilot_package
from paddock.autopilot.autopilot import BuiltInAutopilot
from paddock.autopilot.estimate import LocalFrame
from paddock.autopilot.state import AutopilotState
from paddock.autopilot.vehicle_types import VEHICLE_TYPES, Copter, Rover
from paddock.engine.simulation import Simulation
from paddock.errors import PaddockError
from paddock.record import Recorder, verify
from paddock.sitl.from_scenario import quick_scenario
from paddock.sitl.host import SitlHost
from paddock.world.archive import pack, unpack
from paddock.world.records import type_hints, unsaved_names
from paddock.world.state import load, save

Links = Callable[[int], dict[str, Any]]
SQUARE = [[0.0, 15.0, 0.0], [15.0, 15.0, 0.0], [15.0, 0.0, 0.0], [0.0, 0.0, 0.0]]
GUIDED, TAKEOFF, LOW_ACTION, RTL, MOTOR_TEST = 4, 22, 2.0, 6, 209


def crew(links: dict[str, Any], log: Path | None = None) -> dict[str, Any]:
    """A rover, a copter and a plane on missions, in wind."""
    vehicles = [
        {"name": "rover", "model": "rover", "preset": "skid", "pose": [0, 0, 1.5708]},
        {"name": "copter", "model": "quad", "preset": "iris", "pose": [20, 0, 1.5708]},
        {"name": "plane", "model": "fixed_wing", "preset": "mapper", "pose": [60, 0, 60, 1.5708], "speed": 18},
    ]
    pilots = [
        {"vehicles": "rover", "mission": SQUARE},
        {"vehicles": "copter", "mission": [[0, 10, 8], [10, 10, 8]]},
        {"vehicles": "plane", "mission": [[0, 300, 60], [200, 300, 60]]},
    ]
    mavlink = links | ({} if log is None else {"log": str(log)})
    return {
        "seed": 3,
        "clock": {"rate": 250},
        "world": {"wind": [2.0, 1.0, 0.0]},
        "vehicles": vehicles,
        "sitl": {"mavlink": mavlink, "pilots": pilots},
    }


def host_of(sim: Any) -> SitlHost:
    return next(o for c in sim.engine.listeners.close if isinstance(o := getattr(c, "__self__", None), SitlHost))


def save_autopilot(pilot: BuiltInAutopilot) -> dict[str, Any]:
    return save(pilot.state)


def read_autopilot(pilot: BuiltInAutopilot, tree: Any) -> Callable[[], None]:
    """The function that loads a saved state of one autopilot, after checking it."""
    load(state := AutopilotState.of(pilot), tree, "state")
    return state.resume


def pilots_of(sim: Any) -> list[BuiltInAutopilot]:
    return [vehicle.autopilot for vehicle in host_of(sim).vehicles]  # type: ignore[misc]


def written(sim: Any) -> list[int]:
    """The length of each MAVLink log."""
    logs = [vehicle.log for vehicle in host_of(sim).hub.vehicles.values()]  # type: ignore[union-attr]
    for log in logs:
        log.flush()
    return [log.tell() for log in logs]


def logged(folder: Path, since: list[int]) -> list[bytes]:
    return [file.read_bytes()[start:] for file, start in zip(sorted(folder.glob("*.tlog")), since, strict=True)]


def test_missions_continue_from_a_saved_state_bit_for_bit(tmp_path: Path, own_links: Links) -> None:
    scenario = crew(own_links(3), tmp_path)
    with paddock.load(scenario) as sim:
        sim.step(2700)
        copter = pilots_of(sim)[1]
        while not copter.cruising:  # in the compiled loop of steady flight
            sim.step(1)
        assert copter.armed and copter.executor.current == 2 and copter.telemetry.relative_altitude > 6.0
        state, before, start = sim.save(), sim.state_hash(), written(sim)
        sim.step(1000)
        after, end = sim.state_hash(), written(sim)
        expected = [log[: stop - first] for log, first, stop in zip(logged(tmp_path, start), start, end, strict=True)]
        assert copter.executor.current > 2
        sim.restore(state)
        assert sim.state_hash() == before and copter.executor.current == 2
        sim.step(1000)
        assert sim.state_hash() == after
        written(sim)
        assert logged(tmp_path, end) == expected and all(len(log) > 3000 for log in expected)
    with paddock.load(scenario) as sim:  # a new process has nothing but the state
        sim.restore(state)
        assert sim.state_hash() == before
        start = written(sim)
        sim.step(300)
        sim.step(700)
        assert sim.state_hash() == after
        written(sim)
        assert logged(tmp_path, start) == expected


@contextmanager
def hovering(links: dict[str, Any], **parameters: float) -> Iterator[tuple[Simulation, BuiltInAutopilot]]:
    """A copter in GUIDED, climbing."""
    scenario = quick_scenario("copter", 1, mavlink=links)
    scenario["sitl"]["pilots"][0]["parameters"] = parameters
    with paddock.load(scenario) as sim:
        sim.step(750)
        (pilot,) = pilots_of(sim)
        assert pilot.set_mode(GUIDED).accepted and pilot.arm().accepted
        assert pilot.command(TAKEOFF, (0, 0, 0, 0, 0, 0, 10)).accepted
        sim.step(500)
        yield sim, pilot


def test_a_failsafe_continues_its_timer(own_links: Links) -> None:
    """A voltage below the limit counts for 2 s: one second before the save, one after the restore."""
    limits = {"BATT_LOW_VOLT": 11.0, "BATT_LOW_TIMER": 2.0, "BATT_FS_LOW_ACT": LOW_ACTION}
    with hovering(own_links(1), **limits) as (sim, pilot):
        assert pilot.parameters.set("SIM_BATT_VOLTAGE", 10.5)
        sim.step(250)
        state = sim.save()
        sim.step(225)
        assert pilot.mode.number == GUIDED
        sim.step(50)
        assert pilot.mode.number == RTL and pilot.failsafes.low.acted
        after = sim.state_hash()
        assert pilot.parameters.set("SIM_BATT_VOLTAGE", 0.0)
        sim.restore(state)
        assert pilot.mode.number == GUIDED and pilot.parameters.value("SIM_BATT_VOLTAGE") == 10.5
        sim.step(275)
        assert pilot.mode.number == RTL and sim.state_hash() == after
        middle = sim.save()  # in the middle of the failsafe
        sim.step(250)
        after = sim.state_hash()
        sim.restore(middle)
        assert pilot.failsafes.low.chosen == RTL and pilot.failsafes.outranks(1)
        sim.step(250)
        assert sim.state_hash() == after
        sim.reset()
        assert not pilot.armed and pilot.mode.number == 0 and pilot.home is None


def test_a_motor_test_continues(own_links: Links) -> None:
    with paddock.load(quick_scenario("copter", 1, mavlink=own_links(1))) as sim:
        sim.step(250)
        (pilot,) = pilots_of(sim)
        assert pilot.command(MOTOR_TEST, (2, 0, 20, 1.0, 2)).accepted  # 20 % on two motors, 1 s each
        sim.step(125)
        state = sim.save()
        sim.step(400)
        after = sim.state_hash()
        assert pilot.motor_test is not None and pilot.commands[1:5].tolist() == [0.0, 0.2, 0.0, 0.0]
        sim.restore(state)
        sim.step(400)
        assert sim.state_hash() == after
        sim.step(250)
        assert pilot.motor_test is None and not pilot.commands.any()
        tree = unpack(state)
        for name, value in (("order", 4), ("left", 4), ("width", 2300), ("period_us", -1)):
            crafted = deepcopy(tree)
            autopilot = next(iter(crafted["autopilots"]["vehicles"].values()))
            autopilot["flight"]["motor_test"][name] = value
            with pytest.raises(PaddockError, match=r"flight\.motor_test: is not a valid MotorTest"):
                sim.restore(pack(crafted))


def test_a_client_saves_and_restores_a_flight(own_links: Links) -> None:
    with (
        hovering(own_links(1)) as (sim, pilot),
        paddock.share(sim, zmq={"port": 0}) as host,
        paddock.connect(f"tcp://127.0.0.1:{host.addresses['zmq']['port']}") as client,
    ):
        state, height = client.save(), pilot.telemetry.relative_altitude
        client.step(250)
        higher, after = pilot.telemetry.relative_altitude, client.state_hash()
        assert higher > height + 0.3
        client.restore(state)
        assert pilot.telemetry.relative_altitude == height and pilot.armed and pilot.guided.takeoff == 10.0
        client.step(250)
        assert pilot.telemetry.relative_altitude == higher and client.state_hash() == after


def test_a_recording_with_a_restored_flight_is_verified_without_autopilots(tmp_path: Path, own_links: Links) -> None:
    path = tmp_path / "flight.mcap"
    with hovering(own_links(1)) as (sim, pilot):
        with Recorder(sim, path):  # begins in flight, with the state
            state = sim.save()
            sim.step(250)
            sim.restore(state)
            sim.step(250)
        assert pilot.armed
    verified = verify(path)
    assert verified.sections == 2 and not verified.differences and verified.hashes >= 4


def times(path: Path) -> list[int]:
    """The times of the records of an on-board log, us."""
    reader, rows = DFReader.DFReader_binary(str(path)), []
    while (message := reader.recv_msg()) is not None:
        if message.get_type() == "ATT":
            rows.append(message.TimeUS)
    reader.data_map.close()
    reader.filehandle.close()
    return rows


def test_a_restored_flight_is_logged_in_a_new_file_and_continues_beside_the_first(
    tmp_path: Path, own_links: Links
) -> None:
    """The state belongs to the scenario, whatever its ports and logs are."""
    first = quick_scenario("rover", 1, mavlink=own_links(1))
    first["sitl"]["pilots"][0]["parameters"] = {"LOG_DISARMED": 1}
    second = deepcopy(first)
    first["sitl"]["logs"] = str(tmp_path / "logs")
    second["sitl"]["mavlink"] = own_links(1) | {"log": str(tmp_path)}
    assert second["sitl"]["mavlink"]["port"] != first["sitl"]["mavlink"]["port"]
    with paddock.load(first) as sim:
        sim.step(500)
        state = sim.save()
        sim.step(500)
        after = sim.state_hash()
        sim.restore(state)
        sim.step(500)
        assert sim.state_hash() == after
        with paddock.load(second) as beside:
            beside.restore(state)
            beside.step(500)
            assert beside.state_hash() == after
        second["sitl"]["truth"] = True
        with paddock.load(second) as other, pytest.raises(PaddockError, match="saved in another scenario"):
            other.restore(state)
    logs = [times(path) for path in sorted((tmp_path / "logs").rglob("*.BIN"))]
    assert len(logs) == 2 and all(np.diff(log).min() > 0 for log in logs)
    assert logs[0][-1] == pytest.approx(4e6, abs=1.1e5) and logs[1][0] == pytest.approx(2e6, abs=1.1e5)


def test_states_of_real_autopilots_and_other_simulators_are_refused(own_links: Links) -> None:
    arena = {"name": "arena", "type": "lightweight"}, {"adapter": "arena", "craft": "rover"}
    section = {"adapters": [arena[0]], "pilots": [arena[1]], "mavlink": own_links(1)}
    beside = {"clock": {"rate": 100}, "vehicles": [], "sitl": section}
    for scenario, why in (
        (quick_scenario("copter", 1, "ardupilot", instance=77), "'copter' is flown by ardupilot in another process"),
        (beside, "is in the simulator 'arena'; use reset"),
    ):
        with paddock.load(scenario) as sim:
            state, before = sim.save(), sim.state_hash()
            with pytest.raises(PaddockError, match=why) as refused:
                sim.restore(state)
            assert "\n" not in str(refused.value) and sim.state_hash() == before


def test_a_state_without_autopilots_restarts_them(own_links: Links) -> None:
    with hovering(own_links(1)) as (sim, pilot):
        tree = unpack(sim.save())
        del tree["autopilots"]
        sim.restore(pack(tree))
        assert not pilot.armed and pilot.now_us == 0


@pytest.mark.parametrize("kind", VEHICLE_TYPES)
def test_every_mode_is_saved(kind: str) -> None:
    """Read and written again, its state is the same."""
    pilot = BuiltInAutopilot(1, kind)
    if isinstance(pilot.vehicle, Rover | Copter):  # a path to return along
        start = (0.0, 5.0) if isinstance(pilot.vehicle, Rover) else (0.0, 5.0, -2.0)
        pilot.vehicle.return_path.begin(9, 1.0, start)
    for number in pilot.vehicle.modes:
        pilot.mode = pilot.vehicle.modes[number](pilot)
        if "path" in pilot.mode.refusal():
            continue
        pilot.mode.enter()
        tree = unpack(pack(save_autopilot(pilot)))
        read_autopilot(pilot, tree)()
        assert pack(save_autopilot(pilot)) == pack(tree)


@pytest.mark.parametrize("every", [4, pytest.param(1, marks=pytest.mark.slow)])
def test_a_crafted_state_is_refused_or_flown(own_links: Links, every: int) -> None:
    with hovering(own_links(1)) as (sim, pilot):
        state, before = sim.save(), sim.state_hash()
        refused = 0
        for path, value in islice(spots(unpack(state)["autopilots"]), 0, None, every):
            tree = unpack(state)
            holder = tree["autopilots"]
            for key in path[:-1]:
                holder = holder[key]
            holder[path[-1]] = value
            try:
                sim.restore(pack(tree))
            except PaddockError:
                assert sim.state_hash() == before, path
                refused += 1
                continue
            with np.errstate(all="ignore"):
                sim.step(6)
            sim.restore(state)
            assert sim.state_hash() == before, path
        assert refused > 60 / every
        sim.step(50)
        assert pilot.armed


def spots(tree: Any) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """Places of a state with a value of another type, shape, class or range."""
    vehicle = ("vehicles", "1")
    pilot = (*vehicle, "flight")
    objects = tree["vehicles"]["1"]["flight"]
    for name in objects:
        yield from (((*pilot, name), value) for value in (7, "text", None, {"is": "BuiltInAutopilot"}, {}))
    for name in objects["mode"]:
        yield (*pilot, "mode", name), "text"
        yield (*pilot, "mode", name), {"is": "PlaneCruise"}
    yield (*pilot, "mode", "name"), "FLY"
    yield (*pilot, "mode", "update"), 7
    yield (*pilot, "executor", "current"), 5
    yield (*pilot, "rc", "sticks", "pwm"), [1500]
    for kind in ("filters", "controls"):
        for name, row in tree["vehicles"]["1"][kind].items():
            if name != "n":
                yield (*vehicle, kind, name), row[:, :-1] if row.ndim > 1 else row[:0]
                yield (*vehicle, kind, name), row.astype(np.float32)
                yield (*vehicle, kind, name), np.full_like(row, -5)
    values = tree["vehicles"]["1"]["parameters"]["_values"]
    yield (*vehicle, "parameters", "_values"), [*values[:-1], [values[-1][0], 1e30]]
    yield (*vehicle, "parameters", "_values"), []
    yield (*vehicle, "parameters", "_values"), values[::-1]
    yield ("bridge", "bridge", "time_us"), 1 << 40
    yield ("bridge", "vehicles", "1", "due_us"), 1 << 50
    yield ("bridge", "vehicles", "1", "failed"), "\x1b[31m"
    yield ("bridge", "vehicles"), {}
    yield ("bridge", "adapters"), {}
    yield ("mavlink", "streams", "1", "_next"), []
    yield ("mavlink", "streams", "1", "_intervals"), [[7, 20_000]]
    yield ("mavlink", "writers", "1", "sequence"), 256
    yield ("starters",), {"1": {"step": 0, "next_us": 0, "note": ""}}
    yield ("vehicles",), {}


SAMPLES = [1201, pytest.param(7, marks=pytest.mark.slow)]  # of ten values at each place: one or two at all places


@pytest.mark.parametrize("every", SAMPLES)
def test_no_value_of_a_saved_flight_can_end_the_run(own_links: Links, every: int) -> None:
    """Every number, text and list of three missions in flight, and the MAVLink service that reports them."""
    with paddock.load(crew(own_links(3))) as sim:
        sim.step(2000)
        state, before = sim.save(), sim.state_hash()
        counts = {True: 0, False: 0}
        for path, value in islice(hostile(unpack(state)["autopilots"]), 0, None, every):
            tree = unpack(state)
            put(tree["autopilots"], path, value)
            message = ""
            try:
                sim.restore(pack(tree))
            except PaddockError as error:
                message = str(error)
            assert "\n" not in message and len(message) < 300, path
            counts[accepted := not message] += 1
            if accepted:
                with np.errstate(all="ignore"):
                    sim.step(50)  # 0.2 s
                sim.restore(state)
            assert sim.state_hash() == before, path
        assert counts[False] > counts[True] > 0


def hostile(tree: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """Every leaf and list of a tree with values of another type or range; of lists, three items."""
    if isinstance(tree, np.ndarray):
        numbers = (np.nan, 1e308, -1e308) if tree.dtype.kind == "f" else (2**62, -1)
        yield from ((path, np.full_like(tree, number)) for number in numbers)
    elif not isinstance(tree, dict):
        values = (float("nan"), float("inf"), 1e308, -1e308, 2**62, -1, "", "\x1b[31m", None, [])
        yield from ((path, value) for value in values)
    inner = list(enumerate(tree))[:3] if isinstance(tree, list) else tree.items() if isinstance(tree, dict) else ()
    for key, value in inner:
        yield from hostile(value, (*path, key))


def put(tree: Any, path: tuple[Any, ...], value: Any) -> None:
    for key in path[:-1]:
        tree = tree[key]
    tree[path[-1]] = value


IN = ("flight",)
PLACES = {
    "altitude of home": ((*IN, "home_position", "position", 2), 1e308),
    "latitude of home": ((*IN, "home_position", "position", 0), 90.5),
    "latitude of the origin": (("estimator", "frame", 0), float("inf")),
    "altitude of the origin": (("estimator", "frame", 2), -1.1e6),
    "width of a channel": ((*IN, "rc", "sticks", "pwm", 0), 65536),
    "negative width": ((*IN, "rc", "sticks", "pwm", 2), -1),
    "number of servos": ((*IN, "servos", "widths"), []),
    "number of relays": ((*IN, "servos", "relays"), [True]),
    "reason": ((*IN, "battery", "reason"), "low\x1b[31m"),
    "throttle": ((*IN, "telemetry", "throttle"), 1e308),
    "text": ((*IN, "arming", "note"), "flying\n"),
    "long outbox": (("outbox",), [{"is": "HomeChanged", "fields": []}] * 201),
    "notice of another class": (("outbox",), [{"is": "Battery", "fields": []}]),
    "large number": ((*IN, "executor", "current"), 1 << 5000),
    "endless repetition": (
        (*IN, "servos", "repetitions"),
        [{"kind": 1, "number": 0, "width": 0, "left": 9, "period_us": 0, "next_us": 0}],
    ),
    "points of another size": ((*IN, "vehicle", "return_path", "points"), [[0.0, 1.0], [0.0, 1.0, 2.0]]),
    "undeclared attribute": ((*IN, "junk"), [1]),
    "undeclared attribute of a part": ((*IN, "camera", "junk"), 1),
}


@pytest.mark.parametrize("name", PLACES)
def test_a_value_that_no_flight_has_is_refused(flown: tuple[BuiltInAutopilot, bytes], name: str) -> None:
    pilot, state = flown
    path, value = PLACES[name]
    tree = unpack(state)
    read_autopilot(pilot, tree)
    put(tree, path, value)
    with pytest.raises(PaddockError) as refused:
        read_autopilot(pilot, tree)
    assert len(str(refused.value)) < 150


@pytest.fixture(scope="module")
def flown() -> tuple[BuiltInAutopilot, bytes]:
    pilot = BuiltInAutopilot(1, "copter")
    pilot.home_position.position, pilot.estimator.frame = (47.0, 8.0, 400.0), LocalFrame(47.0, 8.0, 400.0)
    return pilot, pack(save_autopilot(pilot))


@pytest.mark.parametrize("number", [float("nan"), 1e308])
@pytest.mark.parametrize(
    ("kind", "name"), [("filters", "state"), ("filters", "covariance"), ("filters", "memory"), ("controls", "memory")]
)
def test_rows_are_numbers_that_a_filter_can_have(
    flown: tuple[BuiltInAutopilot, bytes], kind: str, name: str, number: float
) -> None:
    pilot, state = flown
    tree = unpack(state)
    tree[kind][name][0, 9] = number
    with pytest.raises(PaddockError, match=rf"^state\.{kind}(\.{name}\[0, 9.*limits|: memory is not finite)"):
        read_autopilot(pilot, tree)


def test_a_flight_without_gnss_can_be_restored(own_links: Links) -> None:
    """NaN for measurements that are missing is part of a valid state."""
    with hovering(own_links(1)) as (sim, pilot):
        assert pilot.parameters.set("SIM_GPS_DISABLE", 1.0)
        sim.step(250)
        assert np.isnan(pilot.estimator.arrays.memory).any()
        state, before = sim.save(), sim.state_hash()
        sim.step(250)
        sim.restore(state)
        assert sim.state_hash() == before


def test_a_diverged_flight_can_be_restored(own_links: Links) -> None:
    """The present state, to which a refused one returns, may be any."""
    with hovering(own_links(1)) as (sim, pilot):
        state, before = sim.save(), sim.state_hash()
        pilot.estimator.arrays.covariance[:] = np.nan
        diverged = sim.state_hash()
        tree = unpack(state)
        tree["autopilots"]["vehicles"]["1"]["flight"]["arming"]["note"] = 7
        with pytest.raises(PaddockError, match=r"autopilots\.vehicles\.1\.flight\.arming\.note: is 7, not a text"):
            sim.restore(pack(tree))
        assert sim.state_hash() == diverged
        sim.restore(state)
        assert sim.state_hash() == before


def test_every_attribute_that_is_saved_has_a_type() -> None:
    """One that a class sets without declaring it could not be restored; Any would accept anything."""
    unsaved = {"Autopilot", "BuiltInGroup", "OnboardLog", "RefusedError"}
    unsaved |= {"ActuatorCommands", "SensorData", "CopterTrack", "CopterHeading", "RowTuple", "RowValue"}
    for module in walk_packages(autopilot_package.__path__, autopilot_package.__name__ + "."):
        kinds = vars(import_module(module.name)).values()
        for kind in {each for each in kinds if isinstance(each, type) and each.__module__ == module.name}:
            if hasattr(kind, "leaves"):  # a part: its fields have declarations
                continue
            types = type_hints(kind)
            for name, hint in types.items():
                assert get_origin(hint) in (ClassVar, np.ndarray) or "Any" not in str(hint), f"{kind}, {name}"
            known = types.keys() | unsaved_names(kind)
            places = [node for node in ast.walk(ast.parse(getsource(kind))) if isinstance(node, ast.Attribute)]
            stored = [each for each in places if isinstance(each.ctx, ast.Store)]
            set_here = {each.attr for each in stored if ast.unparse(each.value) == "self"}
            computed = {name for name in set_here if hasattr(getattr(kind, name, None), "__set__")}
            listeners = {name for name in set_here if name.startswith("on_")}
            assert kind.__name__ in unsaved or set_here - listeners - computed <= known, kind


def test_a_value_that_cannot_be_saved_names_its_path() -> None:
    pilot = BuiltInAutopilot(1, "copter")
    pilot.rc.sticks.pwm[2] = 1500.5  # type: ignore[call-overload]
    with pytest.raises(PaddockError, match=r"the state\.rc\.sticks\.pwm\[2\]: is 1500\.5, not a whole number"):
        save_autopilot(pilot)


CRAFTED: dict[str, tuple[tuple[Any, ...], Any, str]] = {
    "another simulator": (("bridge", "adapters", "unknown"), 1, "autopilots.bridge.adapters: unknown field 'unknown'"),
    "another part": (("unknown",), {}, "autopilots: unknown field 'unknown'"),
    "time of the future": (
        ("bridge", "bridge", "time_us"),
        1 << 40,
        "autopilots: a time of 1099511627776 us is later than ",
    ),
    "due never": (("bridge", "vehicles", "1", "due_us"), 1 << 62, "autopilots.bridge: vehicle 1 cannot be due at "),
    "due too late": (("bridge", "vehicles", "1", "due_us"), 1 << 61, "autopilots: vehicle 1 is due too late"),
    "width of the covariance": (
        ("vehicles", "1", "filters", "covariance"),
        np.zeros((1, 16, 15)),
        "autopilots.vehicles.1.filters.covariance has the shape (1, 16, 15), not (1, 16, 16)",
    ),
    "mode": (
        ("vehicles", "1", "flight", "mode"),
        None,
        "autopilots.vehicles.1.flight.mode: is None, not a Mode",
    ),
    "packet": (("mavlink", "writers", "1", "sequence"), 256, "autopilots.mavlink.writers.1.sequence: 256 is out of"),
}


def test_a_refusal_names_the_path(own_links: Links) -> None:
    with paddock.load(quick_scenario("copter", 1, mavlink=own_links(1))) as sim:
        sim.step(50)
        state, before = sim.save(), sim.state_hash()
        for path, crafted, message in CRAFTED.values():
            tree = unpack(state)
            put(tree["autopilots"], path, crafted)
            with pytest.raises(PaddockError) as refused:
                sim.restore(pack(tree))
            assert message in str(refused.value)
            assert sim.state_hash() == before
