"""docs/runtime.md: what the agent runtime can do, and where it is in Airboss."""

from collections.abc import Mapping

from runtime_capabilities import (
    CAPABILITIES,
    LEFT_OUT_EVENTS,
    LEFT_OUT_HOOKS,
    LEFT_OUT_OPTIONS,
    USED_EVENTS,
    USED_HOOKS,
    USED_OPTIONS,
    Capability,
)

_OPENING = """# What the runtime can do

This page lists what GitHub Copilot's agent runtime and its SDK offer, and where it is in
Airboss: the key of an entry, the field or call of the API (below `/api/v1`), the page, the
command, the SDK's call, and the test that shows it on the real runtime. What is left out has
a reason. A test fails if the SDK gets an option, a hook or an event that this page does not
name.

This page is generated from `scripts/runtime_capabilities.py` and `.txt`. Do not edit it.
"""


def runtime_table() -> str:
    used = [one for one in CAPABILITIES if not one.left_out]
    lines = [_OPENING, "## In Airboss", ""]
    for one in used:
        lines += [f"### {one.name}", "", *_facts(one), ""]
    lines += ["## Left out", ""]
    for one in CAPABILITIES:
        if one.left_out:
            lines += [f"- {one.name}.", f"  {_code(one.sdk)}.", f"  {one.left_out}"]
    lines += ["", "## Options of a session", "", "Used: " + _names(USED_OPTIONS), ""]
    lines += _reasons("Option", LEFT_OUT_OPTIONS)
    lines += [
        "",
        "## Hooks",
        "",
        "Used: " + _names(USED_HOOKS),
        "",
        *_reasons("Hook", LEFT_OUT_HOOKS),
    ]
    lines += ["", "## Events", "", "Used: " + _names(USED_EVENTS), ""]
    lines += _reasons("Event", LEFT_OUT_EVENTS)
    return "\n".join(_wrapped(line) for line in lines) + "\n"


def _facts(one: Capability) -> list[str]:
    facts = {
        "SDK": _code(one.sdk),
        "Entry": _code(one.key),
        "API": _code(one.field),
        "Page": one.page,
        "Command": _code(one.command),
        "Test": _test(one.test),
    }
    return [f"- {name}: {said}" for name, said in facts.items() if said]


def _test(named: str) -> str:
    """By its sentence and, on a line of its own, its file."""
    file, _, name = named.partition("::")
    sentence = name.removeprefix("test_").replace("_", " ")
    return f"{sentence}\n  (`{file}`)"


def _code(words: str) -> str:
    return ", ".join(f"`{word.strip()}`" for word in words.split(",") if word.strip())


def _names(names: frozenset[str]) -> str:
    return ", ".join(f"`{name}`" for name in sorted(names)) + "."


def _reasons(head: str, reasons: Mapping[str, str]) -> list[str]:
    rows = [f"| `{name}` | {why} |" for name, why in reasons.items()]
    return [f"| {head} | Why it is left out |", "|---|---|", *rows]


def _wrapped(line: str) -> str:
    """Lists of names, at 116 columns; all else is short."""
    if not line.startswith("Used: "):
        return line
    rows = [""]
    for word in line.split(" "):
        if len(rows[-1]) + len(word) > 115:
            rows.append("")
        rows[-1] = f"{rows[-1]} {word}".strip()
    return "\n".join(rows)
