"""`python -m scripts.pictures`: photographs every page in its states, for docs/ and the README.

A real server, the real agent and a real browser; only the models are played, by the script beside
this. `--check` says whether the pictures are older than the pages that they show.
"""

import contextlib
import hashlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
from playwright.sync_api import Browser, Page, TimeoutError, sync_playwright

from scripts.chromium import FLAGS, MISSING, chromium
from scripts.pictures.fleet import silent_machine

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).parent
PICTURES = ROOT / "docs" / "pictures"
STAMP = PICTURES / "made-of.txt"
PHONE, DESK = 390, 1440
Prepare = Callable[[Page], None]
SECONDS = 90


def sources() -> str:
    """What the pictures are made of, in one line."""
    told = hashlib.sha256()
    files = [*(ROOT / "web" / "src").rglob("*"), *(ROOT / "web").glob("*.html"), *HERE.glob("*")]
    for file in sorted(files):
        if file.is_file() and ".test." not in file.name:
            told.update(file.relative_to(ROOT).as_posix().encode())
            told.update(file.read_bytes())
    return told.hexdigest() + "\n"


class Portal:
    """The server that is photographed."""

    def __init__(self, folder: Path, url: str) -> None:
        self.work = folder / "harbor"
        self.url = url
        token = (folder / "data" / "token").read_text(encoding="utf-8").strip()
        self._client = httpx2.Client(
            base_url=url, headers={"Authorization": f"Bearer {token}"}, timeout=30
        )

    def ask(self, method: str, path: str, body: object = None) -> Any:
        answer = self._client.request(method, f"/api/v1{path}", json=body)
        answer.raise_for_status()
        return answer.json() if answer.content else None

    def session(self, text: str, model: str = "gpt-5.2") -> str:
        session = str(self.ask("POST", "/sessions", {"model": model, "cwd": str(self.work)})["id"])
        self.ask("POST", f"/sessions/{session}/prompts", {"text": text})
        return session

    def run(self, job: str, text: str = "") -> str:
        return str(self.ask("POST", "/runs", {"job": job, "input": text})["id"])

    def until(self, path: str, *states: str) -> None:
        end = time.monotonic() + SECONDS
        while self.ask("GET", path)["state"] not in states:
            if time.monotonic() > end:
                raise TimeoutError(f"{path} is {self.ask('GET', path)['state']}")
            time.sleep(0.1)

    def until_asked(self, *, session: str | None = None, run: str | None = None) -> str:
        """The item that waits for a person."""
        query = f"session={session}" if session else f"run={run}"
        end = time.monotonic() + SECONDS
        while not (items := self.ask("GET", f"/inbox?{query}")["items"]):
            if time.monotonic() > end:
                raise TimeoutError("Nobody asks.")
            time.sleep(0.1)
        return str(items[0]["id"])


@contextmanager
def serving(folder: Path) -> Generator[Portal]:
    work = folder / "harbor"
    (work / "log").mkdir(parents=True)
    shutil.copy(HERE / "airboss.yaml", work)
    follow = "async def follow(shared):\n    position = shared.next()\n    return position\n"
    (work / "log" / "follow.py").write_text(follow, encoding="utf-8")
    airboss = Path(sys.executable).with_name("airboss")
    options = ("--port", "0", "--data", str(folder / "data"), "--root", str(work))
    words = [str(airboss), "serve", *options, "--rehearsal", str(HERE / "script.yaml")]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True, cwd=work) as process:
        try:
            opening = process.stdout.readline().split()[-1] if process.stdout else ""
            yield Portal(folder, opening.partition("/#")[0])
        finally:
            process.terminate()


