"""The pages are open, compressed for those who can read that, cached by what they are, and
nothing beside them can be read."""

import gzip
from pathlib import Path

import pytest

from airboss.http.encodings import preferred
from airboss.http.static import PAGES
from tests.http.door import Door, Open


async def test_the_root_is_the_index(door: Door) -> None:
    for path in ("/", "/index.html"):
        answer = await door.ask(path)
        assert (answer.status_code, answer.text) == (200, "<!doctype html><title>Start</title>")
        assert answer.headers["content-type"] == "text/html; charset=utf-8"
        assert answer.headers["cache-control"] == "no-cache"
    assert (await door.ask("/test.html")).status_code == 200


async def test_hashed_files_are_kept_for_ever_and_missing_ones_are_not(door: Door) -> None:
    script = await door.ask("/assets/index-0a1b2c3d.js")
    assert script.headers["content-type"] == "text/javascript; charset=utf-8"
    assert script.headers["cache-control"] == "public, max-age=31536000, immutable"
    missing = await door.ask("/assets/index-ffffffff.js")
    assert (missing.status_code, missing.headers["cache-control"]) == (404, "no-store")


async def test_a_page_that_did_not_change_is_not_sent_again(door: Door) -> None:
    etag = (await door.ask("/")).headers["etag"]
    again = await door.ask("/", headers={"If-None-Match": etag})
    assert (again.status_code, again.content) == (304, b"")
    assert again.headers["cache-control"] == "no-cache"


SCRIPT = "/assets/index-0a1b2c3d.js"
PLAIN = b"export {};" * 100
BROTLI = b"stands for what the build made"  # no brotli in Python: the built ones are looked at
GZIP = gzip.compress(PLAIN, mtime=0)


@pytest.fixture
def assets(door: Door, tmp_path: Path) -> Path:
    """With a script that has copies, and a style sheet that has one."""
    assets = tmp_path / "static" / "assets"
    for name, body in {"": PLAIN, ".br": BROTLI, ".gz": GZIP}.items():
        (assets / f"index-0a1b2c3d.js{name}").write_bytes(body)
    (assets / "app-1.css").write_bytes(PLAIN)
    (assets / "app-1.css.gz").write_bytes(GZIP)
    return assets


async def encoded(door: Door, path: str, accept: str | None) -> tuple[str | None, bytes]:
    """The answer's encoding and its bytes as they came."""
    accepts = "" if accept is None else f"Accept-Encoding: {accept}\r\n"
    asked = f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\n{accepts}Connection: close\r\n\r\n"
    head, _, body = (await door.raw(asked)).partition(b"\r\n\r\n")
    lines = dict(line.lower().split(": ", 1) for line in head.decode().split("\r\n")[1:])
    assert head.startswith(b"HTTP/1.1 200 ")
    assert lines["vary"] == "accept-encoding"
    assert int(lines["content-length"]) == len(body)
    return lines.get("content-encoding"), body


@pytest.mark.usefixtures("assets")
@pytest.mark.parametrize(
    ("accept", "coding", "body"),
    [
        ("gzip, deflate, br, zstd", "br", BROTLI),
        ("gzip", "gzip", GZIP),
        ("x-GZIP ; Q=0.5", "gzip", GZIP),
        ("br;q=0, gzip", "gzip", GZIP),
        ("br;q=0.2, gzip;q=0.9", "gzip", GZIP),
        ("br; q=0.9, gzip;q=0.8, *;q=0.1", "br", BROTLI),
        ("*", "br", BROTLI),
        ("br;q=0, *", "gzip", GZIP),
        ("identity, br;q=0.5", None, PLAIN),
        ("br;q=0.000, gzip;q=0", None, PLAIN),
        ("*;q=0", None, PLAIN),
        ("identity;q=0", None, PLAIN),
        ("deflate, zstd", None, PLAIN),
        ("", None, PLAIN),
        (None, None, PLAIN),
        ("br;q=2, gzip;q=many, ;;,=,q=1", None, PLAIN),
    ],
    ids=lambda told: told if isinstance(told, str) else type(told).__name__,
)
async def test_a_file_comes_in_the_encoding_that_is_wanted_most(
    door: Door, accept: str | None, coding: str | None, body: bytes
) -> None:
    assert await encoded(door, SCRIPT, accept) == (coding, body)


