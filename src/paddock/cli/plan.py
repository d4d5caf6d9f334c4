"""`paddock plan`: who does what in a mission, as a table, a report, pictures, files for ground stations, a film."""

from __future__ import annotations

import sys

from paddock.cli.plan_options import PlanOptions


def plan(scenario: str | None = None, /, *, options: PlanOptions | None = None) -> int:
    """Plan a mission: which vehicle does which tasks, in which order, along which way.

    Writes a report, pictures, plan.json, metrics.csv, GeoJSON and QGroundControl files into a folder.

    Parameters
    ----------
    scenario
        A scenario file (YAML) with a mission, or the name of a demo; without one, a mission is drawn.
    """
    chosen = options or PlanOptions()
    chosen.check()
    if added := chosen.added:
        print(f"paddock: {added} is compared as well: --method asks for its plan", file=sys.stderr)
    from paddock.cli.plan_source import mission_for, write_generated
    from paddock.cli.plan_steps import conduct

    if not chosen.generate:
        return conduct(mission_for(scenario, chosen), chosen)
    drawn = mission_for(None, chosen)
    if scenario is not None or not chosen.plans:
        write_generated(drawn, scenario)
    return conduct(drawn, chosen) if chosen.plans else 0
