"""Sphinx's configuration of the documentation. Everything in it stays within the server's content
security policy: no script and no style stands in a page."""

from pathlib import Path

_HERE = Path(__file__).resolve().parent
_WEB = _HERE.parents[1] / "web" / "src"

project = "Airboss"
html_title = "Airboss documentation"
html_short_title = "Documentation"
extensions = ["myst_parser"]
source_suffix = {".md": "markdown"}
exclude_patterns = ["files/**"]
myst_heading_anchors = 6
highlight_language = "text"
suppress_warnings = [
    "misc.highlighting_failure",  # an example may leave something out with "…", which is no JSON
    "toc.not_included",  # a test says which pages have to be in the navigation
]

html_theme = "airboss"
html_theme_path = [str(_HERE)]
# The colours are those of the website's own pages, and so is the theme that a person chose there.
html_static_path = [str(_WEB / name) for name in ("tokens.css", "theme.js", "mark.svg")]
html_additional_pages = {"404": "404.html"}
html_copy_source = False
html_show_sourcelink = False
html_use_index = False
html_domain_indices = False
html_permalinks_icon = "#"
html_search_scorer = str(_HERE / "scorer.js")
