"""`paddock radio link`: the budget of a link of a scenario."""

from __future__ import annotations

import json as json_format
from math import isfinite
from typing import Annotated

from cyclopts import Parameter

from paddock.cli.options import Flag
from paddock.errors import PaddockError


def link(
    scenario: str,
    source: str,
    to: str,
    /,
    *,
    after: Annotated[float, Parameter(allow_leading_hyphen=True)] = 0.0,
    json: Flag = False,
) -> int:
    """Show the budget of a link: every gain and loss from the transmitter to the packets that arrive.

    Parameters
    ----------
    scenario
        A scenario file, or the name of a demo.
    source
        The vehicle or station that transmits: red, scouts[3], base; red/1 is its second radio.
    to
        The vehicle or station that receives.
    after
        Run for this long first, in s of simulated time.
    json
        Print only a JSON object.
    """
    from paddock import load

    if not (isfinite(after) and after >= 0.0):
        raise PaddockError(f"--after must be a number >= 0 in s, not {after:g}")
    with load(scenario) as sim:
        if sim.radio is None:
            raise PaddockError(f"{scenario} has no radio: add a section `radio: {{}}`")
        if after > 0.0:
            sim.run(until=after, pace=0)
        budget = sim.radio.link(source, to)
    print(json_format.dumps(budget._asdict()) if json else budget)
    return 0
