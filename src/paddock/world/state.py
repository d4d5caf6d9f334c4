"""Save, load, hash and re-sort the parts of a run's state (`parts.py` declares them), all parts alike.

`save` returns a tree for `archive.pack`; its arrays are views: pack or copy them before the next tick. `load` fills a
fresh part with such a tree of unknown origin. It refuses what is not of the declared type, shape and limits, and names
the path: `fleets.scouts.state[3, 5] (vx): nan is out of its limits`. Then it calls `check(state)` of every part that
has one; `state` is the root of the tree, or what the caller passes. So a failed load changes nothing that is in use:
load into a fresh part, then replace the present one.

`append`, `keep` and `take` change the rows of an axis in the part that owns it and in its children; what refers to the
rows is renumbered. Saved states and hashes have rows in the order of the field declared as `key`.
"""

import struct
from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from copy import copy
from functools import cache
from typing import Any, TypeVar, cast

import numpy as np
import xxhash
from numpy.typing import NDArray

from paddock.errors import InvalidValueError, printable
from paddock.world.archive import Tree, blocks, emit
from paddock.world.columns import columns_of
from paddock.world.parts import (
    ArrayLeaf,
    BlobLeaf,
    Bounds,
    ChildLeaf,
    Part,
    RecordLeaf,
    ScalarLeaf,
    Slot,
    TablesLeaf,
    refusing,
)

P = TypeVar("P")
Rows = NDArray[np.int64]
Owners = Mapping[str, tuple[Part, str]]

HASHED, SETTLED, SAVED, EVERYWHERE = "hashed", "settled", "saved", "everywhere"
"""Scopes: hashed: equal in equal runs; settled: equal in a replay, too, which has no autopilots and queues its actions
from the start; saved; everywhere: all leaves."""


def slots(root: Part, scope: str = SAVED, path: str = "", owners: Owners | None = None) -> Iterator[Slot]:
    """Yield the leaves of a tree of parts that belong to a scope, in a fixed order."""
    owners = owners_in(root, owners or {})
    for name, leaf in root.leaves.items():
        if not getattr(leaf, scope):
            continue
        here = _joined(path, name)
        if isinstance(leaf, ChildLeaf):
            for key, inner in sorted(children_of(root, name).items()):
                yield from slots(inner, scope, _joined(here, key), owners)
        elif isinstance(leaf, TablesLeaf):
            for key, spec in sorted(root.specs.get(name, {}).items()):
                if getattr(spec, scope):
                    yield Slot(root, name, spec, f"{here}.{key}", owners, key)
        else:
            yield Slot(root, name, leaf, here, owners)


def children_of(part: Part, name: str) -> dict[str, Part]:
    """Return the parts in a field by their names; a field with a single part has it under ""."""
    content = getattr(part, name)
    return content if isinstance(content, dict) else {} if content is None else {"": content}


def _joined(path: str, name: str) -> str:
    return f"{path}.{name}" if path and name else path or name


def owners_in(part: Part, owners: Owners) -> Owners:
    """Return the owners of axes, those that this part owns included; a part around it that counts the same rows owns
    them, because it has their keys.
    """
    own = {leaf.counts: (part, name) for name, leaf in part.leaves.items() if getattr(leaf, "counts", "")}
    return {**own, **owners} if own else owners


# save -----------------------------------------------------------------------------------------------------------------


def save(part: Part, owners: Owners | None = None) -> Tree:
    """Return the saved leaves of a part as a tree of plain values and arrays, views where that is possible."""
    owners, tree = owners_in(part, owners or {}), Tree()
    for name, leaf in part.leaves.items():
        if not leaf.saved:
            continue
        if isinstance(leaf, ChildLeaf):
            inside = {key: save(inner, owners) for key, inner in children_of(part, name).items()}
            if leaf.many or inside:
                tree[name] = inside if leaf.many else inside[""]
        elif isinstance(leaf, TablesLeaf):
            specs = part.specs.get(name, {})
            tree[name] = {key: saved_value(Slot(part, name, specs[key], "", owners, key)) for key in specs}
        else:
            tree[name] = saved_value(Slot(part, name, leaf, "", owners))
    return tree


