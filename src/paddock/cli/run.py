"""`paddock run`: run a scenario file, or one vehicle described by flags."""

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from paddock.cli.options import RunOptions, ServeOptions, as_flags
from paddock.errors import PaddockError

if TYPE_CHECKING:
    from paddock.scenario import Scenario

FLAGS = {
    "vehicles[0].model": "--model",
    "vehicles[0].preset": "--preset",
    "vehicles[0].speed": "--speed",
    "vehicles[0].behaviour": "--behaviour",
    "vehicles[0].commands.": "--command ",
    "vehicles[0].pose[2]": "--height",
    "clock.rate": "--rate",
}
"""Path of a value in a scenario -> the flag that set it."""


@Parameter(name="*")
@dataclass(frozen=True)
class VehicleOptions:
    """A single vehicle, instead of a scenario."""

    model: str | None = None
    "Instead of a file: one vehicle of this model, e.g. car.bicycle."

    preset: str | None = None
    "Its parameters, e.g. sedan."

    speed: float | None = None
    "Its initial forward speed, in m/s."

    height: float | None = None
    "Its initial height, in m."

    behaviour: str | None = None
    "Its behaviour, e.g. hold."

    command: Annotated[tuple[str, ...], Parameter(negative="", show_default=False)] = ()
    "A constant command input, e.g. throttle=0.4; may be repeated."

    rate: float | None = None
    "Ticks per simulated second, in Hz."

    def scenario(self) -> "Scenario":
        """Return the scenario of this vehicle."""
        from paddock.scenario import load_scenario

        vehicle: dict[str, Any] = {key: getattr(self, key) for key in ("model", "preset", "speed", "behaviour")}
        if self.height is not None:
            vehicle["pose"] = [0.0, 0.0, self.height, 0.0]
        if self.command:
            vehicle["commands"] = dict(map(_input, self.command))
        name = str(self.model).rpartition(".")[2]
        clock = {} if self.rate is None else {"rate": self.rate}
        vehicle = {"name": name, **{key: value for key, value in vehicle.items() if value is not None}}
        return load_scenario({"name": name, "clock": clock, "vehicles": [vehicle]})


def run(
    scenario: str | None = None,
    /,
    *,
    vehicle: VehicleOptions | None = None,
    options: RunOptions | None = None,
    serve: ServeOptions | None = None,
) -> int:
    """Run a scenario file, or a single vehicle described by flags.

    Parameters
    ----------
    scenario
        A scenario file (YAML), or the name of a demo or manoeuvre (paddock demo --list).
    """
    single = vehicle or VehicleOptions()
    flags = [name for name, value in asdict(single).items() if name != "model" and value not in (None, ())]
    if (scenario is None) == (single.model is None):
        what = "not both" if single.model else "e.g. paddock run race.yaml, or paddock run --model quad --height 10"
        raise PaddockError(f"give a scenario file or --model: {what}")
    if single.model is None and flags:
        raise PaddockError(f"--{flags[0]} requires --model; set it in the scenario file instead")
    from paddock.cli.session import run_scenario
    from paddock.scenario import load_scenario

    if scenario is not None:
        return run_scenario(load_scenario(scenario), options or RunOptions(), serve)
    try:
        return run_scenario(single.scenario(), options or RunOptions(), serve)
    except PaddockError as error:
        raise PaddockError(as_flags(str(error), FLAGS)) from None


def _input(text: str) -> tuple[str, float | str]:
    """Split `throttle=0.4` into name and value."""
    name, equals, value = text.partition("=")
    if not (name and equals and value):
        raise PaddockError(f"--command takes name=value, not {text!r}")
    try:
        return name, float(value)
    except ValueError:
        return name, value
