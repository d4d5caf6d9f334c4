"""Runs Python programs in sequence, so that modules are imported once: {"program", "folder", "paths", "out", "err"}.

Each line of stdin is a program; after it has ended, its exit code is a line of stdout.
"""

import gc
import json
import os
import runpy
import sys
import threading
import traceback


def run(program: str) -> int:
    """Run a program as `python program` does and return its exit code."""
    try:
        runpy.run_path(program, run_name="__main__")
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    except BaseException:
        traceback.print_exc()
        return 1
    return 0


def main() -> None:
    replies = os.fdopen(os.dup(1), "w", buffering=1)
    for line in sys.stdin:
        job = json.loads(line)
        modules, paths = set(sys.modules), sys.path[:]
        for name, number in (("out", 1), ("err", 2)):
            file = os.open(job[name], os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
            os.dup2(file, number)
            os.close(file)
        os.chdir(job["folder"])
        sys.path[:0], sys.argv = job["paths"], [job["program"]]
        code = run(job["program"])
        gc.collect()
        for thread in threading.enumerate():
            if thread is not threading.current_thread() and not thread.daemon:
                thread.join(60)
        sys.stdout.flush()
        sys.stderr.flush()
        sys.path[:] = paths
        for name in set(sys.modules) - modules:  # the program's own modules: the next one may use the same names
            if str(getattr(sys.modules[name], "__file__", None) or "").startswith(tuple(job["paths"])):
                del sys.modules[name]
        print(code, file=replies)


if __name__ == "__main__":
    main()
