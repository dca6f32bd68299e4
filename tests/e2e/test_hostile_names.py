"""Names that mean harm, of jobs, tasks and folders: shown everywhere, and they do nothing."""

import json
from collections.abc import Iterator
from urllib.parse import quote

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.visit import asked, signed_in
from tests.e2e.witness import Quiet
from tests.portal import Portal

NAME = '<img src=x onerror="window.caught=1">\u202e\u0007"\'><script>window.caught=2</script>'
SCRIPT = json.dumps({"rules": [{"steps": [{"say": "Done."}]}]})


@pytest.fixture(scope="module")
def portal(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Portal]:
    portal = Portal(tmp_path_factory.mktemp("names"), script=SCRIPT)
    portal.work.mkdir(parents=True)
    task = {"model": {"id": "rehearsal"}, "prompt": [NAME], "requireUserInput": False}
    entry: dict[str, object] = {
        "models": {"driving": "rehearsal"},
        "promptVariables": {},
        "tasks": {NAME: task},
        "jobs": {NAME: {"work": {"kind": "Ref", "taskId": NAME}}},
        "grid": [{"keyword": NAME, "jobs": [{"name": NAME, "jobName": NAME}]}],
    }
    (portal.work / "airboss.json").write_text(json.dumps(entry), encoding="utf-8")
    (portal.work / "<b onclick=x>\u202e").mkdir()
    portal.start()
    yield portal
    portal.stop()


@pytest.fixture(scope="module")
def run(portal: Portal) -> str:
    folder = str(portal.work / "<b onclick=x>\u202e")
    started = asked(portal, "POST", "/api/v1/runs", {"job": NAME, "cwd": folder})
    assert started.status_code == 201, started.text
    asked_for = {"model": "rehearsal", "cwd": folder}
    session = asked(portal, "POST", "/api/v1/sessions", asked_for).json()["id"]
    asked(portal, "POST", f"/api/v1/sessions/{session}/prompts", {"text": NAME})
    return str(started.json()["id"])


@pytest.mark.parametrize(
    ("path", "shows"),
    [
        ("/", "<img src=x"),
        ("/jobs.html?wb={folder}", "<img src=x"),
        ("/jobTracking.html?jobName={name}", "<img src=x"),
        ("/jobTracking.html?jobName={name}&jobId={run}", "<img src=x"),
        ("/history.html", "<img src=x"),
        ("/history.html?text=caught", "caught"),
        ("/settings.html", "Doctor"),
    ],
)
def test_a_name_is_shown_as_it_is_and_does_nothing(
    portal: Portal, run: str, page: Page, quiet: Quiet, path: str, shows: str
) -> None:
    where = path.format(folder=quote(str(portal.work)), name=quote(NAME), run=run)
    signed_in(page, portal).goto(f"{portal.url}{where}")
    expect(page.get_by_text(shows).filter(visible=True).first).to_be_visible(timeout=15_000)
    page.keyboard.press("Control+K")
    expect(page.get_by_role("dialog").or_(page.get_by_role("combobox")).first).to_be_visible()
    assert page.evaluate("window.caught") is None
    assert page.locator("main img, main script, [onerror], [onclick]").count() == 0
    assert "\u202e" not in page.evaluate("document.body.innerText + document.title")
    quiet.check()
