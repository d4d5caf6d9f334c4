"""The thread that ticks: one thread at a time drives the clock, and serves the requests of other threads.

A thread drives while it is inside a verb that changes the state (`step`, `run`, `spawn`, ...). Other threads leave
*requests*, which the driving thread serves between two ticks. A *look* is a request that only reads the state; it is
also served while the engine waits at the barrier.
"""

import threading
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from time import monotonic, sleep
from typing import Any

from paddock.errors import PaddockError

MOMENT = 0.005  # s to wait for a thread that is about to leave its verb
PATIENCE = 0.25  # s that a read of the state waits for requests of others
START_POLL = 0.001  # s between checks whether a background run has started

Request = tuple[Callable[[], Any], Future[Any]]


class ClockThread:
    """Allows at most one thread to change the state; a second one is refused with the name of the first."""

    def __init__(self, wake_barrier: Callable[[], None]) -> None:
        """`wake_barrier` interrupts a driving thread that waits for clients."""
        self.closed = False
        self.stopping = False  # the run ends: all waits return
        self.condition = threading.Condition()  # the pacer sleeps on it
        self.woken = False  # a change since the pacer last slept
        self._wake_barrier = wake_barrier
        self._lock = threading.Lock()
        self._owner: threading.Thread | None = None
        self._verb = ""
        self._idle_service = False  # the owner only serves requests of others
        self._serving = False  # the owner is inside a request and may use verbs
        self._requests: deque[Request] = deque()
        self._reads: deque[Request] = deque()
        self.listeners: list[Callable[[], None]] = []  # called when ticks have passed or the mode has changed

    def driving(self, verb: str, idle_service: bool = False) -> "Driving":
        """Drive the clock while a verb changes the state; PaddockError if another thread drives."""
        return Driving(self, verb, idle_service)

    def take(self, verb: str, idle_service: bool = False) -> bool:
        """Begin to drive; False if this thread drives already, inside a request."""
        if self.closed:
            raise PaddockError(f"{verb} refused: the simulation is closed")
        thread = threading.current_thread()
        if self._serving and self._owner is thread:
            return False
        while not (self._lock.acquire(False) or self._lock.acquire(timeout=MOMENT)):
            if not self._idle_service or idle_service:
                raise PaddockError(f"{verb} refused: the clock is being driven by {self._driver()}")
        self._idle_service = idle_service
        self._owner, self._verb = thread, verb
        return True

    def leave(self, idle_service: bool = False) -> None:
        """End to drive."""
        for listener in self.listeners:
            listener()
        self._owner = None
        self._lock.release()
        if not idle_service and (self._requests or self._reads):  # its loop serves what has arrived meanwhile
            self.serve_idle()

    def _driver(self) -> str:
        """Return the verb and the thread that drives, or did last."""
        owner = self._owner
        return f"{self._verb} in thread {owner.name!r}" if owner is not None else self._verb

    @contextmanager
    def substituting(self) -> Iterator[None]:
        """Let the calling thread act for the driving thread, which sleeps meanwhile."""
        owner, self._owner = self._owner, threading.current_thread()
        try:
            yield
        finally:
            self._owner = owner

    def elsewhere(self) -> bool:
        """Return whether another thread drives."""
        owner = self._owner
        return owner is not None and owner is not threading.current_thread()

    def refuse_elsewhere(self, verb: str) -> None:
        """Raise PaddockError while another thread drives: only snapshots may be read then."""
        end = monotonic() + PATIENCE
        while self.elsewhere():
            if not self._idle_service or monotonic() > end:
                raise PaddockError(f"{verb} refused: the clock is being driven by {self._driver()}; use a snapshot")
            sleep(MOMENT)  # a request is answered a moment before its thread stops driving

    def notify(self) -> None:
        """Call the listeners."""
        for listener in self.listeners:
            listener()

    def wake(self) -> None:
        """Wake the driving thread, so that it serves requests and checks its mode."""
        self.notify()
        with self.condition:
            self.woken = True
            self.condition.notify_all()
        self._wake_barrier()

    def request(self, work: Callable[[], Any], read: bool = False) -> Future[Any]:
        """Queue `work` for the driving thread, between two ticks (else `serve_idle` calls it); `read`: a read."""
        done: Future[Any] = Future()
        (self._reads if read else self._requests).append((work, done))
        self.wake()
        return done

    def call(self, work: Callable[[], Any], verb: str) -> Any:
        """Call `work` in the driving thread, or in this one if no other drives, and return its result."""
        if self._owner is threading.current_thread():
            return work()
        if self.closed:
            raise PaddockError(f"{verb} refused: the simulation is closed")
        done = self.request(work)
        self.serve_idle()  # the driving thread may have left before the request
        return done.result()

    def serve(self) -> None:
        """Serve all requests. Called by the driving thread between two ticks."""
        self.serve_reads()
        self._serve_all(self._requests)

    def serve_reads(self) -> None:
        """Serve reads. Called by the driving thread whenever the state is consistent."""
        self._serve_all(self._reads)

    def serve_idle(self) -> None:
        """Serve all requests unless another thread drives, which then does."""
        while (self._requests or self._reads) and self._owner is None:
            try:
                with self.driving("a request", idle_service=True):
                    self.serve()
            except PaddockError:  # another thread drives now, or the simulation is closed
                if self.closed:
                    self.close()
                return

    def close(self) -> None:
        """Refuse all verbs and cancel all requests from now on."""
        self.closed = True
        for queue in (self._requests, self._reads):
            while (request := _taken(queue)) is not None:
                request[1].set_exception(PaddockError("the simulation is closed"))

    def _serve_all(self, queue: deque[Request]) -> None:
        """Serve the requests of a queue, but not those that arrive meanwhile."""
        for _ in range(len(queue)):
            if (request := _taken(queue)) is not None:
                self._serve(request)

    def _serve(self, request: Request) -> None:
        work, done = request
        outer, self._serving = self._serving, True
        try:
            done.set_result(work())
        except Exception as error:  # belongs to the thread that made the request
            done.set_exception(error)
        finally:
            self._serving = outer


class Driving:
    """A `with` block in which the thread drives the clock."""

    __slots__ = ("_idle_service", "_thread", "_took", "_verb")

    def __init__(self, thread: ClockThread, verb: str, idle_service: bool) -> None:
        self._thread, self._verb, self._idle_service, self._took = thread, verb, idle_service, False

    def __enter__(self) -> None:
        self._took = self._thread.take(self._verb, self._idle_service)

    def __exit__(self, *_: object) -> None:
        if self._took:
            self._thread.leave(self._idle_service)


def _taken(queue: deque[Request]) -> Request | None:
    """Remove and return the first request; None if another thread has taken it."""
    try:
        return queue.popleft()
    except IndexError:
        return None


@contextmanager
def in_background(run: Callable[[], None], started: Callable[[], bool], stop: Callable[[], None]) -> Iterator[None]:
    """Call `run` in another thread while the block lasts; its exception is raised at the end."""
    with ThreadPoolExecutor(1, "paddock-run") as pool:
        running = pool.submit(run)
        while not (running.done() or started()):  # a stop before the start would have no effect
            sleep(START_POLL)
        try:
            yield
        finally:
            stop()
            wait([running])
        running.result()
