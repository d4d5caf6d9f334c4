"""The network that the links form: components, routes by expected transmissions, articulation points and bridges.

Two radios are neighbours if both directions of their link are up. The cost of a hop is the expected number of
transmissions until a packet and its acknowledgement get through, 1 / ((1 - p_forward) (1 - p_backward)) (ETX: De Couto
et al., 2003). Everything is compiled and takes compressed rows; radios of one vehicle are joined at no cost.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy import empty, float64, int64, uint8, zeros
from numpy.typing import NDArray

from paddock.compute.routine import routine
from paddock.errors import UnknownNameError, unknown_name

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
LEAST_SHARE = 1e-4  # of round trips that succeed: below it, two radios are no neighbours
NO_HOP = -1
UNREACHED = float("inf")


class Graph(NamedTuple):
    """Neighbours of each radio, both ways."""

    start: Ints  # (n + 1,) neighbours of radio i are start[i]:start[i + 1]
    peer: Ints  # (m,) ascending for each radio
    cost: Floats  # (m,) expected transmissions; 0 between radios of one vehicle


class Pieces(NamedTuple):
    """What falls apart if a radio or a link fails."""

    articulation: Ints  # radios without which their component would fall apart, ascending
    bridges: Ints  # (b, 2) links with the same effect, the lower radio first, ascending


def find_entry(first: int, last: int, peer: Any, number: int) -> int:
    """Return the index of a peer in a row, `first` to before `last`, whose peers ascend; -1 if it is not there."""
    low, high = first, last
    while low < high:
        middle = (low + high) // 2
        if peer[middle] < number:
            low = middle + 1
        else:
            high = middle
    if low < last and peer[low] == number:
        return int(low)
    return -1


def _graph(
    start: Any, peer: Any, per: Any, up: Any, group: Any, order: Any, first: Any
) -> tuple[Ints, Ints, Floats]:  # fmt: skip
    """Return the neighbours; radios `order[first[g]:first[g + 1]]` belong to one vehicle, the group g."""
    n = len(start) - 1
    begins = zeros(n + 1, int64)
    room = len(peer)
    for i in range(n):
        room += first[group[i] + 1] - first[group[i]] - 1
    peers, costs = empty(room, int64), empty(room)
    at, backward = 0, start[:n].copy()  # entries of each row, which rise with i: those of links back
    for i in range(n):
        sibling, last = first[group[i]], first[group[i] + 1]
        for entry in range(start[i], start[i + 1]):
            j = peer[entry]
            while sibling < last and order[sibling] < j:
                if order[sibling] != i:
                    peers[at], costs[at] = order[sibling], 0.0
                    at += 1
                sibling += 1
            if group[j] == group[i]:
                continue
            back = backward[j]
            while back < start[j + 1] and peer[back] < i:
                back += 1
            backward[j] = back
            if up[entry] == 0 or back == start[j + 1] or peer[back] != i or up[back] == 0:
                continue
            share = (1.0 - per[entry]) * (1.0 - per[back])  # of round trips that succeed
            if share >= LEAST_SHARE:
                peers[at], costs[at] = j, 1.0 / share
                at += 1
        while sibling < last:
            if order[sibling] != i:
                peers[at], costs[at] = order[sibling], 0.0
                at += 1
            sibling += 1
        begins[i + 1] = at
    return begins, peers[:at].copy(), costs[:at].copy()


def _components(start: Any, peer: Any) -> Ints:
    """Return the component of each radio, numbered in the order of their first radios."""
    n = len(start) - 1
    label, waiting = zeros(n, int64) - 1, empty(n, int64)
    label_count = 0
    for first in range(n):
        if label[first] >= 0:
            continue
        label[first], waiting[0], size = label_count, first, 1
        while size > 0:
            size -= 1
            i = waiting[size]
            for entry in range(start[i], start[i + 1]):
                j = peer[entry]
                if label[j] < 0:
                    label[j] = label_count
                    waiting[size] = j
                    size += 1
        label_count += 1
    return label


def both_ways(start: Any, peer: Any, per: Any, up: Any, row: int, entry: int) -> bool:
    """Return whether the link of an entry is usable in both directions, as for `Graph`."""
    if up[entry] == 0:
        return False
    back = find_entry(start[peer[entry]], start[peer[entry] + 1], peer, row)
    if back < 0 or up[back] == 0:
        return False
    return bool((1.0 - per[entry]) * (1.0 - per[back]) >= LEAST_SHARE)


def _contacts(start: Any, peer: Any, per: Any, up: Any, owner: Any, carried: int) -> Any:
    """Return 1 for the radios with a route to a station and back.

    Stations have the radios from `carried` on; radios of one vehicle have the same owner and follow each other. Without
    the costs of routes this takes a fraction of the time of `Graph`, because most links lead to radios already found.
    """
    n = len(start) - 1
    reached, waiting = zeros(n, uint8), empty(n, int64)
    size = 0
    for i in range(carried, n):
        reached[i], waiting[size] = 1, i
        size += 1
    while size > 0:
        size -= 1
        i = waiting[size]
        for step in (-1, 1):  # the other radios of the vehicle
            j = i + step
            while 0 <= j < n and owner[j] == owner[i]:
                if reached[j] == 0:
                    reached[j], waiting[size] = 1, j
                    size += 1
                j += step
        for entry in range(start[i], start[i + 1]):
            j = peer[entry]
            if reached[j] == 0 and both_ways(start, peer, per, up, i, entry):
                reached[j], waiting[size] = 1, j
                size += 1
    return reached


def sift_up(heap: Any, node: Any, key: Any, at: int) -> None:
    """Move an item of an indexed binary heap up until its parent's key is not larger."""
    item = heap[at]
    while at > 0:
        parent = (at - 1) >> 1
        if key[heap[parent]] <= key[item]:
            break
        heap[at] = heap[parent]
        node[heap[at]] = at
        at = parent
    heap[at] = item
    node[item] = at


