"""The autopilots of a run from the command line; nothing of them is imported where a scenario has none."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from paddock.engine.simulation import Simulation
    from paddock.scenario import Scenario
    from paddock.sitl.hosting.host import SitlHost


def equipped(scenario: Scenario) -> Scenario:
    """With the sensors that autopilots need, if there are any."""
    if scenario.sitl is None:
        return scenario
    from paddock.sitl.hosting.equipping import equipped_scenario

    return equipped_scenario(scenario)


def started(sim: Simulation) -> SitlHost | None:
    """The autopilots of the scenario, which end with the simulation."""
    if sim.scenario.sitl is None:
        return None
    from paddock.sitl.hosting.host import SitlHost

    return SitlHost(sim)


def tell_ports(autopilots: SitlHost | None) -> None:
    """Where they can be reached: to be told once whoever calls there is answered at once."""
    if autopilots is not None:
        from paddock.cli.autopilots import print_ports

        print_ports(autopilots)
