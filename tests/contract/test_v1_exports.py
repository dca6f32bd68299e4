"""A session or a run as a file: whole, and harmless wherever it is opened."""

import asyncio
import json
import re
from collections.abc import AsyncGenerator, Iterator
from html.parser import HTMLParser
from pathlib import Path

import pytest

from tests.contract.job_guest import SCRIPT, JobGuest, entry_of, job_portal_in, ref, seq
from tests.contract.test_v1_sessions import refused
from tests.portal import Portal

TRAP = "<script>alert(1)</script><img src=http://evil.test/x onerror=alert(2)> \\u202e ```"
TALK = f"""  - when: "trap"
    steps:
      - reasoning: "{TRAP}"
      - call: {{tool: bash, arguments: {{command: "echo '</pre><script>x'", description: x}}}}
      - say: "{TRAP}"
  - when: "True twice"
    times: 2"""


class Tags(HTMLParser):
    """Every tag and attribute of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.names: set[str] = set()
        self.attributes: set[str] = set()
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.add(tag)
        self.attributes |= {name for name, _ in attrs}


@pytest.fixture(scope="module")
def job_portal(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Portal]:
    portal = job_portal_in(tmp_path_factory.mktemp("exports"))
    portal.script = SCRIPT.replace('  - when: "True twice"\n    times: 2', TALK, 1)
    portal.start()
    asyncio.run(install(portal))
    yield portal
    portal.stop()


async def install(portal: Portal) -> None:
    async with JobGuest.of(portal) as guest:
        await guest.install(entry_of({"both": seq(ref("yes"), ref("no"))}))


@pytest.fixture
async def guest(job_portal: Portal, anyio_backend: str) -> AsyncGenerator[JobGuest]:
    async with JobGuest.of(job_portal) as guest:
        yield guest


async def exported(guest: JobGuest, path: str, form: str) -> tuple[str, str]:
    """The file's name and text."""
    answer = await guest.http.get(f"/api/v1/{path}/export", params={"format": form})
    assert answer.status_code == 200, answer.text
    given = re.fullmatch(
        r'attachment; filename="([a-z0-9._-]+)"', answer.headers["content-disposition"]
    )
    assert given is not None
    assert answer.headers["x-content-type-options"] == "nosniff"
    return given.group(1), answer.text


@pytest.fixture
async def session(guest: JobGuest) -> str:
    session = await guest.open(model="driver", cwd=str(guest.portal.work))
    await guest.turn(session, f"A trap/../: “{TRAP}”")
    return session


async def test_the_page_needs_nothing_and_runs_nothing(guest: JobGuest, session: str) -> None:
    name, page = await exported(guest, f"sessions/{session}", "html")
    assert re.fullmatch(rf"a-trap-[a-z0-9-]*{session}\.html", name)
    tags = Tags(page)
    known = "html head meta title style body h1 dl dt dd section h4 pre details summary"
    assert tags.names == set(known.split(" "))
    assert tags.attributes <= {"lang", "charset", "http-equiv", "content", "name", "class"}
    assert "default-src &#x27;none&#x27;; style-src &#x27;sha256-" in page
    assert page.count("&lt;script&gt;alert(1)") >= 3
    assert "\u202e" not in page
    assert "⟨U+202E⟩" in page
    assert page.endswith("</html>\n")


async def test_markdown_tells_who_said_what_in_order(guest: JobGuest, session: str) -> None:
    name, text = await exported(guest, f"sessions/{session}", "markdown")
    assert name.endswith(".md")
    places = [
        text.index(part) for part in ("**owner** ·", "**reasoning** ·", "**bash** ·", "**agent** ·")
    ]
    assert places == sorted(places)
    assert "\n````" not in text.split("**bash**")[0]
    assert f"- id: {session.replace('_', chr(92) + '_')}" in text


async def test_json_lines_have_the_view_and_all_events_without_deltas(
    guest: JobGuest, session: str
) -> None:
    _, text = await exported(guest, f"sessions/{session}", "jsonl")
    head, *events = [json.loads(line) for line in text.splitlines()]
    assert head == {"session": await guest.show(session)}
    stored = await guest.events(session)
    assert [
        {**one, "stream": session} for one in stored if ".delta" not in one["event"]["kind"]
    ] == events


async def test_a_run_has_its_tasks_and_what_was_said_in_their_sessions(guest: JobGuest) -> None:
    run = await guest.over((await guest.run("both"))["id"])
    path = f"runs/{run['id']}"
    name, page = await exported(guest, path, "html")
    assert name == f"both-{run['id']}.html"
    places = [
        page.index(part) for part in ("<h2>0.0 yes</h2>", "Session on driver", "<h2>0.1 no</h2>")
    ]
    assert places == sorted(places)
    assert page.count("job_boolean_true") >= 1
    _, lines = await exported(guest, path, "jsonl")
    heads = [next(iter(line)) for line in map(json.loads, lines.splitlines()) if "seq" not in line]
    assert heads == ["run", "task", "session", "task", "session"]
    _, text = await exported(guest, path, "markdown")
    assert text.startswith("# both\n\n- id: ")


async def test_what_cannot_be_exported_is_refused_in_words(guest: JobGuest, session: str) -> None:
    assert (await refused(guest, "GET", "sessions/ses_x/export"))[0] == 404
    assert (await refused(guest, "GET", f"runs/{session}/export"))[0] == 404
    told = await refused(guest, "GET", f"sessions/{session}/export?format=pdf")
    assert told[:2] == (422, "invalid")


async def test_the_command_writes_a_file_and_never_over_one(guest: JobGuest, session: str) -> None:
    portal, file = guest.portal, Path("out.html")
    done = await asyncio.to_thread(portal.run, "export", session, "-o", str(file))
    assert (done.returncode, done.stderr) == (0, "Exported to out.html.\n")
    written = (portal.work / file).read_text("utf-8")
    assert written == (await exported(guest, f"sessions/{session}", "html"))[1]
    again = await asyncio.to_thread(portal.run, "export", session, "-o", str(file))
    assert (again.returncode, "already exists. Pass --force" in again.stderr) == (2, True)
    words = ("export", session, "--format", "jsonl", "-o", str(file), "--force")
    assert (await asyncio.to_thread(portal.run, *words)).returncode == 0
    assert (portal.work / file).read_text("utf-8").startswith('{"session":')
    said = await asyncio.to_thread(portal.run, "export", session, "--format", "markdown", "-o", "-")
    assert said.stdout.startswith("# A trap")
    wrong = await asyncio.to_thread(portal.run, "export", "ses_x")
    assert (wrong.returncode, wrong.stderr) == (2, "error: There is no session ses_x.\n")
    assert [left.name for left in portal.work.glob(".*.part")] == []
