"""Validates scenarios and tracks from clients in a separate process, which is killed on a timeout."""

import asyncio
import json
import signal
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from time import monotonic
from typing import TYPE_CHECKING, Any

from paddock.errors import PaddockError
from paddock.scenario import Scenario, ScenarioError, ScenarioProblem, located, scenario_from_text
from paddock.scenario.loading import TEXT_SOURCE
from paddock.scenario.serve import ClientLimits
from paddock.wire.results import ProblemTree

if TYPE_CHECKING:
    from paddock.serve.protection.trust import Known

PATIENCE = 30.0  # s for one check, including the start of the process
MOST_WAITING = 64  # checks that may wait
MOST_OF_ONE = 4  # checks of one client at a time, waiting ones included
QUOTA, SHARE = 30.0, 0.25  # s of checking that a client may use at once, and s that it gets back per s
LONGEST_ANSWER = 8 << 20  # bytes


class CheckTurns:
    """One check at a time. Clients take turns: one with many checks delays another by a single one."""

    def __init__(self) -> None:
        self._queues: dict[str, deque[asyncio.Future[None]]] = {}  # client -> its waiting checks; the next client first
        self._busy = ""  # the client whose turn it is
        self._used: dict[str, tuple[float, float]] = {}  # client -> s of checking that it has used, at a time

    @asynccontextmanager
    async def take(self, client: str) -> AsyncIterator[None]:
        """Wait for the client's turn; PaddockError if it has too many checks, or has used its quota."""
        self._refuse_more(client)
        if self._busy:
            mine: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._queues.setdefault(client, deque()).append(mine)
            try:
                await mine
            except asyncio.CancelledError:
                if mine.done() and not mine.cancelled():  # its turn has come at the same time
                    self._pass_on()
                raise
        self._busy, since = client, monotonic()
        try:
            yield
        finally:
            self._used[client] = self._spent(client) + monotonic() - since, monotonic()
            self._pass_on()

    def _refuse_more(self, client: str) -> None:
        waiting = {name: sum(not future.done() for future in queue) for name, queue in self._queues.items()}
        if waiting.get(client, 0) + (self._busy == client) >= MOST_OF_ONE:
            raise PaddockError(f"{MOST_OF_ONE} scenarios of this client are being checked already; try again")
        if sum(waiting.values()) >= MOST_WAITING:
            raise PaddockError(f"{MOST_WAITING} scenarios are being checked already; try again")
        self._used = {name: used for name, used in self._used.items() if self._spent(name)}
        if (over := self._spent(client) - QUOTA) > 0.0:
            wait = f"try again in {over / SHARE:.0f} s"
            raise PaddockError(f"scenarios of this client have been checked for more than {QUOTA:g} s; {wait}")

    def _spent(self, client: str) -> float:
        used, at = self._used.get(client, (0.0, 0.0))
        return max(0.0, used - SHARE * (monotonic() - at))

    def _pass_on(self) -> None:
        """Give the turn to the next client."""
        self._busy = ""
        while self._queues:
            client, queue = next(iter(self._queues.items()))
            del self._queues[client]
            while queue and (first := queue.popleft()).done():  # cancelled
                pass
            if queue:
                self._queues[client] = queue  # last
            if not first.done():
                self._busy = client
                first.set_result(None)
                return


