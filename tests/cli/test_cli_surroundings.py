"""The command line in surroundings that lack something: a home, a folder, an output, a cache."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from paddock.cli.main import DeletedFolderError, _refuse_relative
from paddock.compute import cache

COMMAND = [sys.executable, "-m", "paddock", "schema"]


def run(command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=120)


@pytest.mark.parametrize(
    ("redirection", "code", "error"),
    [
        (">&- 2>&-", 0, ""),
        (">/dev/full", 1, "paddock: error: cannot write the output: No space left on device\n"),
        *(
            pytest.param(*case, marks=pytest.mark.slow)
            for case in ((">&-", 0, ""), (">/dev/full 2>/dev/full", 1, ""), ("", 0, ""))
        ),
    ],
)
def test_outputs_that_are_closed_or_full(redirection: str, code: int, error: str) -> None:
    done = run(f"{' '.join(COMMAND)} {redirection}")
    assert (done.returncode, done.stderr) == (code, error)


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ("run {there} --headless --seconds 0.1", ""),
        ("run red.yaml --headless", "red.yaml: no such scenario file or demo; {deleted}: give an absolute path"),
        *(
            pytest.param(*case, marks=pytest.mark.slow)
            for case in (
                ("run {there} --record=a/b", "cannot record to a/b: {deleted}: 'a/b' needs an absolute path"),
                ("run red --headless", "red: no such scenario file or demo; {deleted}: give an absolute path"),
                ("run {there} --record rec", "cannot record to rec: {deleted}: 'rec' needs an absolute path"),
                ("replay rec", "cannot read rec: {deleted}: 'rec' needs an absolute path"),
                (
                    "plan --uavs 1 --tasks 1",
                    "cannot write to mission_0_plan: {deleted}: 'mission_0_plan' needs an absolute path",
                ),
            )
        ),
    ],
)
def test_a_deleted_current_folder(tmp_path: Path, arguments: str, problem: str) -> None:
    """Absolute paths work; whatever would be read or written relative is refused, default names as well."""
    gone, there = tmp_path / "gone", tmp_path / "red.yaml"
    there.write_text("vehicles: [{name: red, model: rover}]\n")
    path = os.pathsep.join(os.path.abspath(path) for path in sys.path if path)
    line = f"paddock: error: {problem.format(deleted='the current folder was deleted')}\n" if problem else ""
    gone.mkdir()
    command = f"PYTHONPATH={path} {COMMAND[0]} -m paddock {arguments.format(there=there)}"
    done = run(f"cd {gone} && rmdir {gone} && {command}")
    assert (done.returncode, done.stderr) == (2 if problem else 0, line)
    assert not any(os.path.exists(path) for path in (gone, "/a", "/rec", "/mission_0_plan"))


def test_paths_relative_to_an_open_folder_are_valid_where_the_current_one_was_deleted() -> None:
    """As those with which a folder of temporary files is removed."""
    for event, arguments in (
        ("open", ("inner", None, os.O_RDONLY)),
        ("open", (3, "r", 0)),
        ("open", ("/etc/hosts", "r", 0)),
        ("os.mkdir", ("inner", 0o777, 3)),
        ("os.scandir", (3,)),
        ("compile", (b"inner", "file")),
    ):
        _refuse_relative(event, arguments)
    for event, arguments in (("open", (Path("a/b"), "r", 0)), ("os.mkdir", ("a", 0o777, -1)), ("os.listdir", (".",))):
        with pytest.raises(DeletedFolderError, match=r"the current folder was deleted: '.*' needs an absolute path"):
            _refuse_relative(event, arguments)


@pytest.fixture
def no_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder for temporary files of a user whose cache cannot be written."""
    (tmp_path / "file").touch()
    monkeypatch.setenv("PADDOCK_CACHE", str(tmp_path / "file" / "kernels"))
    monkeypatch.setattr(cache.tempfile, "gettempdir", lambda: str(tmp_path))
    monkeypatch.setattr(cache.tempfile, "tempdir", str(tmp_path))
    return tmp_path


def test_without_a_cache_kernels_are_kept_for_the_next_run_with_other_temporary_files(no_cache: Path) -> None:
    first, second = cache.cache_root.__wrapped__(), cache.cache_root.__wrapped__()
    assert first == second == no_cache / f"paddock-kernels-{os.getuid()}"
    assert first.stat().st_mode & 0o777 == 0o700


def test_a_cache_in_the_hands_of_another_user_is_not_used(no_cache: Path) -> None:
    (no_cache / "elsewhere").mkdir()
    (no_cache / f"paddock-kernels-{os.getuid()}").symlink_to(no_cache / "elsewhere")
    root = cache.cache_root.__wrapped__()
    assert root.parent == no_cache and root.name != f"paddock-kernels-{os.getuid()}" and not root.is_symlink()


def test_a_user_without_a_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_home() -> Path:
        raise RuntimeError("Could not determine home directory.")

    for name in ("PADDOCK_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(cache.tempfile, "gettempdir", lambda: str(tmp_path))
    monkeypatch.setattr(cache.Path, "home", no_home)
    assert cache.cache_root.__wrapped__() == tmp_path / f"paddock-kernels-{os.getuid()}"
