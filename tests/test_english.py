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
    r"for ever": "endlessly, without limit, forever",
    r"(of|for) its own accord": "automatically",
    r"(says|say|said) so": "reports it, logs it",
    r"in the words of": "with the same errors as",
    r"those who|the one who": "vehicles that, clients that",
    r"what (it|he|she|they) (is|are) made of": "its parts, its parameters",
}
PATTERN = re.compile(rf"\b({'|'.join(AVOIDED)})\b", re.IGNORECASE)
GENERATED = ("messages_pb2.py", "schema.ts")


def python_text(path: Path) -> Iterator[tuple[int, str]]:
    """Yield line number and text of comments, strings that are not a single identifier (a key), and names of tests."""
    source = path.read_text(encoding="utf-8")
    if not PATTERN.search(source.replace("_", " ")):  # parsing is slow
        return
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and not node.value.isidentifier():
            yield node.lineno, node.value
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_"):
            yield node.lineno, node.name.replace("_", " ")
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


READERS = (
    (python_text, ("src/**/*.py", "examples/**/*.py", "tests/**/*.py", "*.py", "docs/*.py", "web/*.py")),
    (typescript_text, ("web/src/**/*.ts", "web/src/**/*.tsx", "web/test/**/*.ts", "web/test/**/*.tsx")),
    (lines, ("*.md", "docs/*.md", "web/*.md", "src/**/*.yaml", "src/**/*.proto", "web/index.html", "Makefile")),
    (lines, ("examples/notebooks/*.ipynb", "examples/notebooks/*.yaml")),
)


def texts() -> Iterator[tuple[Path, int, str]]:
    """Yield file, line number and text of everything that a person reads, except this list of words."""
    for reader, patterns in READERS:
        for path in (path for pattern in patterns for path in ROOT.glob(pattern)):
            if path.name not in GENERATED and path != Path(__file__):
                for number, text in reader(path):
                    yield path, number, text


def avoided_words(text: str) -> list[str]:
    return [match.group(0).lower() for match in PATTERN.finditer(text)]


@pytest.mark.parametrize("text", ["Nobody drives here.", "it was told", "begins anew", "what it amounted to"])
def test_pattern_matches_avoided_words(text: str) -> None:
    assert avoided_words(text)


@pytest.mark.parametrize("text", ["the method `let_go`", "a recommendation", "amount", "behold"])
def test_pattern_ignores_identifiers_and_other_words(text: str) -> None:
    assert not avoided_words(text)


def test_names_of_tests_are_checked(tmp_path: Path) -> None:
    file = tmp_path / "test_words.py"
    file.write_text("def test_nobody_drives() -> None:\n    told = 1\n", encoding="utf-8")
    assert [(number, avoided_words(text)) for number, text in python_text(file)] == [(1, ["nobody"])]


def test_all_kinds_of_files_are_read() -> None:
    read = {path.relative_to(ROOT).parts[0] for path, _, _ in texts()}
    assert {"README.md", "docs", "src", "web"} <= read


def test_texts_avoid_the_listed_words() -> None:
    wrong = [
        f"{path.relative_to(ROOT)}:{number}: {', '.join(words)}"
        for path, number, text in texts()
        if (words := avoided_words(text))
    ]
    assert not wrong, "\n" + "\n".join(wrong)
