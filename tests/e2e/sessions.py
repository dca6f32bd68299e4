"""Sessions for the browser tests: what the model says in them, and a person at their page."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from playwright.sync_api import Locator, Page, expect

from tests.e2e.visit import asked, new_session, signed_in
from tests.portal import Portal

SCRIPT = r"""
models:
  - {id: rehearsal, name: Rehearsal, multiplier: 0}
  - {id: spare, name: Spare, multiplier: 1}
rules:
  - when: "summary may take long"
    steps:
      - sleep: 60
      - say: "It was about ships."
  - when: "say hello"
    steps:
      - reasoning: "Somebody greets me.\nI greet back."
      - say: "Hello, captain."
  - when: "write a report"
    steps:
      - say: "# The report\n\nIt is **done**:\n\n- one\n- two\n\n```python\nprint('three')\n```\n"
  - when: "tell the tale"
    steps:
      - reasoning: "It begins at sea."
      - sleep: 0.4
      - say: "Once upon a time there was a ship.\n"
      - sleep: 1.2
      - say: "The ship had a captain.\n"
      - sleep: 0.6
      - say: "**The end.**"
      - sleep: 0.8
      - say: " Good night."
  - when: "at great length"
    steps:
      - say: "@LINES@"
      - sleep: 2.5
      - say: "THE LAST LINE"
  - when: "lay it out"
    steps:
      - say: "# The list\n\n- one\n- two\n\n```python\nx = 1\n```\n\nIt is **open"
      - sleep: 60
  - when: "look around"
    steps:
      - say: "I will look."
      - call: {tool: view, arguments: {path: "{cwd}"}}
      - say: "That is all."
  - when: "look for the word"
    steps:
      - call:
          tool: grep
          arguments: {pattern: "return", path: "{cwd}", output_mode: content, "-n": true}
      - call: {tool: view, arguments: {path: "{cwd}/hello.py", view_range: [2, 2]}}
      - say: "Found it."
  - when: "look at it all"
    steps:
      - calls:
          - {tool: view, arguments: {path: "{cwd}/hello.py"}}
          - {tool: view, arguments: {path: "{cwd}"}}
          - {tool: glob, arguments: {pattern: "*.py"}}
          - {tool: glob, arguments: {pattern: "*.md"}}
      - say: "Seen."
  - when: "make a plan"
    steps:
      - call:
          tool: sql
          arguments:
            description: plan
            query: >-
              INSERT INTO todos (id, title, status)
              VALUES ('a', 'Find it', 'in_progress'), ('b', 'Fix it', 'pending')
      - call:
          tool: sql
          arguments: {description: plan, query: "UPDATE todos SET status = 'done' WHERE id = 'a'"}
      - say: "That is the plan."
  - when: "fail at it"
    steps:
      - call: {tool: bash, arguments: {command: "seq 1 30; exit 3", description: count}}
      - say: "It failed."
  - when: "look at nothing"
    steps:
      - call: {tool: view, arguments: {path: "{cwd}/nothing-is-here"}}
      - say: "It is not there."
  - when: "count far"
    steps:
      - call: {tool: bash, arguments: {command: "seq 1 300", description: count}}
      - say: "Counted."
  - when: "write it"
    steps:
      - call: {tool: create, arguments: {path: "{cwd}/hello.txt", file_text: "hi\nthere\n"}}
      - say: "I tried."
  - when: "change it"
    steps:
      - call: {tool: edit, arguments: {path: "{cwd}/hello.py", old_str: "1", new_str: "2"}}
      - say: "I changed it."
  - when: "push hard"
    steps:
      - call: {tool: bash, arguments: {command: "git push --force", description: push}}
      - say: "I pushed."
  - when: "delegate"
    steps:
      - call:
          tool: task
          arguments:
            agent_type: general-purpose
            name: scout
            description: scout
            prompt: "look around inside"
            mode: sync
      - say: "The scout is back."
  - when: "which colour"
    steps:
      - call:
          tool: ask_user
          arguments: {question: "Which colour?", choices: ["Red", "Blue"], allow_freeform: false}
      - say: "A fine colour."
  - when: "take your time"
    steps:
      - say: "One moment. "
      - sleep: 60
      - say: "There it is."
  - when: "in two steps"
    steps:
      - say: "First a look."
      - sleep: 3
      - call: {tool: view, arguments: {path: "{cwd}"}}
      - sleep: 1
      - say: "That was the second step."
  - when: "unlucky"
    model: spare
    steps:
      - say: "Luck is back."
  - when: "unlucky"
    steps: [{fail: {status: 400}}]
  - when: "cut off"
    steps:
      - say: "The beginning of"
      - drop: true
