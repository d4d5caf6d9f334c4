"""The entries of the table, by subject: a signature declares an operation, `@entry` where it runs and its callers.

To add one: write its entry here and its handler in `paddock.serve.operations` (or, for `hub`, in
`paddock.serve.methods`). Validation, JSON-RPC, the page's types and the documentation follow from the entry.
"""

from typing import Annotated, Any, Literal, Protocol

from annotated_types import Ge, Le, Len
from pydantic import AllowInfNan

from paddock.wire import survey_limits as limits
from paddock.wire.operations import arguments as a
from paddock.wire.operations import results as r
from paddock.wire.operations.operation import collected, entry

POSITIONS: list[a.Kind] = ["positions"]
NO_COLUMNS: a.ColumnLists = []
WHITE = [255.0, 255.0, 255.0, 255.0]
ORIGIN, UPRIGHT = [0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0]
Row = Annotated[list[float], Len(6, 6)]
Ball = Annotated[list[float], Len(4, 4)]


class Operations(Protocol):
    """Every operation. This class is only the table; nothing implements it."""

    # connection ------------------------------------------------------------------------------------------------------

    @entry("hub", rpc="ping", public=True)
    def ping(self) -> r.Pong:
        """Return the simulation's clock as known to the hub, and the preparation in progress."""

    @entry("hub", rpc="authenticate", public=True)
    def authenticate(self, token: Annotated[str, Len(1, 4096), "the server's token"]) -> r.Empty:
        """Authenticate with the token; any other request may contain it in a field `token` instead."""

    @entry("hub", rpc="subscribe")
    def subscribe(
        self,
        rate: a.Rate = None,
        frame: a.AxesArgument = "enu",
        kinds: Annotated[list[a.Kind], Len(1, None), "what to send"] = POSITIONS,
        vehicles: a.NamesAndIds = None,
        tick: Annotated[bool, "whether a tick frame (0x10) precedes each group"] = True,
        columns: a.ColumnLists = NO_COLUMNS,
    ) -> r.Subscribed:
        """Start sending frames, replacing an earlier subscription; return the granted rate and the roster."""

    @entry("hub", rpc="set_columns", answer="wanted")
    def set_columns(self, columns: a.ColumnLists) -> int:
        """Change the columns sent; frames with these columns have the returned number."""

    @entry("hub", rpc="set_rate", answer="rate")
    def set_rate(self, rate: a.Rate = None) -> float:
        """Change the rate of groups of frames; return the granted rate."""

    @entry("hub", rpc="unsubscribe")
    def unsubscribe(self) -> r.Empty:
        """Stop sending frames."""

    # clock -----------------------------------------------------------------------------------------------------------

    @entry("post", zmq="Call", client="clock.view")
    def clock(self) -> dict[str, Any]:
        """Return pace, paused, run and the client that owns the clock."""

    @entry("post", rpc="simulation_step", zmq="Step", shows=True, slow=True)
    def step(self, ticks: a.Ticks = 1) -> None:
        """Advance by exactly this many ticks, then answer. The client then owns the clock."""

    @entry("post", zmq="Step", slow=True)
    def step_synchronously(
        self,
        ticks: a.Ticks,
        control: Annotated[dict[str, a.Tree] | None, "the commands for `tick`, sent in advance"] = None,
        tick: a.Count = 0,
    ) -> bytes:
        """Advance by this many ticks and return the encoded state after them."""

    @entry("post", zmq="Run", slow=True)
    def run(
        self,
        until: Annotated[
            a.Finite | None,
            a.ErrorText("run(until=...) takes a finite time in s"),
            "simulation time, s; null: until `stop`",
        ] = None,
        pace: Annotated[
            a.Finite | None,
            a.ErrorText("pace must be a number"),
            "simulated s per wall second, until the release of the clock; null: unchanged",
        ] = None,
    ) -> int:
        """Run until a simulation time, then hold; return the tick reached. The client then owns the clock."""

    @entry("post", zmq="Stop", client="clock.stop")
    def stop(self) -> int:
        """End the client's `run` or `step` and hold the clock; return the tick."""

    @entry("post", rpc="pause", zmq="Pause", shows=True, client="clock.pause")
    def pause(self) -> None:
        """Pause the run; `step` still works."""

    @entry("post", rpc="resume", zmq="Resume", client="clock.resume")
    def resume(self) -> None:
        """Resume the run."""

    @entry("post", rpc="set_pace", zmq="SetPace", client="clock.set_pace")
    def pace(
        self,
        pace: Annotated[
            float,
            Ge(0.0),
            AllowInfNan(False),
            a.ErrorText("pace must be a number of 0 or more"),
            "simulated s per wall second; 0: as fast as possible",
        ],
    ) -> None:
        """Set the pace of the run."""

    @entry("post", zmq="Call")
    def hold(self) -> None:
        """Take the clock: time advances only by this client's `step` and `run`."""

    @entry("post", rpc="let_go", zmq="Call", client="release_clock")
    def let_go(self) -> None:
        """Release the clock that a step has taken; time advances again, unless the run was paused."""

    @entry("post", rpc="reset", zmq="Reset", slow=True)
    def reset(
        self,
        seed: Annotated[
            Annotated[int, Ge(0), Le(2**64 - 1)] | None,
            a.ErrorText("a seed is a whole number in 0 to 2**64 - 1"),
            "another seed; null: the same",
        ] = None,
    ) -> None:
        """Restart the scenario from tick 0."""

    @entry("post", zmq="Call", slow=True)
    def restore(self, state: Annotated[bytes, "what `save` returned"]) -> None:
        """Return to a saved state of this scenario."""

    @entry("post", rpc="seek", zmq="Call", answer="position")
    def seek(self, position: Annotated[float, "s from the start of the recording"]) -> float:
        """Jump within the recording that is played and return the new position. A live simulation refuses."""

    # vehicles --------------------------------------------------------------------------------------------------------

    @entry("post", rpc="set_control", zmq="Command")
    def command(
        self,
        target: a.Target,
        inputs: Annotated[a.Tree, a.InRpc("inputs", a.Members), "input -> value"],
        at_tick: Annotated[a.AtTick, a.InRpc()] = None,
        timeout: Annotated[
            Annotated[float, Ge(0.0)] | None, "simulated s until the failsafe acts; null: that of its entry"
        ] = None,
    ) -> None:
        """Set inputs of a vehicle, or of a fleet with arrays of its length; inputs that are not named stay."""

    @entry("post", rpc="drive")
    def drive(
        self,
        target: a.Target,
        driving: Annotated[bool, "false: release"] = True,
        take_over: Annotated[bool, "drive even if another client does"] = False,
    ) -> None:
        """Drive a vehicle alone, or release it; a driven vehicle refuses commands of other clients."""

    @entry("post", zmq="Command")
    def command_many(self, ids: Any, inputs: a.Tree, timeout: float | None = None) -> None:
        """Set inputs of vehicles given by id, with arrays of the same length; all of them or none."""

    @entry("post", zmq="Call")
    def place(
        self,
        target: a.Target,
        pose: Annotated[Any, "x, y, z (m) and yaw (rad); of a fleet (n, 4)"],
        speed: Annotated[Any, "m/s; of a fleet also (n,)"] = 0.0,
        at_tick: a.AtTick = None,
    ) -> None:
        """Move a vehicle, or every vehicle of a fleet, to a pose as if it started there."""

    @entry("hub", rpc="set_fpv_control")
    def set_fpv_control(
        self,
        vehicle: a.Vehicle,
        throttle: Annotated[float | None, "0 to 1"] = None,
        roll: Annotated[float | None, "-1 to 1, + right"] = None,
        pitch: Annotated[float | None, "-1 to 1, + forward"] = None,
        yaw: Annotated[float | None, "-1 to 1, + left"] = None,
        flight_mode: Annotated[a.Text | None, "e.g. acro, angle, position"] = None,
    ) -> r.Moment:
        """Set the sticks and the mode of a drone; those that are not named stay."""

    @entry("hub", rpc="arm_drone")
    def arm_drone(self, vehicle: a.Vehicle, armed: Annotated[bool, "whether its motors may turn"]) -> r.Moment:
        """Arm or disarm a drone."""

    @entry("post", zmq="Call", slow=True)
    def spawn(self, entry: Annotated[a.Tree, "an entry of a scenario's `vehicles`"]) -> str:
        """Add vehicles of models that are installed or in use; return their name."""

    @entry("post", slow=True)
    def spawn_all(self, entries: list[a.Tree]) -> list[str]:
        """Add several entries, all or none; return their names."""

    @entry("hub", rpc="spawn_robots", slow=True)
    def spawn_robots(
        self,
        robots: Annotated[
            list[a.Robot],
            Len(1, a.MOST_ROBOTS),
            a.FIRST,
            "the vehicles, all or none; neighbours in the list that differ only in pose and have consecutive ids, or "
            "none, become one fleet",
        ],
        frame: a.AxesArgument = "enu",
    ) -> r.Spawned:
        """Add vehicles; return their names and ids, in the order given."""

    @entry("hub", rpc="spawn_fpv_drone")
    def spawn_fpv_drone(
        self,
        vehicle_id: Annotated[a.Id | None, "its id; null: the next free one"] = None,
        drone_preset: Annotated[a.Text | None, "preset of the model quad; null: its default"] = None,
        name: Annotated[a.Text | None, "unique; null: made from the model"] = None,
        x: Annotated[float, "position"] = 0.0,
        y: Annotated[float, "position"] = 0.0,
        z: Annotated[float, "position"] = 0.0,
        yaw: Annotated[float, "heading, rad"] = 0.0,
        frame: a.AxesArgument = "enu",
    ) -> r.SpawnedDrone:
        """Add a quadrotor, disarmed and in angle mode; return its name and id."""

    @entry("change", rpc="remove_vehicle", zmq="Call", shows=True)
    def remove(self, target: a.Target) -> None:
        """Remove a vehicle or a fleet."""

    @entry("change", rpc="clear_all_robots", shows=True)
    def clear(self) -> r.Removed:
        """Remove all vehicles; return how many there were."""

    # behaviours ------------------------------------------------------------------------------------------------------

    @entry("post", rpc="give_order", zmq="Call", client="behaviours.override", slow=True)
    def order(
        self,
        target: Annotated[
            str | int | Annotated[list[str | int], a.Listed],
            a.InRpc("vehicles", a.Overridden),
            "a name, an id, or a list of them",
        ],
        behaviour: a.Behaviour,
    ) -> None:
        """Override the behaviour of vehicles."""

    @entry("read", rpc="get_orders", zmq="Call", answer="orders", client="behaviours.overrides")
    def orders(self) -> list[r.OrderTree]:
        """Return the overrides in effect: ids (in JSON-RPC as [first, count]), name and options of the behaviour."""

    @entry("read", rpc="get_routes", zmq="Call", answer="routes", client="behaviours.routes")
    def routes(self) -> list[r.RouteTree]:
        """Return the paths and points that vehicles follow, in m east, north and up."""

    # synchronous control ---------------------------------------------------------------------------------------------

    @entry("post", zmq="SetMode")
    def claim(self, vehicles: list[str]) -> dict[str, Any]:
        """Wait for this client's commands for these vehicles at every barrier; return how the simulation waits."""

    @entry("post", zmq="SetMode")
    def release(self) -> None:
        """Release all vehicles of this client's claim."""

    @entry("post", zmq="Control")
    def control(self, tick: a.Count, commands: dict[str, a.Tree]) -> int:
        """Answer the control request of a tick; return that tick."""

    @entry("post", zmq="Control")
    def control_unasked(self, tick: a.Count, commands: dict[str, a.Tree]) -> None:
        """Answer the control request of a tick without waiting; a refusal is pushed as `refused`."""

    # reading ---------------------------------------------------------------------------------------------------------

    @entry("read", rpc="get_metadata", zmq="GetMetadata")
    def metadata(self, page: a.ForPage = False) -> r.MetadataTree:
        """Return the scenario, the clock, and the fleets with their inputs, and columns or parameters."""

    @entry("read", rpc="get_scenery", zmq="Call", answer="scenery")
    def scenery(self, side: Annotated[int, Ge(2), Le(512), "values per side of the ground"] = 128) -> r.SceneryTree:
        """Return the ground, on a grid, static obstacles, and roads."""

    @entry("read", rpc="get_track", zmq="Call", answer="track", client="get_track")
    def track(self) -> r.TrackTree | None:
        """Return the race track: cones, boundaries, middle line, gates; null without one."""

    @entry("read", rpc="get_standings", zmq="Call", answer="standings", client="race.standings")
    def standings(self) -> r.StandingsTree | None:
        """Return the race: cars in their order, with laps, sectors, penalties and gaps; null without rules."""

    @entry("read", zmq="Call")
    def snapshot(self, roster: Annotated[bool, "send the roster even if the client has it"] = False) -> dict[str, Any]:
        """Publish the present state to every endpoint. ZeroMQ answers with the state."""

    @entry("hub", rpc="get_state")
    def get_state(self, vehicle: a.Vehicle, frame: a.AxesArgument = "enu") -> r.StateTree:
        """Return the pose and the other public columns of one vehicle."""

    @entry("hub", rpc="get_all_states")
    def get_all_states(self, vehicles: a.NamesAndIds = None, frame: a.AxesArgument = "enu") -> r.StatesTree:
        """Return the poses of up to 10,000 vehicles, fleet by fleet."""

    @entry("hub", rpc="get_roster")
    def get_roster(self) -> r.RosterTree:
        """Return the fleets, with ids and members as [first, count]."""

    @entry("read", zmq="Call")
    def sensors(self, target: a.Target) -> dict[str, dict[str, Any]]:
        """Return the last readings of a vehicle's or a fleet's sensors: sensor -> reading -> value or (n,) array."""

    @entry("read", rpc="inspect", zmq="Call")
    def inspect(self, target: a.Target, page: a.ForPage = False) -> r.InspectedTree:
        """Return all state, command and parameter columns of a vehicle: group -> name -> value; JSON-RPC adds units."""

    @entry("read", rpc="get_autopilots", answer="autopilots", client="autopilots.status")
    def autopilots(self) -> list[r.AutopilotTree]:
        """Return the vehicles with autopilots: system, link, mode and waypoints of each."""

    @entry("read", rpc="get_series")
    def series(
        self, target: a.Target, columns: Annotated[list[a.Text], Len(1, a.MOST_COLUMNS), "names of columns"]
    ) -> r.SeriesTree:
        """Return columns of a vehicle over a whole recording. A live simulation refuses."""

    @entry("read")
    def parameter(self, target: str, name: str) -> Any:
        """Return one parameter of every vehicle of a fleet, (n,) in its unit."""

    @entry("read", zmq="Call")
    def state_hash(self) -> str:
        """Return the hex digest of the complete state at this tick."""

    @entry("read", zmq="Call", slow=True)
    def save(self) -> bytes:
        """Return the complete state."""

    @entry("read", rpc="get_events", zmq="Call", answer="events", client="events.since")
    def events(self, since: Annotated[a.Count, "number of the last known event"] = 0) -> list[r.EventTree]:
        """Return the events after a number, oldest first."""

    @entry("read", zmq="Call", client="log.complete", slow=True)
    def log(self, complete: Annotated[bool, "refuse if some are no longer there"] = True) -> list[dict[str, Any]]:
        """Return the applied actions: tick, sequence, source, kind and action of each."""

    @entry("hub", rpc="list_models", answer="models")
    def list_models(self) -> list[r.ModelTree]:
        """Return the models of which vehicles can be added, with presets (the default first) and inputs."""

    # markers and frames ----------------------------------------------------------------------------------------------

    @entry("post", rpc="put_markers", zmq="PutMarkers")
    def mark(
        self,
        markers: Annotated[
            list[a.Tree],
            Len(1, a.MOST_ITEMS),
            a.FIRST,
            a.LATER,
            "with namespace, id, kind; position, quaternion, scale, color, vertices, label, frame, ttl",
        ],
    ) -> None:
        """Show markers (ENU, m) in place of those with the same namespace and id; all or none."""

    @entry("post", rpc="delete_markers", zmq="DeleteMarkers, ClearMarkers")
    def unmark(
        self,
        namespace: Annotated[str | None, a.InRpc("namespace", a.Namespace), "null: all markers"] = None,
        number: Annotated[int | list[int] | None, a.InRpc("id", a.MarkerId), "null: all of the namespace"] = None,
    ) -> None:
        """Remove markers of a namespace, a whole namespace, or all markers."""

    @entry("post", rpc="set_marker_visibility", zmq="ShowMarkers", client="markers.show")
    def show_markers(self, namespace: a.Text, visible: Annotated[bool, "whether they are shown"] = True) -> None:
        """Show or hide the markers of a namespace, for every client."""

    @entry("post", zmq="Call", client="markers.alive")
    def placed_markers(self, hidden: Annotated[bool, "hidden ones, too"] = False) -> list[dict[str, Any]]:
        """Return the markers shown at present, by namespace and id."""

    @entry("post", zmq="Call", client="markers.namespaces")
    def marker_namespaces(self) -> dict[str, bool]:
        """Return every namespace of markers that has been used, and whether it is visible."""

    @entry("hub", rpc="draw_debug_lines", answer="ids")
    def draw_debug_lines(
        self,
        lines: Annotated[list[Row], Len(1, a.MOST_ITEMS), a.FIRST, "x1, y1, z1, x2, y2, z2 of each"],
        thickness: Annotated[float | None, "in the frame's units"] = None,
        color: a.Color = WHITE,
        ttl: a.Ttl = None,
        frame: a.AxesArgument = "enu",
    ) -> list[int]:
        """Draw lines as a marker of the namespace `debug`; return its id."""

    @entry("hub", rpc="draw_debug_spheres", answer="ids")
    def draw_debug_spheres(
        self,
        spheres: Annotated[list[Ball], Len(1, a.MOST_ITEMS), a.FIRST, "x, y, z, radius of each"],
        color: a.Color = WHITE,
        ttl: a.Ttl = None,
        frame: a.AxesArgument = "enu",
    ) -> list[int]:
        """Draw spheres as markers of the namespace `debug`, one for each radius; return their ids."""

    @entry("hub", rpc="clear_debug")
    def clear_debug(self) -> r.Moment:
        """Remove everything drawn in the namespace `debug`."""

    @entry("change", zmq="Call", client="frames.set")
    def set_frame(
        self,
        name: str,
        parent: Annotated[str, "`world`, a vehicle or a frame"] = "world",
        position: Annotated[a.Numbers, a.ErrorText("position must be a list of numbers"), "m"] = ORIGIN,
        quaternion: Annotated[a.Numbers, a.ErrorText("quaternion must be a list of numbers"), "x, y, z, w"] = UPRIGHT,
        moving: bool = False,
    ) -> None:
        """Place a named frame in another."""

    @entry("read", zmq="Call", client="frames.transform")
    def transform(
        self, target: str, source: str, time: Annotated[float | None, "simulation time, s; null: now"] = None
    ) -> dict[str, Any]:
        """Return the transform from one frame to another: `world`, a vehicle's name, or a named frame."""

    @entry("hub", rpc="get_frames")
    def get_frames(self) -> r.FramesTree:
        """Return the named frames (ENU, m), each with its last pose in its parent."""

    # mission ---------------------------------------------------------------------------------------------------------

    @entry("read", rpc="get_mission", answer="mission")
    def mission(self) -> r.MissionTree | None:
        """Return the mission, in m east and north; null without one."""

    @entry("read", zmq="Call", client="mission.view", slow=True)
    def mission_view(self) -> dict[str, Any] | None:
        """Return the mission with progress, figures and log; null without one."""

    @entry("post", rpc="add_task", zmq="Call", client="mission.add_task", slow=True)
    def add_task(self, task: Annotated[a.Tree, "as in a scenario's mission.tasks"]) -> None:
        """Add a task to the mission."""

    @entry("post", rpc="move_task", zmq="Call", client="mission.move_task", slow=True)
    def move_task(
        self,
        name: Annotated[a.Text, "the task"],
        x: Annotated[a.Coordinate, "m east"],
        y: Annotated[a.Coordinate, "m north"],
    ) -> None:
        """Move a task of the mission."""

    @entry("post", rpc="remove_task", zmq="Call", client="mission.remove_task", slow=True)
    def remove_task(self, name: Annotated[a.Text, "the task"]) -> None:
        """Remove a task from the mission."""

    @entry("post", rpc="add_zone", zmq="Call", client="mission.add_zone", slow=True)
    def add_zone(self, zone: Annotated[a.Tree, "a no-fly zone, as in a scenario's mission.zones"]) -> None:
        """Add a no-fly zone to the mission."""

    @entry("post", rpc="remove_zone", zmq="Call", client="mission.remove_zone", slow=True)
    def remove_zone(self, name: Annotated[a.Text, "the zone"]) -> None:
        """Open a no-fly zone of the mission again."""

    @entry("post", zmq="Call", client="mission.add_vehicle", slow=True)
    def add_vehicle(self, entry: Annotated[a.Tree, "an entry of a scenario's `vehicles`"]) -> None:
        """Add vehicles of models that are installed or in use to the mission."""

    @entry("post", rpc="damage_vehicle", zmq="Call", client="mission.damage", slow=True)
    def damage(self, vehicle: a.Vehicle) -> None:
        """Disable a vehicle of the mission permanently; others take over its tasks."""

    # radio -----------------------------------------------------------------------------------------------------------

    @entry("read", rpc="get_radio", zmq="Call", answer="radio", client="radio.view")
    def radio_view(self) -> r.RadioTree | None:
        """Return the radios of fleets, the stations, the jammers and numbers of links; null without radio."""

    @entry("post", rpc="get_coverage", zmq="Call", answer="coverage", client="radio.coverage", slow=True)
    def coverage(
        self,
        of: Annotated[a.Text | None, "a station or vehicle; null: all stations, or all vehicles without one"] = None,
        receiver: Annotated[a.Text | None, "a fleet, vehicle or station; null: the first fleet"] = None,
        x: Annotated[a.Coordinate | None, "centre, m east; null: that of all radios"] = None,
        y: Annotated[a.Coordinate | None, "centre, m north"] = None,
        size: Annotated[
            Annotated[float, Ge(limits.SMALLEST), Le(limits.LARGEST)] | None, "side of the square, m; null: all radios"
        ] = None,
        side: Annotated[int, Ge(2), Le(limits.MOST_VALUES), "values per side"] = 64,
        height: Annotated[float, Ge(limits.LOWEST), Le(limits.HIGHEST), "m above the ground"] = 2.0,
    ) -> r.CoverageTree:
        """Return received power, SINR and jamming on a grid. Another thread computes it; ticks do not wait."""

    @entry("post", rpc="get_spectrum", zmq="Call", answer="spectrum", client="radio.spectrum", slow=True)
    def spectrum(
        self,
        receiver: Annotated[a.Text, "a vehicle or station; `red/1` is its second radio"],
        span: Annotated[
            Annotated[float, Ge(limits.NARROWEST), Le(limits.WIDEST)] | None,
            "Hz around its frequency; null: four bandwidths",
        ] = None,
        bins: Annotated[int, Ge(2), Le(limits.MOST_BINS), "number of values"] = 96,
    ) -> r.SpectrumTree:
        """Return the power by frequency at a receiver. Another thread computes it; ticks do not wait."""

    @entry("post", rpc="set_visualization_mode", answer="mode")
    def visualization(
        self,
        show_comm_links: Annotated[bool | None, "links by SINR; null: as it is"] = None,
        show_rf_range: Annotated[bool | None, "ranges of radios"] = None,
        show_jamming: Annotated[bool | None, "jammers and where they jam"] = None,
        show_coverage: Annotated[bool | None, "heat map of the coverage"] = None,
        show_paths: Annotated[bool | None, "trails and routes"] = None,
        show_labels: Annotated[bool | None, "names of vehicles"] = None,
    ) -> r.VisualizationTree:
        """Show or hide layers of all pages of this server; users can still change them."""

    @entry("change", rpc="radio_send", zmq="Call", client="radio.send")
    def radio_send(
        self,
        source: Annotated[str | int, "the vehicle or station that sends"],
        to: Annotated[str | int, "a vehicle or station, or `*`: all that hear it"] = "*",
        data: Annotated[Any, "the contents"] = None,
        bits: Annotated[int | None, Ge(0), Le(1 << 24), "size; null: that of the contents"] = None,
        hops: Annotated[int | None, Ge(1), Le(255), "most hops; null: 1 of a broadcast, else `messages.hops`"] = None,
        lifetime: Annotated[float | None, Le(1e6), "s until it is discarded; null: `messages.lifetime`"] = None,
    ) -> None:
        """Send a message over the simulated radio."""

    @entry("read", rpc="radio_received", zmq="Call", answer="messages", client="radio.received")
    def radio_received(
        self,
        name: Annotated[str | int, "a vehicle or station"],
        since: Annotated[int, Ge(0), "only messages with higher numbers"] = 0,
    ) -> list[r.RadioMessageTree]:
        """Return the newest messages that a vehicle or station has received, oldest first."""

    @entry("read", rpc="radio_network", zmq="Call", answer="network", client="radio.network")
    def radio_network(self) -> r.RadioNetworkTree:
        """Return the network of the radio links: components, articulation points, bridges."""

    @entry("read", rpc="radio_traffic", zmq="Call", answer="traffic", client="radio.traffic")
    def radio_traffic(self) -> dict[str, int]:
        """Return counters of messages: sent, delivered, dropped by reason."""

    @entry("read", rpc="get_jammers", zmq="Call", answer="jammers", client="radio.jammers")
    def jammers(self) -> list[r.JammerTree]:
        """Return the jammers, in the order of their names; none without radio."""

    @entry("post", rpc="set_jammer", zmq="Call", client="radio.set_jammer", slow=True)
    def set_jammer(
        self,
        name: Annotated[a.Text, "the jammer"],
        on: Annotated[bool | None, "whether it follows its schedule; null: as it is"] = None,
        position: Annotated[a.Numbers | None, a.ErrorText("position must be a list of numbers"), "x, y, z, m"] = None,
        vehicle: Annotated[a.Text | None, "the vehicle that carries it"] = None,
        power: Annotated[a.Finite | None, "dBm"] = None,
        frequency: Annotated[a.Finite | None, "Hz"] = None,
        bandwidth: Annotated[a.Finite | None, "Hz"] = None,
    ) -> None:
        """Change a jammer; links follow with the next update."""

    @entry("read", rpc="get_spoofers", zmq="Call", answer="spoofers", client="radio.spoofers")
    def spoofers(self) -> list[r.SpooferTree]:
        """Return the spoofers of satellite navigation, in the order of their names; none without radio."""

    @entry("post", rpc="set_spoofer", zmq="Call", client="radio.set_spoofer", slow=True)
    def set_spoofer(
        self,
        name: Annotated[a.Text, "the spoofer"],
        on: Annotated[bool | None, "whether it follows its schedule; null: as it is"] = None,
        position: Annotated[a.Numbers | None, a.ErrorText("position must be a list of numbers"), "x, y, z, m"] = None,
        vehicle: Annotated[a.Text | None, "the vehicle that carries it"] = None,
        power: Annotated[a.Finite | None, "dBm"] = None,
    ) -> None:
        """Change a spoofer; satellite signals follow with the next update of the radio."""

    @entry("read", rpc="get_radio_commands", zmq="Call", answer="traffic", client="radio.commands")
    def radio_commands(self, vehicle: a.Vehicle) -> r.CommandTrafficTree:
        """Return the counts of commands that went to a vehicle or fleet over the radio."""

    @entry("read", rpc="get_link", zmq="Call", answer="link", client="radio.link")
    def link_budget(
        self,
        source: Annotated[a.Text, "vehicle or station that transmits; `red/1` is its second radio"],
        to: Annotated[a.Text, "vehicle or station that receives"],
    ) -> r.LinkBudgetTree:
        """Return the budget of a link at the present positions: gains and losses, SINR, packet error rate."""

    # scenarios -------------------------------------------------------------------------------------------------------

    @entry("hub", rpc="list_scenarios", answer="scenarios")
    def list_scenarios(self) -> list[r.ScenarioCardTree]:
        """Return the bundled scenarios, demos and manoeuvres: description, number of vehicles, picture."""

    @entry("hub", rpc="get_scenario")
    def get_scenario(self, name: Annotated[a.Text, "name of a demo or manoeuvre"]) -> r.ScenarioText:
        """Return the YAML text of a bundled scenario."""

    @entry("post", rpc="get_running_scenario")
    def running_scenario(self) -> r.ScenarioText:
        """Return the YAML text of the running scenario; the original text if it was loaded from a file."""

    @entry("hub", rpc="get_schema")
    def get_schema(self) -> dict[str, Any]:
        """Return the JSON schema of scenarios, for editors."""

    @entry("post")
    def known_names(self) -> dict[str, list[str]]:
        """Return the models, behaviours, sensors and planning methods that clients may name."""

    @entry("hub", rpc="check_scenario", answer="problems", slow=True)
    def check_scenario(
        self, text: Annotated[str, Len(1, a.LONGEST_SCENARIO), "a scenario in YAML"]
    ) -> list[r.ProblemTree]:
        """Return the errors of a scenario, with line and column, without running it."""

    @entry("hub", rpc="check_track", answer="check", slow=True)
    def check_track(self, cones: a.Cones, colours: a.ConeColours, start: a.StartPose) -> r.TrackCheckTree:
        """Return the track of cones, or why they form none, and the rules of Formula Student that it breaks."""

    @entry("hub", rpc="write_track", answer="text", slow=True)
    def write_track(
        self,
        cones: a.Cones,
        colours: a.ConeColours,
        start: a.StartPose,
        format: Annotated[Literal["csv", "csv4", "cones", "lanes"], "format of the file"] = "csv",
        covariances: a.ConeCovariances = None,
    ) -> str:
        """Return the text of a track file with these cones; `lanes` needs cones that form a track.

        Only `csv` has covariances.
        """

    @entry("hub", rpc="read_track", answer="file", slow=True)
    def read_track(
        self,
        text: Annotated[str, Len(1, a.LONGEST_SCENARIO), "contents of a track file, in any format"],
        name: Annotated[a.Text, "its name, for errors"] = "track",
    ) -> r.TrackFileTree:
        """Return the cones and the start pose of a track file; an error has line and column."""

    @entry("hub", rpc="load_scenario", slow=True)
    def load_scenario(
        self,
        text: Annotated[
            Annotated[str, Len(1, a.LONGEST_SCENARIO)] | None,
            "a scenario in YAML; its sections `serve` and `record` are ignored",
        ] = None,
        name: Annotated[a.Text | None, "or the name of a demo or manoeuvre"] = None,
    ) -> r.Empty:
        """End the run and start another on the same addresses; clients reconnect. Refused if it has errors."""

    @entry("post")
    def switch_scenario(self, text: str) -> None:
        """End the run and start that of another scenario, which is already checked."""


OPERATIONS = collected(Operations)  # every operation by its name
METHODS = {operation.entry.rpc: operation for operation in OPERATIONS.values() if operation.entry.rpc}
"""The operations that JSON-RPC offers, by method name."""
