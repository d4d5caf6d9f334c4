"""The entries of what a run shows: state, events, scenery, markers, frames."""

from typing import Annotated, Any, Protocol

from annotated_types import Ge, Le, Len

from paddock.wire import results as r
from paddock.wire.operations import arguments as a
from paddock.wire.operations.operation import entry

WHITE = [255.0, 255.0, 255.0, 255.0]
ORIGIN, UPRIGHT = [0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0]
Row = Annotated[list[float], Len(6, 6)]
Ball = Annotated[list[float], Len(4, 4)]


class WorldOperations(Protocol):
    """State, markers and frames."""

    # reading ---------------------------------------------------------------------------------------------------------

    @entry("fact", rpc=True, zmq="GetMetadata", reply="Result", client=None, personal=True, example={})
    def metadata(self) -> r.MetadataTree:
        """Return the scenario, the clock, and the fleets with their inputs, columns, sensors and parameters."""

    @entry("fact", rpc=True, zmq="Call", answer="scenery", client="world.scenery", example={})
    def scenery(self, side: Annotated[int, Ge(2), Le(512), "values per side of the ground"] = 128) -> r.SceneryTree:
        """Return the ground, on a grid, static obstacles, and roads."""

    @entry("fact", rpc=True, zmq="Call", answer="track", client="world.get_track", example={})
    def track(self) -> r.TrackTree | None:
        """Return the race track: cones, boundaries, middle line, gates; null without one."""

    @entry("fact", rpc=True, zmq="Call", answer="standings", client="race.standings", example={})
    def standings(self) -> r.StandingsTree | None:
        """Return the race: cars in their order, with laps, sectors, penalties and gaps; null without rules."""

    @entry("fact", zmq="Call", reply="StateUpdate", client=None, example={})
    def snapshot(self, roster: Annotated[bool, "send the roster even if the client has it"] = False) -> dict[str, Any]:
        """Publish the present state to every endpoint. ZeroMQ answers with the state."""

    @entry("hub", rpc=True)
    def get_state(self, vehicle: a.Vehicle, frame: a.AxesArgument = "enu") -> r.StateTree:
        """Return the pose and the other public columns of one vehicle."""

    @entry("hub", rpc=True)
    def get_all_states(self, vehicles: a.NamesAndIds = None, frame: a.AxesArgument = "enu") -> r.StatesTree:
        """Return the poses of up to 10,000 vehicles, fleet by fleet."""

    @entry("hub", rpc=True)
    def get_roster(self) -> r.RosterTree:
        """Return the fleets, with ids and members as [first, count]."""

    @entry("fact", zmq="Call", client="vehicles.sensors", example={"target": "scouts"})
    def sensors(self, target: a.Target) -> dict[str, dict[str, Any]]:
        """Return the last readings of a vehicle's or a fleet's sensors: sensor -> reading -> value or (n,) array."""

    @entry("read", rpc=True, zmq="Call", client="vehicles.inspect", example={"target": "scouts[7]"})
    def inspect(self, target: a.Target, page: a.ForPage = False) -> r.InspectedTree:
        """Return all state, command and parameter columns of a vehicle: group -> name -> value; JSON-RPC adds units."""

    @entry("fact", rpc=True, answer="autopilots", client="vehicles.autopilots.status")
    def autopilots(self) -> list[r.AutopilotTree]:
        """Return the vehicles with autopilots: system, link, mode and waypoints of each."""

    @entry("read", rpc=True, slow=True)
    def series(
        self,
        target: a.Target,
        columns: Annotated[list[a.Text], Len(1, a.MOST_COLUMNS), "names of columns"],
        start: Annotated[a.Finite | None, "s; null: from the beginning"] = None,
        end: Annotated[a.Finite | None, "s, exclusive; null: to the end"] = None,
    ) -> r.SeriesTree:
        """Return columns of a vehicle over a recording, or over a part of it. A live simulation refuses."""

    @entry("fact")
    def parameter(self, target: str, name: str) -> Any:
        """Return one parameter of every vehicle of a fleet, (n,) in its unit."""

    @entry("read", zmq="Call", example={})
    def state_hash(self) -> str:
        """Return the hex digest of the complete state at this tick."""

    @entry("read", zmq="Call", client=None, slow=True, example={})
    def save(self) -> bytes:
        """Return the complete state."""

    @entry("fact", rpc=True, zmq="Call", answer="events", client="events.since", example={})
    def events(self, since: Annotated[a.Count, "number of the last known event"] = 0) -> list[r.EventRecord]:
        """Return the events after a number, oldest first."""

    @entry("fact", zmq="Call", client="control.log.complete", slow=True, example={"complete": False})
    def log(self, complete: Annotated[bool, "refuse if some are no longer there"] = True) -> list[r.ActionRecord]:
        """Return the applied actions: tick, sequence, source, kind and action of each."""

    @entry("hub", rpc=True, answer="models")
    def list_models(self) -> list[r.ModelTree]:
        """Return the models of which vehicles can be added, with presets (the default first) and inputs."""

    # markers and frames ----------------------------------------------------------------------------------------------

    @entry("command", rpc=True, zmq="MarkerArray", client=None)
    def put_markers(
        self,
        markers: Annotated[
            list[a.MarkerTree],
            Len(1, a.MOST_ITEMS),
            a.FIRST,
            a.LATER,
            "with namespace, id, kind; position, quaternion, scale, color, vertices, label, frame, ttl",
        ],
    ) -> None:
        """Show markers (ENU, m) in place of those with the same namespace and id; all or none."""

    @entry("command", rpc=True, zmq="ClearMarkers, DeleteMarkers", client=None)
    def delete_markers(
        self,
        namespace: Annotated[str | None, a.InRpc("namespace", a.Namespace), "null: all markers"] = None,
        number: Annotated[int | list[int] | None, a.InRpc("id", a.MarkerId), "null: all of the namespace"] = None,
    ) -> None:
        """Remove markers of a namespace, a whole namespace, or all markers."""

    @entry("command", rpc=True, zmq="ShowMarkers", client="world.markers.show")
    def show_markers(self, namespace: a.Text, visible: Annotated[bool, "whether they are shown"] = True) -> None:
        """Show or hide the markers of a namespace, for every client."""

    @entry("fact", zmq="Call", client="world.markers.alive", example={})
    def placed_markers(self, hidden: Annotated[bool, "hidden ones, too"] = False) -> list[r.PlacedMarkerTree]:
        """Return the markers shown at present, by namespace and id."""

    @entry("fact", zmq="Call", client="world.markers.namespaces", example={})
    def marker_namespaces(self) -> dict[str, bool]:
        """Return every namespace of markers that has been used, and whether it is visible."""

    @entry("hub", rpc=True, answer="ids")
    def draw_debug_lines(
        self,
        lines: Annotated[list[Row], Len(1, a.MOST_ITEMS), a.FIRST, "x1, y1, z1, x2, y2, z2 of each"],
        thickness: Annotated[float | None, "in the frame's units"] = None,
        color: a.Color = WHITE,
        ttl: a.Ttl = None,
        frame: a.AxesArgument = "enu",
    ) -> list[int]:
        """Draw lines as a marker of the namespace `debug`; return its id."""

    @entry("hub", rpc=True, answer="ids")
    def draw_debug_spheres(
        self,
        spheres: Annotated[list[Ball], Len(1, a.MOST_ITEMS), a.FIRST, "x, y, z, radius of each"],
        color: a.Color = WHITE,
        ttl: a.Ttl = None,
        frame: a.AxesArgument = "enu",
    ) -> list[int]:
        """Draw spheres as markers of the namespace `debug`, one for each radius; return their ids."""

    @entry("hub", rpc=True)
    def clear_debug(self) -> r.Moment:
        """Remove everything drawn in the namespace `debug`."""

    @entry("change", zmq="Call", client="world.frames.set", example={"name": "mast", "position": [0, 0, 1]})
    def set_frame(
        self,
        name: a.Text,
        parent: Annotated[a.Text, "`world`, a vehicle or a frame"] = "world",
        position: Annotated[a.Numbers, a.ErrorText("position must be a list of numbers"), "m"] = ORIGIN,
        quaternion: Annotated[a.Numbers, a.ErrorText("quaternion must be a list of numbers"), "x, y, z, w"] = UPRIGHT,
        moving: bool = False,
    ) -> None:
        """Place a named frame in another."""

    @entry("fact", zmq="Call", client="world.frames.transform", example={"target": "world", "source": "scouts[7]"})
    def transform(
        self, target: str, source: str, time: Annotated[float | None, "simulation time, s; null: now"] = None
    ) -> r.TransformTree:
        """Return the transform from one frame to another: `world`, a vehicle's name, or a named frame."""

    @entry("hub", rpc=True)
    def get_frames(self) -> r.FramesTree:
        """Return the named frames (ENU, m), each with its last pose in its parent."""
