"""A server and workers on one database, each a real process with its own data folder, and a job
whose second task takes so long that somebody can be lost meanwhile."""

import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import httpx2
import psycopg

from tests.nursery import Streams
from tests.portal import Portal, Process

Json = dict[str, Any]

# The second task works for long the first time, and says so in a file: again, it is quick.
SCRIPT: Final = """
models: [{id: rehearsal, name: Rehearsal, multiplier: 0}]
rules:
  - when: "^(?!The session crashed)[\\\\s\\\\S]*slow it"
    steps:
      - call: {tool: bash, arguments: {description: "s", command: "{slow}"}}
      - say: "Slow."
  - when: "slow it"
    steps:
      - call: {tool: bash, arguments: {description: "s", command: "echo again >> {cwd}/done.txt"}}
      - say: "Slow again."
  - when: "first it"
    steps:
      - call: {tool: bash, arguments: {description: "f", command: "echo first >> {cwd}/done.txt"}}
      - say: "First."
  - when: "paced it"
    steps:
      - call: {tool: bash, arguments: {description: "p", command: "{paced}"}}
      - say: "Paced."
  - when: "last it"
    steps:
      - call: {tool: bash, arguments: {description: "l", command: "echo last >> {cwd}/done.txt"}}
      - say: "Last."
  - when: "talk"
    steps: [{say: "I say it in many small pieces, and everybody who follows reads each of them."}]
  - when: "chat"
    steps: [{say: "One moment. "}, {sleep: 60}]
""".replace("{slow}", "while true; do echo tick >> {cwd}/ticks.txt; sleep 0.1; done").replace(
    "{paced}",
    "echo begun >> {cwd}/paced.txt; while [ ! -e {cwd}/go.txt ]; do sleep 0.1; done; "
    "echo ended >> {cwd}/paced.txt",
)


def _task(name: str) -> Json:
    return {
        "model": {"category": "driving"},
        "prompt": [f"{name} it"],
        "requireUserInput": False,
    }


def _job(*names: str) -> Json:
    works = [{"kind": "Ref", "taskId": name} for name in names]
    return {"work": {"kind": "Seq", "works": works}}


ENTRY: Final[Json] = {
    "models": {"driving": "rehearsal"},
    "promptVariables": {},
    "tasks": {name: _task(name) for name in ("first", "slow", "paced", "last")},
    "jobs": {
        "story": _job("first", "slow", "last"),
        "short": _job("first", "last"),
        "paced": _job("paced", "last"),
        "picky": {**_job("first"), "labels": ["gpu"]},
    },
    "grid": [],
}


@dataclass
class Machine:
    """One process of Airboss: a server, or a worker without pages."""

    portal: Portal
    lease: float
    process: Process | None = None

    def work(self) -> None:
        """As a worker."""
        portal = self.portal
        log = str(portal.folder / "serve.log")
        Path(log).touch()
        script = portal.folder / "script.yaml"
        script.write_text(portal.script or "", encoding="utf-8")
        words = ("worker", "--rehearsal", str(script), *portal.options)
        self.process = portal.begin(*words, streams=Streams(out=log, wrong=log))
        until = time.monotonic() + 60
        while "This worker is ready." not in portal.log:
            assert self.process.poll() is None, portal.log
            assert time.monotonic() < until, portal.log
            time.sleep(0.05)

    def serve(self) -> None:
        self.portal.start()
        self.process = self.portal.process

    def items(self) -> list[Json]:
        """What waits for a person, as this server's people see it."""
        said = self.portal.run("inbox", "--json")
        assert said.returncode == 0, said.stderr
        return json.loads(said.stdout)["items"]

    def approve(self, item: str) -> None:
        said = self.portal.run("approve", item)
        assert said.returncode == 0, said.stderr

    def kill(self) -> None:
        assert self.process is not None
        self.process.kill()
        self.process.wait(10)

    def end(self) -> None:
        if self.process is not None and self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(20)
            except Exception:  # noqa: BLE001 - whatever it is, it must be gone
                self.process.kill()
                self.process.wait(20)


