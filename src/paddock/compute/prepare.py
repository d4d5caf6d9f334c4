"""Compile the kernels of a run before it starts: those that the cache lacks, in parallel processes.

The workers are fresh interpreters (`python -m paddock.compute.prepare`, never forks) that write into the shared cache;
the calling process compiles too, then loads the rest. A kernel that a worker cannot rebuild, such as one of functions
typed into a notebook, is compiled by the calling process. $PADDOCK_COMPILE_WORKERS sets the number of workers.
"""

import io
import os
import pickle
import struct
import subprocess
import sys
import threading
from collections.abc import Callable, Collection, Iterable
from contextlib import suppress
from types import FunctionType
from typing import IO, Any

from paddock.compute.cache import cache_root
from paddock.compute.kernel import CompiledKernels, KernelSpec, fields, kernel
from paddock.compute.neighbours import neighbour_kernels
from paddock.compute.threads import SERIAL_BELOW, available_threads, number_from_environment, threads_for
from paddock.compute.twin import bound, fingerprint

Progress = Callable[[int, int], None]
"""Called with the number of the kernel that is being compiled, from 1, and their count."""

WORTH_A_WORKER = 3.0
"""Seconds of compilation that justify another process; its start takes about one."""


def prepare_kernels(
    kernels: Iterable[tuple[CompiledKernels, int]], progress: Progress | None = None, apart: bool = False
) -> int:
    """Compile the kernels that the cache lacks, each for its number of vehicles; return their count.

    `apart`: compile in a worker process, then load all kernels, because another thread of this process ticks.
    """
    wanted = list(kernels)
    missing = {k.entry(n).folder: (k, n) for k, n in wanted if not k.is_compiled(n)}
    if missing:
        work = _Work(sorted(missing.values(), key=_estimate), progress)
        count = max(_workers(missing.values()), int(apart and bool(sys.executable)))
        helpers = [threading.Thread(target=work.in_worker, daemon=True) for _ in range(count)]
        for helper in helpers:
            helper.start()
        if not apart:
            work.in_this_process()
        for helper in helpers:
            helper.join()
        work.in_this_process()
    for built, n in wanted if apart else ():
        with suppress(Exception):  # the first call of the kernel reports it
            built.compile(n)
    return len(missing)


def _workers(jobs: Collection[tuple[CompiledKernels, int]]) -> int:
    """Return the number of worker processes: up to one per core, each with enough work to justify its start."""
    chosen = number_from_environment("PADDOCK_COMPILE_WORKERS", least=0)
    if chosen is not None:
        return chosen
    worthwhile = int(sum(map(_estimate, jobs)) / WORTH_A_WORKER)
    return max(0, min(available_threads() - 1, len(jobs) - 1, worthwhile)) if sys.executable else 0


def _estimate(job: tuple[CompiledKernels, int]) -> float:
    """Estimate the compile time in seconds from the length of the code and the number of columns."""
    columns = sum(len(fields(tuple_class)) for tuple_class in job[0].tuples.values())
    code = sum(len(fingerprint(function)) for function in job[0].calls.values())
    return (code + 4 * len(job[0].text)) / 15000 + 0.02 * columns


class _Work:
    """Queue of kernels to compile, shared by this process and the workers."""

    def __init__(self, jobs: list[tuple[CompiledKernels, int]], progress: Progress | None) -> None:
        self._jobs = jobs
        self._progress = progress
        self._total = len(jobs)
        self._begun = 0
        self._lock = threading.Lock()

    def in_this_process(self) -> None:
        """Compile until no job is left."""
        while job := self._next():
            with suppress(Exception):  # the first call of the kernel reports it
                job[0].compile(job[1])

    def in_worker(self) -> None:
        """Pass jobs to one worker until none is left; the first call of a kernel compiles what a worker could not."""
        environment = os.environ | {
            "PADDOCK_CACHE": str(cache_root()),
            "PYTHONPATH": os.pathsep.join(path or os.getcwd() for path in sys.path),
        }
        command = [sys.executable, "-m", "paddock.compute.prepare"]
        pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
        with suppress(OSError), subprocess.Popen(command, env=environment, **pipes) as worker:
            assert worker.stdin is not None and worker.stdout is not None
            while job := self._next(picklable):
                data = dumps((job[0].spec, SERIAL_BELOW if threads_for(job[1]) else 0))
                worker.stdin.write(struct.pack("<I", len(data)) + data)
                worker.stdin.flush()
                if not worker.stdout.read(1):
                    return
            worker.stdin.close()

    def _next(self, suits: Callable[[Any], bool] = lambda _: True) -> tuple[CompiledKernels, int] | None:
        with self._lock:
            for k in range(len(self._jobs) - 1, -1, -1):
                if suits(self._jobs[k][0].spec):
                    self._begun += 1
                    if self._progress is not None:
                        self._progress(self._begun, self._total)
                    return self._jobs.pop(k)
        return None


class _Pickler(pickle.Pickler):
    """Pickles functions by name, and those that `bound` made by their parts."""

    def reducer_override(self, value: Any) -> Any:
        if isinstance(value, FunctionType) and "bindings" in value.__dict__:
            return bound, (value.__dict__["plain"], value.__dict__["bindings"])
        return NotImplemented


def dumps(spec: Any) -> bytes:
    """Return a spec as bytes for a worker."""
    file = io.BytesIO()
    _Pickler(file).dump(spec)
    return file.getvalue()


def picklable(spec: Any) -> bool:
    """Return whether a worker can rebuild the spec: all its functions and classes can be imported by name."""
    try:
        return b"__main__" not in dumps(spec)
    except (pickle.PicklingError, AttributeError, TypeError):
        return False


def _worker(jobs: IO[bytes], answers: IO[bytes]) -> None:
    """Compile each spec that arrives, until the parent closes the pipe; answer with one byte: 1 done, 0 failed."""
    while header := jobs.read(4):
        data = jobs.read(*struct.unpack("<I", header))
        try:
            spec, n = pickle.loads(data)
            (kernel(spec) if isinstance(spec, KernelSpec) else neighbour_kernels(spec)).compile(n)
            answers.write(b"1")
        except Exception:  # the parent compiles it and reports the reason
            answers.write(b"0")
        answers.flush()


if __name__ == "__main__":
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever a model prints on import must not look like an answer
    _worker(sys.stdin.buffer, answers)
