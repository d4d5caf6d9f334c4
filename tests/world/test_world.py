"""The world: fleets by name, vehicles by name and id, ids that are never used twice."""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from paddock.errors import InvalidValueError, PaddockError, UnknownNameError
from paddock.world.archive import pack, unpack
from paddock.world.columns import Column, Environment, defaults_of
from paddock.world.fleet import Fleet
from paddock.world.state import load, save
from paddock.world.world import LARGEST_ID, World


class State(NamedTuple):
    x: Annotated[float, Column("m", "x")] = 0.0


def world_of(*fleets: tuple[str, int]) -> World:
    world = World(240.0, defaults_of(Environment).copy(), seed=7)
    for name, count in fleets:
        fleet = Fleet(name, State, State, count, single=count == 1)
        fleet.add(world.take_ids(count), np.zeros((1, count)))
        world.add_fleet(fleet)
    return world


def test_fleets_are_sorted_by_name() -> None:
    world = world_of(("b", 2), ("c", 1), ("a", 3))
    assert list(world.fleets) == ["a", "b", "c"] and world.vehicles == 6
    with pytest.raises(PaddockError, match="the name 'b' is already used by a fleet or vehicle"):
        world.add_fleet(Fleet("b", State, State))


@pytest.mark.parametrize(
    ("target", "fleet", "rows"),
    [
        ("a", "a", [0, 1, 2]),
        ("a[1]", "a", [1]),
        ("c", "c", [0]),
        ("c[0]", "c", [0]),
        (6, "a", [2]),
        (np.int64(3), "c", [0]),
    ],
)
def test_finding(target: Any, fleet: str, rows: list[int]) -> None:
    owner, where = world_of(("b", 2), ("c", 1), ("a", 3)).find(target)
    assert owner.name == fleet and where.tolist() == rows


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("aa", "unknown vehicle 'aa'; did you mean 'a'?"),
        ("zz", "unknown vehicle 'zz'; valid: a, b, c"),
        ("a[3]", "fleet 'a' has no member 3"),
        ("a[-1]", "unknown vehicle 'a[-1]'; valid: a, b, c"),
        ("a[1", "unknown vehicle 'a[1'; valid: a, b, c"),
        ("a[]", "unknown vehicle 'a[]'; valid: a, b, c"),
        (99, "no vehicle has the id 99"),
        (True, "unknown vehicle 'True'; valid: a, b, c"),
        (1.0, "unknown vehicle '1.0'; valid: a, b, c"),
    ],
)
def test_not_finding(target: Any, message: str) -> None:
    with pytest.raises(UnknownNameError) as caught:
        world_of(("b", 2), ("c", 1), ("a", 3)).find(target)
    assert str(caught.value) == message


@example([(1, 0)], True)  # an id of the user's: 0 is valid, although the first free one is 1
@given(st.lists(st.tuples(st.integers(1, 5), st.one_of(st.none(), st.integers(0, 60))), max_size=25), st.booleans())
def test_no_id_is_assigned_twice(requests: list[tuple[int, int | None]], saving: bool) -> None:
    world, used = world_of(), set[int]()
    for count, first in requests:
        wanted = set(range(first, first + count)) if first is not None else set()
        if wanted & used:
            with pytest.raises(
                PaddockError, match=f"vehicle id {min(wanted & used)} has already been used in this run"
            ):
                world.take_ids(count, first)
            continue
        ids = world.take_ids(count, first).tolist()
        assert len(ids) == count and not used & set(ids) and (first is None or set(ids) == wanted)
        used |= set(ids)
        if saving:
            world = loaded(world_of(), world)
    covered = {number for low, high in world.used_ids for number in range(low, high)}
    assert covered == used


def test_ids_end() -> None:
    world = world_of()
    assert world.take_ids(1, LARGEST_ID).tolist() == [2**31 - 1]
    with pytest.raises(PaddockError, match="vehicle ids end at 2147483647: 1 more from 2147483648 do not fit"):
        world.take_ids(1)


def loaded(into: World, world: World) -> World:
    """Return a world with the saved state of another one."""
    load(into.state, unpack(pack(save(world.state))))
    return into


def test_saving_and_loading() -> None:
    world, epoch = world_of(("a", 3)), 0
    world.clock.tick, world.state.seed, world.environment[0] = 99, 2**64 - 1, 1.62
    world.fleets["a"].state[0, :3] = [1, 2, 3]
    other, again = loaded(world_of(("a", 3)), world), world_of(("a", 3))
    assert (other.clock.tick, other.seed, other.environment[0]) == (99, 2**64 - 1, 1.62)
    assert pack(save(other.state)) == pack(save(world.state))
    clock, epoch = again.clock, again.epoch
    again.swap(other)
    assert again.clock is clock and clock.tick == 99 and again.epoch == epoch + 1
    assert again.find("a[1]")[0].state[0, :3].tolist() == [1.0, 2.0, 3.0]


def test_ids_that_no_run_has_assigned_are_refused() -> None:
    for changes, message in (
        ({"used_ids": [[1, 3]]}, "not among the ids that were assigned"),
        ({"used_ids": [[1, 2], [2, 4]]}, "ranges of assigned vehicle ids are not valid"),
        ({"next_id": 2}, "ranges of assigned vehicle ids are not valid"),
        ({"environment": np.array([150.0, 1, 0, 0, 0, 1, 0])}, "must lie in"),
    ):
        with pytest.raises(InvalidValueError, match=message):
            load(world_of(("a", 3)).state, {**save(world_of(("a", 3)).state), **changes})
