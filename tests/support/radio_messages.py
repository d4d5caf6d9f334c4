"""Messages between radios whose links are given, for tests of the channel."""

from typing import Any, NamedTuple

import numpy as np

from paddock.radio.links.radios import COLUMN
from paddock.radio.links.table import no_links
from paddock.radio.packets.channel_links import channel_links, no_disturbances
from paddock.radio.packets.messages import Messages
from paddock.radio.packets.network import graph_of
from paddock.radio.packets.queues import DENIED_ROWS, Devices
from paddock.radio.packets.state import check_times, new_packets
from paddock.scenario.radio_types import MessagesSection
from paddock.world.parts import RADIO
from paddock.world.state import load, transfer

STREAM = 7919
PACKET_BITS = 8192.0  # of the packets to which error rates refer


class GivenLinks(NamedTuple):
    """Links as compressed rows by receiver."""

    start: Any
    peer: Any
    power: Any
    sinr: Any
    per: Any
    up: Any


def links_of(heard: Any, power: Any = -60.0, sinr: float = 40.0, per: Any = 0.0) -> GivenLinks:
    """Return the links of a matrix (receiver, transmitter) of who hears whom; `power` (dBm), `per`: also matrices."""
    heard = np.asarray(heard, bool)
    n = len(heard)
    receiver, transmitter = np.nonzero(heard)
    start = np.concatenate([[0], np.cumsum(heard.sum(axis=1))])

    def of(value: Any) -> Any:
        return np.broadcast_to(np.asarray(value, float), (n, n))[receiver, transmitter].copy()

    up = np.ones(len(receiver), np.uint8)
    return GivenLinks(start, transmitter.astype(np.int32), of(power), of(sinr), of(per), up)


def messages_over(
    links: GivenLinks, section: MessagesSection, seed: int = 1, rate: float = 1e6, x: Any = None, group: Any = None
) -> Messages:
    """Return the messages of radios at x (m) on the x axis that send at `rate` (bit/s), at time 0.

    `group` has equal numbers for radios of one vehicle.
    """
    n = len(links.start) - 1
    messages = Messages(section, seed)
    alike = np.full(n, section.overhead), np.ones(n, np.int64), np.full(n, rate)
    group = np.arange(n) if group is None else np.asarray(group, np.int64)
    messages.begin(Devices(np.arange(1, n + 1) * STREAM, np.full(n, rate), *alike, group, np.zeros(n)))
    connect(messages, links, x)
    return messages


def connect(messages: Messages, links: GivenLinks, x: Any = None, now: float = 0.0, denied: Any = None) -> None:
    """Replace the links; `denied` as in `ChannelLinks`."""
    n, at = messages.n, np.zeros(messages.n) if x is None else np.asarray(x, float)
    table = np.zeros((len(COLUMN), n))
    table[COLUMN.bits], table[COLUMN.sensitivity], table[[COLUMN.spread, COLUMN.bandwidth]] = PACKET_BITS, -90.0, 1.0
    sense = np.full(n, 1e-9 if messages.section.sharing == "csma" else np.inf)
    denied = np.zeros((DENIED_ROWS, n), np.int64) if denied is None else denied
    tables = no_links(n)._replace(**links._asdict()), no_disturbances(n), np.stack([at, np.zeros(n), np.zeros(n)])
    messages.relink(
        channel_links(table, *tables, sense, np.full(n, np.inf), np.full(n, 1e-9), denied), graph_of(links), now
    )


def load_messages(messages: Messages, tree: Any, time: float, step: float = 0.0) -> None:
    """Load a saved state of packets at a time (s), as a run does; the links stay."""
    state, links, routes = new_packets(0, messages.section), messages.links, messages.routes
    load(state, tree)
    messages.set_state(state, messages.devices)
    messages.links, messages.routes = links, routes
    check_times(state, messages.rules, messages.devices, links, time, step)


def keep_radios(messages: Messages, kept: Any, now: float = 0.0) -> None:
    """Remove all radios but some, at a time (s); there are no links afterwards."""
    position = np.full(messages.n, -1)
    position[kept] = np.arange(len(kept))
    state = messages.state
    state.drop_removed(position < 0)
    made = new_packets(len(kept), messages.section)
    transfer(state, made, RADIO, position)
    made.reset_radios(messages.section.window[0], messages.slot_at(now))
    messages.set_state(made, Devices(*(column[kept] for column in messages.devices)))