def saved_value(slot: Slot) -> Any:
    """Return the value of a leaf as it is saved and hashed: rows in use, in the order of their keys."""
    leaf, value = slot.leaf, slot.get()
    if not isinstance(leaf, ArrayLeaf):
        if isinstance(leaf, BlobLeaf) and leaf.axes and (order := order_of(slot.owners, str(leaf.axes[0]))) is not None:
            value = [value[row] for row in order.tolist()]
        return leaf.write(value)
    for k, axis in enumerate(leaf.axes):
        if axis not in slot.owners:
            continue
        order, (owner, name) = order_of(slot.owners, str(axis)), slot.owners[str(axis)]
        if order is not None:
            value = np.take(value, order, axis=k)
        elif value.shape[k] != (n := getattr(owner, name)):
            value = value[(*[slice(None)] * k, slice(n))]
    for axis in referred(leaf):
        if (order := order_of(slot.owners, axis)) is not None:
            value = renumber(value, leaf, axis, order)
    return value if leaf.ring is None else _unrolled(value, slot)


@cache
def referred(leaf: Any) -> list[str]:
    """Return the axes to whose rows the values of an array refer."""
    if not isinstance(leaf, ArrayLeaf):
        return []
    of_columns = () if leaf.columns is None else (column.refers for column in columns_of(leaf.columns))
    return [axis for axis in dict.fromkeys((leaf.refers, *of_columns)) if axis]


def renumber(values: NDArray[Any], leaf: ArrayLeaf, axis: str, rows: Rows) -> NDArray[Any]:
    """Return an array in which references to an axis are those after only these of its rows are kept."""
    if leaf.refers == axis:
        return renumbered(values, rows)
    made = values.copy()
    ahead: tuple[Any, ...] = (slice(None),) * leaf.along
    for k, column in enumerate(columns_of(cast(type, leaf.columns))):
        if column.refers == axis:
            made[(*ahead, k)] = renumbered(values[(*ahead, k)], rows)
    return made


def order_of(owners: Owners, axis: str) -> Rows | None:
    """Return the rows of an axis in the order of their keys; None if they are in order."""
    owner, name = owners.get(axis, (None, ""))
    n = 0 if owner is None else getattr(owner, name)
    if n < 2:
        return None
    for key, leaf in owner.leaves.items():
        if isinstance(leaf, ArrayLeaf) and leaf.key and leaf.axes == (axis,):
            return _ascending(getattr(owner, key)[:n])
        if isinstance(leaf, TablesLeaf):
            for table, spec in owner.specs.get(key, {}).items():
                if spec.key and spec.axes == (axis,):
                    return _ascending(getattr(owner, key)[table][:n])
    return None


def _ascending(keys: NDArray[Any]) -> Rows | None:
    return None if (keys[1:] >= keys[:-1]).all() else np.argsort(keys, kind="stable")


def renumbered(refers: NDArray[Any], rows: Rows) -> NDArray[Any]:
    """Return references after only these rows (-1: a new one) are kept, in this order; -1 to a row that is gone."""
    size = max(int(rows.max(initial=-1)), int(refers.max(initial=-1))) + 1
    new = np.full(size, -1, refers.dtype)
    known = np.flatnonzero(rows >= 0)
    new[rows[known]] = known
    return np.where(refers >= 0, new[np.maximum(refers, 0)], refers) if size else refers


def _unrolled(ring: NDArray[Any], slot: Slot) -> NDArray[Any]:
    """Return the entries of a ring: of each row in order from its head, one row after the other."""
    head, count = (
        saved_value(slot._replace(name=name, leaf=slot.part.leaves[name], table=""))
        for name in cast(Any, slot.leaf).ring
    )
    row = np.repeat(np.arange(len(count)), count)
    nth = np.arange(len(row)) - np.repeat(np.cumsum(count) - count, count)
    return cast(NDArray[Any], ring[row, (head[row] + nth) % max(ring.shape[1], 1)])


