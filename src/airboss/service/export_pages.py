"""How an export is written: as Markdown, or as one HTML file that needs nothing else."""

import base64
import datetime
import re
from collections.abc import Sequence
from hashlib import sha256
from html import escape
from typing import Final, Protocol

from airboss.model.hidden import visible, visible_prose
from airboss.service.transcript import Passage

_STYLE: Final = """
:root { color-scheme: light dark; --line: #8884; --soft: #8881; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 52rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.4rem; } h2 { font-size: 1.15rem; margin-top: 2.5rem; } h3 { font-size: 1rem; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 0 1rem; }
dt { opacity: .7; } dd { margin: 0; overflow-wrap: anywhere; }
section { border-top: 1px solid var(--line); padding: .5rem 0; }
h4 { font-size: .8rem; font-weight: 600; margin: .25rem 0; opacity: .7; }
pre { white-space: pre-wrap; overflow-wrap: anywhere; margin: .25rem 0; font: inherit; }
.prompt { background: var(--soft); padding: .5rem .75rem; border-radius: .5rem; }
.reasoning, .note { opacity: .8; font-size: .9rem; }
.tool pre { font: .85rem/1.4 ui-monospace, monospace; }
summary { cursor: pointer; font-size: .9rem; }
"""
_HASH: Final = base64.b64encode(sha256(_STYLE.encode()).digest()).decode()
_POLICY: Final = f"default-src 'none'; style-src 'sha256-{_HASH}'; base-uri 'none'"

Facts = Sequence[tuple[str, str]]


class ExportPage(Protocol):
    """Writes an export piece by piece."""

    def begin(self, title: str, facts: Facts) -> str: ...
    def heading(self, level: int, text: str, facts: Facts) -> str: ...
    def passage(self, passage: Passage) -> str: ...
    def end(self) -> str: ...


class Markdown:
    def begin(self, title: str, facts: Facts) -> str:
        return self.heading(1, title, facts)

    def heading(self, level: int, text: str, facts: Facts) -> str:
        listed = "".join(f"- {name}: {_line(value)}\n" for name, value in facts)
        return f"{'#' * level} {_line(text)}\n\n{listed}{chr(10) if listed else ''}"

    def passage(self, passage: Passage) -> str:
        head = f"**{_line(passage.title)}** · {moment(passage.at)}\n\n"
        if passage.voice == "note":
            quoted = f"{_quoted(passage.text)}\n" if passage.text else ""
            return f"*{_line(passage.title)}*\n\n{quoted}"
        if passage.voice == "tool":
            return f"{head}{_fenced(visible(passage.given))}{_fenced(visible_prose(passage.text))}"
        if passage.voice == "message":
            return f"{head}{visible_prose(passage.text)}\n\n"
        return f"{head}{_quoted(passage.text)}\n"

    def end(self) -> str:
        return ""


class Html:
    """No script, nothing from elsewhere, and a policy that allows neither."""

    def begin(self, title: str, facts: Facts) -> str:
        return (
            '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
            f'<meta http-equiv="Content-Security-Policy" content="{escape(_POLICY)}">\n'
            '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
            '<meta name="color-scheme" content="light dark">\n'
            f"<title>{_escaped(title)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n"
            f"{self.heading(1, title, facts)}"
        )

    def heading(self, level: int, text: str, facts: Facts) -> str:
        listed = "".join(
            f"<dt>{_escaped(name)}</dt><dd>{_escaped(value)}</dd>\n" for name, value in facts
        )
        said = f"<dl>\n{listed}</dl>\n" if listed else ""
        return f"<h{level}>{_escaped(text)}</h{level}>\n{said}"

    def passage(self, passage: Passage) -> str:
        head = f"{_escaped(passage.title)} · {moment(passage.at)}"
        shown = visible_prose(passage.text)
        text = f"<pre>{escape(shown)}</pre>\n" if passage.text else ""
        if passage.voice == "tool":
            given = f"<pre>{_escaped(passage.given)}</pre>\n" if passage.given else ""
            body = f"<details>\n<summary>{head}</summary>\n{given}{text}</details>\n"
        else:
            body = f"<h4>{head}</h4>\n{text}"
        return f'<section class="{passage.voice}">\n{body}</section>\n'

    def end(self) -> str:
        return "</body>\n</html>\n"


def moment(at: int) -> str:
    said = datetime.datetime.fromtimestamp(at / 1000, tz=datetime.UTC)
    return said.strftime("%Y-%m-%d %H:%M:%S UTC")


def _escaped(text: str) -> str:
    return escape(visible(text))


def _line(text: str) -> str:
    """On one line, and without a meaning in Markdown."""
    plain = " ".join(visible(text).split())
    return re.sub(r"([\\`*_{}\[\]<>#|])", r"\\\1", plain)


def _quoted(text: str) -> str:
    return "".join(f"> {line}\n" for line in visible_prose(text).split("\n"))


def _fenced(text: str) -> str:
    """With a fence that is longer than any in the text."""
    if not text:
        return ""
    longest = max((len(found) for found in re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}\n{text}\n{fence}\n\n"
