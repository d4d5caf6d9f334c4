"""A watch over checks: a call of an adapter that never returns ends the check with a message, not in silence."""

from __future__ import annotations

import threading
from collections.abc import Callable

from paddock.testing.adapters.rig import AdapterRig

PATIENCE = 20.0
"""s after which a call is taken to hang; a step is told to give up after 5."""


def watched(run: Callable[[AdapterRig], str], rig: AdapterRig) -> str:
    """What the check says, run in a thread of its own; whatever it made is let go of, unless a call hangs."""
    told: list[str] = []
    failures: list[BaseException] = []

    def work() -> None:
        try:
            told.append(run(rig))
        except BaseException as error:
            failures.append(error)
        finally:
            _let_go(rig, failures)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    _wait(thread, rig)
    if failures:
        raise failures[0]
    return told[0]


def _let_go(rig: AdapterRig, failures: list[BaseException]) -> None:
    try:
        rig.let_go()
    except BaseException as error:
        failures.append(error)


def _wait(thread: threading.Thread, rig: AdapterRig) -> None:
    """Until the check has ended, or nothing has happened for too long."""
    while thread.is_alive():
        before = rig.calls
        thread.join(PATIENCE)
        if thread.is_alive() and rig.calls == before:
            rig.fail(f"{rig.doing} has not returned after {PATIENCE:g} s")
