"""The pages for those who run a server: settings, tokens, audit, webhooks, the seed's calls."""

import hmac
import json
import queue
import sys
import threading
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.cli.guides.asking import CHOICES, QUESTION, watched
from tests.cli.guides.guide import Guide, Visit
from tests.cli.inboxes import http
from tests.contract.asking import SCRIPT
from tests.postgres import Postgres, running_postgres
from tests.signing import sign_in

_SECRET = "secret-of-the-webhook"


@dataclass(frozen=True)
class Posted:
    """What a receiver of webhooks has in its hands."""

    headers: Any
    body: bytes


@contextmanager
def receiver(got: "queue.Queue[Posted]") -> Generator[str]:
    class Hook(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            got.put(Posted(self.headers, body))
            self.send_response(204)
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:
            """Nobody reads it."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Hook) as hook:
        threading.Thread(target=hook.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{hook.server_port}/"
        hook.shutdown()


@dataclass
class Webhooks:
    """The two blocks about webhooks: what is posted, and how it is signed."""

    got: "queue.Queue[Posted]" = field(default_factory=lambda: queue.Queue[Posted]())
    posted: list[Posted] = field(default_factory=list[Posted])

    def arrives(self, visit: Visit, shown: str) -> None:
        address = visit.kept.enter_context(receiver(self.got))
        environ = {**visit.reader.environ, "AIRBOSS_WEBHOOK_SECRET": _SECRET}
        settings = visit.write("hooks.toml", "webhook_private = true\n")
        words = f"airboss serve --settings {settings} --webhook {address}"
        visit.home.serve(words, environ=environ)
        QUESTION(visit)
        self.posted.append(self.got.get(timeout=30))
        told, example = json.loads(self.posted[0].body), json.loads(shown)
        assert told.keys() == example.keys()
        assert (told["event"], told["id"]) == (example["event"], visit.reader.ids["itm"])
        assert told["item"]["asked"]["kind"] == example["item"]["asked"]["kind"]
        assert "/inbox.html?item=itm_" in told["url"]
        assert "/inbox.html?item=itm_" in example["url"]

    def is_signed(self, _: Visit, shown: str) -> None:
        """The program of the page says so, and refuses another secret."""
        [request] = self.posted
        names = {"hmac": hmac, "request": request, "body": request.body}
        exec(shown, {**names, "secret": _SECRET})  # noqa: S102 - it is the page's
        try:
            exec(shown, {**names, "secret": "another"})  # noqa: S102 - the same, with another secret
        except AssertionError:
            return
        raise AssertionError("a wrong secret is accepted")


def signed_in_browser(visit: Visit) -> None:
    sign_in(visit.home.url, visit.home.token)
    with http(visit.home) as client:
        [signed] = client.get("/api/v1/signins").json()["items"]
    visit.reader.names["ID"] = signed["id"]


def wrong_answer(visit: Visit, shown: str) -> None:
    CHOICES(visit)
    with http(visit.home) as client:
        inbox = client.get("/api/v1/inbox").json()["items"]
        [session] = [one["session"] for one in inbox if one["id"] == visit.reader.ids["itm"]]
        answer = client.post(f"/api/copilot/session/{session}/query", content="green")
    assert answer.json() == json.loads(shown)


def caged_listing(visit: Visit) -> None:
    """By an interpreter of its own: the quick command's is a script, which no cage has."""
    said = visit.said(f"{sys.executable} -P -m airboss cage try -- ls -a")
    assert said.split()[:2] == [".", ".."]


@dataclass
class SharedDatabase:
    """The page's own role and database, on a real server. That has a role of the name already."""

    server: list[Postgres] = field(default_factory=list[Postgres])

    def is_made(self, visit: Visit, shown: str) -> None:
        server = visit.kept.enter_context(running_postgres())
        self.server[:] = [server]
        for statement in shown.replace("airboss", "plane").split(";"):
            if statement.strip():
                server.execute(statement)
        address = f"postgresql://plane:a-long-password@127.0.0.1:{server.port}/plane"
        visit.reader.environ = {**visit.reader.environ, "AIRBOSS_DATABASE": address}

    def is_fit(self, visit: Visit) -> None:
        told = json.loads(visit.said("airboss database check --json"))
        assert {one["state"] for one in told["checks"]} == {"ok"}

    def is_dumped(self, visit: Visit) -> None:
        [server] = self.server
        address = server.url("plane")
        visit.said(f"{server.bin}/pg_dump --format=custom --file=airboss.dump {address}")
        listed = visit.said(f"{server.bin}/pg_restore --list airboss.dump")
        assert "airboss events" in listed
        assert "dbos workflow_status" in listed


_HOOKS = Webhooks()
_SHARED = SharedDatabase()

GUIDES = {
    "docs/cage.md": Guide(
        is_served=False,
        needs=("bwrap",),
        instead={"airboss cage try -- ls -a": caged_listing},
    ),
    "docs/many-machines.md": Guide(
        is_served=False,
        shown={"CREATE ROLE airboss": _SHARED.is_made},
        instead={"pg_dump --format=custom --file=airboss.dump airboss": _SHARED.is_dumped},
        before={"pg_dump --format=custom --file=airboss.dump airboss": _SHARED.is_fit},
    ),
    "docs/operating.md": Guide(
        script=SCRIPT,
        before={"airboss token signout ID": signed_in_browser},
        instead={
            "airboss audit --follow --json": watched(
                "airboss audit --follow --json", "audit.server.started"
            ),
        },
        shown={
            '{"event": "inbox.arrived"': _HOOKS.arrives,
            "signed = f": _HOOKS.is_signed,
        },
    ),
    "docs/seed-api.md": Guide(script=SCRIPT, shown={'{"error": "InvalidAnswer"': wrong_answer}),
}
