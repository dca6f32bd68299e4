"""Every link of the documents works: files and places in the repository are there. What is outside
cannot be reached by a test; it has the form of an address that can."""

import re
from functools import cache
from pathlib import Path
from urllib.parse import urlsplit

import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    path
    for where in ("*.md", "docs/**/*.md", "examples/**/*.md", "bench/*.md", ".github/**/*.md")
    for path in ROOT.glob(where)
)
# Files that are no pages and name some.
OTHERS = sorted(
    path
    for where in ("Containerfile", "Makefile", "deploy/*", ".github/**/*.yml", ".ci/*")
    for path in ROOT.glob(where)
    if path.is_file()
)
_CODE = re.compile(r"^ *```.*?^ *```$|(`+)[^`].*?\1", re.MULTILINE | re.DOTALL)
_LINKS = re.compile(
    r"\]\(([^)\s]+)[^)]*\)|^\[[^\]]+\]: *(\S+)|<(https?://[^>]+)>|\b(?:src|href)=\"([^\"]+)\"",
    re.MULTILINE,
)
_NAMED = re.compile(r"\[[^\]]*\]\[([^\]]+)\]")
# Without what a pattern stands for: `tests/http/test_*.py`.
_FILES = re.compile(
    r"(?<![\w/.~-])((?:docs|tests|scripts|examples|deploy|requirements)/[\w./-]*\w)(?![\w*/-])"
)
NAMES = [page.relative_to(ROOT).as_posix() for page in PAGES]


def prose(page: str) -> str:
    return _CODE.sub("", (ROOT / page).read_text("utf-8"))


def links(page: str) -> list[str]:
    return [next(filter(None, found)) for found in _LINKS.findall(prose(page))]


def is_outside(link: str) -> bool:
    return "://" in link or link.startswith("mailto:")


@cache
def places(file: Path) -> frozenset[str]:
    """What the headings of a page are called in links, as code hosts and the site name them."""
    text = re.sub(r"^ *```.*?^ *```$", "", file.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
    titles = re.findall(r"^#+ +(.+?) *$", text, re.MULTILINE)
    titles = [re.sub(r"\]\([^)]*\)", "]", title) for title in titles]
    return frozenset(re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles)


def leads_nowhere(page: str, link: str) -> bool:
    address, _, place = link.partition("#")
    file = (ROOT / page).parent / address if address else ROOT / page
    if not file.exists() or ROOT not in (file.resolve(), *file.resolve().parents):
        return True
    return bool(place) and place not in places(file.resolve())


def is_malformed(link: str) -> bool:
    parts = urlsplit(link)
    if parts.hostname == "localhost":  # the reader's own server
        return parts.scheme != "http"
    is_named = bool(re.fullmatch(r"[a-z0-9-]+(\.[a-z0-9-]+)+", parts.hostname or ""))
    return parts.scheme != "https" or not is_named or link[-1] in ".,;:"


@pytest.mark.parametrize("page", NAMES)
def test_every_link_of_a_page_works(page: str) -> None:
    found = links(page)
    inside = [link for link in found if not is_outside(link)]
    assert [link for link in inside if leads_nowhere(page, link)] == []
    assert [link for link in found if is_outside(link) and is_malformed(link)] == []
    text = prose(page)
    named = {name.lower() for name in _NAMED.findall(text)}
    said = {name.lower() for name in re.findall(r"^\[([^\]]+)\]: ", text, re.MULTILINE)}
    assert named - said == set()


@pytest.mark.parametrize("page", [*NAMES, *(file.relative_to(ROOT).as_posix() for file in OTHERS)])
def test_every_file_that_a_page_names_is_there(page: str) -> None:
    named = set(_FILES.findall((ROOT / page).read_text("utf-8")))
    beside = (ROOT / page).parent
    assert [name for name in named if not any((at / name).exists() for at in (ROOT, beside))] == []


def test_a_link_that_leads_nowhere_is_noticed() -> None:
    assert leads_nowhere("README.md", "docs/nowhere.md")
    assert leads_nowhere("README.md", "docs/operating.md#no-such-place")
    assert leads_nowhere("README.md", "../elsewhere")
    assert not leads_nowhere("README.md", "docs/operating.md#providers")
    assert is_malformed("http://example.com")
    assert is_malformed("https://example")
    assert is_malformed("https://example.com/a.")
    assert not is_malformed("https://example.com/a")
