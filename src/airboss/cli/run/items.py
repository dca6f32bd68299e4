"""What tasks at work ask of people: looked for in the background, for those who watch them."""

import queue
import threading
from collections.abc import Callable, Iterable

from airboss.cli.client import Client, Json
from airboss.cli.inbox.deciding import waiting
from airboss.cli.run.story import Story
from airboss.cli.trouble import Trouble


def tell_items(story: Story, items: Iterable[Json]) -> list[Json]:
    """Each work gets what it asks; answers what was not known before."""
    known = list(items)
    new: list[Json] = []
    for work in story.running:
        asked = [item for item in known if item.get("task_run") == work.task_run]
        told = {item["id"] for item in work.items}
        new += [item for item in asked if item["id"] not in told]
        work.items = asked
    return new


class Items:
    """Asks for what waits, in one run or anywhere; never twice at once."""

    def __init__(self, reach: Callable[[], Client], run: str | None = None) -> None:
        self._reach = reach
        self._run = run
        self._asked: queue.SimpleQueue[None] = queue.SimpleQueue()
        self._found: queue.SimpleQueue[list[Json] | None] = queue.SimpleQueue()
        self._is_asking = False
        threading.Thread(target=self._work, daemon=True).start()

    def ask(self) -> None:
        if not self._is_asking:
            self._is_asking = True
            self._asked.put(None)

    def next(self) -> list[Json] | None:
        """What waited just now, or nothing yet."""
        try:
            found = self._found.get_nowait()
        except queue.Empty:
            return None
        self._is_asking = False
        return found

    def _work(self) -> None:
        client: Client | None = None
        while True:
            self._asked.get()
            try:
                client = client or self._reach()
                self._found.put(waiting(client, run=self._run))
            except Trouble:  # asked again; that the server is away, the stream says
                client = None
                self._found.put(None)
