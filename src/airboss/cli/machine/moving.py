"""Says who is to work: asked of a server, which asks the machine."""

from urllib.parse import quote

from airboss.cli.client import Client
from airboss.cli.screen import out, print_json, visible_line


def move_run(client: Client, run: str, to: str, *, is_json: bool) -> None:
    view = client.post(f"/api/v1/runs/{run}/move", {"to": to})
    if is_json:
        print_json(view)
    else:
        out().line(f"{run} goes to {visible_line(to)}. To watch it: airboss show {run}")


def drain_worker(client: Client, name: str, *, undo: bool, is_json: bool) -> None:
    path = f"/api/v1/workers/{quote(name, safe='')}/drain"
    worker = client.delete(path) if undo else client.post(path, {})
    if is_json:
        print_json(worker)
        return
    said = "takes work again" if worker["state"] == "alive" else "takes nothing new"
    out().line(f"{visible_line(worker['name'])} {said}.")