@dataclass
class Fleet:
    """All machines of a test, on one database and with one shared folder."""

    folder: Path
    url: str
    lease: float = 3
    machines: list[Machine] = field(default_factory=list[Machine])

    @property
    def shared(self) -> Path:
        return self.folder / "shared"

    def machine(
        self,
        name: str,
        permissions: str = "approve-all",
        url: str | None = None,
        more: str = "",
        drain_seconds: float = 0.5,
    ) -> Machine:
        """One that is not started yet; at `url` where something stands between it and the rest, and
        with `more` settings."""
        self.shared.mkdir(exist_ok=True)
        entry = self.folder / "entry.json"
        entry.write_text(json.dumps(ENTRY), encoding="utf-8")
        folder = self.folder / name
        (folder / "data").mkdir(parents=True)
        (folder / "work").mkdir()
        settings = f'name = "{name}"\nlease_seconds = {self.lease}\nentry = "{entry}"\n'
        settings += f"drain_seconds = {drain_seconds}\n"
        (folder / "data" / "settings.toml").write_text(settings + more, encoding="utf-8")
        options = ("--permissions", permissions, "--shared-root", str(self.shared))
        environ = {"AIRBOSS_DATABASE": url or self.url}
        made = Machine(Portal(folder, options, SCRIPT, environ), self.lease)
        self.machines.append(made)
        return made

    def end(self) -> None:
        for machine in self.machines:
            machine.end()

    # What people ask of the first of them.

    def asked(self, method: str, path: str, given: Json | None = None) -> httpx2.Response:
        portal = self.machines[0].portal
        headers = {"Authorization": f"Bearer {portal.token}"}
        url = f"{portal.url}{path}"
        return httpx2.request(method, url, json=given, headers=headers, timeout=90)

    def ask(self, method: str, path: str, given: Json | None = None) -> Json:
        answer = self.asked(method, path, given)
        assert answer.is_success, answer.text
        return answer.json()

    def post(self, path: str, asked: Json) -> Json:
        return self.ask("POST", path, asked)

    def get(self, path: str) -> Json:
        portal = self.machines[0].portal
        headers = {"Authorization": f"Bearer {portal.token}"}
        answer = httpx2.get(f"{portal.url}{path}", headers=headers, timeout=30)
        assert answer.is_success, answer.text
        return answer.json()

    def start(self, cwd: Path | None = None, job: str = "story") -> str:
        """A job, in the folder that all share or in another one."""
        asked = {"job": job, "cwd": str(cwd or self.shared)}
        return str(self.post("/api/v1/runs", asked)["id"])

    # What the database says.

    def rows(self, asked: str, *values: object) -> list[Any]:
        with psycopg.connect(self.url, options="-c search_path=airboss") as connection:
            return connection.execute(asked.encode(), values).fetchall()

    def view(self, stream: str) -> Json:
        found = self.rows("SELECT body::text FROM views WHERE stream = %s", stream)
        return json.loads(found[0][0]) if found else {}

    def events(self, stream: str) -> list[Json]:
        """Without the deltas of blocks that have ended: those are in the block's end."""
        asked = "SELECT seq, body FROM events WHERE stream = %s AND body <> '' ORDER BY seq"
        found = self.rows(asked, stream)
        return [{"seq": seq, **json.loads(body)} for seq, body in found]

    def kinds(self, stream: str) -> list[str]:
        return [event["kind"] for event in self.events(stream)]

    def state_of(self, name: str) -> str:
        asked = "SELECT state FROM workers WHERE name = %s ORDER BY seen_at DESC LIMIT 1"
        return self.rows(asked, name)[0][0]

    def owner_of(self, stream: str) -> str | None:
        """The name of the worker that has it."""
        asked = """
            SELECT workers.name FROM streams JOIN workers ON workers.id = streams.owner
            WHERE streams.stream = %s AND workers.state IN ('alive', 'draining')
        """
        found = self.rows(asked, stream)
        return found[0][0] if found else None

    def folder_of(self, name: str) -> Path:
        """A folder below the one that all share."""
        folder = self.shared / name
        folder.mkdir(exist_ok=True)
        return folder

    def until(self, holds: Callable[[], bool]) -> None:
        end = time.monotonic() + 60
        while not holds():
            assert time.monotonic() < end, [one.portal.log for one in self.machines]
            time.sleep(0.05)

    def until_run_is(self, run: str, *states: str) -> Json:
        self.until(lambda: self.view(run).get("state") in states)
        return self.view(run)

    @property
    def ticks(self) -> int:
        file = self.shared / "ticks.txt"
        return len(file.read_text("utf-8").split()) if file.exists() else 0

    def until_it_ticks(self) -> None:
        self.until(lambda: self.ticks > 0)

    @property
    def done(self) -> list[str]:
        file = self.shared / "done.txt"
        return file.read_text("utf-8").split() if file.exists() else []