@pytest.mark.usefixtures("assets")
async def test_a_file_without_the_wanted_copy_comes_in_the_next_best(door: Door) -> None:
    assert await encoded(door, "/assets/app-1.css", "br, gzip") == ("gzip", GZIP)
    assert await encoded(door, "/assets/app-1.css", "br") == (None, PLAIN)
    assert (await encoded(door, "/", "br, gzip"))[0] is None


@pytest.mark.usefixtures("assets")
async def test_a_copy_is_told_of_as_what_it_holds_and_has_a_tag_of_its_own(door: Door) -> None:
    tags: set[str] = set()
    for accept in ("br", "gzip", "identity"):
        accepts = {"Accept-Encoding": accept}
        head = await door.ask(SCRIPT, "HEAD", headers=accepts)
        assert head.status_code == 200
        assert head.headers["content-type"] == "text/javascript; charset=utf-8"
        assert head.headers["cache-control"] == "public, max-age=31536000, immutable"
        assert head.headers.get("content-encoding", "identity") == accept
        tag = head.headers["etag"]
        tags.add(tag)
        again = await door.ask(SCRIPT, headers={**accepts, "If-None-Match": tag})
        assert (again.status_code, again.content) == (304, b"")
        assert (again.headers["etag"], again.headers["vary"]) == (tag, "Accept-Encoding")
    assert len(tags) == 3
    other = await door.ask(SCRIPT, "HEAD", headers={"Accept-Encoding": "br", "If-None-Match": tag})
    assert other.status_code == 200, "what is kept in another encoding is not this one"


@pytest.mark.usefixtures("assets")
@pytest.mark.parametrize("suffix", [".br", ".gz"])
async def test_a_copy_is_no_page_of_its_own(door: Door, suffix: str) -> None:
    for accept in ("br, gzip", "identity"):
        answer = await door.ask(f"{SCRIPT}{suffix}", headers={"Accept-Encoding": accept})
        assert answer.status_code == 404


def test_a_header_of_any_length_is_read_once_through() -> None:
    assert preferred("gzip;q=0.1," * 700) == ["gzip", "identity"]


async def test_an_unknown_page_is_plain_text(door: Door) -> None:
    answer = await door.ask("/nothing.html")
    told = "Nothing was found at this address. The first page is /, the documentation is /docs/.\n"
    assert (answer.status_code, answer.text) == (404, told)
    assert answer.headers["content-type"] == "text/plain; charset=utf-8"
    assert (await door.ask("/nothing", headers=door.bearer)).status_code == 404


@pytest.mark.parametrize(
    "path",
    [
        "/assets/../../data/token",
        "/assets/%2e%2e/%2e%2e/data/token",
        "/assets/..%2f..%2fdata%2ftoken",
        "/assets/..\\..\\data\\token",
        "/assets//../../data/token",
        "/assets/%00.js",
        "/assets/" + "x" * 300 + ".js",
        "/assets",
        "/assets/",
        "/assets/link.js",
        "/%2e%2e/data/token",
        "//etc/passwd",
        "/assets//etc/passwd",
    ],
)
async def test_nothing_beside_the_pages_can_be_read(door: Door, path: str, tmp_path: Path) -> None:
    assets = tmp_path / "static" / "assets"
    for name in ("link.js", "link.js.br", "link.js.gz"):
        (assets / name).symlink_to(door.folder.token)
    for accept in ("identity", "br", "gzip"):
        asked = f"GET {path} HTTP/1.1\nHost: 127.0.0.1:PORT\nAccept-Encoding: {accept}"
        assert await door.status(f"{asked}\n{door.token_line()}") == 404


