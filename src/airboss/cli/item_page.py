"""One thing that waits for a person, in words: what it is, all that it is about, what to type."""

import json
import time
from collections.abc import Iterator
from typing import Final, cast

from airboss.cli.client import Json
from airboss.cli.rule_listing import rule_words
from airboss.cli.screen import Pen, duration, moment, visible, visible_line

_WHAT: Final = {"approval.asked": "approval", "question.asked": "question"}
_SEVERITIES: Final = {"high": ("red",), "medium": ("yellow",)}
_OUTCOMES: Final = {
    "allow-once": "allowed it, once",
    "allow-always": "allowed it, from now on",
    "deny": "said no",
    "answered": "answered",
    "declined": "does not want to answer",
    "go-on": "let it go on",
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
        case _:
            limit = f"{asked['used']:g} of {asked['allowed']:g} {asked['limit']}"
            return visible_line(f"Go on? {limit} of the {asked['scope']} are used.")


def command_of(asked: Json) -> str:
    """What to type, from anywhere."""
    item = visible_line(str(asked["item"]))
    return (
        f'airboss answer {item} "…"' if what_of(asked) == "question" else f"airboss approve {item}"
    )


def outcome_words(settled: Json) -> str:
    """What came of it: who said what."""
    outcome = str(settled["outcome"])
    if words := _OUTCOMES.get(outcome):
        return f"{settled.get('who') or 'Somebody'} {words}"
    if outcome == "timeout":
        return "Nobody came in time"
    return "Nobody waits for it any more"


def waits(item: Json, now: int | None = None) -> str:
    """How long it has waited, and how long it will."""
    at = _now() if now is None else now
    since = duration(max(at - int(item["asked_at"]), 0) / 1000)
    until = item["asked"].get("expires_at")
    return since if until is None else f"{since}, {duration(max(until - at, 0) / 1000)} left"


def _now() -> int:
    return time.time_ns() // 1_000_000


def draw(pen: Pen, asked: Json) -> None:
    """All that a person needs to decide, as it is: nothing of it is cut or can hide."""
    pen.line(pen.styled(title_of(asked), "bold"))
    for line in _about(pen, asked):
        pen.line(f"  {line}")


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
    if asked.get("rule"):
        yield f"airboss approve {item} --always"
    yield f'airboss deny {item} "why"'


def _about(pen: Pen, asked: Json) -> Iterator[str]:
    match what_of(asked):
        case "approval":
            yield from _of_approval(pen, asked)
        case "question":
            yield from _of_question(pen, asked)
        case _:
            pass


def _of_approval(pen: Pen, asked: Json) -> Iterator[str]:
    subject = cast("Json", asked["subject"])
    yield pen.styled(visible_line(str(asked["description"])), "dim")
    severity = str(asked["severity"])
    yield f"Risk     {pen.styled(visible_line(severity), *_SEVERITIES.get(severity, ()))}"
    if command := subject.get("command"):
        yield from _block("Command", str(command))
    if path := subject.get("path"):
        yield f"File     {visible_line(str(path))}"
    if address := subject.get("address"):
        yield f"Address  {visible_line(str(address))}"
    if not any(subject.get(name) for name in ("command", "path", "address")):
        yield from _block("Wants", str(subject.get("arguments", "{}")))
    if diff := subject.get("diff"):
        yield from (_of_diff(pen, line) for line in visible(str(diff)).rstrip("\n").split("\n"))
    if rule := asked.get("rule"):
        yield f"Always   would allow {visible_line(rule_words(rule))}"


def _of_question(pen: Pen, asked: Json) -> Iterator[str]:
    lines = visible(str(asked["question"])).strip().split("\n")
    if len(lines) > 1:
        yield from lines
    for number, label in enumerate(asked.get("choices") or (), start=1):
        yield f"{pen.styled(str(number), 'cyan')} {visible_line(str(label))}"
    if asked.get("choices") and asked.get("allows_words"):
        yield pen.styled("or words of your own", "dim")
    for name, field in fields_of(asked).items():
        yield visible_line(f"{name}: {_field_words(name, field, asked)}")


def fields_of(asked: Json) -> dict[str, Json]:
    """Those of a form."""
    form: Json = json.loads(asked.get("form") or "{}")
    return cast("dict[str, Json]", form.get("properties", {}))


def _field_words(name: str, field: Json, asked: Json) -> str:
    required = cast("list[str]", json.loads(str(asked["form"])).get("required", []))
    words = [str(field.get("type", "")), "needed" if name in required else "may be left out"]
    if choices := field.get("enum"):
        words.append("one of " + ", ".join(str(choice) for choice in choices))
    if told := field.get("description") or field.get("title"):
        words.append(str(told))
    return "; ".join(words)


def _block(name: str, text: str) -> Iterator[str]:
    first, *rest = visible(text).split("\n")
    yield f"{name:<8} {first}"
    yield from (f"{'':<8} {line}" for line in rest)


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