# hash -----------------------------------------------------------------------------------------------------------------


def digest(root: Part, scope: str = HASHED) -> str:
    """Return the hex xxh3_128 of the leaves of a scope; independent of spare room and of the order of rows in memory.

    The list of leaves is kept for the next call, as long as the tree has the same parts.
    """
    kept = root.__dict__.setdefault("_hashed", {})
    if scope not in kept or not all(_inside(part, name) == inside for part, name, inside in kept[scope][0]):
        leaves = [slot for slot in slots(root, scope) if slot.leaf.saved]
        kept[scope] = list(_families(root)), [(slot, slot.path.encode() + b"\0", _is_sized(slot)) for slot in leaves]
    hasher = xxhash.xxh3_128()
    for slot, prefix, sized in kept[scope][1]:
        hasher.update(prefix)
        value = saved_value(slot)
        if isinstance(value, np.ndarray):
            if not sized:
                hasher.update(struct.pack(f"<{value.ndim}Q", *value.shape))
            for block in blocks(value) if value.size else ():
                hasher.update(block.reshape(-1).view(np.uint8).data)
        else:
            emit(value, hasher.update)
    return hasher.hexdigest()


def _families(part: Part) -> Iterator[tuple[Part, str, tuple[Part, ...]]]:
    """Yield each field of parts in a tree, and the parts that it holds."""
    for name, leaf in part.leaves.items():
        if isinstance(leaf, ChildLeaf):
            inside = _inside(part, name)
            yield part, name, inside
            for inner in inside:
                yield from _families(inner)


def _inside(part: Part, name: str) -> tuple[Part, ...]:
    return tuple(children_of(part, name).values())


def _is_sized(slot: Slot) -> bool:
    """Return whether other leaves and the configuration determine the shape of an array."""
    known = (*slot.owners, *slot.part.sizes)
    return all(isinstance(axis, int) or axis in known for axis in slot.leaf.axes)


# load -----------------------------------------------------------------------------------------------------------------


def outline(kind: Any, saved: Any, path: str = "") -> dict[str, Any]:
    """Return the numbers, flags, texts and records of a saved part by name, from which the part itself is built.

    They are checked, as are the names of all fields and whether parts by name are a mapping; `load` checks the rest.
    """
    leaves = {name: leaf for name, leaf in kind.leaves.items() if leaf.saved}
    optional = {name for name, leaf in leaves.items() if isinstance(leaf, ChildLeaf) and not leaf.many}
    _check_names(saved, leaves.keys(), path, optional)
    bounds, values = Bounds(limited=True), {}
    for name, leaf in leaves.items():
        here = _joined(path, name)
        if isinstance(leaf, ChildLeaf) and leaf.many and not isinstance(saved[name], dict):
            raise InvalidValueError(f"{here} is not a mapping")
        if isinstance(leaf, ScalarLeaf | RecordLeaf):
            values[name] = leaf.read(saved[name], Slot(kind, name, leaf, here, {}), bounds)
    return values


def load(root: Part, saved: Any, path: str = "", state: Any = None, limited: bool = True) -> None:
    """Fill a fresh part with a saved tree and check it; InvalidValueError with the path of what is not valid.

    state: what `check` of the parts receives. limited: False for a run that has ended with a value that is not finite.
    """
    _load(root, saved, path, {}, Bounds(limited))
    check(root, path, root if state is None else state)


