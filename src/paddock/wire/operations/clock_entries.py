"""The entries of connections, of the clock, of scenarios and of track files."""

from typing import Annotated, Any, Literal, Protocol

from annotated_types import Ge, Le, Len
from pydantic import AllowInfNan

from paddock.wire import results as r
from paddock.wire.operations import arguments as a
from paddock.wire.operations.operation import entry

POSITIONS: list[a.Kind] = ["positions"]
NO_COLUMNS: a.ColumnLists = []


class ClockOperations(Protocol):
    """Connections and the clock."""

    # connection ------------------------------------------------------------------------------------------------------

    @entry("hub", rpc=True, public=True)
    def ping(self) -> r.Pong:
        """Return the simulation's clock as known to the hub, and the preparation in progress."""

    @entry("hub", rpc=True, public=True)
    def authenticate(self, token: Annotated[str, Len(1, 4096), "the server's token"]) -> r.Empty:
        """Authenticate with the token; any other request may contain it in a field `token` instead."""

    @entry("hub", rpc=True)
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

    @entry("hub", rpc=True, answer="wanted")
    def set_columns(self, columns: a.ColumnLists) -> int:
        """Change the columns sent; frames with these columns have the returned number."""

    @entry("hub", rpc=True, answer="rate")
    def set_rate(self, rate: a.Rate = None) -> float:
        """Change the rate of groups of frames; return the granted rate."""

    @entry("hub", rpc=True)
    def unsubscribe(self) -> r.Empty:
        """Stop sending frames."""

    # clock -----------------------------------------------------------------------------------------------------------

    @entry("fact", zmq="Call", client="clock.view", example={})
    def clock(self) -> dict[str, Any]:
        """Return pace, paused, run and the client that owns the clock."""

    @entry("step", rpc="simulation_step", zmq="Step", shows=True, slow=True)
    def step(self, ticks: a.Ticks = 1) -> None:
        """Advance by exactly this many ticks, then answer. The client then owns the clock."""

    @entry("step", zmq="Step.state", reply="StateUpdate", client=None, slow=True)
    def step_synchronously(
        self,
        ticks: a.Ticks,
        control: Annotated[a.Tree | None, "the arguments of the next `control`, sent in advance"] = None,
    ) -> bytes:
        """Advance by this many ticks and return the encoded state after them."""

    @entry("clock", zmq="Run", slow=True)
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

    @entry("clock", zmq="Stop", client="clock.stop")
    def stop(self) -> int:
        """End the client's `run` or `step` and hold the clock; return the tick."""

    @entry("clock", rpc=True, zmq="Pause", shows=True, client="clock.pause")
    def pause(self) -> None:
        """Pause the run; `step` still works."""

    @entry("clock", rpc=True, zmq="Resume", client="clock.resume")
    def resume(self) -> None:
        """Resume the run."""

    @entry("clock", rpc=True, zmq="SetPace", client="clock.set_pace")
    def set_pace(
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

    @entry("clock", zmq="Call")
    def hold(self) -> None:
        """Take the clock: time advances only by this client's `step` and `run`."""

    @entry("clock", rpc=True, zmq="Call")
    def release_clock(self) -> None:
        """Release the clock that a step has taken; time advances again, unless the run was paused."""

    @entry("change", rpc=True, zmq="Reset", slow=True, example={})
    def reset(
        self,
        seed: Annotated[
            Annotated[int, Ge(0), Le(2**64 - 1)] | None,
            a.ErrorText("a seed is a whole number in 0 to 2**64 - 1"),
            "another seed; null: the same",
        ] = None,
    ) -> None:
        """Restart the scenario from tick 0."""

    @entry("change", zmq="Call", slow=True, example={})
    def restore(self, state: Annotated[bytes, "what `save` returned"]) -> None:
        """Return to a saved state of this scenario."""

    @entry("command", rpc=True, zmq="Call", answer="position")
    def seek(self, position: Annotated[float, "s from the start of the recording"]) -> float:
        """Jump within the recording that is played and return the new position. A live simulation refuses."""


class ScenarioOperations(Protocol):
    """Scenarios and track files."""

    @entry("hub", rpc=True, answer="scenarios")
    def list_scenarios(self) -> list[r.ScenarioCardTree]:
        """Return the bundled scenarios, demos and manoeuvres: description, number of vehicles, picture."""

    @entry("hub", rpc=True)
    def get_scenario(self, name: Annotated[a.Text, "name of a demo or manoeuvre"]) -> r.ScenarioText:
        """Return the YAML text of a bundled scenario."""

    @entry("fact", rpc=True)
    def running_scenario(self) -> r.ScenarioText:
        """Return the YAML text of the running scenario; the original text if it was loaded from a file."""

    @entry("hub", rpc=True)
    def get_schema(self) -> dict[str, Any]:
        """Return the JSON schema of scenarios, for editors."""

    @entry("fact")
    def known_names(self) -> dict[str, list[str]]:
        """Return the models, behaviours, sensors and planning methods that clients may name."""

    @entry("hub", rpc=True, answer="problems", slow=True)
    def check_scenario(
        self, text: Annotated[str, Len(1, a.LONGEST_SCENARIO), "a scenario in YAML"]
    ) -> list[r.ProblemTree]:
        """Return the errors of a scenario, with line and column, without running it."""

    @entry("hub", rpc=True, answer="check", slow=True)
    def check_track(self, cones: a.Cones, colours: a.ConeColours, start: a.StartPose) -> r.TrackCheckTree:
        """Return the track of cones, or why they form none, and the rules of Formula Student that it breaks."""

    @entry("hub", rpc=True, answer="text", slow=True)
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

    @entry("hub", rpc=True, answer="file", slow=True)
    def read_track(
        self,
        text: Annotated[str, Len(1, a.LONGEST_SCENARIO), "contents of a track file, in any format"],
        name: Annotated[a.Text, "its name, for errors"] = "track",
    ) -> r.TrackFileTree:
        """Return the cones and the start pose of a track file; an error has line and column."""

    @entry("hub", rpc=True, slow=True)
    def load_scenario(
        self,
        text: Annotated[
            Annotated[str, Len(1, a.LONGEST_SCENARIO)] | None,
            "a scenario in YAML; its sections `serve`, `record` and `sitl` are ignored, and named in the answer",
        ] = None,
        name: Annotated[a.Text | None, "or the name of a demo or manoeuvre"] = None,
    ) -> r.ScenarioLoading:
        """End the run and start another on the same addresses; clients reconnect. Refused if it has errors."""

    @entry("change", slow=True)
    def switch_scenario(self, text: str) -> list[str]:
        """End the run and start that of another scenario, which is already checked; return its ignored sections."""
