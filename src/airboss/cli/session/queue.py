"""What waits in a session, a question beside its work, and its history made shorter."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final, cast

from airboss.cli.client import Client, Json
from airboss.cli.confirming import confirmed
from airboss.cli.screen import aside, out, print_json, print_table, visible, visible_line, waited
from airboss.cli.short_ids import one_of
from airboss.cli.trouble import CommandRefused

# The server gives the model a minute.
_ANSWER_SECONDS: Final = 75.0
# And for a summary of all that was said three.
_COMPACT_SECONDS: Final = 200.0
# So much of a request says which one it is.
_SHOWN: Final = 80


@dataclass(frozen=True)
class QueueChange:
    """What is to be done to a queue; nothing of it: only shown."""

    clear: bool = False
    drop: str | None = None
    change: tuple[str, str] | None = None
    first: str | None = None
    # What is dropped is dropped without being asked about.
    is_sure: bool = False


def queue_of(client: Client, session: str) -> list[Json]:
    return cast("list[Json]", client.get(_place(session))["items"])


def ask(client: Client, session: str, question: str) -> str:
    """The answer of the session's model, from the session's history."""
    path, body = f"/api/v1/sessions/{session}/asides", {"question": question}
    return str(client.post(path, body, seconds=_ANSWER_SECONDS)["answer"])


def show_answer(client: Client, session: str, question: str, *, is_json: bool) -> None:
    answer = waited("Asking", lambda: ask(client, session, question))
    if is_json:
        print_json({"answer": answer})
    else:
        out().line(visible(answer))


def compact(client: Client, session: str, instructions: str | None) -> Json:
    path = f"/api/v1/sessions/{session}/compact"
    body = {"instructions": instructions} if instructions else {}
    return client.post(path, body, seconds=_COMPACT_SECONDS)


def compacted_in_words(said: Json) -> str:
    if said["stopped"]:
        return "The compaction was stopped. The history is as it was."
    if not said["compacted"]:
        return "There is nothing to compact."
    before, after = said["before"], said["after"]
    sizes = "" if after is None else f": {before} tokens before, {after} now"
    removed = "1 message" if said["removed"] == 1 else f"{said['removed']} messages"
    return f"A summary replaces {removed}{sizes}."


def show_compaction(
    client: Client, session: str, instructions: str | None, *, is_json: bool
) -> None:
    said = waited("Compacting the history", lambda: compact(client, session, instructions))
    if is_json:
        print_json(said)
    else:
        out().line(compacted_in_words(said))


def show_fork(
    client: Client, session: str, before: str | None, permissions: str | None, *, is_json: bool
) -> None:
    asked = {"before": before, "permissions": permissions}
    body = {name: word for name, word in asked.items() if word}
    path = f"/api/v1/sessions/{session}/fork"
    said = waited("Copying the session", lambda: client.post(path, body, seconds=_COMPACT_SECONDS))
    if is_json:
        print_json(said)
    else:
        new = said["id"]
        out().line(f"{new} is a copy of {session}. To continue: airboss chat --session {new}")


def switch(client: Client, session: str, asked: Mapping[str, str | None]) -> Json:
    """From the next turn on."""
    given = {name: value for name, value in asked.items() if value is not None}
    if not given:
        raise CommandRefused("Nothing to change: pass --model, --effort, --agent or --permissions.")
    return client.patch(f"/api/v1/sessions/{session}", given)


def switched_in_words(view: Json) -> str:
    effort = view.get("reasoning_effort")
    with_effort = f", effort {effort}" if effort else ""
    said = f"{view['model']}{with_effort}, permissions {view['policy']}"
    return f"From the next turn on: {visible_line(said)}."


def show_switch(
    client: Client, session: str, asked: Mapping[str, str | None], *, is_json: bool
) -> None:
    view = switch(client, session, asked)
    if is_json:
        print_json(view)
    else:
        out().line(switched_in_words(view))


def show_queue(client: Client, session: str, change: QueueChange, *, is_json: bool) -> None:
    _perform(client, session, change)
    items = queue_of(client, session)
    if is_json:
        print_json({"items": items})
        return
    if not items:
        aside().line("No messages are queued.")
        return
    rows = [(item["prompt"], _asker(item), item["text"]) for item in items]
    print_table(("Request", "By", "Text"), rows, out())


def _perform(client: Client, session: str, change: QueueChange) -> None:
    place = _place(session)
    change = _meant(client, session, change)
    if change.clear and _is_dropped(queue_of(client, session), change):
        client.delete(place)
    if change.drop:
        meant = [item for item in queue_of(client, session) if item["prompt"] == change.drop]
        if _is_dropped(meant, change):
            client.delete(f"{place}/{change.drop}")
    if change.change:
        prompt, text = change.change
        client.patch(f"{place}/{prompt}", {"text": text})
    if change.first:
        client.patch(f"{place}/{change.first}", {"position": 0})


def _meant(client: Client, session: str, change: QueueChange) -> QueueChange:
    """With whole ids where somebody gave a part of one."""
    if not (change.drop or change.change or change.first):
        return change
    items = queue_of(client, session)
    waiting = [(str(item["prompt"]), str(item["text"])[:_SHOWN]) for item in items]

    def whole(given: str) -> str:
        return one_of(given, waiting) or given

    return replace(
        change,
        drop=change.drop and whole(change.drop),
        change=change.change and (whole(change.change[0]), change.change[1]),
        first=change.first and whole(change.first),
    )


def _is_dropped(items: list[Json], change: QueueChange) -> bool:
    """What does not wait any more is for the server to say."""
    if not items:
        return True
    first = str(items[0]["text"])
    others = "" if len(items) == 1 else f" and {len(items) - 1} more"
    losing = f"“{first[:_SHOWN]}{'…' if first[_SHOWN:] else ''}”{others} will not be sent."
    return confirmed("Remove it?", losing=losing, is_sure=change.is_sure)


def _place(session: str) -> str:
    return f"/api/v1/sessions/{session}/queue"


def _asker(item: Json) -> str:
    return str(item.get("task") or item.get("who") or "")
