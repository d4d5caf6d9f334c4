"""Deprecated: `paddock.wire.stream.frames` has the tick frame."""

import warnings

from paddock.wire.stream.frames import TICK, Tick, decode_tick, encode_tick

__all__ = ["TICK", "Tick", "decode_tick", "encode_tick"]

warnings.warn("paddock.wire.stream.tick is now paddock.wire.stream.frames", DeprecationWarning, stacklevel=2)
