"""Usage errors: one line that names the error, its place and the valid values; and names imported on first use."""

import linecache
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from difflib import SequenceMatcher, get_close_matches
from importlib import import_module
from numbers import Integral
from types import FrameType, ModuleType
from typing import Any

SYNONYMS = {"gpu": "cuda", "nvidia": "cuda"}  # by their letters alone, 'gpu' would be 'cpu'
SHOWN = 8
LONGEST_SHOWN = 200  # characters of an unknown name
"""Number of valid names that an error lists; it counts the rest."""
FEW = 0.45
"""Share of the letters in which names differ that are suggested."""
PACKAGE = os.path.dirname(os.path.abspath(__file__)) + os.sep


class PaddockError(Exception):
    """A usage error; the command line prints it without a traceback and exits with 2."""

    def _render_traceback_(self) -> list[str]:
        """Return what a notebook shows in place of the traceback: the calls of the user's code, and the message."""
        lines, below = [], self.__traceback__
        while below is not None:
            name, number = below.tb_frame.f_code.co_filename, below.tb_lineno
            if not name.startswith(PACKAGE) and "IPython" not in name:
                lines.append(f"line {number}: {linecache.getline(name, number).strip()}")
            below = below.tb_next
        return [*lines, f"{type(self).__name__}: {self}"]


class UnknownNameError(PaddockError, KeyError):
    """An unknown name. Also a KeyError, so that `snap["typo"]` behaves as Python users expect."""

    def __str__(self) -> str:  # KeyError would print the repr of the message
        return str(self.args[0])


class InvalidValueError(PaddockError, ValueError):
    """An invalid value: NaN, infinite, out of range, or of the wrong shape."""


class NotFiniteError(PaddockError):
    """A run has ended because the state of a vehicle is not finite."""


class MissingFeatureError(PaddockError):
    """A feature that is unavailable here (no GPU, a missing extra); the message says how to get it."""


class CodeError(PaddockError):
    """An error inside a model, behaviour or sensor: `my_boat.py:31: unknown attribute 'lift_mx' of Parameters; ...`."""


class ScenarioWarning(UserWarning):
    """A part of a scenario without effect; the text starts with its location."""


def printable(text: str) -> str:
    """Return text with line breaks and control characters escaped: it may be printed on a terminal, in one line."""
    return text if text.isprintable() else "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def suggestion(name: str, choices: Iterable[str]) -> str:
    """Return `did you mean 'x'?` for a near match, otherwise the valid names."""
    valid = sorted(set(choices))
    name = str(name)  # a caller may pass a number for a name
    wanted = SYNONYMS.get(name.lower(), name)
    near = next(
        (choice for choice in get_close_matches(wanted, valid, n=3, cutoff=0.6) if is_near(wanted, choice)), None
    )
    if near is not None:
        return f"did you mean {near!r}?"
    if not valid:
        return "there are none"
    more = f" and {len(valid) - SHOWN} more" if len(valid) > SHOWN else ""
    return f"valid: {', '.join(map(printable, valid[:SHOWN]))}{more}"


def is_near(name: str, other: str) -> bool:
    """Return whether two names differ by a few letters, or one is a part of the other."""
    a, b = name.lower(), other.lower()
    operations = SequenceMatcher(None, a, b).get_opcodes()
    changes = sum(max(i2 - i1, j2 - j1) for kind, i1, i2, j1, j2 in operations if kind != "equal")
    return a in b or b in a or changes <= max(2, FEW * max(len(a), len(b)))


def unknown_name(kind: str, name: str, choices: Iterable[str], where: str = "") -> UnknownNameError:
    """Return the error for an unknown name: `unknown model 'quod'; did you mean 'quad'?`.

    A kind may name the owner: of the kind "input of 'red'", `unknown input 'stear' of 'red'; ...`.
    """
    prefix, (noun, of, owner) = f"{where}: " if where else "", kind.partition(" of ")
    shown = repr(name if len(str(name)) <= LONGEST_SHOWN else f"{str(name)[:LONGEST_SHOWN]}...")
    return UnknownNameError(f"{prefix}unknown {noun} {shown}{of}{owner}; {suggestion(name, choices)}")


