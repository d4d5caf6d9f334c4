"""The vehicles of a mission that have a path over the radio to its station, over any number of hops."""

import numpy as np
from numpy.typing import NDArray

from paddock.engine.mission.tracks import MissionFleets
from paddock.engine.radio.stage import RadioStage
from paddock.engine.radio.uplink import station_range


class MissionReach:
    """The part of the network to which a station belongs, as of the last update of the links."""

    def __init__(self, radio: RadioStage, station: str) -> None:
        self.radio = radio
        self.station = station

    def vehicles(self, participants: MissionFleets) -> NDArray[np.bool_]:
        """Return whether there is a path to each vehicle of the mission; removed vehicles have none."""
        radios, labels = self.radio.roster.radios, self.radio.components()
        found = np.zeros(len(participants.mission.vehicles), bool)
        own = labels[slice(*station_range(radios, self.station))]  # of a station with several radios, any one
        first = {part.fleet: (part.first, part.slots) for part in radios.parts}
        for group in participants.vehicles()[0]:
            begin, slots = first[group.program.fleet.name]
            found[group.indices] = np.isin(labels[begin + group.rows * slots], own)
        return found