""".replace("@LINES@", "".join(rf"line {n}\n" for n in range(1, 41)))


# The model's part in it is the script's: each task's prompt is one of the requests above.
ENTRY: dict[str, Any] = {
    "models": {"driving": "rehearsal"},
    "promptVariables": {},
    "tasks": {
        "greet": {
            "model": {"category": "driving"},
            "prompt": ["say hello"],
            "requireUserInput": False,
        },
        "tell": {
            "model": {"category": "driving"},
            "prompt": ["say hello, and then: $user-input"],
            "requireUserInput": True,
        },
    },
    "jobs": {"greet": {"work": {"kind": "Ref", "taskId": "greet"}}},
    "grid": [{"keyword": "say", "jobs": [{"name": "Greet", "jobName": "greet"}]}],
}


def portal_in(folder: Path, *options: str) -> Portal:
    """Where agents may do everything, unless the options say otherwise."""
    policy = () if "--permissions" in options else ("--permissions", "approve-all")
    portal = Portal(folder, (*policy, *options), SCRIPT)
    portal.work.mkdir(parents=True)
    (portal.work / "airboss.json").write_text(json.dumps(ENTRY), encoding="utf-8")
    portal.start()
    return portal


@dataclass
class Person:
    """Somebody at the page of one session."""

    portal: Portal
    page: Page
    session: str

    @property
    def log(self) -> Locator:
        return self.page.get_by_role("log", name="Conversation")

    @property
    def request(self) -> Locator:
        return self.page.get_by_role("textbox", name="Your message")

    @property
    def awaits(self) -> Locator:
        return self.page.get_by_text("Awaits responses ...", exact=True)

    def button(self, name: str) -> Locator:
        return self.page.get_by_role("button", name=name, exact=True)

    def says(self, text: str) -> None:
        self.request.fill(text)
        self.button("Send").click()

    def block(self, heading: str) -> Locator:
        """The last block whose header begins so."""
        kind = heading.split()[0].lower()
        return self.log.locator(f"article.blk.{kind}").filter(has_text=heading).last

    def call(self, words: str) -> Locator:
        """The last row of a call whose line has these words."""
        line = self.page.locator(".ch", has_text=words)
        return self.log.locator(".call").filter(has=line).last

    def is_idle(self) -> None:
        expect(self.button("Send")).to_be_enabled(timeout=20_000)

    @property
    def view(self) -> dict[str, Any]:
        """What the server says of the session."""
        return asked(self.portal, "GET", f"/api/v1/sessions/{self.session}").json()

    def events(self, kind: str) -> list[dict[str, Any]]:
        return [said["event"] for said in self._all() if said["event"]["kind"] == kind]

    def _all(self) -> Iterator[dict[str, Any]]:
        after = 0
        while True:
            path = f"/api/v1/sessions/{self.session}/events?after={after}&limit=1000"
            page = asked(self.portal, "GET", path).json()
            yield from page["items"]
            if not page["more"]:
                return
            after = page["next_after"]


def at_page(portal: Portal, page: Page, session: str | None = None) -> Person:
    """Opens the page of a session, or of a new one."""
    session = session or new_session(portal)
    signed_in(page, portal).goto(f"{portal.url}/index.html?session={session}")
    person = Person(portal, page, session)
    expect(person.log).to_be_visible(timeout=15_000)
    return person
