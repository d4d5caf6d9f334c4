"""Checks scenarios that clients write, in a process that is killed when it takes too long."""

from __future__ import annotations

import asyncio
import json
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from typing import Any

from paddock.errors import PaddockError
from paddock.scenario import Scenario, ScenarioError, scenario_from_text

PATIENCE = 15.0  # s for one check, including the start of the process
MOST_WAITING = 8  # checks that may wait
LONGEST_ANSWER = 1 << 20  # bytes


class Checker:
    """One check at a time; never blocks the event loop."""

    def __init__(self) -> None:
        self._process: Process | None = None
        self._turn = asyncio.Lock()
        self._waiting = 0

    async def check(self, text: str, known: dict[str, list[str]] | None) -> list[dict[str, Any]]:
        """Return the errors of a scenario: {line, column, message} each.

        `known` are the models, behaviours and sensors that it may name; None: those of installed plug-ins.
        """
        if self._waiting >= MOST_WAITING:
            raise PaddockError(f"{MOST_WAITING} scenarios are being checked already; try again")
        self._waiting += 1
        try:
            async with self._turn:
                return await self._checked({"text": text, "known": known})
        finally:
            self._waiting -= 1

    async def close(self) -> None:
        """End the process."""
        process, self._process = self._process, None
        if process is not None and process.returncode is None:
            process.kill()
            await process.wait()

    async def _checked(self, request: dict[str, Any]) -> list[dict[str, Any]]:
        try:
            async with asyncio.timeout(PATIENCE):
                line = await self._ask((json.dumps(request) + "\n").encode())
        except TimeoutError:
            await self.close()
            raise PaddockError(f"checking the scenario timed out after {PATIENCE:g} s") from None
        except BaseException:  # cancelled, or the process died: its answer must not reach the next caller
            await self.close()
            raise
        problems: list[dict[str, Any]] = json.loads(line)["problems"]
        return problems

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
                *(sys.executable, "-m", "paddock.serve.checking"),
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
    return scenario_from_text(text, without=LEFT_OUT)
