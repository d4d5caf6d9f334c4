"""The state as declared data: laws of save, load, hash and of moving rows, and refusals with paths."""

from typing import Annotated, Any, NamedTuple

import numpy as np
import pytest
from annotated_types import Ge, Le
from hypothesis import given
from hypothesis import strategies as st

from paddock.errors import InvalidValueError, PaddockError
from paddock.world.archive import pack, unpack
from paddock.world.columns import Column, Floats
from paddock.world.parts import (
    DEFAULTS,
    RADIO,
    VEHICLE,
    ArrayLeaf,
    add_table,
    array,
    blob,
    child,
    children,
    count,
    flag,
    fresh,
    mapping,
    part,
    plain,
    rows,
    tables,
    text,
    value,
)
from paddock.world.state import (
    EVERYWHERE,
    HASHED,
    SETTLED,
    append,
    digest,
    keep,
    load,
    save,
    saved_value,
    slots,
    take,
    transfer,
)


class State(NamedTuple):
    x: Annotated[float, Column("m", "position")] = 1.5
    vx: Annotated[float, Column("m/s", "velocity", low=-20.0, high=20.0)] = 2.5


class Entry(NamedTuple):
    tick: Annotated[int, Ge(0), Le(100)]
    text: str
    share: Annotated[float, Ge(0), Le(1)] = 0.0


@part
class SensorPart:
    memory: Floats = array("f8", "memory", VEHICLE)
    samples: Floats = array("f8", "slot", 3, VEHICLE, fill=np.nan, nan=True)
    ticks: Any = array("i8", "slot", unit="tick", fill=-1, low=-1)
    taken: int = value(0, low=0, below="slot")
    delay: int = 0

    def check(self, state: Any) -> None:
        if self.taken > 0 and self.ticks.max() < 0:
            raise PaddockError("samples without ticks")


@part
class FleetPart:
    n: int = count(VEHICLE)
    members: Any = array("i8", VEHICLE, low=0, key=True)
    state: Floats = array("f8", "state", VEHICLE, fill=DEFAULTS)
    leader: Any = array("i4", VEHICLE, fill=-1, refers=VEHICLE)
    armed: Any = array("?", VEHICLE)
    extra: dict[str, Any] = tables(VEHICLE)
    bytes_of: list[bytes | None] = blob(VEHICLE)
    sensors: dict[str, SensorPart] = children()


class Packet(NamedTuple):
    number: Annotated[int, Column("", "number", low=0, high=99)] = 0
    origin: Annotated[int, Column("", "radio", refers=RADIO)] = -1


@part
class PacketPart:
    n: int = count(RADIO)
    head: Any = array("i8", RADIO, saved=False)
    queued: Any = array("i8", RADIO, low=0, high=4)
    goal: Any = array("i4", RADIO, "place", fill=-1, refers=RADIO, ring=("head", "queued"))
    packet: Any = array("i8", RADIO, "place", "packet", ring=("head", "queued"), columns=Packet, along=2)
    first: Any = array("i8", "pair", 2)
    second: Any = array("f8", "pair")


@part
class RootPart:
    tick: int = value(0, low=0, high=2**53)
    time: float = value(0.0, low=0.0, unit="s")
    limit: float | None = value(1.0, none=True)
    roster: int = value(0, hashed=False, settled=False)
    stopped: bool = flag()
    mode: str = text("hold", choices=("hold", "brake"))
    raw: bytes = blob()
    log: list[Entry] = rows(Entry, longest=5)
    laps: dict[int, Entry] = mapping(int, Entry)
    names: dict[str, int] = mapping(str, Annotated[int, Ge(0)])
    frames: list[int] = plain(list, list, lambda tree: [int(entry) for entry in tree])
    waiting: list[int] = plain(list, list, list, settled=False)
    packets: PacketPart = child(PacketPart)
    absent: SensorPart | None = child()
    fleets: dict[str, FleetPart] = children()


def new_root(n: int = 0, places: int = 4) -> RootPart:
    root = fresh(RootPart, place=places, packet=2)
    fleet = fresh(FleetPart, state=State, vehicle=0)
    add_table(fleet, "signals", ArrayLeaf(dtype="f8", axes=(2, VEHICLE), fill=np.array([3.0, 4.0])), "extra")
    fleet.sensors["imu"] = fresh(SensorPart, memory=State, slot=4, delay=3)
    root.fleets["scouts"] = fleet
    if n:
        append(fleet, VEHICLE, n)
        fleet.members[:n] = np.arange(n) * 2
        fleet.state[0, :n] = np.arange(n)
        fleet.leader[:n] = np.arange(n) - 1
        fleet.sensors["imu"].memory[0, :n] = np.arange(n) + 10
        append(root.packets, RADIO, n)
    return root