class Camera:
    """Takes pictures by day and by night, at a desk and on a phone."""

    def __init__(self, browser: Browser, portal: Portal) -> None:
        self._browser = browser
        self._portal = portal
        self._signed_in: Any = None

    def sign_in(self) -> None:
        context = self._browser.new_context()
        page = context.new_page()
        page.goto(str(self._portal.ask("POST", "/links")["url"]))
        page.get_by_role("navigation", name="Pages").wait_for()
        self._signed_in = context.storage_state()
        context.close()

    def take(
        self,
        name: str,
        path: str,
        shows: str,
        *,
        nights: bool = False,
        phone: bool = False,
        prepare: Prepare | None = None,
    ) -> None:
        """One picture by day; one by night and one of a phone where asked for."""
        looks = [("", DESK, "light")]
        looks += [("-dark", DESK, "dark")] if nights else []
        looks += [("-phone", PHONE, "light")] if phone else []
        for suffix, width, theme in looks:
            page = self._page(width, theme)
            page.goto(f"{self._portal.url}{path}")
            page.get_by_text(shows).filter(visible=True).first.wait_for()
            if prepare is not None:
                prepare(page)
            page.wait_for_timeout(700)  # fonts, and the last of what comes
            page.screenshot(path=PICTURES / f"{name}{suffix}.png")
            page.context.close()
        print(f"{name}", flush=True)

    def _page(self, width: int, theme: Any) -> Page:
        height = 844 if width == PHONE else 900
        context = self._browser.new_context(
            color_scheme=theme,
            reduced_motion="reduce",
            viewport={"width": width, "height": height},
            storage_state=self._signed_in,
        )
        return context.new_page()


CHANGE = """Follow each stream by its own seq instead of a number shared between writers.

- keep the public signature of follow()
- prove it with a test that commits out of order
- no migration of old rows
"""


# A task that a job of the entry runs.
USED = "taskId: build-web"


def photograph(camera: Camera, portal: Portal) -> None:
    camera.take("start-signed-out", "/", "Sign in to Airboss", phone=True)
    camera.sign_in()
    camera.take("start-first", "/", "Start a session")
    for job in ("note", "review", "races"):
        run = portal.run(job)
        portal.until(f"/runs/{run}", "succeeded", "failed")
    failed = run
    shipping = portal.run("ship", CHANGE)
    told = portal.session(
        "Why does the follower lose events on PostgreSQL? Find the cause and fix it."
    )
    item = portal.until_asked(session=told)
    camera.take("session-approval", f"/index.html?session={told}", "Allow once", phone=True)
    _allow_all(portal, told, item)
    portal.until(f"/sessions/{told}", "idle")
    portal.ask(
        "POST", f"/sessions/{told}/prompts", {"text": "Prove it with a test that commits late."}
    )
    for text in ("Then add a line about it to the docs.", "Run the crash suite once more."):
        portal.ask("POST", f"/sessions/{told}/prompts", {"text": text})
    camera.take("session", f"/index.html?session={told}", "[receiving...]", nights=True, phone=True)
    asking = portal.session("Which database is this for?")
    portal.until_asked(session=asking)
    camera.take("session-question", f"/index.html?session={asking}", "Which database is this for?")
    migrating = portal.session("Run the migration.")
    portal.until_asked(session=migrating)
    portal.until_asked(run=shipping)
    camera.take("start", "/", "Running", nights=True, phone=True)
    tracking = f"/jobTracking.html?jobName=ship&jobId={shipping}"
    camera.take(
        "jobs",
        f"/jobs.html?wb={portal.work}",
        "Available Jobs",
        nights=True,
        phone=True,
        prepare=_choose,
    )
    camera.take(
        "tracking", tracking, "JOB: RUNNING", nights=True, phone=True, prepare=_select("build-web")
    )
    camera.take("tracking-events", tracking, "JOB: RUNNING", prepare=_events)
    camera.take("tracking-definition", tracking, "JOB: RUNNING", prepare=_definition)
    races = f"/jobTracking.html?jobName=races&jobId={failed}"
    camera.take("tracking-report", races, "JOB: FAILED", nights=True, phone=True)
    camera.take("tracking-failed", races, "JOB: FAILED", prepare=_select("hunt"))
    written = (HERE / "airboss.yaml").read_text(encoding="utf-8")
    line = 1 + written[: written.index(USED)].count("\n")
    edited = f"/edit.html#L{line}"
    camera.take("editor", edited, "No errors", nights=True, phone=True, prepare=_edit)
    camera.take("tracking-preview", "/jobTracking.html?jobName=ship", "JOB: PREVIEW")
    camera.take("inbox", "/inbox.html", "Allow once", nights=True, phone=True)
    camera.take("history", "/history.html", "races", nights=True, phone=True)
    camera.take("settings", "/settings.html", "Doctor", nights=True, phone=True)
    camera.take("palette", "/", "Running", prepare=_press("Control+K"))
    camera.take("shortcuts", "/", "Running", prepare=_press("?"))


