"""Deprecated module: use `paddock.planning.metrics`."""

from warnings import warn

from paddock.planning.metrics import export, to_arrow, to_csv, to_json, to_parquet

__all__ = ["export", "to_arrow", "to_csv", "to_json", "to_parquet"]

warn("paddock.planning.exports is deprecated; use paddock.planning.metrics", DeprecationWarning, stacklevel=2)