class Checker:
    """Runs one check at a time, without blocking the event loop."""

    def __init__(self) -> None:
        self._process: Process | None = None
        self._turns = CheckTurns()

    async def check(
        self, text: str, known: dict[str, list[str]] | None, limits: ClientLimits, client: str = "-"
    ) -> list[ProblemTree]:
        """Return the errors of a scenario; `client` is the name of who asks.

        `known` are the models, behaviours and sensors that it may name; None: those of installed plug-ins.
        """
        request = {"text": text, "known": known, "limits": limits.model_dump(mode="json")}
        async with self._turns.take(client):
            problems: list[ProblemTree] = (await self._checked(request))["problems"]
            return problems

    async def track(self, request: dict[str, Any], client: str = "-") -> dict[str, Any]:
        """Return the answer of `paddock.serve.track_checks` about an edited track; PaddockError if it refuses."""
        async with self._turns.take(client):
            answer = await self._checked({"track": request})
        if "refused" in answer:
            raise PaddockError(answer["refused"])
        return answer

    async def close(self) -> None:
        """End the process."""
        process, self._process = self._process, None
        if process is not None and process.returncode is None:
            process.kill()
            await process.wait()

    async def _checked(self, request: dict[str, Any]) -> dict[str, Any]:
        try:
            async with asyncio.timeout(PATIENCE):
                line = await self._ask((json.dumps(request) + "\n").encode())
        except TimeoutError:
            await self.close()
            raise PaddockError(f"checking the scenario timed out after {PATIENCE:g} s") from None
        except BaseException:  # cancelled, or the process died: its answer must not reach the next caller
            await self.close()
            raise
        answer: dict[str, Any] = json.loads(line)
        return answer

    async def _ask(self, line: bytes) -> bytes:
        process = await self._running()
        assert process.stdin is not None and process.stdout is not None
        try:
            process.stdin.write(line)
            await process.stdin.drain()
            answer = await process.stdout.readline()
        except (ConnectionError, ValueError):
            answer = b""
        if not answer:
            raise PaddockError("the scenario could not be checked: the checking process has ended")
        return answer

    async def _running(self) -> Process:
        if self._process is None or self._process.returncode is not None:
            self._process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "paddock.serve.protection.checker"),
                stdin=PIPE,
                stdout=PIPE,
                stderr=DEVNULL,
                limit=LONGEST_ANSWER,
            )
        return self._process


MOST_TEXT = 1 << 20  # characters
LEFT_OUT = ("serve", "record", "sitl")
"""Sections that clients may not set: where to listen, what to write, what to connect."""


def read(text: str) -> Scenario:
    """Load a scenario from text, without the sections that clients may not set."""
    if len(text) > MOST_TEXT:
        raise ScenarioError(f"a scenario may have at most {MOST_TEXT:,} characters, not {len(text):,}")
    return scenario_from_text(text, without=LEFT_OUT, files=False)


def beyond_limits(scenario: Scenario, limits: ClientLimits) -> list[str]:
    """Return one line, with its place, if a client's scenario has too many tasks or vehicles; else nothing."""
    from paddock.serve.protection.trust import over_limits  # not in the hub

    mission = scenario.mission
    if mission is not None:
        drawn = 0 if mission.generate is None else mission.generate.tasks
        if (tasks := drawn + len(mission.tasks)) > limits.tasks:
            path = ("generate", "tasks") if drawn > len(mission.tasks) else ("tasks",)
            location = scenario.at("mission", *path)
            return [
                f"{location}: {tasks:,} tasks exceed the {limits.tasks:,} of a client's scenario (serve.limits.tasks)"
            ]
    return over_limits(scenario, limits)


MOST_PROBLEMS = 100
LONGEST_MESSAGE = 500


def problems_of(text: str, known: "Known", limits: ClientLimits) -> list[ScenarioProblem]:
    """Return the errors that the loader, or else the builder, finds in a scenario, sorted by line.

    Models, behaviours and sensors that are not `known` are refused before they are imported.
    """
    from paddock.engine.build import build_problems  # not in the hub, which only starts the process
    from paddock.serve.protection.trust import foreign_names

    try:
        scenario = read(text)
        problems = foreign_names(scenario, known) or beyond_limits(scenario, limits) or build_problems(scenario)
    except ScenarioError as error:
        problems = error.problems
    except PaddockError as error:
        problems = [str(error)]
    lines = text.splitlines() or [""]
    located_problems = sorted(located(line, TEXT_SOURCE) for line in problems)[:MOST_PROBLEMS]
    fitting = [  # a position after the end of the text is moved to its end
        problem if problem.line <= len(lines) else problem._replace(line=len(lines), column=len(lines[-1]) + 1)
        for problem in located_problems
    ]
    return [problem._replace(message=problem.message[:LONGEST_MESSAGE]) for problem in fitting]


def main() -> None:
    """Answer requests until stdin ends."""
    from paddock.serve.protection.trust import installed_names
    from paddock.serve.track_checks import answer_about, prepare

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    answers, sys.stdout = sys.stdout, sys.stderr  # an imported model may print
    for line in sys.stdin:
        request = json.loads(line)
        if "track" in request:
            print(json.dumps(answer_about(request["track"])), file=answers, flush=True)
            if not request["track"].get("cones", True):  # a new track: be ready for its first cones
                prepare()
            continue
        limits = ClientLimits.model_validate(request["limits"])
        problems = problems_of(request["text"], request["known"] or installed_names(), limits)
        print(json.dumps({"problems": [problem._asdict() for problem in problems]}), file=answers, flush=True)


if __name__ == "__main__":
    main()