HINTS: dict[type, str] = {}
"""Class without attributes of its own -> what to do instead of reading one."""
LIBRARIES = sys.stdlib_module_names | {"numba", "numpy", "paddock", "scipy"}
"""Packages in which an error of users' code may surface; the line that called them is reported."""


def code_place(file: str, line: int | None) -> str:
    """`file:line`; the file relative to the working directory if it lies inside."""
    return f"{file.removeprefix(os.getcwd() + os.sep)}:{line}"


def code_error(error: BaseException, what: str = "") -> CodeError:
    """Return an exception of users' code as one line: file, line, `what` and the reason."""
    trace = error.__traceback__
    frames: list[tuple[FrameType, int]] = []
    while trace is not None:
        frames.append((trace.tb_frame, trace.tb_lineno))
        trace = trace.tb_next
    theirs = [entry for entry in frames if str(entry[0].f_globals.get("__name__")).partition(".")[0] not in LIBRARIES]
    frame, line = (theirs or frames)[-1]
    file, names = frame.f_code.co_filename, {**frame.f_globals, **frame.f_locals}
    if isinstance(error, SyntaxError) and error.filename:
        file, line = error.filename, error.lineno or 0
    prefix = "" if file.startswith("<frozen") else f"{code_place(file, line)}: "
    return CodeError(f"{prefix}{what}{reason(error, names).removeprefix(prefix)}")


def users_place() -> str:
    """`file:line` of the users' code that is being executed; "" without any."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and str(frame.f_globals.get("__name__")).partition(".")[0] in LIBRARIES:
        frame = frame.f_back
    return "" if frame is None else code_place(frame.f_code.co_filename, frame.f_lineno)


def one_line(error: BaseException) -> str:
    """Return an exception as one line: the message of our own errors, with the type's name for others."""
    text = " ".join(str(error).split())
    if isinstance(error, PaddockError):
        return text
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def reason(error: BaseException, names: Iterable[str]) -> str:
    """Return the text of an exception in one line; `names` are those that the code could have meant."""
    if isinstance(error, AttributeError) and error.name and error.obj is not None:
        owner = f"module {error.obj.__name__}" if isinstance(error.obj, ModuleType) else type(error.obj).__name__
        if type(error.obj) in HINTS:
            return f"unknown attribute {error.name!r}: {HINTS[type(error.obj)]}"
        known = getattr(error.obj, "_fields", None) or [name for name in dir(error.obj) if name[0] != "_"]
        return f"unknown attribute {error.name!r} of {owner}; {suggestion(error.name, known)}"
    if isinstance(error, NameError) and error.name:
        near = get_close_matches(error.name, names, n=1)
        return f"unknown name {error.name!r}; {f'did you mean {near[0]!r}?' if near else 'define or import it'}"
    return one_line(error)


@contextmanager
def users_code() -> Iterator[None]:
    """Report an exception of users' code as CodeError; their own PaddockErrors pass."""
    try:
        yield
    except PaddockError:
        raise
    except Exception as error:
        raise code_error(error) from error


@contextmanager
def file_errors(what: str) -> Iterator[None]:
    """Report an OSError as PaddockError: `cannot write run.csv: No space left on device`, of `cannot write run.csv`."""
    try:
        yield
    except OSError as error:
        raise PaddockError(f"{what}: {error.strerror or error}") from None


def lazy_names(module: str, homes: Mapping[str, str]) -> Callable[[str], Any]:
    """Return the `__getattr__` of a package that imports its public names on first use.

    `homes`: name -> the module below the package that defines it; "" for a name that is a module itself.
    """

    def imported(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        home = homes[name]
        return getattr(import_module(f"{module}.{home}"), name) if home else import_module(f"{module}.{name}")

    return imported


def whole_number(rule: str, value: Any, high: int | None = None, low: int = 0) -> int:
    """Return the value as an int; InvalidValueError with the rule unless it is a whole number in range."""
    number = None if isinstance(value, bool) or not isinstance(value, Integral) else int(value)
    if number is None or number < low or (high is not None and number > high):
        raise InvalidValueError(f"{rule}, not {value!r}")
    return number
