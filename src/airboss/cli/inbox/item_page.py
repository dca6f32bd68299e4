"""One thing that waits for a person, in words: what it is, all that it is about, what to type."""

import json
import time
from collections.abc import Iterable, Iterator
from typing import Final, cast

from airboss.cli.client import Json
from airboss.cli.inbox.command_text import LONG, command_lines, parts_of
from airboss.cli.rule.listing import rule_words
from airboss.cli.screen import Pen, duration, moment, visible_line, width_of
from airboss.model.hidden import visible, visible_prose, visible_whole

_WHAT: Final = {
    "approval.asked": "approval",
    "question.asked": "question",
    "plan.asked": "plan",
    "switch.asked": "switch",
    "sign-in.asked": "sign-in",
}
_SHORTENED: Final = "(shortened)"
# What stands before each line of a part, and the least that is left for the part itself.
_NAMED: Final = 11
_NARROWEST: Final = 20
# A command that is shorter is left to the terminal, so that it can be copied as it is.
_WRAPPED: Final = 400
# Where an earlier version cut each part, without a mark.
_ONCE_CUT_AT: Final = 64_000
_WAS_CUT: Final = (
    "An earlier version of Airboss stored only the first 64,000 characters. The rest cannot be "
    "shown. Deny the request unless you know the rest."
)
_SEVERITIES: Final = {"high": ("red",), "medium": ("yellow",)}
_OUTCOMES: Final = {
    "allow-once": "allowed it once",
    "allow-always": "allowed it from now on",
    "deny": "denied it",
    "answered": "answered",
    "declined": "declined to answer",
    "go-on": "let it continue",
    "approved": "approved the plan",
    "rejected": "rejected the plan",
    "signed-in": "signed in",
}


def what_of(asked: Json) -> str:
    return _WHAT.get(str(asked["kind"]), "limit")


def title_of(asked: Json) -> str:
    """In one line what it is about. Safe to be shown."""
    match what_of(asked):
        case "approval":
            return visible_line(str(asked["title"]))
        case "question":
            return visible_line(str(asked["question"]))
        case "plan":
            return visible_line(f"Approve the plan? {str(asked['summary']).strip()}")
        case "sign-in":
            return visible_line(f"Sign in at the MCP server {asked['server']}?")
        case "switch":
            return visible_line(f"{asked['model']} is at its limit. Continue with another model?")
        case _:
            limit = f"{asked['used']:g} of {asked['allowed']:g} {asked['limit']}"
            return visible_line(f"Continue? {limit} of the {asked['scope']} used.")


def command_of(asked: Json) -> str:
    """What to type, from anywhere: to look at it where its title is not all of it."""
    item = visible_line(str(asked["item"]))
    if what_of(asked) == "question":
        return f'airboss answer {item} "…"'
    if what_of(asked) == "plan":
        return f"airboss inbox {item}"
    is_short = str(asked.get("title", "")).endswith(_SHORTENED)
    return f"airboss inbox {item}" if is_short else f"airboss approve {item}"


def outcome_words(settled: Json) -> str:
    """What came of it: who said what."""
    outcome = str(settled["outcome"])
    if words := _OUTCOMES.get(outcome):
        return f"{settled.get('who') or 'Somebody'} {words}"
    if outcome == "timeout":
        return "Nobody decided in time"
    return "No longer needed"


def waits(item: Json, now: int | None = None) -> str:
    """How long it has waited, and how long it will."""
    at = _now() if now is None else now
    since = duration(max(at - int(item["asked_at"]), 0) / 1000)
    until = item["asked"].get("expires_at")
    return since if until is None else f"{since}, {duration(max(until - at, 0) / 1000)} left"


def _now() -> int:
    return time.time_ns() // 1_000_000


def draw(pen: Pen, asked: Json, *, is_folded: bool = False) -> None:
    """All that a person needs to decide, as it is: nothing of it is cut or can hide. Folded, the
    middle of what is long is left out, and it says so."""
    pen.line(pen.styled(title_of(asked), "bold"))
    for line in _about(pen, asked, is_folded):
        pen.line(f"  {line}")


def is_long(asked: Json) -> bool:
    """Whether something of it is left out where it is drawn folded."""
    subject = cast("Json", asked.get("subject") or {})
    texts = [subject.get("command"), subject.get("diff"), asked.get("plan")]
    texts += [_wants(subject)] if subject else []
    return any(len(str(text)) > LONG for text in texts if text)


def _wants(subject: Json) -> str | None:
    """The arguments, where nothing else says what it is about."""
    has_more = any(subject.get(name) for name in ("command", "path", "address"))
    return None if has_more else str(subject.get("arguments", "{}"))


def draw_whole(pen: Pen, item: Json, job: str | None) -> None:
    """With where it comes from."""
    asked = cast("Json", item["asked"])
    facts = [
        ("Item", item["id"]),
        ("What", what_of(asked)),
        ("Session", item["session"]),
        ("Task run", item.get("task_run")),
        ("Run", item.get("run")),
        ("Job", job),
        ("Asked", moment(int(item["asked_at"]))),
        ("Waits", waits(item)),
    ]
    for name, value in facts:
        if value:
            pen.line(f"{pen.styled(f'{name:<12}', 'bold')} {visible_line(str(value))}")
    pen.line()
    draw(pen, asked)
    pen.line()
    for words in _ways(asked):
        pen.line(pen.styled(words, "dim"))


