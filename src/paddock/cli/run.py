"""`paddock run`: run a scenario file, or one vehicle described by flags."""

from typing import Annotated, Any

from cyclopts import Parameter

from paddock.cli.options import RunOptions, ServeOptions, as_flags
from paddock.errors import PaddockError

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


def run(
    scenario: str | None = None,
    /,
    *,
    model: str | None = None,
    preset: str | None = None,
    speed: float | None = None,
    height: float | None = None,
    behaviour: str | None = None,
    command: Annotated[tuple[str, ...], Parameter(negative="", show_default=False)] = (),
    rate: float | None = None,
    options: RunOptions | None = None,
    serve: ServeOptions | None = None,
) -> int:
    """Run a scenario file, or a single vehicle described by flags.

    Parameters
    ----------
    scenario
        A scenario file (YAML), or the name of a demo or manoeuvre (paddock demo --list).
    model
        Instead of a file: one vehicle of this model, e.g. car.bicycle.
    preset
        Its parameters, e.g. sedan.
    speed
        Its initial forward speed, in m/s.
    height
        Its initial height, in m.
    behaviour
        Its behaviour, e.g. hold.
    command
        A constant command input, e.g. throttle=0.4; may be repeated.
    rate
        Ticks per simulated second, in Hz.
    """
    flat = {"preset": preset, "speed": speed, "height": height, "behaviour": behaviour, "rate": rate}
    overrides: dict[str, Any] = {flag: value for flag, value in flat.items() if value is not None}
    overrides |= {"command": command} if command else {}
    if (scenario is None) == (model is None):
        what = "not both" if model else "e.g. paddock run race.yaml, or paddock run --model quad --height 10"
        raise PaddockError(f"give a scenario file or --model: {what}")
    if model is None and overrides:
        raise PaddockError(f"--{next(iter(overrides))} requires --model; set it in the scenario file instead")
    from paddock.cli.session import run_scenario
    from paddock.scenario import load_scenario

    if scenario is not None:
        return run_scenario(load_scenario(scenario), options or RunOptions(), serve)
    entry: dict[str, Any] = {key: overrides[key] for key in ("preset", "speed", "behaviour") if key in overrides}
    if height is not None:
        entry["pose"] = [0.0, 0.0, height, 0.0]
    if command:
        entry["commands"] = dict(map(_input, command))
    name = str(model).rpartition(".")[2]
    vehicle = {"name": name, "model": model, **entry}
    try:
        single = load_scenario({"name": name, "clock": {} if rate is None else {"rate": rate}, "vehicles": [vehicle]})
        return run_scenario(single, options or RunOptions(), serve)
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
