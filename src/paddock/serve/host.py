"""The simulation's side of serving: what can be served, who owns its clock, and the host that keeps a hub running.

Nothing here delays a tick: snapshots go into shared memory, messages into a non-blocking socket. A hub that dies or
hangs is replaced; its clients lose the clock and their claims, and reconnect.
"""

import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any, NamedTuple, Self, TypeAlias

from paddock.errors import PaddockError
from paddock.scenario.serve import Serve
from paddock.serve.link import HubConnection, HubProcess
from paddock.world.ring import RingWriter
from paddock.world.snapshot import Snapshot

if TYPE_CHECKING:
    from paddock.serve.live import LiveSource
    from paddock.serve.replay import ReplaySource

    Source: TypeAlias = LiveSource | ReplaySource  # the link's thread calls `operate` on behalf of named clients

Push = Callable[[str, dict[str, Any]], None]
"""Called with (kind, content) to notify every endpoint of markers, events, frames, control requests, restarts."""


class ClockOwner:
    """The owner of the clock: the first client that takes it, until it releases it or disconnects."""

    def __init__(self, locked: bool = False) -> None:
        """`locked`: no client may own the clock."""
        self.locked = locked
        self.client: str | None = "the server" if locked else None
        self._lock = threading.Lock()

    def take(self, client: str, verb: str) -> None:
        """Take the clock, or raise an error that names its owner."""
        with self._lock:
            self.check(client, verb)
            self.client = client

    def check(self, client: str, verb: str) -> None:
        """Refuse an operation to all clients except the owner, if there is one."""
        owner = self.client
        if owner not in (None, client):
            raise PaddockError(f"{verb} refused: the clock belongs to {owner}")

    def release(self, client: str) -> bool:
        """Release the clock; return whether this client owned it."""
        with self._lock:
            had = self.client == client and not self.locked
            if had:
                self.client = None
            return had


class Visualization:
    """The layers that a client shows on all pages: what `set_visualization_mode` has set."""

    def __init__(self) -> None:
        self.mode: dict[str, Any] | None = None  # as in VisualizationTree

    def set(self, changes: Mapping[str, bool | None]) -> dict[str, Any]:
        """Change some layers; pages apply a mode when its version changes."""
        before = self.mode or {"version": 0, **dict.fromkeys(changes)}
        changed = {name: on for name, on in changes.items() if on is not None}
        self.mode = {**before, **changed, "version": before["version"] + bool(changed)}
        return self.mode


FROM_TICKS = ("event", "frames")  # kinds that the ticking thread pushes often, and for which nothing waits
START = 30.0  # s for a hub to start
HANG = 5.0  # s without a heartbeat after which a hub is replaced; those count in which it could run
LONGEST = 60.0  # s without a heartbeat after which it is replaced in any case
BEAT = 0.5  # s between heartbeats
BACKOFF = (0.0, 0.2, 0.5, 1.0, 2.0, 5.0)  # s before the first, second, ... restart of a hub that dies repeatedly.
SPARE_AFTER = 5.0  # s for which a hub has run when a spare process is started, in which it is replaced at once


class ThreadTime(NamedTuple):
    """What the scheduler reports of a thread."""

    ran: float  # s
    waited: float  # s for a processor, until it last got one
    runnable: bool  # now: it runs, or waits for a processor


def thread_times(pid: int) -> dict[str, ThreadTime]:
    """Return the times of a process's threads; nothing where the system does not report them."""
    times = dict[str, ThreadTime]()
    for folder in Path(f"/proc/{pid}/task").glob("*"):
        with suppress(OSError, ValueError, IndexError):  # it has ended
            ran, waited, _ = (folder / "schedstat").read_text().split()
            state = (folder / "stat").read_text().rpartition(")")[2].split()[0]
            times[folder.name] = ThreadTime(int(ran) * 1e-9, int(waited) * 1e-9, state == "R")
    return times