def _load(part: Part, saved: Any, path: str, owners: Owners, bounds: Bounds) -> None:
    outer, owners = owners, owners_in(part, owners)
    present = check_fields(part, saved, path)
    for name, leaf in part.leaves.items():
        if name not in present:
            if isinstance(leaf, ArrayLeaf):  # not saved
                counted = {axis: getattr(*owner) for axis, owner in owners.items()}
                setattr(part, name, leaf.new({**part.sizes, **counted}))
            continue
        here = _joined(path, name)
        if isinstance(leaf, ChildLeaf):
            inside = children_of(part, name)
            if leaf.many:
                _check_names(saved[name], inside.keys(), here)
            for key, inner in inside.items():
                _load(inner, saved[name][key] if leaf.many else saved[name], _joined(here, key), owners, bounds)
        elif isinstance(leaf, TablesLeaf):
            specs = part.specs.get(name, {})
            _check_names(saved[name], specs.keys(), here)
            for key, spec in specs.items():
                slot = Slot(part, name, spec, f"{here}.{key}", owners, key)
                slot.set(spec.read(saved[name][key], slot, bounds))
        else:
            slot = Slot(part, name, leaf, here, owners)
            slot.set(leaf.read(saved[name], slot, bounds))
            axis = getattr(leaf, "counts", "")
            if axis in outer and slot.get() != getattr(*outer[axis]):
                raise slot.refused(f"is {slot.get()}, not {getattr(*outer[axis])}")


def check_fields(part: Part, saved: Any, path: str = "") -> set[str]:
    """Refuse a saved tree that does not have the fields of a part; return their names."""
    present = {
        name
        for name, leaf in part.leaves.items()
        if leaf.saved and (not isinstance(leaf, ChildLeaf) or leaf.many or getattr(part, name) is not None)
    }
    _check_names(saved, present, path)
    return present


def _check_names(saved: Any, names: Any, path: str, optional: AbstractSet[str] = frozenset()) -> None:
    if not isinstance(saved, dict):
        raise InvalidValueError(f"{path or 'the state'} is not a mapping")
    for key in saved:
        if key not in names:
            raise InvalidValueError(f"{f'{path}: ' if path else ''}unknown field {printable(repr(key))[:60]}")
    missing = sorted(set(names) - saved.keys() - optional)
    if missing:
        raise InvalidValueError(f"{f'{path}: ' if path else ''}the field {missing[0]!r} is missing")


def check(part: Part, path: str, state: Any) -> None:
    """Call `check` of a part and its children; its errors get the path of the part."""
    for name, leaf in part.leaves.items():
        if isinstance(leaf, ChildLeaf) and leaf.saved:
            for key, inner in children_of(part, name).items():
                check(inner, _joined(_joined(path, name), key), state)
    if hasattr(part, "check"):
        with refusing(path or "the state"):
            part.check(state)


# rows -----------------------------------------------------------------------------------------------------------------


def reserve(owner: Part, axis: str, needed: int) -> None:
    """Make room for that many rows."""
    for slot in _over(owner, axis):
        if not isinstance(slot.leaf, ArrayLeaf):
            continue
        table, k, used = slot.get(), slot.leaf.axes.index(axis), getattr(*slot.owners[axis])
        if table.shape[k] < needed:
            grown = np.zeros((*table.shape[:k], max(needed, 2 * table.shape[k]), *table.shape[k + 1 :]), table.dtype)
            grown[(*[slice(None)] * k, slice(used))] = table[(*[slice(None)] * k, slice(used))]
            slot.set(grown)


def append(owner: Part, axis: str, more: int) -> slice:
    """Add rows with the declared fill values; return them. Arrays grow to twice their size when they are full."""
    first = getattr(*owners_in(owner, {})[axis])
    reserve(owner, axis, first + more)
    for slot in _over(owner, axis):
        table = slot.get()
        if isinstance(slot.leaf, BlobLeaf):
            table.extend([None] * more)
        elif table.size:
            k = slot.leaf.axes.index(axis)
            table[(*[slice(None)] * k, slice(first, first + more))] = cast(ArrayLeaf, slot.leaf).filling(
                slot.part.sizes
            )
    _count(owner, axis, first + more)
    return slice(first, first + more)


