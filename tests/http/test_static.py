"""The pages are open, cached by what they are, and nothing beside them can be read."""

from pathlib import Path

import pytest

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


async def test_an_unknown_page_is_plain_text(door: Door) -> None:
    answer = await door.ask("/nothing.html")
    assert (answer.status_code, answer.text) == (404, "There is nothing at this address.\n")
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
    (tmp_path / "static" / "assets" / "link.js").symlink_to(door.folder.token)
    head = f"GET {path} HTTP/1.1\nHost: 127.0.0.1:PORT\n{door.token_line()}"
    assert await door.status(head) == 404


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
