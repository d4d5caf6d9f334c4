"""`paddock demo`: run the bundled scenarios."""

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
    from paddock.scenario import demo_names, demo_path, load_scenario

    if list_:
        width = max(map(len, demo_names()), default=0)
        for each in demo_names():
            print(f"{each:{width}}  {load_scenario(demo_path(each)).description}")
        return 0
    scenario = load_scenario(demo_path(name))
    from paddock.cli.session import run_scenario

    return run_scenario(scenario, options or RunOptions(), serve)