def photograph_machines(browser: Browser) -> None:
    """Several on one PostgreSQL, of which one is not heard for a while; it is taken over soon."""
    with silent_machine() as (folder, url, run):
        portal = Portal(folder, url)
        camera = Camera(browser, portal)
        camera.sign_in()
        camera.take("machines", "/machines.html", "not heard for", nights=True, phone=True)
        tracking = f"/jobTracking.html?jobName=ship&jobId={run}"
        camera.take("tracking-moved", tracking, "Taken over by")


def _allow_all(portal: Portal, session: str, item: str) -> None:
    while True:
        portal.ask("POST", f"/inbox/{item}/decision", {"choice": "allow-once"})
        while not (items := portal.ask("GET", f"/inbox?session={session}")["items"]):
            if portal.ask("GET", f"/sessions/{session}")["state"] == "idle":
                return
            time.sleep(0.1)
        item = str(items[0]["id"])


def _choose(page: Page) -> None:
    page.get_by_role("button", name="Ship a change").first.click()
    page.get_by_role("textbox").last.fill(CHANGE)


def _select(node: str) -> Prepare:
    def select(page: Page) -> None:
        driving = page.get_by_role("tab", name="Driving")
        # A second click, since the first one clears what was selected when the page opened.
        for _ in range(2):
            chart = page.get_by_role("tab", name="Chart")
            if chart.is_visible():  # on a phone it is a view of its own
                chart.click()
            page.get_by_role("button", name=re.compile(f"^{node}")).first.click()
            with contextlib.suppress(TimeoutError):
                driving.wait_for(timeout=2_000)
                return
        driving.wait_for()

    return select


def _press(key: str) -> Prepare:
    def press(page: Page) -> None:
        page.keyboard.press(key)

    return press


def _edit(page: Page) -> None:
    """A rehearsal of one job, then a name in another that is nearly right."""
    to_chart = page.get_by_role("button", name="Chart", exact=True)
    if to_chart.is_visible():
        to_chart.click()
    page.get_by_label("Job:").select_option("review")
    page.get_by_role("button", name="Rehearse", exact=True).click()
    page.get_by_text("Succeeded", exact=True).wait_for(timeout=SECONDS * 1_000)
    page.get_by_label("Job:").select_option("ship")
    to_code = page.get_by_role("button", name="Code")
    if to_code.is_visible():  # where the chart has the place of the code
        to_code.click()
    page.locator(".cm-line", has_text=USED).click()
    page.keyboard.press("End")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Backspace")
    page.get_by_text("1 error", exact=True).wait_for()


def _events(page: Page) -> None:
    page.get_by_role("button", name="Events").or_(
        page.get_by_role("tab", name="Events")
    ).first.click()


def _definition(page: Page) -> None:
    page.get_by_role("tab", name="Definition").click()


def main() -> int:
    if "--check" in sys.argv:
        is_current = STAMP.exists() and STAMP.read_text(encoding="utf-8") == sources()
        if not is_current:
            print("The pictures are older than the pages. Run `make pictures` and look at them.")
        return 0 if is_current else 1
    PICTURES.mkdir(parents=True, exist_ok=True)
    path = chromium()
    if path is None:
        print(MISSING)
        return 1
    with (
        tempfile.TemporaryDirectory(prefix="pictures-") as folder,
        serving(Path(folder)) as portal,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        photograph(Camera(browser, portal), portal)
        photograph_machines(browser)
        browser.close()
    STAMP.write_text(sources(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
