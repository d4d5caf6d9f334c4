"""The files of the page."""

import mimetypes
import os
from pathlib import Path

import xxhash

FOLDER = Path(os.environ.get("PADDOCK_PAGE") or Path(__file__).parent / "page")
"""The built page; PADDOCK_PAGE names another folder during development."""


FOREVER = "public, max-age=31536000, immutable"
ASK_AGAIN = "no-cache"
KINDS = {".js": "text/javascript", ".css": "text/css", ".html": "text/html", ".svg": "image/svg+xml"}
NOT_BUILT = b"""<!doctype html><html lang="en"><meta charset="utf-8"><title>Paddock</title>
<body style="font-family: system-ui; max-width: 40em; margin: 4em auto; line-height: 1.5">
<h1>The page was not built</h1>
<p>The simulation is being served, but this installation has no page to show it.
Build it with <code>make page</code>, or install with <code>pip install .</code>, and load this again.</p>
"""


def find_file(folder: Path, path: str, gzip: bool) -> tuple[bytes, dict[str, str]] | None:
    """Return content and headers of the file at a URL path; None without one. `gzip`: whether it may be compressed."""
    name = path.lstrip("/") or "index.html"
    try:
        place, root = (folder / name).resolve(), folder.resolve()
        if name.endswith(".gz") or not (place.is_relative_to(root) and place.is_file()):
            return None
    except (OSError, ValueError):
        return None
    packed = place.with_name(f"{place.name}.gz")
    use_packed = gzip and packed.is_file()
    content = (packed if use_packed else place).read_bytes()
    kind = KINDS.get(place.suffix) or mimetypes.guess_type(place.name)[0] or "application/octet-stream"
    text = kind.startswith("text/") or kind == "application/json"
    named_by_content = place.parent.name == "assets" and place.name.startswith("chunk-")
    headers = {
        "Content-Type": f"{kind}; charset=utf-8" if text else kind,
        "Cache-Control": FOREVER if named_by_content else ASK_AGAIN,
        "ETag": f'"{xxhash.xxh3_64_hexdigest(content)}"',
        "Vary": "Accept-Encoding",
    }
    return content, {**headers, "Content-Encoding": "gzip"} if use_packed else headers
