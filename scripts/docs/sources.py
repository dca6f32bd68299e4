"""The Markdown files of the repository as Sphinx reads them.

The files themselves are written for people who read them on a code host: plain Markdown, with links
between files. Here they are copied, and what the site needs beside that is added to the copies.
"""

import os
import re
import shutil
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

# Pages that lie elsewhere in the repository, and their names on the site.
_ELSEWHERE = {
    "ARCHITECTURE.md": "architecture.md",
    "CONTRIBUTING.md": "contributing.md",
    "GLOSSARY.md": "glossary.md",
    "CHANGELOG.md": "changelog.md",
    "bench/RESULTS.md": "benchmark-results.md",
}
# Folders with pages of their own, one README in each.
_FOLDERS = ("docs", "examples")
_LINK = re.compile(r"(?<!!)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)#\s]*)(#[^)\s]*)?\)")
# In a list or in the first column of a table, and not somewhere above.
_LISTED = re.compile(r"^(?:- |\| )\[([^\]]+)\]\((?!\.\./)([^)#\s]+\.md)\)", re.MULTILINE)
_TITLED = re.compile(r'^```(\w+) title="([^"]+)"$', re.MULTILINE)
# Large pictures that are worth a look in the repository, and not a place in every wheel.
_LEFT_OUT = re.compile(r"<!-- not on the site -->.*?<!-- on the site again -->\n?", re.DOTALL)


def pages() -> dict[Path, str]:
    """Every page by its file: its name on the site. A folder's README is its index."""
    found = {
        file: file.relative_to(ROOT).as_posix().removeprefix("docs/")
        for folder in _FOLDERS
        for file in sorted((ROOT / folder).rglob("*.md"))
    }
    found = {file: re.sub(r"README\.md$", "index.md", name) for file, name in found.items()}
    return {**found, **{ROOT / name: at for name, at in _ELSEWHERE.items()}}


def stage(into: Path) -> None:
    site = pages()
    for file in (ROOT / "docs").rglob("*"):
        if file.is_file() and file.suffix != ".md":
            _copy(file, into / file.relative_to(ROOT / "docs"))
    for file, name in site.items():
        page = into / name
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text(_adapt(file, site, into), encoding="utf-8")


def _adapt(file: Path, site: dict[Path, str], into: Path) -> str:
    here = Path(site[file]).parent

    def lead(link: re.Match[str]) -> str:
        words, address, place = link[1], link[2], link[3] or ""
        if not address or "://" in address or address.startswith("mailto:"):
            return link[0]
        target = (file.parent / address).resolve()
        if target.is_dir() and target / "README.md" in site:
            target /= "README.md"
        if target in site:
            return f"[{words}]({os.path.relpath(site[target], here)}{place})"
        if target.is_file():  # offered as a file to save
            kept = Path("files", target.relative_to(ROOT))
            _copy(target, into / kept)
            return f"[{words}]({os.path.relpath(kept, here)})"
        return words if target.exists() else link[0]  # what is not there, Sphinx reports

    text = _LEFT_OUT.sub("", file.read_text("utf-8"))
    text = _LINK.sub(lead, text)
    text = _TITLED.sub(r"```{code-block} \1\n:caption: \2\n", text)
    return text if file.name != "README.md" else _with_contents(text)


def _with_contents(text: str) -> str:
    """The navigation is what an index lists, each of its headings with the pages below it."""
    parts = re.split(r"^## (.+)$", text, flags=re.MULTILINE)
    said = [parts[0], _contents(None, parts[0])]
    for heading, below in zip(parts[1::2], parts[2::2], strict=True):
        said += [f"## {heading}", below, _contents(heading, below)]
    return "".join(said)


def _contents(heading: str | None, listing: str) -> str:
    listed = "\n".join(f"{words} <{page}>" for words, page in _LISTED.findall(listing))
    if not listed:
        return ""
    caption = f":caption: {heading}\n" if heading else ""
    return f"\n```{{toctree}}\n:hidden:\n{caption}\n{listed}\n```\n\n"


def _copy(file: Path, to: Path) -> None:
    to.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(file, to)
