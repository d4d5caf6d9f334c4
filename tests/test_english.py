"""User-visible text uses the plain technical English that CONTRIBUTING.md describes."""

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
AVOIDED = {
    "told": "reported, logged, printed",
    "tells": "reports, returns, shows",
    "whoever": "each client, the caller",
    "nobody": "no client, no vehicle, none",
    "somebody": "a client, a user",
    "anew": "again, on restart",
    r"mend(s|ed|ing)?": "fix, repair",
    r"(is|be|are) heard|unheard": "received, timed out",
    r"amount(s|ed) to": "is, summary",
    r"lets? go( of)?": "release",
    r"(may|can|could|to) be had": "is available",
    "there by itself": "exists by default",
}
PATTERN = re.compile(rf"\b({'|'.join(AVOIDED)})\b", re.IGNORECASE)
GENERATED = ("messages_pb2.py", "schema.ts")


def python_text(path: Path) -> Iterator[tuple[int, str]]:
    """Yield line number and text of every comment, and of every string that is not a single identifier (a key)."""
    source = path.read_text(encoding="utf-8")
    if not PATTERN.search(source):  # parsing is slow
        return
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and not node.value.isidentifier():
            yield node.lineno, node.value
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string


def typescript_text(path: Path) -> Iterator[tuple[int, str]]:
    """Yield line number and text of lines with string literals, markup or comments."""
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if re.search(r"[\"'`>]|//|\*", line):
            yield number, line


def lines(path: Path) -> Iterator[tuple[int, str]]:
    """Yield line number and text of every line."""
    yield from enumerate(path.read_text(encoding="utf-8").splitlines(), 1)


def files_of_tests() -> list[Path]:
    """Return the files of tests, but for this one and those of planning."""
    return [path for path in ROOT.glob("tests/**/*.py") if path != Path(__file__) and path.parent.name != "planning"]


def texts() -> Iterator[tuple[Path, int, str]]:
    readers = (
        (python_text, [*ROOT.glob("src/**/*.py"), *ROOT.glob("examples/**/*.py"), *files_of_tests()]),
        (typescript_text, [*ROOT.glob("web/src/**/*.ts"), *ROOT.glob("web/src/**/*.tsx")]),
        (lines, [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("src/**/*.yaml"), ROOT / "Makefile"]),
    )
    for reader, paths in readers:
        for path in paths:
            if path.name not in GENERATED:
                for number, text in reader(path):
                    yield path, number, text


def found(text: str) -> list[str]:
    return [match.group(0).lower() for match in PATTERN.finditer(text)]


@pytest.mark.parametrize("text", ["Nobody drives here.", "it was told", "begins anew", "what it amounted to"])
def test_pattern_matches_avoided_words(text: str) -> None:
    assert found(text)


@pytest.mark.parametrize("text", ["the method `let_go`", "a recommendation", "amount", "behold"])
def test_pattern_ignores_identifiers_and_other_words(text: str) -> None:
    assert not found(text)


def test_texts_avoid_the_listed_words() -> None:
    wrong = [
        f"{path.relative_to(ROOT)}:{number}: {', '.join(words)}"
        for path, number, text in texts()
        if (words := found(text))
    ]
    assert not wrong, "\n" + "\n".join(wrong)
