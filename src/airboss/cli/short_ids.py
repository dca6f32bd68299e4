"""Short ids: the beginning or the end of an id names it, where that fits only one."""

import re
from collections.abc import Callable, Iterable
from typing import Final, cast

from airboss.cli.client import Client, Json
from airboss.cli.screen import moment, visible_line
from airboss.cli.trouble import CommandRefused, Trouble

# Where what begins so is listed. Its `text` looks into ids too, however old they are.
_COLLECTIONS: Final = {"run": "runs", "tsk": "task-runs", "ses": "sessions"}
_WHOLE: Final = re.compile(r"[a-z]{3}_[0-9a-z]{26}")
# Fewer letters would name another one too easily.
SHORTEST: Final = 4
_MOST_LISTED: Final = 10
_MOST_ASKED: Final = 200


def fits(given: str, whole: str) -> bool:
    """Whether it is the beginning of the id, with or without what it names, or the end."""
    return (
        whole.startswith(given)
        or whole.partition("_")[2].startswith(given)
        or (whole.endswith(given))
    )


def one_of(given: str, known: Iterable[tuple[str, str]]) -> str | None:
    """The one id that fits, of ids with a few words on each; none where none does."""
    if len(given) < SHORTEST:
        return None
    found = [(whole, words) for whole, words in known if fits(given, whole)]
    exact = [whole for whole, _ in found if whole == given]
    if exact or len(found) == 1:
        return (exact or [found[0][0]])[0]
    if not found:
        return None
    lines = [f"  {whole}  {words}".rstrip() for whole, words in found[:_MOST_LISTED]]
    more = [f"  and {len(found) - _MOST_LISTED} more"] if len(found) > _MOST_LISTED else []
    said = "\n".join(
        (f"{given} matches several ids. Type more of the one you mean:", *lines, *more)
    )
    raise CommandRefused(said)


def whole_id(reach: Callable[[], Client], given: str, *kinds: str) -> str:
    """The whole id of a run, a task run or a session. What fits none stays as it is: the server
    says what is wrong with it."""
    if _WHOLE.fullmatch(given) or len(given) < SHORTEST:
        return given
    named = [kind for kind in kinds if given.startswith(f"{kind}_")]
    try:
        client = reach()
        items = [item for kind in named or kinds for item in _listed(client, kind, given)]
    except Trouble:  # whoever uses the id says so, or waits until the server is back
        return given
    return one_of(given, ((str(item["id"]), _words(item)) for item in items)) or given


def _listed(client: Client, kind: str, given: str) -> list[Json]:
    path = f"/api/v1/{_COLLECTIONS[kind]}"
    return cast("list[Json]", client.get(path, text=given, limit=_MOST_ASKED)["items"])


def _words(item: Json) -> str:
    name = item.get("job") or item.get("task") or item.get("title") or item.get("model") or ""
    return visible_line(f"{name}, {moment(item['created_at'])}", 80)
