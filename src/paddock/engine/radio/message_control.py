"""Messages of a simulation: the part of `sim.radio` that sends, receives and asks about the network."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from paddock.engine import actions
from paddock.engine.radio.messages import MessageStage
from paddock.errors import InvalidValueError
from paddock.radio.heard import STATE_FIELDS
from paddock.radio.messages import EVERYONE, Messages
from paddock.radio.network import Network
from paddock.radio.settings import checked_assignment
from paddock.radio.spectrum import LEAST_INTERFERED
from paddock.radio.views import Received, ServiceTraffic

if TYPE_CHECKING:
    from paddock.engine.engine import Engine
    from paddock.planning.consensus_radio import Agreement, RadioConsensus


class MessageControl:
    """Messages between vehicles and stations, and the network that they form."""

    _engine: "Engine"

    @property
    def _messages(self) -> MessageStage:
        self._engine.thread.refuse_elsewhere("radio")
        stage = self._engine.radio.messages
        assert stage is not None
        return stage

    def send(
        self,
        source: str | int,
        to: str | int = EVERYONE,
        data: Any = None,
        *,
        bits: int | None = None,
        hops: int | None = None,
        lifetime: float | None = None,
        at_tick: int | None = None,
        client: str = "",
    ) -> None:
        """Send a message from a vehicle or station to another one, or with "*" to all that hear it.

        `data` is bytes or what JSON can hold; its size counts, unless `bits` are given. A message to one takes the
        cheapest route, up to `hops`; a broadcast makes one hop unless more are given. After `lifetime` (s) it is
        discarded. Any thread may call this.
        """
        given = {"bits": bits, "hops": hops, "lifetime": lifetime}
        arguments = {"source": source, "to": to, "data": data, **{k: v for k, v in given.items() if v is not None}}
        self._engine.apply_or_post(actions.RadioAction("send", arguments), "send()", at_tick, client)

    def received(self, name: str | int, since: int = 0) -> list[Received]:
        """Return the newest messages that a vehicle or station has received, oldest first; `since`: later numbers."""
        if isinstance(since, bool) or not isinstance(since, int) or since < 0:
            raise InvalidValueError(f"received: since is the number of a message, 0 or more, not {since!r}")
        return self._messages.received(name, self._engine.world.clock.tick, since)

    def heard(self, name: str | int) -> list[dict[str, Any]]:
        """Return the states of others that a vehicle knows from beacons: name, age (s), x, y, z, ..., vz.

        States older than `beacons.keep` are left out.
        """
        stage, now = self._messages, self._engine.world.clock.time
        keep = 0.0 if stage.section.beacons is None else stage.section.beacons.keep
        radio = self._engine.radio.number_of(name)
        air = stage.messages.air
        found = []
        for origin, values in zip(air.heard[radio].tolist(), air.heard_real[radio].tolist(), strict=True):
            if origin >= 0 and now - values[0] <= keep:
                state = dict(zip(STATE_FIELDS, values[1:], strict=True))
                found.append({"name": self._engine.radio.name_of(origin), "age": now - values[0], **state})
        return sorted(found, key=lambda one: str(one["name"]))

    def traffic(self) -> dict[str, int]:
        """Return counters of all radios: packets transmitted, messages delivered, those dropped by reason, ..."""
        stage = self._messages
        return {"sent": stage.messages.number - stage.messages.forged, **stage.messages.counted()}

    def services(self) -> dict[str, ServiceTraffic]:
        """Return counts of packets of `commands`, `telemetry`, `heartbeats` and `mission`: of those that sent any."""
        stage = self._messages
        stage.fitted()
        return stage.services.view(stage.messages.air)

    def network(self) -> Network:
        """Return the network of the last links: components, routes, articulation points, bridges."""
        return self._messages.network(self._engine.world.clock.tick)

    def medium(self) -> Messages:
        """Return an empty channel over the present links, for planning over radio; the run is not affected.

        It is an object of this process: remote clients do not have it.
        """
        return self._messages.medium()

    def assign(
        self, vehicles: Sequence[str | int], cost: Any, period: float = 0.5, rounds: int = 1000
    ) -> "tuple[list[int | None], Agreement]":
        """Return the task of each vehicle on which they agree by CBBA over the present links, and how they came to it.

        `cost` (vehicles, tasks): what each task would cost a vehicle. A round of broadcasts takes `period` (s). The
        vehicles stay where they are meanwhile, and the run is not affected.
        """
        return self.bidders(vehicles, cost, period, rounds).assigned(rounds)

    def bidders(
        self, vehicles: Sequence[str | int], cost: Any, period: float = 0.5, rounds: int = 1
    ) -> "RadioConsensus":
        """Return the vehicles of `assign` before their first round, with which any thread can compute."""
        from paddock.planning.consensus_radio import RadioConsensus  # planning takes long to import
        from paddock.planning.solver.methods.cbba import bidding_on

        names, costs, time, _ = checked_assignment(vehicles, cost, period, rounds)
        radios = np.array([self._engine.radio.number_of(one) for one in names], np.int64)
        medium = self.medium()
        owners = medium.devices.group[radios].tolist()
        for k in np.setdiff1d(np.arange(len(owners)), np.unique(owners, return_index=True)[1])[:1].tolist():
            first = owners.index(owners[k])
            raise InvalidValueError(f"assign: vehicles {first} and {k}, {names[k]!r}, are the same vehicle")
        return RadioConsensus(bidding_on(costs), medium, radios, period=time)

    def allocate(
        self,
        groups: Sequence[str],
        channels: Sequence[int],
        method: str = LEAST_INTERFERED,
        *,
        at_tick: int | None = None,
        client: str = "",
    ) -> None:
        """Give each group a channel: that with least interference, or the `least_used`.

        A group is a fleet or station: its first radios, `scouts/1`: its second ones. Groups choose one after the other.
        Links follow with the next update. Any thread may call this.
        """
        given = (one if isinstance(one, str) or not np.iterable(one) else list(one) for one in (groups, channels))
        arguments = {**dict(zip(("groups", "channels"), given, strict=True)), "method": method}
        self._engine.apply_or_post(actions.RadioAction("allocate", arguments), "allocate()", at_tick, client)
