"""A page without a browser, as a process of its own: subscribes as the page does, reads, and counts."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from time import monotonic
from typing import Any

from paddock.wire import rpc

LARGEST = 1 << 26


class Watcher:
    """Starts one; `result()` ends it and tells what arrived."""

    def __init__(self, port: int, rate: float) -> None:
        command = [sys.executable, "-m", "paddock.bench.web.watcher", str(port), str(rate)]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        self.process.stdout.readline()  # something has arrived

    def result(self) -> dict[str, Any]:
        """Groups and bytes per second."""
        out, _ = self.process.communicate(timeout=60)
        figures: dict[str, Any] = json.loads(out)
        return figures


async def watch(port: int, rate: float) -> dict[str, float]:
    """Until standard input ends."""
    from websockets.asyncio.client import connect

    ended = asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
    groups = size = 0
    async with connect(f"ws://127.0.0.1:{port}/ws", compression=None, max_size=LARGEST) as socket:
        kinds = ["poses", "markers", "events", "figures"]
        await socket.send(rpc.request(1, "subscribe", {"rate": rate, "kinds": kinds}).decode())
        begun = monotonic()
        async for message in socket:
            if isinstance(message, bytes):
                groups, size = groups + 1, size + len(message)
                if groups == 1:
                    print(flush=True)
                    begun = monotonic()
            if ended.done():
                break
    seconds = monotonic() - begun
    return {"rate": groups / seconds, "bytes_per_second": size / seconds}


if __name__ == "__main__":
    print(json.dumps(asyncio.run(watch(int(sys.argv[1]), float(sys.argv[2])))))