async def test_a_copy_that_leads_elsewhere_is_not_read(door: Door, assets: Path) -> None:
    (assets / "index-0a1b2c3d.js.br").unlink()
    (assets / "index-0a1b2c3d.js.br").symlink_to(door.folder.token)
    assert await encoded(door, SCRIPT, "br") == (None, PLAIN)


async def test_pages_are_read_only(door: Door) -> None:
    answer = await door.ask("/index.html", "POST", headers=door.bearer)
    assert answer.status_code == 405
    assert (await door.ask("/", "HEAD")).status_code == 200


async def test_pages_that_were_not_built_say_what_to_run(open_door: Open, tmp_path: Path) -> None:
    (tmp_path / "static").mkdir()
    async with open_door() as door:
        answer = await door.ask("/")
        assert answer.status_code == 503
        assert answer.headers["content-type"] == "text/plain; charset=utf-8"
        assert "make web" in answer.text
        assert (await door.ask("/api/nothing", headers=door.bearer)).json() == {
            "error": "Unknown API endpoint"
        }
        # Built meanwhile: no restart is needed.
        (tmp_path / "static" / "index.html").write_text("built", encoding="utf-8")
        assert (await door.ask("/")).text == "built"


def test_the_pages_lie_in_the_package() -> None:
    assert PAGES.parent.name == "airboss"
    assert (PAGES.parent / "py.typed").exists()


@pytest.fixture
def docs(door: Door, tmp_path: Path) -> Path:
    """A small documentation."""
    docs = tmp_path / "static" / "docs"
    (docs / "adr").mkdir(parents=True)
    for name in ("index", "tutorial", "404", "adr/index"):
        (docs / f"{name}.html").write_text(f"<title>{name}</title>", encoding="utf-8")
    (docs / "searchindex.js").write_text("Search.setIndex({})", encoding="utf-8")
    return docs


@pytest.mark.usefixtures("docs")
async def test_the_documentation_needs_no_token(door: Door) -> None:
    pages = {"": "index", "index.html": "index", "tutorial.html": "tutorial", "adr/": "adr/index"}
    for path, page in pages.items():
        answer = await door.ask(f"/docs/{path}")
        assert (answer.status_code, answer.text) == (200, f"<title>{page}</title>")
        assert answer.headers["content-type"] == "text/html; charset=utf-8"
        assert answer.headers["cache-control"] == "no-cache"
        assert "script-src 'self'" in answer.headers["content-security-policy"]
        again = await door.ask(f"/docs/{path}", headers={"If-None-Match": answer.headers["etag"]})
        assert (again.status_code, again.content) == (304, b"")
    script = await door.ask("/docs/searchindex.js")
    assert script.headers["content-type"] == "text/javascript; charset=utf-8"
    short = await door.ask("/docs")
    assert (short.status_code, short.headers["location"]) == (308, "/docs/")
    assert (await door.ask("/docs", "POST", headers=door.bearer)).status_code == 405
    assert (await door.ask("/docs/", "POST")).status_code == 401, "only reading is open"


MISSING = (
    *("/docs/nothing.html", "/docs/adr/deep/er/", "/docs/adr", "/docs/%00", "/docs//x"),
    *("/docs/../../data/token", "/docs/%2e%2e/%2e%2e/data/token", "/docs/link.html"),
    *("/docs/..%2f..%2fdata%2ftoken", "/docs/" + "x" * 300),
)


async def test_a_missing_page_of_the_documentation_is_told_by_a_page(
    door: Door, docs: Path
) -> None:
    (docs / "link.html").symlink_to(door.folder.token)
    for path in MISSING:
        asked = f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\nConnection: close\r\n\r\n"
        head, _, body = (await door.raw(asked)).partition(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 404 "), path
        assert body == b"<title>404</title>", path
        assert b"cache-control: no-store" in head


async def test_documentation_that_was_not_built_says_what_to_run(door: Door) -> None:
    answer = await door.ask("/docs/")
    assert answer.status_code == 503
    assert "make docs" in answer.text
    assert (await door.ask("/docsx")).status_code == 401, "no other address is open by that"
