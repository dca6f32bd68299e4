"""Sessions for the browser tests: a server with a script, a person in front of it, and their page."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import httpx2
from playwright.sync_api import Locator, Page, expect

from tests.e2e.witness import Quiet
from tests.portal import Portal

SCRIPT = r"""
models:
  - {id: rehearsal, name: Rehearsal, multiplier: 0}
rules:
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
  - when: "at great length"
    steps:
      - say: "@LINES@"
      - sleep: 2.5
      - say: "THE LAST LINE"
  - when: "look around"
    steps:
      - say: "I will look."
      - call: {tool: view, arguments: {path: "{cwd}"}}
      - say: "That is all."
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
  - when: "delegate"
    steps:
      - call:
          tool: task
          arguments:
            {agent_type: general-purpose, name: scout, description: scout, prompt: "look around inside", mode: sync}
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
    steps: [{fail: {status: 400}}]
  - when: "cut off"
    steps:
      - say: "The beginning of"
      - drop: true
""".replace("@LINES@", "".join(rf"line {n}\n" for n in range(1, 41)))


@dataclass
class Person:
    """Somebody who is signed in, in front of one page."""

    portal: Portal
    page: Page
    quiet: Quiet

    def sign_in(self) -> None:
        self.page.goto(link(self.portal))
        expect(self.page.get_by_role("navigation", name="Pages")).to_be_attached(timeout=10_000)

    def opens(self, session: str) -> None:
        self.page.goto(f"{self.portal.url}/index.html?session={session}")
        expect(self.log).to_be_visible(timeout=10_000)

    @property
    def log(self) -> Locator:
        return self.page.get_by_role("log", name="Conversation")

    @property
    def request(self) -> Locator:
        return self.page.get_by_role("textbox", name="Your request")

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
        blocks = self.log.locator("article.blk")
        return blocks.filter(has=self.page.locator("> header .type", has_text=heading)).last

    def is_idle(self) -> None:
        expect(self.button("Send")).to_be_enabled(timeout=20_000)


def link(portal: Portal) -> str:
    """A fresh address, as a person gets it in a terminal."""
    told = portal.run("link")
    assert told.returncode == 0, told.stderr
    return told.stdout.strip().splitlines()[-1]


def asked(portal: Portal, method: str, path: str, body: object = None) -> httpx2.Response:
    headers = {"Authorization": f"Bearer {portal.token}"}
    return httpx2.request(method, portal.url + path, headers=headers, json=body, timeout=30)


def new_session(portal: Portal, **wish: Any) -> str:
    wish = {"model": "rehearsal", "cwd": str(portal.work), **wish}
    answer = asked(portal, "POST", "/api/v1/sessions", wish)
    assert answer.status_code == 201, answer.text
    return str(answer.json()["id"])


def view(portal: Portal, session: str) -> dict[str, Any]:
    return asked(portal, "GET", f"/api/v1/sessions/{session}").json()


def events(portal: Portal, session: str) -> Iterator[dict[str, Any]]:
    after = 0
    while True:
        path = f"/api/v1/sessions/{session}/events?after={after}&limit=1000"
        page = asked(portal, "GET", path).json()
        yield from page["items"]
        if not page["more"]:
            return
        after = page["next_after"]
