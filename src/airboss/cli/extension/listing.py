"""Extensions as the server sees them: listed, shown, turned on and off."""

from contextlib import suppress
from pathlib import Path
from typing import Final, cast
from urllib.parse import quote

from airboss.cli.client import Client, Json
from airboss.cli.screen import Pen, aside, out, print_json, print_table, visible, visible_line
from airboss.cli.trouble import Trouble

_PATH: Final = "/api/v1/extensions"
_COLOURS: Final = {"ready": "green", "changed": "yellow", "untrusted": "yellow", "failed": "red"}
_DIGEST: Final = 12
_MOST_NAMED: Final = 5


def list_extensions(client: Client, *, is_json: bool) -> None:
    said = client.get(_PATH, cwd=str(Path.cwd()))
    if is_json:
        print_json(said)
        return
    items = cast("list[Json]", said["items"])
    if not items:
        aside().line("No extensions here. Create one with: airboss extension new NAME")
        return
    rows = [
        (
            str(item["name"]),
            str(item["scope"]),
            str(item["state"]),
            str(item["language"]),
            str(item["digest"])[:_DIGEST],
            str(item["path"]),
            str(item["reason"]),
        )
        for item in items
    ]
    print_table(("Name", "Scope", "State", "Language", "Digest", "Path", "Why"), rows, out())


def untrusted(client: Client, cwd: str) -> str:
    """A line about those of this folder that do not run as they are; empty if there are none."""
    said: Json = {}
    with suppress(Trouble):  # it is said beside what somebody wants to do
        said = client.get(_PATH, cwd=cwd)
    items = cast("list[Json]", said.get("items", ()))
    new = [str(one["name"]) for one in items if one["state"] == "untrusted"]
    changed = [f"{one['name']} (changed)" for one in items if one["state"] == "changed"]
    names = [*new, *changed]
    more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    named = f"{', '.join(names[:_MOST_NAMED])}{more}"
    return f"Not trusted as they are: {named}. See: airboss extensions" if names else ""


def show_extension(client: Client, name: str, *, is_own: bool, is_json: bool) -> None:
    said = client.get(_path_of(name, is_own=is_own), cwd=str(Path.cwd()))
    if is_json:
        print_json(said)
        return
    pen = out()
    state = pen.styled(str(said["state"]), _COLOURS.get(str(said["state"]), "bold"))
    pen.line(f"{pen.styled(visible_line(str(said['name'])), 'bold')} {state}")
    facts = {
        "Why": said["reason"],
        "Folder": said["path"],
        "Digest": said["digest"],
        "Tools": ", ".join(said["tools"]),
        "Hooks": ", ".join(said["hooks"]),
        "Sessions": ", ".join(f"{run['session']} ({run['state']})" for run in said["sessions"]),
    }
    for title, fact in facts.items():
        if fact:
            pen.line(f"{title:<9} {visible_line(str(fact))}")
    if said["diff"]:
        _part(pen, "Changed since it was trusted", str(said["diff"]))
    else:
        for file in cast("list[Json]", said["files"]):
            text = file["text"]
            shown = f"({file['bytes']:,} bytes, not shown)\n" if text is None else str(text)
            _part(pen, str(file["path"]), shown)
    if said["log"]:
        _part(pen, "Log", str(said["log"]))
    if said["state"] in ("untrusted", "changed"):
        if left_out := ", ".join(map(str, cast("list[str]", said["left_out"]))):
            aside().line(visible_line(f"Not all is shown. Read in its folder: {left_out}"))
        command = f"airboss trust {said['path']} --digest {said['digest']}"
        aside().line(visible_line(f"To trust it as it is shown: {command}"))


def switch_extension(
    client: Client, name: str, *, is_own: bool, enabled: bool, is_json: bool
) -> None:
    body = {"cwd": str(Path.cwd()), "enabled": enabled}
    said = client.patch(_path_of(name, is_own=is_own), body)
    if is_json:
        print_json(said)
        return
    out().line(visible_line(f"{said['name']} is {said['state']}. {said['reason']}".rstrip()))
    aside().line("Open sessions are not affected yet. To apply it there: airboss extension reload")


def _path_of(name: str, *, is_own: bool) -> str:
    return f"{_PATH}/{'user' if is_own else 'project'}/{quote(name, safe='')}"


def _part(pen: Pen, title: str, text: str) -> None:
    pen.line()
    pen.line(pen.styled(visible_line(title), "bold"))
    pen.write(visible(text if text.endswith("\n") else f"{text}\n"))
