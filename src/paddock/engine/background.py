"""Running in a thread of its own while something else is done."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import sleep

MOMENT = 0.001
"""s between looks at whether the run has begun."""


@contextmanager
def in_background(run: Callable[[], None], begun: Callable[[], bool], stop: Callable[[], None]) -> Iterator[None]:
    """Have `run` going while the block lasts; what went wrong in it is raised at the end."""
    failure: list[BaseException] = []

    def work() -> None:
        try:
            run()
        except BaseException as error:
            failure.append(error)

    thread = threading.Thread(target=work, name="paddock-run", daemon=True)
    thread.start()
    while thread.is_alive() and not begun():  # a stop before the run has begun would be lost
        sleep(MOMENT)
    try:
        yield
    finally:
        stop()
        thread.join()
    if failure:
        raise failure[0]
