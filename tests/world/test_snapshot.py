"""Snapshots and their layout: names, ids, columns, shapes, immutability."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import FrozenInstanceError
from threading import Thread

import numpy as np
import pytest

from paddock.errors import InvalidValueError, PaddockError, UnknownNameError
from paddock.world.archive import pack
from paddock.world.columns import Pose
from paddock.world.layout import POSE, BufferPool, FleetLayout, Layout
from paddock.world.snapshot import ANGULAR_VELOCITY, ORIENTATION, POSITION, VELOCITY, Snapshot, SnapshotWriter


def make_fleet(name: str, n: int, first_id: int = 0, single: bool = False, extra: tuple[str, ...] = ()) -> FleetLayout:
    ids, members = np.arange(first_id, first_id + n), np.arange(n)
    return FleetLayout(name, "drone", "quad", POSE + extra, n, ids, members, single)


def make_layout(n: int = 5) -> Layout:
    gaps = FleetLayout("rovers", "rover", "diff", POSE, 3, np.array([50, 20, 30]), np.array([7, 2, 4]), False)
    red = make_fleet("red", 1, 7, single=True, extra=("steer",))
    return Layout((red, make_fleet("scouts", n, 100, extra=("battery", "gear")), gaps, make_fleet("none", 0)), roster=3)


def snapshot_of(layout: Layout, tick: int = 4, writer: SnapshotWriter | None = None) -> Snapshot:
    """Column c of row i of fleet f holds 1000 f + 20 c + i + tick."""
    blocks, finish = (writer or SnapshotWriter()).begin(layout, tick, tick / 100, 1)
    for f, block in enumerate(blocks):
        block[:] = 1000 * f + 20 * np.arange(len(block))[:, None] + np.arange(block.shape[1]) + tick
    return finish()


def test_the_slices_follow_pose() -> None:
    fields: tuple[str, ...] = Pose._fields
    assert fields[POSITION] == ("x", "y", "z") and fields[ORIENTATION] == ("qx", "qy", "qz", "qw")
    assert fields[VELOCITY] == ("vx", "vy", "vz") and fields[ANGULAR_VELOCITY] == ("wx", "wy", "wz")


def test_a_fleet_is_arrays() -> None:
    snap = snapshot_of(make_layout())
    scouts = snap.fleet("scouts")
    assert (snap.tick, snap.time, snap.run, snap.roster, len(snap)) == (4, 0.04, 1, 3, 9)
    assert scouts.position.shape == (5, 3) and scouts.orientation.shape == (5, 4)
    assert scouts.velocity.shape == scouts.angular_velocity.shape == (5, 3)
    assert scouts.position[2].tolist() == [1006, 1026, 1046] and scouts.angular_velocity[0, 2] == 1244
    assert scouts["battery"].tolist() == [1264, 1265, 1266, 1267, 1268]
    assert scouts.ids.tolist() == [100, 101, 102, 103, 104] and len(scouts) == 5
    assert list(scouts.names) == [f"scouts[{k}]" for k in range(5)]
    assert snap.fleet("none").position.shape == (0, 3) and len(snap.fleet("red")) == 1
    assert [fleet.name for fleet in snap] == list(snap.fleets) == ["red", "scouts", "rovers", "none"]


def test_a_vehicle_is_found_by_name_and_by_id() -> None:
    snap = snapshot_of(make_layout())
    assert snap["scouts[3]"].position.tolist() == [1007, 1027, 1047] and snap["scouts[3]"]["gear"] == 1287.0
    assert snap["rovers[2]"].id == 20 and snap[20].name == "rovers[2]" and snap[np.int32(50)].name == "rovers[7]"
    assert snap["red"].name == "red" and snap[7].columns[-1] == "steer" and snap[7].model == "quad"
    assert [snap[name].name for name in snap.names()] == list(snap.names()) and len(snap.names()) == 9
    assert snap.names()[-1] == "rovers[4]" and snap.names()[1:3] == ["scouts[0]", "scouts[1]"]
    assert "red" in snap and 30 in snap and "blue" not in snap and None not in snap


def test_speed_and_yaw() -> None:
    blocks, finish = SnapshotWriter().begin(make_layout(), 0, 0.0, 0)
    blocks[0][:, 0] = 0.0
    blocks[0][VELOCITY, 0] = (3.0, 4.0, 12.0)
    blocks[0][ORIENTATION, 0] = (0.0, 0.0, np.sin(0.35), np.cos(0.35))
    red = finish()["red"]
    assert red.speed == 13.0 and red.yaw == pytest.approx(0.7, abs=1e-15)
    assert repr(red) == "<red (quad) at 0.000, 0.000, 0.000 m>"


@pytest.mark.parametrize(
    ("key", "text"),
    [
        ("rde", "unknown vehicle 'rde'; did you mean 'red'?"),
        ("scuots[3]", "unknown vehicle 'scuots[3]'; did you mean 'scouts[3]'?"),
        ("scouts", "'scouts' is a fleet, not a vehicle; its first vehicle is 'scouts[0]'"),
        ("scouts[9]", "fleet 'scouts' has 5 members, [0] to [4]"),
        ("scouts[03]", "unknown vehicle"),
        ("scouts[-1]", "unknown vehicle"),
        ("scouts[" + "9" * 5000 + "]", "unknown vehicle"),
        ("scouts[1", "unknown vehicle"),
        ("red[1]", "fleet 'red' has 1 members, [0] to [0]"),
        ("none[0]", "fleet 'none' has no members"),
        (8, "unknown vehicle id 8; ids are between 7 and 104"),
        (1 << 70, "unknown vehicle id"),
    ],
)
def test_unknown_vehicles_are_named(key: str | int, text: str) -> None:
    with pytest.raises(UnknownNameError) as caught:
        snapshot_of(make_layout())[key]
    assert text in str(caught.value)


def test_unknown_fleets_columns_and_attributes_are_named() -> None:
    snap = snapshot_of(make_layout())
    with pytest.raises(UnknownNameError, match=r"unknown fleet 'scout'; did you mean 'scouts'\?"):
        snap.fleet("scout")
    with pytest.raises(UnknownNameError, match=r"fleet 'scouts': unknown column 'batery'; did you mean 'battery'\?"):
        snap.fleet("scouts")["batery"]
    with pytest.raises(AttributeError, match=r"Snapshot has no attribute 'tik'; did you mean 'tick'\?"):
        snap.tik  # noqa: B018
    with pytest.raises(AttributeError, match=r"no attribute 'red'; write \['red'\]"):
        snap.red  # noqa: B018
    with pytest.raises(AttributeError, match=r"no attribute 'battery'; write \['battery'\]"):
        snap.fleet("scouts").battery  # noqa: B018
    with pytest.raises(InvalidValueError, match="a vehicle is given by its name or its id"):
        snap[1.5]  # type: ignore[index]


def test_nothing_can_be_changed() -> None:
    snap = snapshot_of(make_layout())
    scouts = snap.fleet("scouts")
    for array in (snap.buffer, scouts.position, scouts["battery"], scouts.ids, snap["red"].velocity, scouts.block):
        assert not array.flags.writeable
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
    for array in (scouts.position, scouts["battery"], snap["red"].velocity):
        with pytest.raises(ValueError, match="WRITEABLE"):
            array.flags.writeable = True
    with pytest.raises(FrozenInstanceError):
        snap.tick = 5  # type: ignore[misc]


def allocations(pool: BufferPool) -> list[int]:
    """The sizes of the buffers that a pool allocates from now on."""
    made, allocate = [], pool._allocate

    def counted(nbytes: int) -> np.ndarray:
        made.append(nbytes)
        return allocate(nbytes)

    pool._allocate = counted  # type: ignore[method-assign]
    return made


@pytest.mark.parametrize("keep", [lambda s: s, lambda s: s.fleet("scouts"), lambda s: s["scouts[3]"]])
def test_a_kept_snapshot_never_changes(keep: Callable[[Snapshot], Snapshot]) -> None:
    layout, writer = make_layout(50), SnapshotWriter()
    made = allocations(writer.pool)
    kept = keep(snapshot_of(layout, 0, writer))
    position = snapshot_of(layout, 1, writer).fleet("scouts").position  # only one view of a snapshot that is gone
    before = position.copy()
    for tick in range(2, 1002):
        assert snapshot_of(layout, tick, writer).tick == tick
    whole = kept.fleet("scouts") if isinstance(kept, Snapshot) else kept
    assert whole.position.flat[0] == (1000 if isinstance(kept, Snapshot) or len(whole.position) == 50 else 1003)
    np.testing.assert_array_equal(position, before)
    assert len(made) <= 4


def test_four_threads_see_whole_snapshots_only() -> None:
    layout, pool = make_layout(2000), BufferPool()
    writer, latest, wrong, seen = SnapshotWriter(pool), [], [], [0] * 4
    made = allocations(pool)
    pattern = snapshot_of(layout, 0).fleet("scouts").block
    latest.append(snapshot_of(layout, 1, writer))
    done = False

    def watch(k: int) -> None:
        last = 0
        while not done or seen[k] < 50:
            snap = latest[0]
            whole = np.array_equal(snap.fleet("scouts").block - snap.tick, pattern)
            if not whole or snap.tick < last:
                wrong.append(snap.tick)
            last, seen[k] = snap.tick, seen[k] + 1

    threads = [Thread(target=watch, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for tick in range(2, 1000):
        latest[0] = snapshot_of(layout, tick, writer)
    done = True
    for thread in threads:
        thread.join()
    assert not wrong and min(seen) >= 50
    assert len(made) < 20


def test_a_layout_round_trips_to_another_process() -> None:
    layout = make_layout()
    again = Layout.from_bytes(layout.to_bytes())
    assert again == layout and hash(again) == hash(layout) and again.offsets == layout.offsets
    assert again.find("rovers[4]") == (2, 2) and again.fleets[2].members.tolist() == [7, 2, 4]
    assert all(offset % 64 == 0 for offset in layout.offsets) and layout.nbytes == layout.offsets[-1]
    assert layout != make_layout(6) and layout != Layout(layout.fleets, 4) and layout != "layout"
    assert Layout((), 0).nbytes == 64 and len(snapshot_of(Layout((), 0))) == 0 and snapshot_of(Layout((), 0))


@pytest.mark.parametrize(
    "tree", [{}, {"fleets": 1, "roster": 1}, {"fleets": [{}], "roster": 1}, {"fleets": [3], "roster": 0}]
)
def test_other_trees_are_not_layouts(tree: dict[str, object]) -> None:
    with pytest.raises(PaddockError, match="not a layout"):
        Layout.from_bytes(pack(tree))


def test_invalid_layouts_are_refused() -> None:
    ids = np.arange(2)
    with pytest.raises(PaddockError, match="start with x, y, z"):
        FleetLayout("a", "k", "m", ("x",), 2, ids, ids, False)
    with pytest.raises(PaddockError, match=r"ids must have shape \(3,\), not \(2,\)"):
        FleetLayout("a", "k", "m", POSE, 3, ids, ids, False)
    with pytest.raises(PaddockError, match="members must be whole numbers"):
        FleetLayout("a", "k", "m", POSE, 2, ids, ids * 0.5, False)  # type: ignore[arg-type]
    with pytest.raises(PaddockError, match="single"):
        FleetLayout("a", "k", "m", POSE, 2, ids, ids, True)
    with pytest.raises(PaddockError, match="same name"):
        Layout((make_fleet("a", 1), make_fleet("a", 1)), 0)


def test_finding_one_of_many_makes_no_list_of_names(monkeypatch: pytest.MonkeyPatch) -> None:
    layout = Layout((make_fleet("swarm", 100_000),), 0)
    asked: list[int] = []

    def counted(fleet: FleetLayout, row: int) -> str:
        asked.append(row)
        return f"{fleet.name}[{row}]"

    monkeypatch.setattr(FleetLayout, "vehicle_name", counted)
    assert layout.find("swarm[99999]") == layout.find(99_999) == (0, 99_999)
    assert layout.names[77] == "swarm[77]" and repr(layout.names).endswith("... 100000 in all>") and len(asked) == 4
