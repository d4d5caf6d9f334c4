"""`paddock demo`: run the bundled scenarios."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

from paddock.cli.options import Flag, RunOptions, ServeOptions

DEFAULT = "swarm"


def demo(
    name: str = DEFAULT,
    /,
    *,
    list_: Annotated[Flag, Parameter(name="--list")] = False,
    options: RunOptions | None = None,
    serve: ServeOptions | None = None,
) -> int:
    """Run one of the bundled demos.

    Parameters
    ----------
    name
        Name of the demo; see --list.
    list_
        List the demos.
    """
    from paddock.scenario import demo_path, load_scenario

    if list_:
        return print_demos()
    scenario = load_scenario(demo_path(name))
    from paddock.cli.session import run_scenario

    return run_scenario(scenario, options or RunOptions(), serve)


def print_demos() -> int:
    """Print the names and descriptions of all demos."""
    from paddock.scenario import demo_names, demo_path, load_scenario

    names = demo_names()
    width = max(map(len, names), default=0)
    for name in names:
        print(f"{name:{width}}  {load_scenario(demo_path(name)).description}")
    return 0