def sift_down(heap: Any, node: Any, key: Any, at: int, size: int) -> None:
    """Move an item of an indexed binary heap down until its children's keys are not smaller."""
    item = heap[at]
    while 2 * at + 1 < size:
        child = 2 * at + 1
        if child + 1 < size and key[heap[child + 1]] < key[heap[child]]:
            child += 1
        if key[heap[child]] >= key[item]:
            break
        heap[at] = heap[child]
        node[heap[at]] = at
        at = child
    heap[at] = item
    node[item] = at


def shortest(start: Any, peer: Any, cost: Any, source: int, distance: Any, towards: Any) -> None:
    """Write the cost from each radio to the source and the next radio on the way there (-1: none).

    Of ways with equal costs, the one over the radio with the lower index is taken (Dijkstra, 1959).
    """
    n = len(start) - 1
    heap, node, settled = empty(n, int64), zeros(n, int64) - 1, zeros(n, int64)
    for i in range(n):
        distance[i], towards[i] = UNREACHED, NO_HOP
    distance[source], heap[0], node[source], size = 0.0, source, 0, 1
    while size > 0:
        i, size = heap[0], size - 1
        node[i], settled[i] = -1, 1
        if size > 0:
            heap[0] = heap[size]
            node[heap[0]] = 0
            sift_down(heap, node, distance, 0, size)
        for entry in range(start[i], start[i + 1]):
            j, far = peer[entry], distance[i] + cost[entry]
            if settled[j] == 1:
                continue
            if far < distance[j]:
                distance[j], towards[j] = far, i
                if node[j] < 0:
                    heap[size], node[j] = j, size
                    size += 1
                sift_up(heap, node, distance, node[j])
            elif far == distance[j] and i < towards[j]:
                towards[j] = i


def _weak_points(start: Any, peer: Any) -> tuple[Ints, Ints, int]:
    """Return 1 for articulation points, the bridges and their number (Tarjan, 1974, without recursion)."""
    n = len(start) - 1
    cut, seen, low, above = zeros(n, int64), zeros(n, int64) - 1, zeros(n, int64), zeros(n, int64) - 1
    at, stack, bridges = start[:n].copy(), empty(n, int64), empty((n, 2), int64)
    clock, count = 0, 0
    for root in range(n):
        if seen[root] >= 0:
            continue
        seen[root] = low[root] = clock
        clock += 1
        stack[0], size, branches = root, 1, 0
        while size > 0:
            i = stack[size - 1]
            if at[i] < start[i + 1]:
                j = peer[at[i]]
                at[i] += 1
                if seen[j] < 0:
                    above[j] = i
                    seen[j] = low[j] = clock
                    clock += 1
                    stack[size] = j
                    size += 1
                elif j != above[i]:
                    low[i] = min(low[i], seen[j])
                continue
            size -= 1
            parent = above[i]
            if parent < 0:
                continue
            low[parent] = min(low[parent], low[i])
            if parent == root:
                branches += 1
            elif low[i] >= seen[parent]:
                cut[parent] = 1
            if low[i] > seen[parent]:
                bridges[count, 0], bridges[count, 1] = min(i, parent), max(i, parent)
                count += 1
        if branches > 1:
            cut[root] = 1
    return cut, bridges, count


graph_rows, component_labels, contacts = routine(_graph), routine(_components), routine(_contacts)
shortest_ways, weak_points = routine(shortest), routine(_weak_points)


def graph_of(links: Any, owner: Any = None) -> Graph:
    """Return the network of a table of links.

    `owner` (n,): radios with the same number >= 0 belong to one vehicle.
    """
    n = len(links.start) - 1
    group = np.arange(n)
    if owner is not None:
        owners = np.asarray(owner, np.int64)
        group = np.unique(np.where(owners < 0, -1 - np.arange(n), owners), return_inverse=True)[1].reshape(-1)
    order = np.argsort(group, kind="stable")
    first = np.searchsorted(group[order], np.arange(n + 1))
    rows = np.asarray(links.start, np.int64), np.asarray(links.peer, np.int64)
    per, up = np.asarray(links.per, float64), np.asarray(links.up, np.uint8)
    return Graph(*graph_rows(*rows, per, up, *(indices.astype(np.int64) for indices in (group, order, first))))