def filled_root(n: int = 3) -> RootPart:
    root = new_root(n)
    root.tick, root.time, root.limit, root.roster, root.stopped, root.mode = 7, 0.25, None, 3, True, "brake"
    root.raw, root.log, root.laps = b"abc", [Entry(1, "a", 0.5)], {9: Entry(2, "b"), -4: Entry(3, "c")}
    root.names, root.frames, root.waiting = {"red": 4}, [1, 2], [5]
    root.packets.first, root.packets.second = np.array([[1, 2], [3, 4]]), np.array([0.5, 1.5])
    root.packets.head[:n], root.packets.queued[:n] = 3, 2
    root.packets.goal[:n, 3], root.packets.goal[:n, 0], root.packets.goal[:n, 1] = 0, n - 1, 77
    root.packets.packet[:n, 3], root.packets.packet[:n, 0, 0], root.packets.packet[:n, 0, 1] = (5, 0), 6, n - 1
    root.fleets["scouts"].bytes_of[0] = b"fmu"
    return root


def loaded(tree: dict[str, Any], **options: Any) -> RootPart:
    root = new_root()
    load(root, tree, **options)
    return root


def test_a_loaded_state_saves_and_hashes_the_same() -> None:
    root = filled_root()
    again = loaded(unpack(pack(save(root))))
    assert pack(save(again)) == pack(save(root))
    assert digest(again) == digest(root)
    assert again.laps == root.laps and again.log == root.log and again.fleets["scouts"].bytes_of[0] == b"fmu"
    assert again.packets.goal[0, :2].tolist() == [0, 2] and again.packets.head.tolist() == [0, 0, 0]


def test_spare_room_does_not_change_the_hash() -> None:
    root, other = filled_root(2), filled_root(3)
    keep(other.fleets["scouts"], VEHICLE, np.array([0, 1]))
    keep(other.packets, RADIO, np.array([0, 1]))
    other.packets.goal[:2, 0] = 1
    other.packets.packet[:2, 0, 1] = 1
    assert other.fleets["scouts"].state.shape[1] == 3
    assert digest(root) == digest(other)


def test_new_rows_have_their_fill_values_and_arrays_double() -> None:
    fleet = new_root(2).fleets["scouts"]
    fleet.state[:], fleet.extra["signals"][:] = 9.0, 9.0
    assert append(fleet, VEHICLE, 1) == slice(2, 3)
    assert fleet.n == 3 and fleet.state.shape == (2, 4) and fleet.sensors["imu"].samples.shape == (4, 3, 4)
    assert fleet.state[:, 2].tolist() == [1.5, 2.5] and fleet.extra["signals"][:, 2].tolist() == [3.0, 4.0]
    assert fleet.leader[2] == -1 and np.isnan(fleet.sensors["imu"].samples[..., 2]).all()
    assert fleet.state[:, 1].tolist() == [9.0, 9.0]


def test_references_follow_their_rows() -> None:
    fleet = new_root(4).fleets["scouts"]
    keep(fleet, VEHICLE, np.array([3, 1, 2]))
    assert fleet.members[:3].tolist() == [6, 2, 4]
    assert fleet.leader[:3].tolist() == [2, -1, 1]  # 3 follows 2, 1 follows 0 (removed), 2 follows 1


def test_the_saved_order_is_that_of_the_keys() -> None:
    root = filled_root(4)
    before, hashed = pack(save(root)), digest(root)
    keep(root.fleets["scouts"], VEHICLE, np.array([2, 0, 3, 1]))
    assert root.fleets["scouts"].members[:4].tolist() == [4, 0, 6, 2]
    assert pack(save(root)) == before and digest(root) == hashed


def test_taken_rows_are_copies() -> None:
    fleet = new_root(4).fleets["scouts"]
    taken = take(fleet, VEHICLE, np.array([1, 3]))
    assert taken.n == 2 and taken.members.tolist() == [2, 6] and taken.leader.tolist() == [-1, -1]
    assert taken.sensors["imu"].memory[0].tolist() == [11.0, 13.0] and taken.sensors["imu"].delay == 3
    taken.state[:], taken.sensors["imu"].ticks[:] = 0.0, 5
    assert fleet.state[0].tolist() == [0.0, 1.0, 2.0, 3.0] and fleet.sensors["imu"].ticks[0] == -1