def _ways(asked: Json) -> Iterator[str]:
    item = visible_line(str(asked["item"]))
    if what_of(asked) == "question":
        fields = " --field NAME=VALUE" if asked.get("form") else ' "…"'
        yield f"airboss answer {item}{fields}"
        yield f"airboss decline {item}"
        return
    yield f"airboss approve {item}"
    if what_of(asked) == "sign-in":
        yield f"airboss decline {item}"
        return
    if what_of(asked) == "plan":
        yield f'airboss approve {item} "what should be different"'
    if asked.get("rule"):
        yield f"airboss approve {item} --always"
    yield f'airboss deny {item} "why"'


def _about(pen: Pen, asked: Json, is_folded: bool) -> Iterator[str]:
    match what_of(asked):
        case "approval":
            yield from _of_approval(pen, asked, is_folded)
        case "question":
            yield from _of_question(pen, asked)
        case "sign-in":
            yield f"At       {visible_line(str(asked['address']))}"
            yield pen.styled("Without it, the agent continues without the server's tools.", "dim")
        case "plan":
            yield from _text_lines(pen, str(asked.get("plan") or asked["summary"]), is_folded)
        case _:
            pass


def _of_approval(pen: Pen, asked: Json, is_folded: bool) -> Iterator[str]:
    subject = cast("Json", asked["subject"])
    yield pen.styled(visible_line(str(asked["description"])), "dim")
    severity = str(asked["severity"])
    yield f"Risk     {pen.styled(visible_line(severity), *_SEVERITIES.get(severity, ()))}"
    if any(len(str(part)) == _ONCE_CUT_AT for part in subject.values()):
        yield pen.styled(_WAS_CUT, "red")
    if command := subject.get("command"):
        yield from _of_command(pen, str(command), is_folded)
    if path := subject.get("path"):
        yield f"File     {visible_whole(str(path))}"
    if address := subject.get("address"):
        yield f"Address  {visible_whole(str(address))}"
    if wants := _wants(subject):
        lines = _text_lines(pen, wants, is_folded)
        yield from _named("Wants", lines)
    if diff := subject.get("diff"):
        lines = _text_lines(pen, str(diff).rstrip("\n"), is_folded)
        yield from (_of_diff(pen, line) for line in lines)
    if rule := asked.get("rule"):
        yield f"Always   would allow {visible_line(rule_words(rule))}"


def _of_question(pen: Pen, asked: Json) -> Iterator[str]:
    lines = visible_prose(str(asked["question"])).strip().split("\n")
    if len(lines) > 1:
        yield from lines
    for number, label in enumerate(asked.get("choices") or (), start=1):
        yield f"{pen.styled(str(number), 'cyan')} {visible_line(str(label))}"
    if asked.get("choices") and asked.get("allows_words"):
        yield pen.styled("or your own text", "dim")
    for name, field in fields_of(asked).items():
        yield visible_line(f"{name}: {_field_words(name, field, asked)}")


def fields_of(asked: Json) -> dict[str, Json]:
    """Those of a form."""
    form: Json = json.loads(asked.get("form") or "{}")
    return cast("dict[str, Json]", form.get("properties", {}))


def _field_words(name: str, field: Json, asked: Json) -> str:
    required = cast("list[str]", json.loads(str(asked["form"])).get("required", []))
    words = [str(field.get("type", "")), "required" if name in required else "optional"]
    if choices := field.get("enum"):
        words.append("one of " + ", ".join(str(choice) for choice in choices))
    if said := field.get("description") or field.get("title"):
        words.append(str(said))
    return "; ".join(words)


def _of_command(pen: Pen, text: str, is_folded: bool) -> Iterator[str]:
    columns = width_of(pen)
    width = max(columns - _NAMED, _NARROWEST) if columns and len(text) > _WRAPPED else 0
    lines: list[str] = []
    for part in parts_of(text, is_folded=is_folded, is_command=True):
        lines += (
            [pen.styled(part.text, "yellow")]
            if part.is_gap
            else command_lines(pen, part.text, width)
        )
    yield from _named("Command", lines)


def _text_lines(pen: Pen, text: str, is_folded: bool) -> Iterator[str]:
    for part in parts_of(text, is_folded=is_folded):
        if part.is_gap:
            yield pen.styled(part.text, "yellow")
        else:
            yield from visible(part.text).split("\n")


def _named(name: str, lines: Iterable[str]) -> Iterator[str]:
    for place, line in enumerate(lines):
        yield f"{'' if place else name:<8} {line}"


def _of_diff(pen: Pen, line: str) -> str:
    match line[:1]:
        case "+":
            return pen.styled(line, "green")
        case "-":
            return pen.styled(line, "red")
        case "@":
            return pen.styled(line, "cyan")
        case _:
            return line
