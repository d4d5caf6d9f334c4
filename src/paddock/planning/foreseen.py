"""Deprecated module: use `paddock.planning.metrics`."""

from warnings import warn

from paddock.planning.metrics import foreseen, planned_trace

__all__ = ["foreseen", "planned_trace"]

warn("paddock.planning.foreseen is deprecated; use paddock.planning.metrics", DeprecationWarning, stacklevel=2)