class Silence:
    """How long a hub has not answered although it could have: on a busy machine it may wait long for a processor."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.seconds = 0.0  # in which it could run
        self.in_all = 0.0  # s
        self._since, self._times = monotonic(), thread_times(pid)

    def observe(self, heard: bool) -> None:
        """Take note of whether there was an answer since the last call."""
        now, times = monotonic(), thread_times(self.pid)
        elapsed, before = now - self._since, self._times
        self._since, self._times = now, times
        if heard:
            self.seconds = self.in_all = 0.0
            return
        starved = 0.0
        for name, time in times.items():
            was = before.get(name, time)
            waited = elapsed - (time.ran - was.ran) if time.runnable else time.waited - was.waited
            starved = max(starved, min(waited, elapsed))
        self.seconds += elapsed - starved
        self.in_all += elapsed

    @property
    def trouble(self) -> str | None:
        """What is wrong; None while it may still answer."""
        for seconds, limit in ((self.seconds, HANG), (self.in_all, LONGEST)):
            if seconds > limit:
                return f"has not answered for {limit:g} s"
        return None


class Host:
    """Serves a source. Use it as a context manager: `with Host(source, options): sim.run()`."""

    def __init__(
        self,
        source: "Source",
        options: Serve,
        on_log: Callable[[str], None] = lambda line: None,
        addresses: Mapping[str, Any] | None = None,
    ) -> None:
        """Start the hub and return when every endpoint is open; PaddockError if one cannot open.

        `on_log` receives log lines. `addresses` are those of a previous host, to which clients reconnect.
        """
        self.source = source
        self.options = options
        self.on_log = on_log
        self.restarts = 0
        self.addresses: dict[str, Any] = dict(addresses or {})  # endpoint -> its address
        self._closing = False
        self._woken = threading.Event()  # it closes, or a hub is lost
        self._spare: HubProcess | None = None  # has imported what takes seconds on a busy machine
        self._ring = RingWriter(slots=None)
        self._publishing = threading.Lock()
        self._shown = source.publish_present()  # the last published snapshot
        self._last = self._shown.run, self._shown.tick  # of that snapshot
        self._ring.publish(self._shown)  # the hub dials and accepts before it is ready: it has a state to send
        self._periods = {
            name: source.period(getattr(endpoint, "rate", 10.0)) for name, endpoint in options.endpoints.items()
        }
        self._wanted: list[int] = []  # further periods that subscribers want, in ticks
        self._unwatch: list[Callable[[], None]] | None = None
        self._hub = self._start()
        self.addresses = self._hub.wait_ready(START)
        self._unwatch = []
        self._watch(self._wanted)
        source.addresses = self.addresses
        source.attach(self._push, self._publish, self._ring.mark)
        self._push_all()
        self._keeper = threading.Thread(target=self._keep, name="paddock-hub-keeper", daemon=True)
        self._keeper.start()

    @property
    def hub_pid(self) -> int:
        """The process id of the present hub."""
        return self._hub.process.pid

    def close(self) -> None:
        """Stop serving."""
        if self._closing:
            return
        self._closing = True
        self._woken.set()
        self._keeper.join()
        for unwatch in self._unwatch or ():
            unwatch()
        self.source.detach()
        self._hub.stop()
        if self._spare is not None:
            self._spare.discard()
        self._ring.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _watch(self, periods: list[int]) -> None:
        """Get the snapshots of the endpoints' periods and of the `wanted` ones (ticks)."""
        self._wanted, before = periods, self._unwatch
        if before is not None:  # the hub is ready
            periods = sorted({*self._periods.values(), *periods})
            self._unwatch = [self.source.watch(self._on_snapshot, every) for every in periods]
            for unwatch in before:
                unwatch()

    def _on_snapshot(self, snapshot: Snapshot) -> None:
        """Watch the source. Runs in the thread that ticks."""
        if (snapshot.run, snapshot.tick) != self._last:
            self._publish(snapshot)

    def _publish(self, snapshot: Snapshot) -> None:
        """Publish a snapshot, unless it is the last one. When this returns, it is in the ring: any thread may call."""
        with self._publishing:
            if snapshot is not self._shown:
                self._ring.publish(snapshot)
                self._last, self._shown = (snapshot.run, snapshot.tick), snapshot
        self._hub.ring_doorbell()

    def _push(self, kind: str, content: dict[str, Any]) -> None:
        send = self._hub.post if kind in FROM_TICKS else self._hub.send
        send({"push": kind, "content": content})

    def _push_all(self) -> None:
        """Send a new hub the present markers, frames and state."""
        for kind, content in self.source.announce():
            self._push(kind, content)
        self.source.publish_present()

    def _start(self) -> HubConnection:
        config = {
            "ring": self._ring.name,
            "options": self.options.model_dump(mode="json"),
            "periods": self._periods,
            "rate": self.source.rate,
            "restarts": self.restarts,
            "live": self.source.live,
            "addresses": self.addresses,
        }
        hub, self._spare = self._spare, None
        if hub is not None and not hub.waits:  # it has died, too
            hub.discard()
            hub = None
        return HubConnection(hub or HubProcess(), config, self.source, self.on_log, self._watch, self._woken.set)

    def _keep(self) -> None:
        """Exchange heartbeats; replace a hub that sends none."""
        failures, since, silence = 0, monotonic(), Silence(self._hub.process.pid)
        while True:
            asked = monotonic()
            self._hub.send({"beat": self.source.figures()})
            if self._rested(BEAT):
                return
            if silence.pid != self._hub.process.pid:
                silence = Silence(self._hub.process.pid)
            silence.observe(self._hub.heard(asked))
            trouble = self._hub.trouble() or silence.trouble
            if trouble is None:
                failures = 0 if monotonic() - since > 60 else failures
                if self._spare is None and monotonic() - since > SPARE_AFTER:
                    self._spare = HubProcess(self.options.endpoints)
                continue
            wait = BACKOFF[min(failures, len(BACKOFF) - 1)]
            self.on_log(f"the hub {trouble}; restarting it")
            failures += 1
            if self._rested(wait):
                return
            self._replace()
            since = monotonic()

    def _rested(self, seconds: float) -> bool:
        """Wait, until a hub is lost; return whether the host closes."""
        self._woken.wait(seconds)
        self._woken.clear()
        return self._closing

    def _replace(self) -> None:
        dead, self.restarts = self._hub, self.restarts + 1
        dead.stop()
        for client in list(dead.clients):
            self.source.gone(client)
        try:
            self._hub = self._start()
            self._hub.wait_ready(START)
            self._push_all()
        except (PaddockError, OSError) as error:  # retried later
            self.on_log(f"the hub could not start: {error}")
