"""The network of the links, against networkx."""

from itertools import pairwise
from typing import Any, NamedTuple

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paddock.errors import UnknownNameError
from paddock.radio.packets.network import Network, contacts, graph_of


class Rows(NamedTuple):
    """Links as compressed rows."""

    start: Any
    peer: Any
    per: Any
    up: Any


def rows_of(per: Any, up: Any) -> Rows:
    """Return the rows of a matrix (receiver, transmitter) of error rates; NaN: not heard."""
    peers = [np.flatnonzero(~np.isnan(row)) for row in per]
    start = np.concatenate([[0], np.cumsum([len(row) for row in peers])])
    flat = np.concatenate([*peers, np.zeros(0, np.int64)]).astype(np.int32)
    receiver = np.repeat(np.arange(len(per)), np.diff(start))
    return Rows(start, flat, per[receiver, flat], up[receiver, flat].astype(np.uint8))


def random_links(n: int, density: float, seed: int) -> tuple[Rows, nx.Graph]:
    """Return random links, and the graph of those that are up in both directions."""
    draw = np.random.default_rng(seed)
    per = np.where(draw.random((n, n)) < density, draw.random((n, n)) * 0.8, np.nan)
    np.fill_diagonal(per, np.nan)
    up = draw.random((n, n)) < 0.9
    graph = nx.Graph()
    graph.add_nodes_from(range(n))
    for i in range(n):
        for j in range(i):
            if not np.isnan(per[i, j] + per[j, i]) and up[i, j] and up[j, i]:
                graph.add_edge(i, j, weight=1.0 / ((1.0 - per[i, j]) * (1.0 - per[j, i])))
    return rows_of(per, up), graph


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 24), st.floats(0.05, 0.5), st.integers(1, 3), st.integers(1, 3), st.integers(0, 10_000))
def test_contact_equals_networkx(n: int, density: float, stations: int, slots: int, seed: int) -> None:
    """Vehicles of `slots` radios, then stations: contact is a path in the graph of links that are up both ways."""
    rows, graph = random_links(slots * n + stations, density, seed)
    owner = np.concatenate([np.repeat(np.arange(n), slots), n + np.arange(stations)])
    for k in range(n):
        nx.add_path(graph, range(slots * k, slots * (k + 1)))
    parts = {k: part for part in nx.connected_components(graph) for k in part}
    expected = [any(k >= slots * n for k in parts[radio]) for radio in range(slots * n)]
    given_rows = rows.start, rows.peer.astype(np.int64), rows.per, rows.up, owner, slots * n
    for network in (contacts(*given_rows), contacts.plain(*given_rows)):
        assert network[: slots * n].astype(bool).tolist() == expected


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 24), st.floats(0.05, 0.9), st.integers(0, 10_000))
def test_network_equals_networkx(n: int, density: float, seed: int) -> None:
    rows, graph = random_links(n, density, seed)
    names = [f"r{k}" for k in range(n)]
    network = Network(0, graph_of(rows), names)
    assert {frozenset(part) for part in network.components} == {
        frozenset(names[k] for k in part) for part in nx.connected_components(graph)
    }
    assert network.connected == (nx.number_connected_components(graph) == 1)
    assert set(network.articulation_points) == {names[k] for k in nx.articulation_points(graph)}
    expected = {frozenset((names[a], names[b])) for a, b in nx.bridges(graph)}
    assert {frozenset(pair) for pair in network.bridges} == expected
    for source in range(min(n, 4)):
        known = nx.single_source_dijkstra_path_length(graph, source)
        costs = network.costs(names[source])
        for k in range(n):
            assert costs[k] == pytest.approx(known.get(k, np.inf), rel=1e-12)
            way, cost = network.path(names[k], names[source])
            if way:
                hops = [names.index(name) for name in way]
                assert cost == pytest.approx(sum(graph.edges[a, b]["weight"] for a, b in pairwise(hops)))


def test_expected_transmissions_of_a_lossy_direct_link_and_a_clean_detour() -> None:
    per = np.full((3, 3), np.nan)
    per[0, 1] = per[1, 0] = 0.5  # 4 transmissions each way
    per[0, 2] = per[2, 0] = per[1, 2] = per[2, 1] = 0.1  # 1 / 0.81 twice
    network = Network(0, graph_of(rows_of(per, np.ones((3, 3)))), ["a", "b", "c"])
    way, cost = network.path("a", "b")
    assert way == ["a", "c", "b"] and cost == pytest.approx(2.0 / 0.81)


def test_radios_of_one_vehicle_join_two_networks() -> None:
    per = np.full((4, 4), np.nan)
    per[0, 1] = per[1, 0] = per[2, 3] = per[3, 2] = 0.0
    rows = rows_of(per, np.ones((4, 4)))
    names = ["a", "gate.low", "gate.high", "b"]
    assert not Network(0, graph_of(rows), names).reach("a", "b")
    way, cost = Network(0, graph_of(rows, np.array([1, 2, 2, -1])), names).path("a", "b")
    assert way == names and cost == 2.0


def test_radios_of_one_owner_are_one_node() -> None:
    """A chain a - gate - b over two radios of the gate; c hears both radios of b, badly and well."""
    per = np.full((7, 7), np.nan)
    for i, j, lost in ((0, 1, 0.0), (2, 3, 0.0), (3, 5, 0.5), (4, 5, 0.0)):
        per[i, j] = per[j, i] = lost
    names, owner = ["a", "gate", "gate/1", "b", "b/1", "c", "d"], np.array([1.0, -3.0, -3.0, 7.0, 7.0, 5.0, 6.0])
    graph = graph_of(rows_of(per, np.ones((7, 7))), np.array([1, 3, 3, 7, 7, 5, 6]))
    network = Network(0, graph, names, owner)
    assert network.names == ["a", "gate", "b", "c", "d"] and network.components == [["a", "gate", "b", "c"], ["d"]]
    assert network.articulation_points == ["gate", "b"]
    assert network.bridges == [("a", "gate"), ("gate", "b"), ("b", "c")]
    assert network.path("a", "c") == (["a", "gate", "b", "c"], 3.0)
    assert network.reach("b/1", "a") and not network.reach("gate/1", "d")
    assert network.costs("gate").tolist() == [1.0, 0.0, 1.0, 2.0, np.inf]


def test_links_that_work_one_way_are_no_neighbours() -> None:
    per = np.full((2, 2), np.nan)
    per[0, 1] = 0.0
    network = Network(0, graph_of(rows_of(per, np.ones((2, 2)))), ["a", "b"])
    assert network.parts == 2 and network.path("a", "b") == ([], np.inf)
    with pytest.raises(UnknownNameError, match="unknown vehicle or station 'c'"):
        network.path("a", "c")
