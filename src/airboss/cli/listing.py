"""The commands that ask one thing and show the answer: sessions, models, status, link, stop."""

import time
from typing import cast

from airboss.cli.client import Client, Json
from airboss.cli.confirming import confirmed
from airboss.cli.inbox.item_page import title_of, what_of
from airboss.cli.screen import (
    Spinner,
    aside,
    moment,
    out,
    print_json,
    print_table,
    visible_line,
    waited,
)
from airboss.cli.trouble import Exit, Trouble
from airboss.store.folder import DataFolder

_PAGE = 200
_STOP_SECONDS = 15.0
_FOR = {"approval": "your approval", "question": "your answer", "limit": "your decision"}
_GOING = ("waiting", "running", "waiting-for-person")


def show_sessions(client: Client, state: str | None, limit: int, *, is_json: bool) -> None:
    items = items_of(client, "/api/v1/sessions", state, limit)
    if is_json:
        print_json({"items": items})
        return
    if not items:
        which = f"in the state {state}" if state else "yet"
        aside().line(f"No sessions {which}. Start one with: airboss chat")
        return
    # Scripts count the columns: what is new comes last.
    heads = ("Session", "State", "Model", "Turns", "Changed", "Folder", "Title", "Waiting for")
    rows = [
        (
            item["id"],
            item["state"],
            item["model"],
            str(item["turns"]),
            moment(item["updated_at"]),
            item["cwd"],
            item["title"],
            wait_of(item),
        )
        for item in items
    ]
    print_table(heads, rows, out())


def wait_of(session: Json) -> str:
    """What a session waits for, its own requests first; nothing where it waits for nobody."""
    if session["state"] == "closed":
        return ""
    for item in session["items"]:
        asked = item["asked"]
        return f"{_FOR[what_of(asked)]}: {title_of(asked)}"
    for call in session["waiting_calls"]:
        where = call["session_title"] or call["session"]
        return f"the approval “{call['title']}” in the session “{where}”"
    return ""


def items_of(
    client: Client, path: str, state: str | None, limit: int, **query: str | None
) -> list[Json]:
    """As many as asked for, over as many pages as that takes."""
    items: list[Json] = []
    cursor: str | None = None
    while len(items) < limit:
        asked = min(limit - len(items), _PAGE)
        page = client.get(path, limit=asked, cursor=cursor, state=state, **query)
        items.extend(page["items"])
        cursor = page.get("next_cursor")
        if not cursor:
            break
    return items[:limit]


def show_models(client: Client, *, is_json: bool) -> None:
    said = waited("Loading the models", lambda: client.get("/api/v1/models"))
    if is_json:
        print_json(said)
        return
    items = cast("list[Json]", said["items"])
    rows = [(i["id"], i["name"], f"{i['multiplier']:g}", str(i["source"])) for i in items]
    print_table(("Model", "Name", "Multiplier", "From"), rows, out())
    if not items:
        aside().line("No models. Sign in to Copilot or add a provider. For help: airboss doctor")
    for problem in said.get("problems", ()):
        aside().line(visible_line(str(problem)))


def show_status(client: Client, *, is_json: bool) -> None:
    said = client.get("/api/v1/status")
    if is_json:
        print_json(said)
        return
    pen = out()
    for name, value in _status_lines(said):
        pen.line(f"{pen.styled(f'{name:<12}', 'bold')} {visible_line(value)}")
    if said.get("trouble"):
        pen.line(pen.styled(visible_line(str(said["trouble"])), "red"))


def _status_lines(said: Json) -> list[tuple[str, str]]:
    runtime = cast("Json", said["runtime"])
    copilot = cast("Json", said["copilot"])
    sessions = cast("Json", said["sessions"])
    rehearsal = cast("Json", said["rehearsal"])
    lines = [
        ("Server", f"{said['url']} (version {said['version']})"),
        ("Since", moment(said["started_at"])),
        ("Data", str(said["data_folder"])),
        ("Signed in", f"{said['who']} (role {said['role']})"),
        ("Permissions", str(said["policy"])),
        ("Folders", ", ".join(said["roots"])),
        ("Runtime", " ".join(_known(runtime, "state", "version", "path", "detail"))),
        ("Copilot", str(copilot.get("detail") or _signed_in(copilot))),
        ("Sessions", f"{sessions['open']} open, {sessions['working']} working"),
    ]
    for provider in said.get("providers", ()):
        models = ", ".join(provider["models"])
        lines.append(("Provider", f"{provider['name']}: {models} (key: {provider['key']})"))
    if entry := cast("Json | None", said.get("entry")):
        counts = f"(tasks: {entry['tasks']}, jobs: {entry['jobs']})"
        lines.append(("Entry", f"{entry['path'] or entry['source']} {counts}"))
        if entry["problem"]:
            lines.append(("", str(entry["problem"])))
    if rehearsal["on"]:
        which = "the built-in script" if rehearsal["builtin"] else str(rehearsal["script"])
        lines.append(("Rehearsal", which))
    return lines


def _known(said: Json, *names: str) -> list[str]:
    return [str(said[name]) for name in names if said.get(name)]


def _signed_in(copilot: Json) -> str:
    if not copilot.get("signed_in"):
        return "not signed in"
    return f"signed in as {copilot.get('login') or 'somebody'} by {copilot.get('how')}"


def show_link(client: Client) -> None:
    """The address alone on the output, so that it can be handed to another program."""
    out().line(visible_line(str(client.post("/api/v1/links")["url"])))
    pen = aside()
    if pen.is_terminal:
        pen.line(pen.styled("This link works once, in one browser.", "dim"))


def stop_server(client: Client, folder: DataFolder, *, is_sure: bool) -> Exit:
    """Ask it to stop, then wait until it is gone and its data folder is free."""
    losing = "" if is_sure else what_ends(client)
    if not confirmed("Stop the server?", losing=losing, is_sure=is_sure):
        aside().line("The server keeps running.")
        return Exit.STOPPED
    note = folder.note()
    client.post("/api/v1/stop")
    waiting = Spinner(aside())
    until = time.monotonic() + _STOP_SECONDS
    while client.healthy() or (note is not None and folder.note() == note):
        if time.monotonic() > until:
            waiting.hide()
            which = f" Its process id is {note.pid}." if note else ""
            raise Trouble(f"The server did not stop within {int(_STOP_SECONDS)} seconds.{which}")
        waiting.show("Waiting for the server to stop")
        time.sleep(0.1)
    waiting.hide()
    aside().line("The server has stopped.")
    return Exit.DONE


def what_ends(client: Client) -> str:
    """What ends with the server, and what goes on by itself at the next start."""
    sessions = client.get("/api/v1/status")["sessions"]["open"]
    jobs = client.get("/api/v1/runs", state=_GOING, limit=_PAGE)["items"]
    tasks = client.get("/api/v1/task-runs", state="running", alone=True, limit=_PAGE)["items"]
    runs = len(jobs) + len(tasks)
    ends = _counted(sessions, "open session ends and can", "open sessions end and can")
    goes_on = _counted(runs, "run pauses and resumes", "runs pause and resume")
    return (
        f"{f'{ends} be resumed later.' if ends else 'No session is open.'} "
        f"{f'{goes_on} when the server starts again.' if goes_on else 'No job is running.'}"
    )


def _counted(count: int, one: str, many: str) -> str:
    return "" if count == 0 else f"{count} {one if count == 1 else many}"