@given(st.permutations(range(6)))
def test_permuting_and_permuting_back_restores_all(order: list[int]) -> None:
    fleet = new_root(6).fleets["scouts"]
    expected = {slot.path: np.copy(slot.get()) for slot in slots(fleet, EVERYWHERE) if slot.leaf.axes}
    keep(fleet, VEHICLE, np.array(order))
    keep(fleet, VEHICLE, np.argsort(order))
    for slot in slots(fleet, EVERYWHERE):
        if slot.leaf.axes:
            np.testing.assert_array_equal(np.array(slot.get()), expected[slot.path], slot.path)


@given(st.integers(0, 5), st.integers(0, 5))
def test_appending_twice_equals_appending_once(first: int, second: int) -> None:
    once, twice = fresh(SizedPart), fresh(SizedPart)
    append(once, VEHICLE, first + second)
    append(twice, VEHICLE, first)
    append(twice, VEHICLE, second)
    assert pack(save(once)) == pack(save(twice))


@part
class SizedPart:
    n: int = count(VEHICLE)
    level: Floats = array("f8", 2, VEHICLE, fill=np.array([1.0, 2.0]))


@given(st.lists(st.integers(0, 4), unique=True))
def test_taking_equals_keeping(chosen: list[int]) -> None:
    first, two = new_root(5).fleets["scouts"], new_root(5).fleets["scouts"]
    keep(first, VEHICLE, np.array(chosen, np.int64))
    assert pack(save(first)) == pack(save(take(two, VEHICLE, np.array(chosen, np.int64))))


def test_every_hashed_leaf_changes_the_hash() -> None:
    before = digest(filled_root())
    for wanted in [slot.path for slot in slots(filled_root(), HASHED) if slot.leaf.saved]:
        root = filled_root()
        slot = next(slot for slot in slots(root) if slot.path == wanted)
        slot.set(changed(slot.get()))
        assert digest(root) != before, wanted


def changed(value: Any) -> Any:
    """Return another value of the same kind."""
    if isinstance(value, np.ndarray):
        other = value.copy()
        first = (0,) * other.ndim
        other[first] = 19.0 if value.dtype.kind == "f" else other[first] ^ 1
        return other
    if isinstance(value, bool) or value is None:
        return not value if value is not None else 4.0
    if isinstance(value, int | float):
        return value - 1
    if isinstance(value, str):
        return value + "x"
    if isinstance(value, dict):
        return {}
    return [] if isinstance(value, list) else b"other"


def test_scopes() -> None:
    root = filled_root()
    hashed, settled = digest(root), digest(root, SETTLED)
    root.roster, root.raw = 99, b"else"
    assert (digest(root), digest(root, SETTLED)) == (hashed, settled)
    root.waiting = []
    assert digest(root) != hashed and digest(root, SETTLED) == settled


def test_the_list_of_leaves_follows_the_parts() -> None:
    root = filled_root()
    first = digest(root)
    append(root.fleets["scouts"], VEHICLE, 40)  # replaces arrays, not leaves
    second = digest(root)
    root.packets = fresh(PacketPart, place=4)
    third = digest(root)
    del root.fleets["scouts"]
    assert len({first, second, third, digest(root)}) == 4