def joined_radios(graph: Graph, owner: Any) -> tuple[Graph, Ints, Ints]:
    """Return the network of vehicles and stations: the cheapest link of their radios joins two of them.

    `owner` (n,): radios with the same number are of one. Also the node of each radio, and the first radio of each node.
    """
    _, first, group = np.unique(np.asarray(owner), return_index=True, return_inverse=True)
    order = np.argsort(first, kind="stable")  # nodes in the order of their first radios
    node = np.argsort(order, kind="stable")[group.reshape(-1)]
    count = len(first)
    row, peer = np.repeat(node, np.diff(graph.start)), node[graph.peer]
    apart = row != peer
    row, peer, cost = row[apart], peer[apart], graph.cost[apart]
    pairs, at = np.unique(row * count + peer, return_inverse=True)
    cheapest = np.full(len(pairs), UNREACHED)
    np.minimum.at(cheapest, at.reshape(-1), cost)
    start = np.searchsorted(pairs, np.arange(count + 1) * count).astype(np.int64)
    return Graph(start, (pairs % max(count, 1)).astype(np.int64), cheapest), node, first[order]


def ways_to(graph: Graph, node: int) -> tuple[Floats, Ints]:
    """Return the cost of the way from each node to one (inf: there is none), and the next node on it (NO_HOP)."""
    n = len(graph.start) - 1
    distance, towards = empty(n), empty(n, np.int64)
    shortest_ways(*graph, node, distance, towards)
    return distance, towards


class Network:
    """The network at one tick, a query. Its nodes are vehicles and stations; `red/1` is in that of `red`."""

    def __init__(self, tick: int, graph: Graph, names: list[str], owner: Any = None) -> None:
        """`names` are those of the radios; `owner` (n,): radios with the same number are one node."""
        of = np.arange(len(names)) if owner is None else owner
        self.graph, nodes, first = joined_radios(graph, of)
        self.tick, self.names = tick, [names[k] for k in first.tolist()]
        self._nodes: dict[str, int] = dict(zip(names, nodes.tolist(), strict=True))
        self.labels = component_labels(self.graph.start, self.graph.peer)
        self._weak: Pieces | None = None

    @property
    def components(self) -> list[list[str]]:
        """Vehicles and stations that reach each other, by name; the largest component first."""
        parts: dict[int, list[str]] = {}
        for name, label in zip(self.names, self.labels.tolist(), strict=True):
            parts.setdefault(label, []).append(name)
        return sorted(parts.values(), key=lambda part: -len(part))

    @property
    def parts(self) -> int:
        """The number of components."""
        return int(self.labels.max()) + 1 if len(self.labels) else 0

    @property
    def connected(self) -> bool:
        """Whether every vehicle and station reaches every other one."""
        return self.parts < 2

    def reach(self, a: str, b: str) -> bool:
        """Return whether a message from one can reach another one, over any number of hops."""
        return bool(self.labels[self._index(a)] == self.labels[self._index(b)])

    def path(self, a: str, b: str) -> tuple[list[str], float]:
        """Return the names on the cheapest way from one to another, and its expected transmissions; [] and inf."""
        first, last = self._index(a), self._index(b)
        distance, towards = ways_to(self.graph, last)
        if not np.isfinite(distance[first]):
            return [], UNREACHED
        way = [first]
        while way[-1] != last:
            way.append(int(towards[way[-1]]))
        return [self.names[k] for k in way], float(distance[first])

    def costs(self, a: str) -> Floats:
        """Return the expected transmissions from one to each of `names`; inf where there is no way."""
        return ways_to(self.graph, self._index(a))[0]

    @property
    def articulation_points(self) -> list[str]:
        """Vehicles and stations whose loss would split their component."""
        return [self.names[k] for k in self._pieces().articulation.tolist()]

    @property
    def bridges(self) -> list[tuple[str, str]]:
        """Pairs of neighbours whose loss of contact would split their component."""
        return [(self.names[a], self.names[b]) for a, b in self._pieces().bridges.tolist()]

    def _pieces(self) -> Pieces:
        if self._weak is None:
            cut, bridges, count = weak_points(self.graph.start, self.graph.peer)
            pairs = bridges[:count]
            self._weak = Pieces(np.flatnonzero(cut), pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))])
        return self._weak

    def _index(self, name: str) -> int:
        if name not in self._nodes:
            members = [member for member in self.names if member.startswith(f"{name}[")]
            if members:
                raise UnknownNameError(f"{name!r} is a fleet of {len(members)}: name one vehicle, e.g. {members[0]}")
            raise unknown_name("vehicle or station", name, self.names)
        return self._nodes[name]

    def __repr__(self) -> str:
        return f"<Network at tick {self.tick}: {len(self.names)} vehicles and stations, {self.parts} components>"