def keep(owner: Part, axis: str, rows: Rows) -> None:
    """Keep only these rows, in this order: removes the others, or permutes all."""
    for slot in _over(owner, axis):
        table = slot.get()
        if isinstance(slot.leaf, BlobLeaf):
            table[:] = [table[row] for row in rows.tolist()]
            continue
        k = slot.leaf.axes.index(axis)
        table[(*[slice(None)] * k, slice(len(rows)))] = np.take(table, rows, axis=k)
    _count(owner, axis, len(rows))
    for slot in slots(owner, EVERYWHERE):
        if axis in referred(slot.leaf):
            used = used_rows(slot)
            used[...] = renumber(used, cast(ArrayLeaf, slot.leaf), axis, rows)


def _count(owner: Part, axis: str, n: int) -> None:
    """Set the number of rows in use, in parts inside that count the same rows, too."""
    for slot in slots(owner, EVERYWHERE):
        if isinstance(slot.leaf, ScalarLeaf) and slot.leaf.counts == axis:
            slot.set(n)


def used_rows(slot: Slot) -> NDArray[Any]:
    """Return the rows of an array that are in use, in the order in memory, as a view."""
    ends = (slice(getattr(*slot.owners[str(axis)])) if axis in slot.owners else slice(None) for axis in slot.leaf.axes)
    return cast(NDArray[Any], slot.get()[tuple(ends)])


def transfer(source: Part, target: Part, axis: str, destination: Rows) -> None:
    """Copy the rows of an axis to the rows `destination` of another part of its kind, and all without such an axis.

    destination: the new row of each row, -1: it is dropped. Other rows of the target stay as they are; references
    follow.
    """
    kept = np.flatnonzero(destination >= 0)
    for old, new in zip(slots(source, EVERYWHERE), slots(target, EVERYWHERE), strict=True):
        leaf, value = old.leaf, old.get()
        if getattr(leaf, "counts", "") == axis:
            continue
        if axis in referred(leaf):
            order = np.full(int(destination.max(initial=-1)) + 1, -1)
            order[destination[kept]] = kept
            value = renumber(value, cast(ArrayLeaf, leaf), axis, order)
        if isinstance(leaf, ArrayLeaf) and axis in leaf.axes:
            ahead = (slice(None),) * leaf.axes.index(axis)
            new.get()[(*ahead, destination[kept])] = value[(*ahead, kept)]
        else:
            new.set(value)


def take(owner: P, axis: str, rows: Rows) -> P:
    """Return a copy of a part with these rows only, in this order; the part itself is unchanged."""
    taken = _copied(owner, axis, rows)
    _count(taken, axis, len(rows))
    for slot in slots(taken, EVERYWHERE):
        if axis in referred(slot.leaf):
            slot.set(renumber(slot.get(), cast(ArrayLeaf, slot.leaf), axis, rows))
    return cast(P, taken)


def _copied(part: Any, axis: str, rows: Rows) -> Any:
    made = copy(part)
    made.__dict__.pop("_hashed", None)
    for name, leaf in part.leaves.items():
        value = getattr(part, name)
        if isinstance(leaf, ChildLeaf):
            inside = {key: _copied(inner, axis, rows) for key, inner in children_of(part, name).items()}
            setattr(made, name, inside if leaf.many else inside.get(""))
        elif isinstance(leaf, TablesLeaf):
            specs = part.specs.get(name, {})
            setattr(made, name, {key: _taken(value[key], specs[key].axes, axis, rows) for key in value})
        elif isinstance(leaf, BlobLeaf) and axis in leaf.axes:
            setattr(made, name, [value[row] for row in rows.tolist()])
        else:
            setattr(made, name, _taken(value, leaf.axes, axis, rows) if isinstance(leaf, ArrayLeaf) else copy(value))
    return made


def _taken(table: NDArray[Any], axes: tuple[str | int, ...], axis: str, rows: Rows) -> NDArray[Any]:
    return np.take(table, rows, axis=axes.index(axis)) if axis in axes else table.copy()


def _over(owner: Part, axis: str) -> list[Slot]:
    """Return the leaves over an axis, of the part that owns it and its children, saved or not."""
    return [slot for slot in slots(owner, EVERYWHERE) if axis in slot.leaf.axes]
