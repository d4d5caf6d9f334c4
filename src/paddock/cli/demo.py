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
    """Run one of the bundled demos or manoeuvres.

    Parameters
    ----------
    name
        Name of the demo or manoeuvre; see --list.
    list_
        List the demos, and the manoeuvres of paddock validate.
    """
    from paddock.scenario import bundled_names, bundled_path, load_scenario

    if list_:
        width = max(map(len, bundled_names()), default=0)
        for each in bundled_names():
            print(f"{each:{width}}  {load_scenario(bundled_path(each)).description}")
        return 0
    scenario = load_scenario(bundled_path(name))
    from paddock.cli.session import run_scenario

    return run_scenario(scenario, options or RunOptions(), serve)
