"""The autopilots of a run from the command line; nothing of them is imported where a scenario has none."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from paddock.engine.simulation import Simulation
    from paddock.scenario import Scenario
    from paddock.sitl.host import SitlHost


def equipped(scenario: Scenario) -> Scenario:
    """With the sensors that autopilots need, if there are any."""
    if scenario.sitl is None:
        return scenario
    from paddock.sitl.from_scenario import equipped_scenario

    return equipped_scenario(scenario)


def started(sim: Simulation) -> SitlHost | None:
    """The autopilots of the scenario, which end with the simulation."""
    if sim.scenario.sitl is None:
        return None
    from paddock.sitl.host import SitlHost

    return SitlHost(sim)


def summary(autopilots: SitlHost | None) -> list[dict[str, Any]]:
    """What each amounted to, for machines: the row of the live table, and what went wrong on its wire."""
    if autopilots is None:
        return []
    statuses = {vehicle.sysid: vehicle.autopilot.status for vehicle in autopilots.bridge.vehicles}
    wire = ("duplicates", "restarts", "rejected")
    return [
        {name: None if value != value else value for name, value in row._asdict().items()}
        | {name: getattr(statuses[row.sysid], name) for name in wire}
        for row in autopilots.status()
    ]


def tell_ports(autopilots: SitlHost | None) -> None:
    """Where they can be reached: to be told once whoever calls there is answered at once."""
    if autopilots is not None:
        from paddock.cli.autopilots import print_ports

        print_ports(autopilots)
