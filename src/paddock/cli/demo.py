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
    from paddock.scenario import demo_names, demo_path, load_scenario

    if list_:
        names = demo_names()
        width = max(map(len, names), default=0)
        for known in names:
            print(f"{known:{width}}  {load_scenario(demo_path(known)).description}")
        return 0
    scenario = load_scenario(demo_path(name))
    from paddock.cli.session import conduct

    return conduct(scenario, options or RunOptions(), serve)
