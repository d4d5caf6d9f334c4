"""Deprecated: `paddock.world.ring` has the frame ring."""

import warnings

from paddock.world.ring import FrameGroup as Frames
from paddock.world.ring import FrameRingReader, FrameRingWriter

__all__ = ["FrameRingReader", "FrameRingWriter", "Frames"]

warnings.warn("paddock.world.frame_ring is now paddock.world.ring", DeprecationWarning, stacklevel=2)
