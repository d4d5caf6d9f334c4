"""Columns of snapshots about links: what vehicles hear, whether they are in contact, and which station hears them."""

from collections.abc import Mapping

import numpy as np

from paddock.engine.behaviours import RADIO
from paddock.engine.program import FleetProgram
from paddock.radio.links import OWNER, Bools, Links, fill_status, sinr_of
from paddock.radio.network import contacts
from paddock.radio.radios import Floats, Radios
from paddock.radio.status import CONTACT, LINKS, NO_SINR, STATION, UPLINK


def show_links(
    radios: Radios, links: Links, accepted: Floats, jammed: Bools, programs: Mapping[str, FleetProgram]
) -> None:
    """Write the columns of all vehicles with radios; `accepted` (k, n): probabilities of false frames."""
    stations = len(radios.stations) > 0
    contact = radios_in_contact(radios, links) if stations else np.zeros(0)
    if stations:
        uplink, station = heard_by_stations(radios, links)
    else:
        uplink, station = np.full(radios.n, NO_SINR), np.full(radios.n, -1.0)
    for part in radios.parts:
        status = programs[part.fleet].fleet.tables[RADIO]
        given = part.n, part.first, part.slots, radios.carried, len(radios.stations), radios.table, radios.owner
        fill_status(*given, links.start, links.peer, sinr_of(links), links.up, jammed, accepted, status)
        own = slice(part.first, part.first + part.n * part.slots)
        rows, best = np.arange(part.n), uplink[own].reshape(part.n, part.slots).argmax(axis=1)
        of_vehicles = contact[own].reshape(-1, part.slots)[:, 0]  # that of all its radios
        status[CONTACT, : part.n] = of_vehicles if stations else status[LINKS, : part.n] > 0.0
        status[UPLINK, : part.n] = uplink[own].reshape(part.n, part.slots)[rows, best]
        status[STATION, : part.n] = station[own].reshape(part.n, part.slots)[rows, best]


def radios_in_contact(radios: Radios, links: Links) -> Floats:
    """Return 1 for radios with a route to a station and back, by the rule of routes."""
    owner = radios.table[OWNER, : radios.n].astype(np.int64)
    found: Floats = contacts(links.start, links.peer, links.per, links.up, owner, radios.carried).astype(np.float64)
    return found


def heard_by_stations(radios: Radios, links: Links) -> tuple[Floats, Floats]:
    """Return, for each radio, the SINR (dB) at the station that hears it best and the number of that station's radio.

    They are -100 and -1 where no station hears it over a usable link.
    """
    carried, first = radios.carried, int(links.start[radios.carried])
    receivers = np.repeat(np.arange(len(radios.stations)), np.diff(links.start[carried:]))
    peer, sinr = links.peer[first:], sinr_of(links)[first:]
    heard = np.flatnonzero((links.up[first:] != 0) & (peer < carried))
    heard = heard[np.argsort(sinr[heard], kind="stable")]  # of values for one radio, the last one stays
    uplink, station = np.full(radios.n, NO_SINR), np.full(radios.n, -1.0)
    uplink[peer[heard]], station[peer[heard]] = sinr[heard], receivers[heard]
    return uplink, station
