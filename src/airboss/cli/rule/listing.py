"""The rules in the terminal: all of them, a new one, one less."""

import os
from collections.abc import Mapping
from typing import Final, cast
from urllib.parse import quote

from airboss.cli.client import Client, Json
from airboss.cli.screen import aside, moment, out, print_json, print_table, visible_line
from airboss.cli.short_ids import one_of

RULES: Final = "/api/v1/rules"
# What a rule may name, and what that is called here.
_NAMED: Final = {"wish": "kind"} | {
    name: name for name in ("tool", "command", "path", "host", "folder")
}


def show_rules(client: Client, *, is_json: bool) -> None:
    said = client.get(RULES)
    if is_json:
        print_json(said)
        return
    items = cast("list[Json]", said["items"])
    if not items:
        aside().line("No rules. Add one with: airboss rules add allow --kind KIND")
        return
    rows = [
        (
            str(number),
            str(item["rule"]["verdict"]),
            rule_words(item["rule"]),
            str(item["who"]),
            moment(item["made_at"]),
            str(item["id"]),
        )
        for number, item in enumerate(items, start=1)
    ]
    print_table(("", "Says", "To", "By", "Made", "Rule"), rows, out())


def add_rule(
    client: Client,
    verdict: str,
    named: Mapping[str, str | None],
    place: int | None,
    *,
    is_json: bool,
) -> None:
    rule = {name: text for name, text in named.items() if text is not None}
    for name in ("path", "folder"):
        if name in rule:
            rule[name] = os.path.expanduser(rule[name])
    if "folder" in rule:
        rule["folder"] = os.path.abspath(rule["folder"])
    body: Json = {"rule": {"verdict": verdict, **rule}}
    said = client.post(RULES, body | ({} if place is None else {"place": place - 1}))
    if is_json:
        print_json(said)
        return
    pen = aside()
    pen.line(visible_line(f"From now on: {verdict} {rule_words(said['rule'])}"))
    out().line(str(said["id"]))


def remove_rule(client: Client, rule: str) -> None:
    known = cast("list[Json]", client.get(RULES)["items"])
    rule = one_of(rule, ((str(item["id"]), rule_words(item)) for item in known)) or rule
    client.delete(f"{RULES}/{quote(rule, safe='')}")
    aside().line(visible_line(f"Removed the rule {rule}."))


def rule_words(rule: Json) -> str:
    words = [f"{word} {rule[name]}" for name, word in _NAMED.items() if rule.get(name)]
    return ", ".join(words) or "everything"
