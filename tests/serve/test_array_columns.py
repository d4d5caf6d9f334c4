"""Arrays of sensors for the page and stream clients: rows of column frames, and their description."""

from typing import Any

import numpy as np
import pytest

import paddock
from paddock.errors import UnknownNameError
from paddock.serve.describe import fleet_trees
from paddock.serve.subscribers.subscription import (
    ColumnChoice,
    ColumnReader,
    Subscription,
    View,
    refuse_too_many,
    refuse_unknown_columns,
)
from paddock.wire.stream.columns import Block, decode_columns, encode_columns
from paddock.wire.stream.frames import HEADER

CAR = {"model": "car.kinematic", "sensors": [{"lidar": {"beams": 24}}, {"cones": {"max_detections": 5, "delay": 0.0}}]}
SCENARIO: dict[str, Any] = {
    "clock": {"rate": 100},
    "track": "acceleration",
    "vehicles": [
        {"name": "red", **CAR},
        {"name": "pack", "count": 2, "spawn": {"track": {"first": 1}}, **CAR},
        {"name": "drone", "model": "quad", "pose": [0, 50, 10, 0]},
    ],
}


@pytest.fixture(scope="module")
def sim() -> Any:
    with paddock.load(SCENARIO) as loaded:
        loaded.step(20)
        yield loaded


def test_an_array_takes_as_many_rows_as_it_has_values(sim: Any) -> None:
    snap = sim.snapshot()
    reader = ColumnReader(snap.layout)
    want = ColumnChoice("pack", ("x", "lidar.ranges", "cones.truth", "lidar.sample_tick"))
    assert reader.widths(want) == [1, 24, 20, 1] and reader.values(want) == 46 * 2
    rows = reader.read(snap, want)
    pack = snap.fleet("pack")
    np.testing.assert_array_equal(rows[0], pack["x"])
    np.testing.assert_array_equal(rows[1:25].T, pack["lidar.ranges"])
    np.testing.assert_array_equal(rows[25:45].T.reshape(2, 5, 4), pack["cones.truth"])
    np.testing.assert_array_equal(rows[45], pack["lidar.sample_tick"])
    sent = decode_columns(bytes(encode_columns(7, [Block(0, rows)])[HEADER.size :])).blocks[0].values
    np.testing.assert_array_equal(sent, rows)


def test_vehicles_without_the_array_have_nan(sim: Any) -> None:
    snap = sim.snapshot()
    rows = ColumnReader(snap.layout).read(snap, ColumnChoice(None, ("lidar.ranges",)))
    names = list(snap.names())
    assert rows.shape == (24, 4) and np.isnan(rows[:, names.index("drone")]).all()
    np.testing.assert_array_equal(rows[:, names.index("red")], snap["red"]["lidar.ranges"])


def test_unknown_arrays_are_refused_and_known_ones_are_counted(sim: Any) -> None:
    layout = sim.snapshot().layout
    refuse_unknown_columns(layout, [ColumnChoice("red", ("lidar.ranges",))])
    refuse_too_many(layout, [ColumnChoice("red", ("lidar.ranges",))])
    with pytest.raises(UnknownNameError, match=r"did you mean 'lidar\.ranges'"):
        refuse_unknown_columns(layout, [ColumnChoice("red", ("lidar.range",))])


def test_metadata_describes_arrays_with_their_fields_and_options(sim: Any) -> None:
    programs = list(sim.engine.programs.values())
    trees = {tree["name"]: tree for tree in fleet_trees(programs, sim.snapshot().layout)}
    assert trees["drone"]["arrays"] == []
    scan, _, detections, truth, pose = trees["red"]["arrays"]
    assert (scan["name"], scan["shape"], scan["sensor"], scan["unit"]) == ("lidar.ranges", [24], "lidar", "m")
    assert (scan["options"]["beams"], scan["options"]["fov_deg"]) == (24.0, 270.0)
    assert [field["name"] for field in detections["fields"]][:3] == ["x", "y", "colour"]
    assert truth["shape"] == [5, 4] and pose["shape"] == [7]
    assert [field["name"] for field in pose["fields"]] == ["x", "y", "z", "qx", "qy", "qz", "qw"]


def test_columns_with_a_rate_of_their_own_are_sent_less_often() -> None:
    choices = (
        ColumnChoice("red", ("x",)),
        ColumnChoice("red", ("lidar.ranges",), 10.0),
        ColumnChoice("red", ("y",), 25.0),
    )
    subscription = Subscription(View(columns=choices), 60.0)
    times = np.arange(0.0, 10.0, 1.0 / 60.0)
    held = [subscription.due_view(float(now)).held for now in 1000.0 + times]
    assert held[0] == frozenset()  # all at first
    sent = [sum(k not in frame for frame in held) for k in range(3)]
    assert sent[0] == len(times) and abs(sent[1] - 100) <= 1 and abs(sent[2] - 250) <= 1
    changed = (*choices[:2], ColumnChoice("red", ("z",), 25.0))
    subscription.change(View(columns=changed), 60.0)
    assert subscription.due_view(1010.0).held == frozenset()  # a new list begins with all columns
