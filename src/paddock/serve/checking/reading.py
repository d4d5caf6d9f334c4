"""A scenario that a client wrote: text of a limited length, never the name of a file."""

from __future__ import annotations

from paddock.scenario import Scenario, ScenarioError, scenario_from_text

MOST_TEXT = 1 << 20
"""Characters."""
LEFT_OUT = ("serve", "record", "sitl")
"""Where to listen, what to write and what to connect is not a client's to say."""


def read(text: str) -> Scenario:
    """The scenario that stands in a text, without the sections that are not a client's to write."""
    if len(text) > MOST_TEXT:
        raise ScenarioError(f"a scenario has at most {MOST_TEXT:,} characters here, not {len(text):,}")
    return scenario_from_text(text, without=LEFT_OUT)
