"""Entry point of the command line: finds the verb, reports usage errors in one line and sets the exit code."""

import errno
import os
import sys
import warnings
from collections.abc import Sequence
from contextlib import suppress

from cyclopts import App, CycloptsError
from cyclopts.exceptions import UnknownCommandError, UnusedCliTokensError

from paddock import __version__
from paddock.errors import PaddockError, ScenarioWarning, printable, unknown_name

OK, FAILED, USAGE_ERROR, INTERRUPTED, BROKEN_PIPE = 0, 1, 2, 130, 141

VERBS = {
    "demo": "Run one of the bundled demos or manoeuvres.",
    "run": "Run a scenario, or a single vehicle.",
    "plan": "Plan a mission: assign tasks to vehicles and compute their routes.",
    "sitl": "Run vehicles with built-in or external autopilots for ground stations.",
    "replay": "Play a recording, verify it, or print its summary.",
    "export": "Export a recording (Parquet, CSV, JSON, plots), a model (FMU), or a tyre's curves.",
    "track": "Show, convert, draw or generate a race track.",
    "radio": "Fit radio maps to samples, query them, draw coverage.",
    "schema": "Print the JSON schema of scenario files.",
    "doctor": "Check the installation and show how to add missing features.",
    "validate": "Drive standard manoeuvres with a car; compare levels and formulas.",
    "bench": "Measure the simulator's speed.",
}
PATH_EVENTS = ("open", "os.mkdir", "os.listdir", "os.scandir")
"""Audit events of Python whose first argument is a path."""
EPILOGUE = "Exit codes: 0 success, 1 a check failed, 2 usage error, 130 interrupted, 141 broken pipe."


def build_app() -> App:
    """Return the app with all verbs; their modules are imported on first use."""
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
    """Run the command line and exit. Models and behaviours may be imported from the current folder."""
    if sys.stdout is None or sys.stderr is None:  # closed by the caller
        sys.stdout, sys.stderr = (stream or open(os.devnull, "w") for stream in (sys.stdout, sys.stderr))  # noqa: SIM115
    warnings.showwarning = _show_warning  # type: ignore[assignment]
    try:
        sys.path.append(os.getcwd())  # last, so that a file there cannot shadow a standard module
    except FileNotFoundError:
        deleted = os.path.join(os.sep, os.environ.get("PWD", "deleted"))
        os.getcwd = lambda: deleted  # libraries ask for it when they are imported
        sys.addaudithook(_refuse_relative)
    sys.exit(exit_code(sys.argv[1:] if arguments is None else arguments))


class DeletedFolderError(PaddockError, FileNotFoundError):
    """A relative path while the current folder is deleted."""

    def __str__(self) -> str:
        return str(self.strerror)


def _refuse_relative(event: str, arguments: tuple[object, ...]) -> None:
    """Refuse to open, create or list what lies relative to a folder that is no more; the system would say less."""
    if event not in PATH_EVENTS or not isinstance(path := arguments[0], str | bytes | os.PathLike):
        return
    name = os.fsdecode(path)
    of_system = event == "open" and arguments[1] is None  # os.open, perhaps relative to another folder
    inside = event == "os.mkdir" and (arguments[2] != -1 or name == os.curdir)
    if not (os.path.isabs(name) or of_system or inside):
        problem = f"the current folder was deleted: {name!r} needs an absolute path"
        raise DeletedFolderError(errno.ENOENT, problem)


def _show_warning(message: Warning | str, category: type[Warning], *where: object) -> None:
    """Print a warning about a scenario in one line, and others as Python does."""
    if issubclass(category, ScenarioWarning):
        with suppress(OSError):
            print(f"paddock: warning: {printable(str(message))}", file=sys.stderr)
    else:
        _PLAIN_WARNING(message, category, *where)  # type: ignore[arg-type]


_PLAIN_WARNING = warnings.showwarning


def exit_code(arguments: Sequence[str]) -> int:
    """Run one verb and return the exit code. A usage error never shows a traceback."""
    try:
        result = build_app()(list(arguments), exit_on_error=False, print_error=False)
        sys.stdout.flush()
    except CycloptsError as error:
        return report_errors([_one_line(error, arguments)])
    except PaddockError as error:
        return report_errors(str(error).splitlines())
    except MemoryError:
        return report_errors(["not enough memory: use fewer vehicles, or a machine with more"])
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        _discard_output()
        return BROKEN_PIPE
    except OSError as error:
        if error.filename is not None:
            raise
        _discard_output()
        return report_errors([f"cannot write the output: {error.strerror or error}"], FAILED)
    return result if isinstance(result, int) else OK


def _discard_output() -> None:
    """Discard what is left to print: Python would report the error again at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def report_errors(problems: Sequence[str], code: int = USAGE_ERROR) -> int:
    """Print one line per problem to stderr; return the exit code."""
    with suppress(OSError):
        for problem in problems:
            print(f"paddock: error: {printable(problem)}", file=sys.stderr)
    return code


def _one_line(error: CycloptsError, arguments: Sequence[str]) -> str:
    if isinstance(error, UnusedCliTokensError) and error.unused_tokens:
        hint = ": --generate takes no scenario, it creates one" if "--generate" in arguments else ""
        return f"unexpected argument {error.unused_tokens[0]!r}{hint}"
    if isinstance(error, UnknownCommandError) and error.unused_tokens:  # cyclopts' own text would import every verb
        verb = " ".join(error.command_chain or ())
        choices = [*VERBS, "--help", "--version"] if not verb or error.app is None else [*error.app]
        return str(unknown_name("verb or option", error.unused_tokens[0], choices, verb and f"paddock {verb}"))
    text = " ".join(str(error).split()).removesuffix(".")
    return text[:1].lower() + text[1:]
