"""What the server says of its entry, and of what is trusted."""

from pathlib import Path
from typing import cast

from airboss.cli.client import Client, Json
from airboss.cli.screen import aside, moment, out, print_json, print_table, visible_line, waited


def show_entry(client: Client, *, is_json: bool) -> None:
    said = waited("Reading the entry", lambda: client.get("/api/v1/entry"))
    if is_json:
        print_json(said)
        return
    pen = out()
    trusted = "trusted" if said["trusted"] else "not trusted"
    lines = [
        ("Entry", str(said["source"])),
        ("File", f"{said['path']} ({trusted})" if said["path"] else ""),
        ("Digest", str(said["digest"])),
        ("Since", moment(said["loaded_at"])),
    ]
    for name, value in lines:
        if value:
            pen.line(f"{pen.styled(f'{name:<12}', 'bold')} {visible_line(value)}")
    pen.line()
    _print_tasks(client)
    pen.line()
    jobs = cast("list[Json]", client.get("/api/v1/jobs")["items"])
    rows = [(str(job["name"]), _input(job), ", ".join(_tasks_of(job["work"]))) for job in jobs]
    print_table(("Job", "Input", "Tasks"), rows, pen)
    _tell_problems(said)


def _tell_problems(said: Json) -> None:
    pen = aside()
    if said["problem"]:
        pen.line(pen.styled(f"problem: {visible_line(str(said['problem']))}", "yellow"))
    for mistake in cast("list[Json]", said["violations"]):
        place = f"line {mistake['line']}: " if mistake.get("line") else ""
        hint = f" {mistake['hint']}" if mistake.get("hint") else ""
        pen.line(visible_line(f"{place}{mistake['where']}: {mistake['reason']}{hint}"))
    if said["violations"]:
        pen.line("To see each error in the file, and how to fix it, run: airboss check")
    for request in said["ungranted"]:
        pen.line(f"note: {visible_line(str(request))}")


def _tasks_of(work: Json) -> list[str]:
    """The names of the tasks in a tree of works, each once."""
    found: dict[str, None] = {}
    left: list[object] = [work]
    while left:
        part = left.pop()
        if isinstance(part, dict):
            fields = cast("Json", part)
            if fields.get("kind") == "Ref":
                found[str(fields["taskId"])] = None
            left.extend(reversed(list(fields.values())))
        elif isinstance(part, list):
            left.extend(reversed(cast("list[object]", part)))
    return list(found)


def show_tasks(client: Client, *, is_json: bool) -> None:
    if is_json:
        print_json(client.get("/api/v1/tasks"))
        return
    _print_tasks(client)


def _print_tasks(client: Client) -> None:
    items = cast("list[Json]", client.get("/api/v1/tasks")["items"])
    heads = ("Task", "Model", "Permissions", "Input", "Criteria", "About")
    rows = [
        (
            str(item["name"]),
            str(item["model"]),
            str(item["permissions"]),
            _input(item),
            str(item["criteria"]),
            str(item["about"]),
        )
        for item in items
    ]
    print_table(heads, rows, out())


def _input(item: Json) -> str:
    return "yes" if item["requireUserInput"] else "no"


def add_trust(client: Client, path: Path, digest: str | None, *, is_json: bool) -> None:
    """What was read is known by its digest; without one, it is what is there at this moment."""
    whole = str(path.expanduser().absolute())
    look = {} if digest else client.get("/api/v1/trust/look", path=whole)
    seen = digest or str(look["digest"])
    said = client.post("/api/v1/trust", {"path": whole, "digest": seen})
    if is_json:
        print_json(said)
        return
    for item in cast("list[Json]", said["items"]):
        if item["kind"] == "extension":
            what = f"the extension {Path(item['path']).name} ({item['path']})"
            out().line(visible_line(f"Trusted in its current form: {what}"))
        elif item["kind"] == "file":
            out().line(visible_line(f"Trusted in its current form: {item['path']}"))
    for left in cast("list[Json]", look.get("extensions") or []):
        if left["reason"]:
            why = f"Not trusted: the extension {left['name']}. {left['reason']}"
            aside().line(visible_line(why))


def remove_trust(client: Client, path: Path, *, is_json: bool) -> None:
    said = client.delete("/api/v1/trust", path=str(path.expanduser().absolute()))
    if is_json:
        print_json(said)
        return
    for gone in said["paths"]:
        out().line(visible_line(f"No longer trusted: {gone}"))


def show_trust(client: Client, *, is_json: bool) -> None:
    said = client.get("/api/v1/trust")
    if is_json:
        print_json(said)
        return
    items = cast("list[Json]", said["items"])
    if not items:
        aside().line("No files are trusted. Trust an entry with: airboss trust PATH")
        return
    rows = [
        (
            str(item["path"]),
            str(item["kind"]),
            "unchanged" if item["current"] else "changed since",
            str(item["who"]),
            moment(item["at"]),
        )
        for item in items
    ]
    print_table(("Path", "Kind", "Counts", "By", "At"), rows, out())
