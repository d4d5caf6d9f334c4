"""YAML to values and marks; every error is one line with its location."""

from pathlib import Path

import pytest

from paddock.scenario import ScenarioError
from paddock.scenario.marked_yaml import MAX_EXPANSION, load_yaml, plain_scalar, read_text, reads_as_text


def problem(text: str) -> str:
    with pytest.raises(ScenarioError) as caught:
        load_yaml(text, "race.yaml")
    assert len(caught.value.problems) == 1
    return str(caught.value)


def test_values_and_marks() -> None:
    values, marks = load_yaml("seed: 7\nvehicles:\n  - {id: 1, pose: [0, 0.5, 1e3]}\n  - model: quad\n", "race.yaml")
    assert values == {"seed": 7, "vehicles": [{"id": 1, "pose": [0, 0.5, 1000.0]}, {"model": "quad"}]}
    assert marks.values[("seed",)] == (1, 7)
    assert marks.keys[("vehicles",)] == (2, 1)
    assert marks.values[("vehicles", 0, "pose", 2)] == (3, 28)
    assert marks.at(("vehicles", 1, "model")) == "race.yaml:4:12"
    assert marks.at(("vehicles", 1, "no", 3, "such")) == "race.yaml:4:5"
    assert marks.at(("nothing",)) == "race.yaml:1:1"
    assert marks.at_key(("vehicles", 1, "model")) == "race.yaml:4:5"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "1:1: the file is empty; a scenario is a mapping with the key 'vehicles'"),
        ("# only a comment\n", "1:1: the file is empty; a scenario is a mapping with the key 'vehicles'"),
        ("- 1\n", "1:1: the top level must be a mapping of keys to values, not a list"),
        ("\nhello\n", "2:1: the top level must be a mapping of keys to values, not a single value"),
        ("seed: 1\nname: a\nseed: 2\n", "3:1: duplicate key 'seed'; first at race.yaml:1:1"),
        ("a: {b: 1, b: 2}\n", "1:11: duplicate key 'b'; first at race.yaml:1:5"),
        ("a: 1\n---\nb: 2\n", "2:1: a second document starts here; a file holds one document"),
        ("a: &x [1, *x]\n", "1:11: alias '*x' contains itself"),
        ("a: *x\n", "1:4: alias '*x' has no anchor '&x' before it"),
        ("? [a]\n: 1\n", "1:3: a key must be plain text, not a list or a mapping"),
        ("a: 1\n  b: 2\n", "2:4: not valid YAML: mapping values are not allowed in this context"),
        ("a: [1, 2\nb: 3\n", "2:2: not valid YAML: did not find expected ',' or ']' (while parsing a flow sequence)"),
        ("a:\n\t- 1\n", "2:1: not valid YAML: found character that cannot start any token (while scanning for the "
         "next token)"),
        ("ok: 1\nb: \x01\n", "2:4: not valid YAML: control characters are not allowed"),
        ("é: 1\nb: \x01\n", "2:4: not valid YAML: control characters are not allowed"),
        ("a: !!python/object:os.system x\n",
         "1:4: tag 'tag:yaml.org,2002:python/object:os.system' is not allowed here"),
        ("a: !!set {x}\n", "1:4: tag 'tag:yaml.org,2002:set' is not allowed here"),
        ("x:\n  a: .nan\n", "2:6: '.nan' is not a finite number"),
        ("a: [1, -.inf]\n", "1:8: '-.inf' is not a finite number"),
        ("a: 1e999\n", "1:4: '1e999' is not a finite number"),
        ("a: 007\n", "1:4: '007' is ambiguous in YAML (octal?); drop the leading zero, or quote it"),
        ("a: yes\n", "1:4: 'yes' is ambiguous in YAML; write true or false, or quote it"),
        ("a: " + "9" * 5000 + "\n", "1:4: a number of 5000 digits is too long"),
        ("<<: 3\n", "1:5: '<<' merges a mapping or a list of mappings"),
        ("a: " + "[" * 100_000 + "\n", "1:68: nested more than 64 deep"),
    ],
)  # fmt: skip
def test_mistakes(text: str, message: str) -> None:
    assert problem(text) == f"race.yaml:{message}"


def test_aliases_are_values_of_their_own() -> None:
    values, marks = load_yaml("a: &x {b: [1]}\nc: *x\n", "race.yaml")
    assert values == {"a": {"b": [1]}, "c": {"b": [1]}}
    assert values["a"]["b"] is not values["c"]["b"]
    assert marks.at(("c", "b", 0)) == "race.yaml:1:12"


def test_merge_keys() -> None:
    values, marks = load_yaml("a: &x {b: 1, c: 2}\nd: &y {c: 5, e: 6}\nf: {<<: [*x, *y], b: 3}\n'<<': 1\n", "race.yaml")
    assert values["f"] == {"b": 3, "c": 2, "e": 6}
    assert values["<<"] == 1
    assert marks.at(("f", "c")) == "race.yaml:1:17"


@pytest.mark.parametrize("form", ["[{}]", "{{<<: [{}]}}"])
def test_aliases_cannot_fill_the_memory(form: str) -> None:
    lines = ["a0: &a0 {x: 1}"]
    lines += [f"a{i}: &a{i} " + form.format(", ".join([f"*a{i - 1}"] * 10)) for i in range(1, 12)]
    assert problem("\n".join(lines)).endswith(f": aliases add more than {MAX_EXPANSION} values")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1e3", 1000.0), ("1E-2", 0.01), ("-.5", -0.5), ("3.", 3.0), ("1_000", 1000), ("0x1F", 31), ("0o17", 15),
        ("-0b11", -3), ("+7", 7), ("~", None), ("", None), ("true", True), ("1:30", "1:30"),
        ("2026-01-01", "2026-01-01"),
        ("y", "y"), ("1__0", "1__0"), ("nan", "nan"), ("0.1", 0.1), ("00.5", 0.5), ("0", 0),
    ],
)  # fmt: skip
def test_plain_scalars(text: str, value: object) -> None:
    assert plain_scalar(text) == value
    assert type(plain_scalar(text)) is type(value)
    assert reads_as_text(text) is isinstance(value, str)


def test_keys_are_text() -> None:
    assert load_yaml("on: 1\n2: 3\n~: 4\n", "x")[0] == {"on": 1, "2": 3, "~": 4}


def test_tags_and_quotes() -> None:
    assert load_yaml("a: !!str 5\nb: '5'\nc: !!float 3\nd: ! 7\n", "x")[0] == {"a": "5", "b": "5", "c": 3, "d": "7"}


def test_files(tmp_path: Path) -> None:
    file = tmp_path / "a.yaml"
    file.write_bytes(b"\xef\xbb\xbfa: 1\n")
    assert read_text(file) == "a: 1\n"
    file.write_bytes(b"a: 1\nb: \xff\n")
    with pytest.raises(ScenarioError, match=r"a\.yaml:2:4: not UTF-8 text$"):
        read_text(file)
    with pytest.raises(ScenarioError, match="cannot be read: No such file or directory"):
        read_text(tmp_path / "b.yaml")
