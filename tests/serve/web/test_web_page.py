"""The page's files over HTTP: content, headers and access."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from websockets.exceptions import InvalidStatus

from paddock.scenario import demo_names

SCRIPT = b"export const answer = 42;\n" * 50


@pytest.fixture(scope="module")
def served(serve: Callable[..., Any], tmp_path_factory: pytest.TempPathFactory) -> Any:
    """With a page of our own."""
    folder: Path = tmp_path_factory.mktemp("page")
    (folder / "assets").mkdir()
    (folder / "index.html").write_text("<!doctype html><title>hello</title>")
    (folder / "favicon.svg").write_text("<svg/>")
    for name in ("page.js", "chunk-editor-ABCD.js"):
        (folder / "assets" / name).write_bytes(SCRIPT)
        (folder / "assets" / f"{name}.gz").write_bytes(gzip.compress(SCRIPT))
    (folder.parent / "secret.txt").write_text("not for you")
    (folder / "way-out").symlink_to(folder.parent / "secret.txt")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PADDOCK_PAGE", str(folder))
        return serve({"vehicles": []})


def test_the_page_and_its_headers(served: Any) -> None:
    answer = served.get("/?token=x")
    assert answer.status == 200 and answer.body == b"<!doctype html><title>hello</title>"
    assert answer.headers["Content-Type"] == "text/html; charset=utf-8"
    assert answer.headers["Cache-Control"] == "no-cache"
    policy = answer.headers["Content-Security-Policy"].split("; ")
    assert {"default-src 'self'", "script-src 'self'", "connect-src 'self'", "worker-src 'self'"} <= set(policy)
    assert "frame-ancestors 'self' http://localhost:* http://127.0.0.1:*" in policy
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert answer.headers["Referrer-Policy"] == "no-referrer"
    assert answer.headers["Cross-Origin-Resource-Policy"] == "same-origin"
    assert answer.headers["Server"] is None


def test_scripts_are_compressed_for_browsers_that_accept_it(served: Any) -> None:
    plain = served.get("/assets/page.js")
    assert plain.body == SCRIPT and plain.headers["Content-Encoding"] is None
    packed = served.get("/assets/page.js", **{"Accept-Encoding": "br, gzip"})
    assert packed.headers["Content-Encoding"] == "gzip" and gzip.decompress(packed.body) == SCRIPT
    assert packed.headers["Content-Type"] == plain.headers["Content-Type"] == "text/javascript; charset=utf-8"
    assert packed.headers["Vary"] == "Accept-Encoding" and packed.headers["ETag"] != plain.headers["ETag"]


def test_files_named_by_content_are_cached_forever(served: Any) -> None:
    assert "immutable" in served.get("/assets/chunk-editor-ABCD.js").headers["Cache-Control"]
    answer = served.get("/assets/page.js")
    assert answer.headers["Cache-Control"] == "no-cache"
    again = served.get("/assets/page.js", **{"If-None-Match": answer.headers["ETag"]})
    assert again.status == 304 and again.body == b"" and "Content-Security-Policy" in again.headers


@pytest.mark.parametrize(
    "path",
    [
        "/secret.txt",
        "/../secret.txt",
        "/assets/../../secret.txt",
        "/%2e%2e/secret.txt",
        "/way-out",
        "/assets",
        "/assets/page.js.gz",
        "//etc/passwd",
        "/a%00b",
    ],
)
def test_nothing_outside_the_folder_is_served(served: Any, path: str) -> None:
    answer = served.get(path)
    assert answer.status == 404 and b"not for you" not in answer.body
    assert "Content-Security-Policy" in answer.headers


def test_pictures_are_served(served: Any) -> None:
    answer = served.get("/favicon.svg")
    assert (answer.status, answer.headers["Content-Type"], answer.body) == (200, "image/svg+xml", b"<svg/>")


@pytest.mark.parametrize("host", ["evil.example", "evil.example:8000", "127.0.0.1.evil.example", "localhost.evil", ""])
def test_another_name_for_this_machine_is_refused(served: Any, host: str) -> None:
    assert served.get("/", Host=host).status == 421
    assert served.count("refused", endpoint="web", reason="host") > 0


@pytest.mark.parametrize("host", ["localhost", "localhost:99", "127.0.0.1", "127.0.0.9:1", "[::1]:8000"])
def test_the_names_of_this_machine(served: Any, host: str) -> None:
    assert served.get("/", Host=host).status == 200


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "http://localhost:{port}", "http://127.0.0.1:1"])
def test_a_page_of_another_origin_may_not_connect(served: Any, origin: str) -> None:
    with pytest.raises(InvalidStatus, match="403"):
        served.connect(origin=origin.format(port=served.port))


def test_the_own_page_may_connect(served: Any) -> None:
    page = served.connect(origin=f"http://127.0.0.1:{served.port}")
    assert page.call("ping")["tick"] == 0


def test_a_missing_page_explains_how_to_build_it(serve: Callable[..., Any], tmp_path: Path) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PADDOCK_PAGE", str(tmp_path / "nothing"))
        answer = serve({"vehicles": []}).get("/")
    assert answer.status == 200 and b"make page" in answer.body and b"pip install ." in answer.body


def test_every_demo_has_a_picture_in_the_gallery() -> None:
    pictures = Path(__file__).parents[3] / "web" / "public" / "pictures"
    for name in demo_names():
        start = (pictures / f"{name}.webp").read_bytes()[:30]
        assert start[:4] == b"RIFF" and start[8:16] == b"WEBPVP8 ", name
        size = [int.from_bytes(start[at : at + 2], "little") for at in (26, 28)]  # VP8 key frame header
        assert size == [640, 360] and (pictures / f"{name}.webp").stat().st_size < 60_000
