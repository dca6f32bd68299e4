"""What a person says to what waits for one, from the command line: yes, no, an answer, nothing."""

import json
from collections.abc import Iterable, Mapping
from typing import Any, Final, cast
from urllib.parse import quote

from airboss.cli.client import Client, Json
from airboss.cli.inbox.item_page import fields_of, outcome_words, title_of, what_of
from airboss.cli.screen import aside, print_json, visible_line
from airboss.cli.session.sign_in import sign_in
from airboss.cli.short_ids import one_of
from airboss.cli.trouble import CommandRefused, Exit, Trouble

INBOX: Final = "/api/v1/inbox"
_TOO_LATE: Final = 409
_INVALID: Final = 422
_BOOLEANS: Final = {"true": True, "yes": True, "y": True, "false": False, "no": False, "n": False}


def waiting(client: Client, **query: str | None) -> list[Json]:
    return cast("list[Json]", client.get(INBOX, **query)["items"])


def find(items: Iterable[Json], name: str) -> Json | None:
    """By its id, or by a part of it that fits only one that waits."""
    known = {str(item["id"]): item for item in items}
    found = one_of(name, ((whole, title_of(item["asked"])) for whole, item in known.items()))
    return known[found] if found else None


def approve(client: Client, name: str, words: str, *, always: bool, is_json: bool) -> None:
    """`words` are what should be different about a plan: nothing else is approved with words."""
    choice = "allow-always" if always else "allow-once"
    body: Json = {"choice": choice}
    item = find(waiting(client), name)
    if item and what_of(item["asked"]) == "sign-in" and not (words or always):
        sign_in(client, str(item["session"]), str(item["asked"]["server"]), is_json=is_json)
        return
    if words:
        if always or (item and what_of(item["asked"]) != "plan"):
            raise CommandRefused("Only a plan can be approved with changes. Leave out the words.")
        body = {"choice": "approve", "words": words}
    _say(client, name, "decision", body, is_json=is_json)


def deny(client: Client, name: str, words: str, *, is_json: bool) -> None:
    _say(client, name, "decision", {"choice": "deny", "words": words}, is_json=is_json)


def decline(client: Client, name: str, *, is_json: bool) -> None:
    _say(client, name, "decline", {}, is_json=is_json)


def answer(
    client: Client, name: str, text: str | None, fields: Iterable[str], *, is_json: bool
) -> None:
    """Words, a choice by its number or label; a form's fields by their names."""
    given = list(fields)
    if (text is None) == (not given):
        raise CommandRefused(
            "Pass an answer: a text, or the fields of a form with --field NAME=VALUE."
        )
    if text is None:
        item = find(waiting(client), name)
        asked: Json = item["asked"] if item else {"kind": "question.asked"}
        text = json.dumps(form_of(asked, given), ensure_ascii=False)
    _say(client, name, "answer", {"answer": text}, is_json=is_json)


def form_of(asked: Json, given: Iterable[str]) -> Json:
    """The fields of a form, typed as its schema says; given twice, one of a list's entries."""
    schema = fields_of(asked) if what_of(asked) == "question" else {}
    if not schema:
        raise CommandRefused("This question has no form. Answer it without --field.")
    filled: Json = {}
    for one in given:
        name, sign, value = one.partition("=")
        if not sign or name not in schema:
            raise CommandRefused(f"There is no field {name}. Fields: {', '.join(schema)}.")
        field = schema[name]
        if field.get("type") == "array":
            kind = cast("Json", field.get("items") or {})
            filled.setdefault(name, []).append(_typed(name, value, kind))
        else:
            filled[name] = _typed(name, value, field)
    return filled


def _typed(name: str, value: str, field: Mapping[str, Any]) -> object:
    kind = field.get("type")
    try:
        if kind == "integer":
            return int(value)
        if kind == "number":
            return float(value)
    except ValueError:
        raise CommandRefused(f"{name} must be a number, not “{value}”.") from None
    if kind == "boolean":
        if value.lower() not in _BOOLEANS:
            raise CommandRefused(f"{name} must be true or false, not “{value}”.")
        return _BOOLEANS[value.lower()]
    return value


def send(client: Client, item: str, verb: str, body: Json) -> Json:
    """One word to the server. What came too late, or is no answer, has failed."""
    try:
        return client.post(f"{INBOX}/{quote(item, safe='')}/{verb}", body)
    except CommandRefused as refused:
        if refused.status in (_TOO_LATE, _INVALID):
            raise Trouble(str(refused), Exit.FAILED) from None
        raise


def _say(client: Client, name: str, verb: str, body: Json, *, is_json: bool) -> None:
    item = find(waiting(client), name)
    settled = send(client, item["id"] if item else name, verb, body)
    if is_json:
        print_json(settled)
        return
    said = decision_words(settled)
    aside().line(visible_line(f"{title_of(item['asked'])} {said}" if item else said))


def decision_words(settled: Json) -> str:
    """What came of it, with what the agent is told."""
    said = outcome_words(settled)
    if words := settled.get("answer"):
        said = f"{said}: {words}"
    if rule := settled.get("rule"):
        said = f"{said} (rule {rule}; to undo: airboss rules remove {rule})"
    return said if said.endswith((".", "!", "?")) else f"{said}."
