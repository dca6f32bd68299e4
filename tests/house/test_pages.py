"""The built pages live under a strict content security policy, and no wheel is without them."""

import json
import shutil
import subprocess
import sys
import zipfile
from html.parser import HTMLParser
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
STATIC = ROOT / "src/airboss/static"
DOCS = STATIC / "docs"


class Addresses(HTMLParser):
    """Collects what a page loads, and what it carries inline."""

    def __init__(self) -> None:
        super().__init__()
        self.loaded: list[str] = []
        self.inline: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        has = dict(attrs)
        self.loaded += [has[name] or "" for name in ("src", "href") if name in has]
        if tag == "style" or (tag == "script" and "src" not in has):
            self.inline.append(tag)
        self.inline += [name for name in has if name == "style" or name.startswith("on")]


PAGES = (
    "index",
    "jobs",
    "edit",
    "jobTracking",
    "history",
    "compare",
    "inbox",
    "machines",
    "settings",
    "test",
)


@pytest.mark.parametrize("name", [f"{page}.html" for page in PAGES])
def test_a_page_carries_nothing_inline_and_loads_only_from_here(name: str) -> None:
    page = Addresses()
    page.feed((STATIC / name).read_text("utf-8"))
    assert page.inline == []
    assert [address for address in page.loaded if not address.startswith("/assets/")] == []
    assert [address for address in page.loaded if not (STATIC / address[1:]).is_file()] == []
    assert any(address.endswith(".js") for address in page.loaded)
    assert any(address.endswith(".css") for address in page.loaded)


def build_wheel(root: Path, into: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(into)],
        cwd=root,
        capture_output=True,
        text=True,
        check=False,
    )


def a_small_copy(root: Path) -> Path:
    """The package's frame alone: what the build looks at."""
    (root / "src/airboss").mkdir(parents=True)
    shutil.copy(ROOT / "src/airboss/__init__.py", root / "src/airboss")
    for name in ("pyproject.toml", "hatch_build.py", "README.md", "LICENSE", ".gitignore"):
        shutil.copy(ROOT / name, root)
    shutil.copytree(ROOT / "examples", root / "examples")
    return root


def test_a_wheel_carries_the_pages_although_git_ignores_them(tmp_path: Path) -> None:
    root = a_small_copy(tmp_path / "project")
    shutil.copytree(STATIC, root / "src/airboss/static")
    built = build_wheel(root, tmp_path)
    assert built.returncode == 0, built.stderr
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    assert {"airboss/static/index.html", "airboss/static/docs/index.html"} <= names
    assert any(name.endswith("fix-failing-tests/airboss.yaml") for name in names)
    files = [file for file in STATIC.rglob("*") if file.is_file()]
    assert {f"airboss/static/{file.relative_to(STATIC)}" for file in files} <= names
    assert "airboss/static/index.html.br" in names


# Brotli is not in Python; what builds the pages has it.
UNPACK = """
const { brotliDecompressSync, gunzipSync } = require("node:zlib");
const { existsSync, readFileSync } = require("node:fs");
for (const file of JSON.parse(readFileSync(0, "utf-8"))) {
  const plain = readFileSync(file);
  for (const [suffix, unpack] of [["br", brotliDecompressSync], ["gz", gunzipSync]]) {
    const copy = `${file}.${suffix}`;
    const held = existsSync(copy) && unpack(readFileSync(copy));
    if (held ? !held.equals(plain) : plain.length > 1000) console.log(copy);
  }
}
"""


def test_every_file_has_compressed_copies_that_hold_the_same() -> None:
    files = [file for file in STATIC.rglob("*") if file.is_file() and DOCS not in file.parents]
    plain = [str(file) for file in files if file.suffix not in (".br", ".gz")]
    assert len(plain) > 20
    told = subprocess.run(
        ["node", "-e", UNPACK], input=json.dumps(plain), capture_output=True, text=True, check=True
    )
    assert told.stdout == "", "missing, or of another build"


def test_a_wheel_without_the_pages_or_the_documentation_is_refused(tmp_path: Path) -> None:
    root = a_small_copy(tmp_path / "project")
    for missing, page in (("web", "index.html"), ("docs", "docs/index.html")):
        built = build_wheel(root, tmp_path)
        assert built.returncode != 0
        assert f"Run `make {missing}`, then build the wheel again." in built.stderr
        assert list(tmp_path.glob("*.whl")) == []
        (root / "src/airboss/static" / page).parent.mkdir(parents=True)
        (root / "src/airboss/static" / page).touch()
