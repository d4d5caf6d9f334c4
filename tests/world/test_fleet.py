"""A fleet's tables: growing, shrinking, saving, against a list of vehicles."""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddock.errors import PaddockError
from paddock.world.archive import pack, unpack
from paddock.world.columns import Column
from paddock.world.fleet import NEVER, Fleet, stream_ids
from paddock.world.state import digest, load, save


class State(NamedTuple):
    x: Annotated[float, Column("m", "x")]
    v: Annotated[float, Column("m/s", "v")]


class Command(NamedTuple):
    throttle: Annotated[float, Column("", "throttle")] = 0.25


def fleet_of(capacity: int = 1, single: bool = False) -> Fleet:
    fleet = Fleet("scouts", State, Command, capacity, single)
    fleet.add_table("memory", np.array([7.0, 8.0]))
    return fleet


def test_new_vehicles_take_defaults() -> None:
    fleet = fleet_of(4)
    assert fleet.add(np.array([5, 6]), np.array([[1.0, 2.0], [3.0, 4.0]])) == slice(0, 2)
    assert fleet.n == 2 and fleet.ids.tolist() == [5, 6] and fleet.members.tolist() == [0, 1]
    assert fleet.state[:, :2].tolist() == [[1.0, 2.0], [3.0, 4.0]]
    assert fleet.command[0, :2].tolist() == [0.25, 0.25]
    assert fleet.tables["expires"][:2].tolist() == [NEVER, NEVER]
    assert np.array_equal(fleet.tables["streams"][:2], stream_ids("scouts", np.arange(2)))
    assert fleet.tables["memory"][:, 0].tolist() == [7.0, 8.0]


@given(st.lists(st.one_of(st.integers(1, 9), st.floats(0, 1)), max_size=30))
def test_any_history_of_joining_and_leaving(history: list[Any]) -> None:
    """An int lets so many join; a float lets that share leave. A plain list keeps the same books."""
    fleet, books, next_id = fleet_of(), [], 100
    for event in history:
        if isinstance(event, int):
            ids = np.arange(next_id, next_id + event)
            fleet.add(ids, np.stack([ids * 1.5, -ids * 1.0]))
            books += [(int(k), fleet.next_member - event + j, k * 1.5) for j, k in enumerate(ids)]
            next_id += event
        else:
            stay = np.random.default_rng(int(event * 1e6)).random(fleet.n) >= event
            fleet.keep(np.flatnonzero(stay))
            books = [vehicle for vehicle, stays in zip(books, stay, strict=True) if stays]
        assert (
            list(zip(fleet.ids.tolist(), fleet.members.tolist(), fleet.state[0, : fleet.n].tolist(), strict=True))
            == books
        )
        assert fleet.n <= fleet.capacity
        assert all(table.shape[-1] == fleet.capacity for table in fleet.tables.values())
        for row, (_, member, _) in enumerate(books):
            assert fleet.row_of(member) == row and fleet.vehicle_name(row) == f"scouts[{member}]"
        assert fleet.row_of(fleet.next_member) is None
    other = fleet_of()
    load(other, unpack(pack(save(fleet))))
    assert pack(save(other)) == pack(save(fleet)) and digest(other) == digest(fleet)


def test_a_single_vehicle_has_the_name_of_its_fleet() -> None:
    fleet = fleet_of(single=True)
    fleet.add(np.array([1]), np.zeros((2, 1)))
    assert fleet.vehicle_name(0) == "scouts" and fleet.row_of(0) == 0 and fleet.row_of(1) is None


def test_data_beyond_n_is_hidden() -> None:
    first, two = fleet_of(2), fleet_of(64)
    for fleet in (first, two):
        fleet.add(np.array([5, 6]), np.ones((2, 2)))
    two.state[:, 2:] = 99.0
    assert pack(save(first)) == pack(save(two)) and digest(first) == digest(two)


def test_other_tables_are_refused() -> None:
    plain = Fleet("scouts", State, Command)
    with pytest.raises(PaddockError, match=r"tables: unknown field 'memory'"):
        load(plain, save(fleet_of()))
