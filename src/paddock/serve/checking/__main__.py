"""The process that checks: a request per line of stdin, an answer per line of stdout, until stdin ends."""

from __future__ import annotations

import json
import signal
import sys

from paddock.serve.checking.text import problems_of
from paddock.serve.live.trust import installed_names


def main() -> None:
    """Answer until nobody asks any more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    answers, sys.stdout = sys.stdout, sys.stderr  # what a model prints when it is imported is no answer
    for line in sys.stdin:
        request = json.loads(line)
        found = problems_of(request["text"], request["known"] or installed_names())
        print(json.dumps({"problems": [problem._asdict() for problem in found]}), file=answers, flush=True)


if __name__ == "__main__":
    main()