REFUSED = [
    (("tick",), -1, "tick -1 is out of its limits"),
    (("tick",), True, "tick is True, not a whole number"),
    (("time",), float("nan"), "time nan is out of its limits"),
    (("time",), 1, "time is 1, not a number"),
    (("stopped",), 1, "stopped is 1, not a flag"),
    (("mode",), "fly", "mode 'fly' is not one of hold, brake"),
    (("raw",), "abc", "raw does not hold bytes"),
    (("log",), [[1, "a", 2.0]], "log[0].share: 2 is out of its limits"),
    (("log",), [[1, "a", 0.0]] * 6, "log: has 6 entries, more than 5"),
    (("laps",), [[1, [1, "a", 0.0]], [1, [1, "a", 0.0]]], "laps[1]: has a key twice"),
    (("frames",), 3, "frames: is not valid"),
    (("frames",), [None], "frames: is not valid"),
    (("other",), 3, "unknown field 'other'"),
    (("fleets", "scouts", "n"), -1, "fleets.scouts.n -1 is out of its limits"),
    (("fleets", "scouts", "n"), 2, "fleets.scouts.members has the shape (3,), not (2,)"),
    (("fleets", "scouts", "state"), np.zeros((2, 3), "f4"), "scouts.state is an array of float32, not of float64"),
    (("fleets", "scouts", "state"), np.zeros((3, 3)), "fleets.scouts.state has the shape (3, 3), not (2, 3)"),
    (("fleets", "scouts", "state"), np.full((2, 3), np.nan), "fleets.scouts.state[0, 0] (x): nan is out of its limits"),
    (("fleets", "scouts", "state"), [1.0], "fleets.scouts.state is not an array"),
    (("fleets", "scouts", "leader"), np.array([0, 3, 1], "i4"), "fleets.scouts.leader[1]: 3 is out of its limits"),
    (("fleets", "scouts", "leader"), np.array([0, -2, 1], "i4"), "fleets.scouts.leader[1]: -2 is out of its limits"),
    (("fleets", "scouts", "bytes_of"), [None], "fleets.scouts.bytes_of is not a list with bytes for each row"),
    (("fleets", "scouts", "extra", "signals"), np.full((2, 3), 1e19), "signals[0, 0]: 1e+19 is out of its limits"),
    (("fleets", "scouts", "sensors", "imu", "taken"), 4, "fleets.scouts.sensors.imu.taken 4 is out of its limits"),
    (("fleets", "scouts", "sensors", "imu", "taken"), 1, "fleets.scouts.sensors.imu: samples without ticks"),
    (("fleets", "scouts", "sensors", "imu"), 1, "fleets.scouts.sensors.imu is not a mapping"),
    (("fleets", "other"), {}, "fleets: unknown field 'other'"),
    (("packets", "second"), np.zeros(3), "packets.second has the shape (3,), not (2,)"),
    (("packets", "queued"), np.array([0, 5, 0]), "packets.queued[1]: 5 is out of its limits"),
    (("packets", "goal"), np.zeros(5, "i4"), "packets.goal has the shape (5,), not (6,)"),
    (("packets", "packet"), np.full((6, 2), 3), "packets.packet[0, 1] (origin): 3 is out of its limits"),
    (("packets", "packet"), np.full((6, 2), -1), "packets.packet[0, 0] (number): -1 is out of its limits"),
]  # fmt: skip


@pytest.mark.parametrize(("path", "wrong", "message"), REFUSED, ids=[message for *_, message in REFUSED])
def test_refusals_name_the_path(path: tuple[str, ...], wrong: Any, message: str) -> None:
    tree = unpack(pack(save(filled_root())))
    holder = tree
    for key in path[:-1]:
        holder = holder[key]
    holder[path[-1]] = wrong
    with pytest.raises(InvalidValueError) as error:
        loaded(tree)
    assert message in str(error.value)


def test_a_missing_field_is_refused() -> None:
    tree = save(filled_root())
    del tree["fleets"]["scouts"]["state"]
    with pytest.raises(InvalidValueError, match=r"fleets.scouts: the field 'state' is missing"):
        loaded(tree)


def test_limits_of_columns() -> None:
    tree = save(filled_root())
    tree["fleets"]["scouts"]["state"] = np.array([[0.0, 0.0, 0.0], [0.0, 41.0, 0.0]])
    with pytest.raises(InvalidValueError, match=r"fleets.scouts.state\[1, 1\] \(vx\): 41 is out of its limits"):
        loaded(tree)
    tree["fleets"]["scouts"]["state"] = np.array([[0.0, np.nan, 0.0], [0.0, 39.0, 0.0]])
    assert np.isnan(loaded(tree, limited=False).fleets["scouts"].state[0, 1])


def test_saved_arrays_are_views() -> None:
    root = filled_root()
    slot = next(slot for slot in slots(root) if slot.path == "fleets.scouts.state")
    assert np.shares_memory(saved_value(slot), root.fleets["scouts"].state)


def test_rows_are_transferred_to_other_rows() -> None:
    source, target = filled_root(3).packets, new_root(4).packets
    source.n, target.n = 3, 4
    transfer(source, target, RADIO, np.array([3, -1, 0]))
    assert target.n == 4 and target.queued.tolist() == [2, 0, 0, 2] and target.head.tolist() == [3, 0, 0, 3]
    assert target.goal[:, 3].tolist() == [3, -1, -1, 3] and target.goal[0, 0] == 0  # 0 is 3 now, 2 is 0
    assert target.packet[[0, 3], 0].tolist() == [[6, 0], [6, 0]] and target.first.tolist() == [[1, 2], [3, 4]]
