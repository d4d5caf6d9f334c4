"""The radio status of a vehicle: columns of snapshots."""

from typing import Annotated, NamedTuple

import numpy as np

from paddock.world.columns import Column, column_index

PEERS = 6  # neighbours that a snapshot shows
NO_SINR = -100.0  # dB, of a vehicle without a link
FULL_SIGNAL = 20.0  # dB above the needed SINR at which the signal is 1


class RadioStatus(NamedTuple):
    """The radio of a vehicle, in snapshots."""

    signal: Annotated[
        float, Column("", "its best direct link (to a station, if there are any), 0 to 1; 0: none", none=0.0)
    ] = 0.0
    sinr: Annotated[float, Column("dB", "SINR of that link, -100: none", none=NO_SINR)] = NO_SINR
    jammed: Annotated[float, Column("0/1", "1: half of its links or more are lost to jammers")] = 0.0
    links: Annotated[float, Column("", "number of radios that it hears over a usable link")] = 0.0
    deceived: Annotated[float, Column("", "probability that it accepts a false frame, 0 to 1")] = 0.0
    contact: Annotated[
        float, Column("0/1", "1: a route leads to a station and back; without stations: it hears another radio")
    ] = 0.0
    uplink: Annotated[float, Column("dB", "SINR at the station that hears it best, -100: none does", none=NO_SINR)] = (
        NO_SINR
    )
    station: Annotated[float, Column("", "number of that station's radio, -1: none", none=-1.0)] = -1.0


STATUS = column_index(RadioStatus)
SIGNAL, SINR, JAMMED, LINKS, DECEIVED, CONTACT, UPLINK, STATION = range(8)
FIRST_PEER = len(STATUS)
NO_STATUS = np.array([*RadioStatus._field_defaults.values(), *[-1.0] * PEERS, *[NO_SINR] * PEERS])
"""The status of a vehicle without links: the columns, then the ids of its best neighbours and their SINR."""
