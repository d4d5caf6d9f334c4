"""A running simulation as a source: one file per group of operations that clients may use."""

from __future__ import annotations

from paddock.serve.live.source import LiveSource

__all__ = ["LiveSource"]
