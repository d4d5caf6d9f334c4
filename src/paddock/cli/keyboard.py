"""Single key presses from a terminal, without waiting for any."""

from __future__ import annotations

import os
import select
import sys
from typing import Any, Self

try:
    import termios
    import tty
except ImportError:  # not on Windows
    HAS_TERMIOS = False
else:
    HAS_TERMIOS = True


class Keyboard:
    """While entered, keys come unbuffered and unechoed; afterwards the terminal is as it was."""

    def __init__(self) -> None:
        self.active = HAS_TERMIOS and sys.stdin is not None and sys.stdin.isatty()
        self._before: list[Any] = []

    def __enter__(self) -> Self:
        """Switch the terminal over."""
        if self.active:
            self._before = termios.tcgetattr(sys.stdin)
            tty.setcbreak(sys.stdin)
        return self

    def __exit__(self, *_: object) -> None:
        """Switch it back."""
        if self.active:
            termios.tcsetattr(sys.stdin, termios.TCSADRAIN, self._before)

    def pressed(self) -> str:
        """The keys since the last call."""
        if not self.active or not select.select([sys.stdin], [], [], 0)[0]:
            return ""
        return os.read(sys.stdin.fileno(), 64).decode(errors="ignore")
