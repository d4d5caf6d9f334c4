"""The entries of the radio: views and surveys, messages, links, jammers and spoofers."""

from typing import Annotated, Any, Protocol

from annotated_types import Ge, Le, Len

from paddock.wire import radio_results as rr
from paddock.wire import results as r
from paddock.wire.operations import arguments as a
from paddock.wire.operations.operation import entry

limits = rr.SurveyLimits


class RadioOperations(Protocol):
    """The radio."""

    @entry("fact", rpc=True, zmq="Call", answer="radio", client="radio.view", example={})
    def radio_view(self) -> rr.RadioTree | None:
        """Return the radios of fleets, the stations, the jammers and numbers of links; null without radio."""

    @entry("read", rpc=True, zmq="Call", answer="coverage", client="radio.coverage", slow=True, example={"of": "base"})
    def coverage(
        self,
        of: Annotated[a.Text | None, "a station or vehicle; null: all stations, or all vehicles without one"] = None,
        receiver: Annotated[a.Text | None, "a fleet, vehicle or station; null: the first fleet"] = None,
        x: Annotated[a.Coordinate | None, "centre, m east; null: that of all radios"] = None,
        y: Annotated[a.Coordinate | None, "centre, m north"] = None,
        size: Annotated[
            Annotated[float, Ge(limits.SMALLEST), Le(limits.LARGEST)] | None,
            "side of the square, m; null: all radios",
        ] = None,
        side: Annotated[int, Ge(2), Le(limits.MOST_VALUES), "values per side"] = 64,
        height: Annotated[float, Ge(limits.LOWEST), Le(limits.HIGHEST), "m above the ground"] = 2.0,
    ) -> rr.CoverageGrid:
        """Return received power, SINR, jamming and PER on a grid. Another thread computes it; ticks do not wait."""

    @entry(
        "read",
        rpc=True,
        zmq="Call",
        answer="levels",
        client="radio.levels",
        slow=True,
        example={"places": [[10.0, 0.0, 2.0]]},
    )
    def radio_levels(
        self,
        places: Annotated[
            list[Annotated[list[a.Finite], Len(3, 3)]],
            Len(1, limits.MOST_PLACES),
            a.FIRST,
            a.Rows,
            a.Expected(f"a list of 1 to {limits.MOST_PLACES} places [x, y, z] of finite numbers"),
            "m",
        ],
        of: Annotated[a.Text | a.Id | None, "a station or vehicle; null: as for coverage"] = None,
        receiver: Annotated[a.Text | a.Id | None, "a fleet, vehicle or station; null: the first fleet"] = None,
    ) -> rr.HeardLevels:
        """Return received power, SINR, jamming and PER at places. Another thread computes them; ticks do not wait."""

    @entry(
        "read",
        rpc=True,
        zmq="Call",
        answer="spectrum",
        client="radio.spectrum",
        slow=True,
        example={"receiver": "base"},
    )
    def spectrum(
        self,
        receiver: Annotated[a.Text, "a vehicle or station; `red/1` is its second radio"],
        span: Annotated[
            Annotated[float, Ge(limits.NARROWEST), Le(limits.WIDEST)] | None,
            "Hz around its frequency; null: four bandwidths",
        ] = None,
        bins: Annotated[int, Ge(2), Le(limits.MOST_BINS), "number of values"] = 96,
    ) -> rr.Spectrum:
        """Return the power by frequency at a receiver. Another thread computes it; ticks do not wait."""

    @entry("command", rpc=True, answer="mode")
    def set_visualization_mode(
        self,
        show_comm_links: Annotated[bool | None, "links by SINR; null: as it is"] = None,
        show_rf_range: Annotated[bool | None, "ranges of radios"] = None,
        show_jamming: Annotated[bool | None, "jammers and where they jam"] = None,
        show_coverage: Annotated[bool | None, "heat map of the coverage"] = None,
        show_paths: Annotated[bool | None, "trails and routes"] = None,
        show_labels: Annotated[bool | None, "names of vehicles"] = None,
    ) -> r.VisualizationTree:
        """Show or hide layers of all pages of this server; users can still change them."""

    @entry("change", rpc=True, zmq="Call", client=None, example={"source": "base", "to": "scouts[7]", "data": [1.0]})
    def radio_send(
        self,
        source: Annotated[str | int, "the vehicle or station that sends"],
        to: Annotated[str | int, "a vehicle or station, or `*`: all that hear it"] = "*",
        data: Annotated[Any, "the contents"] = None,
        bits: Annotated[int | None, Ge(0), Le(1 << 24), "size; null: that of the contents"] = None,
        hops: Annotated[int | None, Ge(1), Le(255), "most hops; null: 1 of a broadcast, else `messages.hops`"] = None,
        lifetime: Annotated[float | None, Le(1e6), "s until it is discarded; null: `messages.lifetime`"] = None,
        base64: Annotated[bool, "whether `data` is a text in base64 that stands for bytes"] = False,
    ) -> None:
        """Send a message over the simulated radio."""

    @entry("fact", rpc=True, zmq="Call", answer="messages", client="radio.received", example={"name": "scouts[7]"})
    def radio_received(
        self,
        name: Annotated[str | int, "a vehicle or station"],
        since: Annotated[int, Ge(0), "only messages with higher numbers"] = 0,
    ) -> list[rr.RadioMessageTree]:
        """Return the newest messages that a vehicle or station has received, oldest first."""

    @entry("fact", rpc=True, zmq="Call", answer="network", client="radio.network", example={})
    def radio_network(self) -> rr.NetworkSummary:
        """Return the network of the radio links: components, articulation points, bridges."""

    @entry("fact", rpc=True, zmq="Call", answer="traffic", client="radio.traffic", example={})
    def radio_traffic(self) -> dict[str, int]:
        """Return counters of messages: sent, delivered, dropped by reason."""

    @entry("fact", rpc=True, zmq="Call", answer="services", client="radio.services", example={})
    def radio_services(self) -> dict[str, rr.ServiceTraffic]:
        """Return counts of packets by service that has sent any: commands, telemetry, heartbeats, mission, mavlink."""

    @entry("fact", rpc=True, zmq="Call", answer="jammers", client=None, example={})
    def jammers(self) -> list[rr.JammerView]:
        """Return the jammers, in the order of their names; none without radio."""

    @entry("change", rpc=True, zmq="Call", client=None, slow=True, example={"name": "noise", "on": False})
    def set_jammer(
        self,
        name: Annotated[a.Text, "the jammer"],
        on: Annotated[bool | None, "whether it transmits, whatever its schedule; null: as it is"] = None,
        scheduled: Annotated[bool | None, "true: it follows its schedule again"] = None,
        position: Annotated[a.Numbers | None, a.ErrorText("position must be a list of numbers"), "x, y, z, m"] = None,
        vehicle: Annotated[a.Text | None, "the vehicle that carries it"] = None,
        power: Annotated[a.Finite | None, "dBm"] = None,
        frequency: Annotated[a.Finite | None, "Hz"] = None,
        bandwidth: Annotated[a.Finite | None, "Hz"] = None,
    ) -> None:
        """Change a jammer; links follow with the next update."""

    @entry("fact", rpc=True, zmq="Call", answer="spoofers", client=None, example={})
    def spoofers(self) -> list[rr.SpooferView]:
        """Return the spoofers of satellite navigation, in the order of their names; none without radio."""

    @entry("change", rpc=True, zmq="Call", client=None, slow=True, example={"name": "decoy", "on": False})
    def set_spoofer(
        self,
        name: Annotated[a.Text, "the spoofer"],
        on: Annotated[bool | None, "whether it transmits, whatever its schedule; null: as it is"] = None,
        scheduled: Annotated[bool | None, "true: it follows its schedule again"] = None,
        position: Annotated[a.Numbers | None, a.ErrorText("position must be a list of numbers"), "x, y, z, m"] = None,
        vehicle: Annotated[a.Text | None, "the vehicle that carries it"] = None,
        power: Annotated[a.Finite | None, "dBm"] = None,
    ) -> None:
        """Change a spoofer; satellite signals follow with the next update of the radio."""

    @entry("fact", rpc=True, zmq="Call", answer="traffic", client="radio.commands", example={"vehicle": "red"})
    def radio_commands(self, vehicle: a.Vehicle) -> rr.CommandTraffic:
        """Return the counts of commands that went to a vehicle or fleet over the radio."""

    @entry("fact", rpc=True, zmq="Call", answer="telemetry", client="radio.telemetry", example={"vehicle": "red"})
    def radio_telemetry(self, vehicle: a.Vehicle) -> rr.VehicleTelemetry:
        """Return the newest state of a vehicle that has arrived at its station over the radio, with its age."""

    @entry(
        "fact", rpc=True, zmq="Call", answer="link", client="radio.link", example={"source": "base", "to": "scouts[7]"}
    )
    def link_budget(
        self,
        source: Annotated[a.Text | a.Id, "vehicle or station that transmits; `red/1` is its second radio"],
        to: Annotated[a.Text | a.Id, "vehicle or station that receives"],
    ) -> rr.LinkBudget:
        """Return the budget of a link at the present positions: gains and losses, SINR, packet error rate."""

    @entry("fact", zmq="Call", client="radio.links", example={})
    def radio_links(self) -> rr.Links:
        """Return the links of the last update as arrays: rows of transmitters that each receiver hears."""

    @entry("fact", rpc=True, zmq="Call", answer="report", client="radio.report", example={})
    def radio_report(self) -> rr.RadioReport:
        """Return counts of links at the last update, and a bound of the interference that is left out."""

    @entry("fact", rpc=True, zmq="Call", answer="noise", client="radio.noise", example={})
    def radio_noise(self) -> rr.Values:
        """Return the noise of every receiver, dBm, in the order of their numbers."""

    @entry("fact", rpc=True, zmq="Call", answer="stations", client=None, example={})
    def radio_stations(self) -> list[rr.Station]:
        """Return the ground stations, in the order of their names."""

    @entry("fact", rpc=True, zmq="Call", answer="states", client="radio.heard", example={"name": "scouts[7]"})
    def radio_heard(self, name: Annotated[str | int, "a vehicle or station"]) -> list[dict[str, Any]]:
        """Return the states of others that a vehicle knows from beacons: name, age (s), x, y, z, ..., vz."""

    @entry("change", rpc=True, zmq="Call", client="radio.allocate", example={"groups": ["scouts"], "channels": [0]})
    def radio_allocate(
        self,
        groups: Annotated[list[str], "fleets and stations (`scouts/1`: second radios), in the order of choice"],
        channels: Annotated[list[int], "numbers of channels"],
        method: Annotated[a.Text, "least_interfered or least_used"] = "least_interfered",
    ) -> None:
        """Give each fleet or station a channel; links follow with the next update."""

    @entry(
        "read",
        rpc=True,
        zmq="Call",
        answer="assignment",
        client="radio.assign",
        slow=True,
        example={"vehicles": ["scouts[0]", "scouts[1]"], "cost": [[1.0, 2.0], [2.0, 1.0]]},
    )
    def radio_assign(
        self,
        vehicles: Annotated[
            list[a.Text | a.Id],
            Len(1, limits.MOST_BIDDERS),
            a.FIRST,
            a.Listed,
            a.Expected(f"a list of 1 to {limits.MOST_BIDDERS} names of vehicles or ids"),
            "names or ids",
        ],
        cost: Annotated[
            list[Annotated[list[a.Finite], Len(1, limits.MOST_BIDS)]],
            Len(1, limits.MOST_BIDDERS),
            a.FIRST,
            a.Rows,
            a.Expected(f"for each vehicle, a list of 1 to {limits.MOST_BIDS} finite numbers"),
            "what each task would cost each vehicle",
        ],
        period: Annotated[float, Ge(limits.SHORTEST), Le(limits.LONGEST), "s of simulated time for a round"] = 0.5,
        rounds: Annotated[int, Ge(1), Le(limits.MOST_ROUNDS), "most rounds"] = 1000,
    ) -> rr.NegotiatedAssignment:
        """Assign a task to each vehicle by CBBA over a copy of the channel. Ticks do not wait; the run is unchanged."""
