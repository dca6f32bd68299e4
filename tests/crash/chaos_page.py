"""The page bench/CHAOS.md: a part for each kind of trial, which is said anew by itself."""

from typing import Final

_TITLE: Final = "# What kills cost"
# In the order of the page; the first has no heading of its own.
_HEADINGS: Final = {
    "free": "",
    "caged": "## In cages",
    "machines": "## On many machines",
    "without": "## On many machines, without the fence",
    "faults": "## What people see of each fault",
}


def rewritten(page: str, part: str, words: str) -> str:
    """`page` with this part of it said anew, and the others as they were."""
    parts = {**_parts(page.removeprefix(_TITLE)), part: words.strip()}
    said = [_TITLE]
    for name, heading in _HEADINGS.items():
        said += [heading, parts[name]] if parts.get(name) else []
    return "\n\n".join(filter(None, said)) + "\n"


def part_of(page: str, part: str) -> str:
    """As it was said last."""
    return _parts(page.removeprefix(_TITLE)).get(part, "")


def _parts(page: str) -> dict[str, str]:
    found: dict[str, list[str]] = {"free": []}
    named = {heading: name for name, heading in _HEADINGS.items() if heading}
    lines = found["free"]
    for line in page.splitlines():
        if line in named:
            lines = found[named[line]] = []
        else:
            lines.append(line)
    return {name: "\n".join(some).strip() for name, some in found.items()}
