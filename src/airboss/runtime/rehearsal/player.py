"""Which reply is played: from a script and a conversation, nothing else. Pure."""

import json
import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import TypeAlias, cast

from pydantic import JsonValue

from airboss.runtime.rehearsal.conversation import RehearsedConversation
from airboss.runtime.rehearsal.script import (
    Script,
    ScriptedCall,
    ScriptedFailure,
    ScriptedRule,
    Step,
)

BLANK = re.compile(r"\{(cwd|last)\}")
CALL = re.compile(r"\s*call ([A-Za-z0-9_-]{1,64})\s*(\{.*\})?\s*", re.DOTALL)
QUOTED = 80


@dataclass(frozen=True)
class Reason:
    text: str


@dataclass(frozen=True)
class PlayedText:
    text: str


@dataclass(frozen=True)
class Sleep:
    seconds: float


@dataclass(frozen=True)
class Drop:
    pass


@dataclass(frozen=True)
class FilledCall:
    """A tool call with everything filled in; `id` is made when it is sent."""

    tool: str
    arguments: dict[str, JsonValue]


Beat: TypeAlias = Reason | PlayedText | Sleep | Drop


@dataclass(frozen=True)
class Reply:
    """One answer of the model: what it does in order, then the tools that it asks for."""

    beats: tuple[Beat, ...] = ()
    calls: tuple[FilledCall, ...] = ()
    failure: ScriptedFailure | None = None
    rule: str = "00000000"
    number: int = 0


def continued(script: Script, talk: RehearsedConversation) -> ScriptedRule | None:
    """The rule in the middle of which the conversation is: its last tool call says so."""
    if talk.mark is None:
        return None
    return next((rule for rule in script.rules if rule.mark == talk.mark.rule), None)


def matching(
    script: Script, talk: RehearsedConversation, model: str, spent: Collection[int]
) -> int | None:
    """The number of the first rule for this prompt that may still be played."""
    for number, rule in enumerate(script.rules):
        if number in spent:
            continue
        if rule.model and not rule.model.fullmatch(model):
            continue
        if rule.when is None or rule.when.search(talk.last):
            return number
    return None


def focused(script: Script, talk: RehearsedConversation) -> Reply | None:
    """A summary by the rule for what a person wants it to dwell on."""
    for rule in script.rules if talk.focus else ():
        if rule.when and rule.when.search(talk.focus):
            return spoken(rule, talk)
    return None


def play(rule: ScriptedRule | None, talk: RehearsedConversation) -> Reply:
    """The reply whose turn it is, by a rule or by none."""
    name = rule.mark if rule else Reply.rule
    number = talk.replies
    if talk.mark and talk.mark.rule == name:
        number = talk.mark.reply + 1 + talk.since_mark  # stays true when history was compacted
    if talk.purpose == "aside":
        return spoken(rule, talk)
    if rule is None:
        calls = () if number else rehearsed_calls(talk)
        return Reply((), calls, rule=name) if calls else closing(talk)
    if number >= len(rule.replies):
        return closing(talk)
    return perform(rule.replies[number], talk, name, number)


def perform(steps: list[Step], talk: RehearsedConversation, name: str, number: int) -> Reply:
    asked = steps[-1].calls or ((steps[-1].call,) if steps[-1].call else ())
    return Reply(
        beats=tuple(beat for step in steps if (beat := beat_of(step, talk))),
        calls=tuple(fill_call(call, talk) for call in asked),
        failure=steps[-1].fail,
        rule=name,
        number=number,
    )


def beat_of(step: Step, talk: RehearsedConversation) -> Beat | None:
    if step.reasoning is not None:
        return Reason(fill(step.reasoning, talk))
    if step.say is not None:
        return PlayedText(fill(step.say, talk))
    if step.sleep is not None:
        return Sleep(step.sleep)
    return Drop() if step.drop else None


def spoken(rule: ScriptedRule | None, talk: RehearsedConversation) -> Reply:
    """A side question and a summary have no tools: what the rule says is said at once, the calls
    are left out."""
    beats = [beat for step in rule.steps if (beat := beat_of(step, talk))] if rule else []
    failure = rule.steps[-1].fail if rule else None
    if failure or any(isinstance(beat, PlayedText | Drop) for beat in beats):
        return Reply(tuple(beats), failure=failure)
    return closing(talk)


def closing(talk: RehearsedConversation) -> Reply:
    return Reply((PlayedText(f"Rehearsed: “{beginning(talk.last)}”"),))


def beginning(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= QUOTED else line[: QUOTED - 1].rstrip() + "…"


def rehearsed_calls(talk: RehearsedConversation) -> tuple[FilledCall, ...]:
    """The happy path of a prompt that names a job tool; or the call that it is, word for word."""
    if told := CALL.fullmatch(talk.last):
        arguments = _object_in(told[2] or "{}")
        return () if arguments is None else (FilledCall(told[1], arguments),)
    calls: list[FilledCall] = []
    if "job_prepare_document" in talk.last:
        document = fill("{cwd}/rehearsal.md", talk)
        calls.append(FilledCall("job_prepare_document", {"argument": document}))
    if "job_boolean_true" in talk.last or "job_boolean_false" in talk.last:
        calls.append(FilledCall("job_boolean_true", {"argument": "rehearsed"}))
    return tuple(calls)


def _object_in(text: str) -> dict[str, JsonValue] | None:
    try:
        found: object = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return cast("dict[str, JsonValue]", found) if isinstance(found, dict) else None


def errand(talk: RehearsedConversation) -> Reply | None:
    """What the runtime asks on its own account, answered without the script."""
    subject = beginning(talk.last) or "nothing was said yet"
    if talk.purpose == "summary":
        return Reply(
            (
                PlayedText(
                    f"<overview>\nA rehearsal. The last request was: {subject}\n</overview>\n"
                    "<checkpoint_title>Rehearsal</checkpoint_title>"
                ),
            )
        )
    if talk.purpose == "title":
        return Reply((PlayedText("<session-title>Rehearsal</session-title>"),))
    if talk.purpose == "slug":
        return Reply((PlayedText("<branch-slug>rehearsal</branch-slug>"),))
    return None


def fill(text: str, talk: RehearsedConversation) -> str:
    """Put in `{cwd}` and `{last}`, once: what is put in is not looked at again."""
    return BLANK.sub(lambda blank: talk.cwd if blank[1] == "cwd" else talk.last, text)


def fill_call(call: ScriptedCall, talk: RehearsedConversation) -> FilledCall:
    arguments = fill_value(call.arguments, talk)
    return FilledCall(call.tool, cast("dict[str, JsonValue]", arguments))


def fill_value(value: JsonValue, talk: RehearsedConversation) -> JsonValue:
    if isinstance(value, str):
        return fill(value, talk)
    if isinstance(value, list):
        return [fill_value(item, talk) for item in value]
    if isinstance(value, dict):
        return {key: fill_value(item, talk) for key, item in value.items()}
    return value
