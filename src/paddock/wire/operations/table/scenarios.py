"""The entries of scenarios and track files."""

from typing import Annotated, Any, Literal, Protocol

from annotated_types import Len

from paddock.wire.operations import arguments as a
from paddock.wire.operations import results as r
from paddock.wire.operations.operation import entry


class ScenarioOperations(Protocol):
    """Scenarios and track files."""

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
