"""`python -m scripts.docs`: builds the documentation into the package's static files.

Sphinx reads a copy of the Markdown files in which every link leads to a page of the site. A warning
is an error: a link that leads nowhere ends the build, and what was built before stays as it was.
"""

import gzip
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from scripts.docs.sources import ROOT, stage

SITE = ROOT / "src" / "airboss" / "static" / "docs"
HERE = Path(__file__).parent
# What nobody opens: Sphinx's notes for itself, and the inventory for other Sphinx projects.
_NOTES = (".buildinfo", "objects.inv")
_COMPRESSED = {".html", ".js", ".css", ".svg", ".json", ".txt"}
# The page for a missing address is shown at any depth, so its own links begin at the root.
_RELATIVE = re.compile(r'(href|src|action|data-content_root)="(?![/#]|https?:)(?:\./)?')
# What may be wider than a phone scrolls by itself, with the keyboard, too.
_SCROLLS = re.compile(r"(<pre|<table class=\"[^\"]*docutils[^\"]*\")(?=>)")


def build(into: Path) -> None:
    with tempfile.TemporaryDirectory(prefix="airboss-docs-") as folder:
        sources, built = Path(folder, "sources"), Path(folder, "built")
        stage(sources)
        words = [sys.executable, "-m", "sphinx", "-b", "html", "-q", "-W", "-c", str(HERE)]
        done = subprocess.run(
            [*words, "-d", str(Path(folder, "doctrees")), str(sources), str(built)],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        if done.returncode != 0:
            raise SystemExit(done.stdout.replace(f"{sources}/", "the copy of docs/"))
        _finish(built)
        shutil.rmtree(into, ignore_errors=True)
        into.parent.mkdir(parents=True, exist_ok=True)
        shutil.move(built, into)


def _finish(built: Path) -> None:
    for name in _NOTES:
        (built / name).unlink(missing_ok=True)
    for page in built.rglob("*.html"):
        text = _SCROLLS.sub(r'\1 tabindex="0"', page.read_text("utf-8"))
        if page.name == "404.html":
            text = _RELATIVE.sub(r'\1="/docs/', text)
        page.write_text(text, encoding="utf-8")
    for file in sorted(built.rglob("*")):
        if file.suffix in _COMPRESSED:
            _compress(file)


def _compress(file: Path) -> None:
    """The server sends the copy, and compresses nothing itself."""
    plain = file.read_bytes()
    packed = gzip.compress(plain, 9, mtime=0)
    if len(packed) < len(plain):
        file.with_name(f"{file.name}.gz").write_bytes(packed)


if __name__ == "__main__":
    build(SITE)
