"""The tick, run modes, actions and events: a `Simulation` and the `Engine` behind it."""

from collections.abc import Callable
from typing import Any

services: dict[str, Callable[..., Any]] = {}
"""Functions of higher rooms that a simulation offers, such as `show`; `paddock/__init__.py` registers them."""
