"""The entry of the command line: finds the verb, and turns mistakes into one line and an exit code."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from cyclopts import App, CycloptsError
from cyclopts.exceptions import UnknownCommandError, UnusedCliTokensError

from paddock import __version__
from paddock.errors import PaddockError, unknown_name

OK, FAILED, MISTAKE, INTERRUPTED, READER_GONE = 0, 1, 2, 130, 141

VERBS = {
    "demo": "Run a demo that comes with Paddock.",
    "run": "Run a scenario, or a single vehicle.",
    "plan": "Plan a mission: who does what, along which way.",
    "sitl": "Run vehicles with autopilots, built in or real, for ground stations.",
    "replay": "Play a recorded run, verify it, or tell what it amounted to.",
    "export": "Write a recorded run as Parquet, CSV, JSON or plots.",
    "schema": "Print the JSON schema of scenarios.",
    "doctor": "Show what works on this machine, and how to get the rest.",
    "bench": "Measure the simulator's speed.",
}
EPILOGUE = (
    "Exit codes: 0 all went well, 1 a check failed, 2 a mistake in what was asked for, 130 interrupted, "
    "141 the reader of the output has gone."
)


def build_app() -> App:
    """All verbs; none of their files is imported yet."""
    app = App(
        name="paddock",
        version=__version__,
        help="One world, every vehicle: simulates cars, drones, rovers and aircraft together.",
        help_epilogue=EPILOGUE,
        help_format="plaintext",
        result_action="return_value",
    )
    for verb, summary in VERBS.items():
        app.command(f"paddock.cli.{verb}:{verb}", help=summary)
    return app


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit. A user's own models and behaviours may lie in the current folder."""
    sys.path.append(os.getcwd())  # last: a file there must not hide a standard module
    sys.exit(exit_code(sys.argv[1:] if arguments is None else arguments))


def exit_code(arguments: Sequence[str]) -> int:
    """Run one verb. A user's mistake never shows a traceback; anything else that does is a bug."""
    try:
        result = build_app()(list(arguments), exit_on_error=False, print_error=False)
        sys.stdout.flush()
    except CycloptsError as error:
        return complain([_one_line(error, arguments)])
    except PaddockError as error:
        return complain(str(error).splitlines())
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # or Python complains about it once more
        return READER_GONE
    return result if isinstance(result, int) else OK


def complain(problems: Sequence[str]) -> int:
    """One line per problem on stderr; the exit code of a mistake."""
    for problem in problems:
        print(f"paddock: error: {problem}", file=sys.stderr)
    return MISTAKE


def _one_line(error: CycloptsError, arguments: Sequence[str]) -> str:
    """What is wrong with the arguments."""
    if isinstance(error, UnusedCliTokensError) and error.unused_tokens:
        hint = ": --generate takes no scenario, it draws one" if "--generate" in arguments else ""
        return f"unexpected argument {error.unused_tokens[0]!r}{hint}"
    if isinstance(error, UnknownCommandError) and error.unused_tokens:  # its own text would import every verb
        return str(unknown_name("verb or option", error.unused_tokens[0], [*VERBS, "--help", "--version"]))
    text = " ".join(str(error).split()).removesuffix(".")
    return text[:1].lower() + text[1:]
