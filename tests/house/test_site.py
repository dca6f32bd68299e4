"""The documentation as it was built: nothing inline, every link leads somewhere."""

import gzip
import re
from dataclasses import dataclass, field
from functools import cache
from html.parser import HTMLParser
from pathlib import Path, PurePosixPath

import pytest

from tests.house.test_pages import Addresses

ROOT = Path(__file__).parents[2]
SITE = ROOT / "src/airboss/static/docs"
PAGES = sorted(file.relative_to(SITE).as_posix() for file in SITE.rglob("*.html"))


@dataclass
class Places(HTMLParser):
    """What a page leads to, and the places on it that something can lead to."""

    links: list[str] = field(default_factory=list[str])
    places: set[str] = field(default_factory=set[str])

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        has = dict(attrs)
        self.links += [has[name] or "" for name in ("src", "href", "action") if has.get(name)]
        self.places.add(has.get("id") or "")


@cache
def read(page: str) -> Places:
    places = Places()
    places.feed((SITE / page).read_text("utf-8"))
    return places


def leads_nowhere(page: str, link: str) -> bool:
    address, _, place = link.partition("#")
    address = address.partition("?")[0]
    if address.startswith("/") and not address.startswith("/docs/"):
        return address != "/"
    at = (
        SITE / address.removeprefix("/docs/")
        if address[:1] == "/"
        else SITE / page / ".." / address
    )
    file = (SITE / page if not address else at).resolve()
    file = file / "index.html" if file.is_dir() else file
    if not file.is_file() or SITE.resolve() not in file.parents:
        return True
    name = PurePosixPath(file.relative_to(SITE.resolve())).as_posix()
    return bool(place) and place not in read(name).places


def test_there_is_a_site() -> None:
    assert {"index.html", "tutorial.html", "search.html", "404.html", "adr/index.html"} <= set(
        PAGES
    )


@pytest.mark.parametrize("page", PAGES)
def test_a_page_has_nothing_inline_and_every_link_leads_somewhere(page: str) -> None:
    text = (SITE / page).read_text("utf-8")
    found = Addresses()
    found.feed(text)
    assert found.inline == []
    inside = [link for link in read(page).links if not re.match(r"https?://|mailto:", link)]
    assert not [link for link in inside if link.startswith(("javascript:", "data:"))]
    assert [link for link in inside if leads_nowhere(page, link)] == []
    loaded = re.findall(r'<(?:script|img|link)\b[^>]* (?:src|href)="([^"]+)"', text)
    assert [address for address in loaded if ":" in address] == [], "all comes from this server"


def test_the_page_for_a_missing_address_works_at_any_depth() -> None:
    assert [link for link in read("404.html").links if not link.startswith(("/", "#"))] == []


def test_the_navigation_has_the_four_kinds() -> None:
    page = (SITE / "tutorial.html").read_text("utf-8")
    kinds = re.findall(r'class="caption"[^>]*><span class="caption-text">([^<]+)<', page)
    assert kinds == ["Tutorial", "How-to guides", "Reference", "Explanation"]


def test_every_document_is_in_the_navigation() -> None:
    listed = {link.partition("#")[0] for link in read("index.html").links}
    pages = {page for page in PAGES if page.count("/") == 0}
    assert pages - listed - {"404.html", "index.html", "search.html"} == set()


@pytest.mark.parametrize("word", ["approv", "resum", "provid", "schedul"])
def test_the_search_knows_the_words_that_people_look_for(word: str) -> None:
    index = (SITE / "searchindex.js").read_text("utf-8")
    assert re.search(rf"\b{word}\w*\"?:", index)


def test_compressed_copies_hold_the_same() -> None:
    copies = list(SITE.rglob("*.gz"))
    assert len(copies) > 40
    for copy in copies:
        assert gzip.decompress(copy.read_bytes()) == copy.with_suffix("").read_bytes()
