"""The entries of connections and of the clock."""

from typing import Annotated, Any, Protocol

from annotated_types import Ge, Le, Len
from pydantic import AllowInfNan

from paddock.wire.operations import arguments as a
from paddock.wire.operations import results as r
from paddock.wire.operations.operation import entry

POSITIONS: list[a.Kind] = ["positions"]
NO_COLUMNS: a.ColumnLists = []


class ClockOperations(Protocol):
    """Connections and the clock."""

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
