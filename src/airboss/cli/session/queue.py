"""What waits in a session, and a question beside its work: `airboss queue`, `airboss ask`."""

from dataclasses import dataclass
from typing import Final, cast

from airboss.cli.client import Client, Json
from airboss.cli.screen import aside, out, print_json, print_table, visible, waited

# The server gives the model a minute.
_ANSWER_SECONDS: Final = 75.0


@dataclass(frozen=True)
class QueueChange:
    """What is to be done to a queue; nothing of it: only shown."""

    clear: bool = False
    drop: str | None = None
    change: tuple[str, str] | None = None
    first: str | None = None


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


def show_queue(client: Client, session: str, change: QueueChange, *, is_json: bool) -> None:
    _perform(client, session, change)
    items = queue_of(client, session)
    if is_json:
        print_json({"items": items})
        return
    if not items:
        aside().line("Nothing waits.")
        return
    rows = [(item["prompt"], _asker(item), item["text"]) for item in items]
    print_table(("Request", "By", "Text"), rows, out())


def _perform(client: Client, session: str, change: QueueChange) -> None:
    place = _place(session)
    if change.clear:
        client.delete(place)
    if change.drop:
        client.delete(f"{place}/{change.drop}")
    if change.change:
        prompt, text = change.change
        client.patch(f"{place}/{prompt}", {"text": text})
    if change.first:
        client.patch(f"{place}/{change.first}", {"position": 0})


def _place(session: str) -> str:
    return f"/api/v1/sessions/{session}/queue"


def _asker(item: Json) -> str:
    return str(item.get("task") or item.get("who") or "")
