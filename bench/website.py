"""(l) The pages on a long session and on a wide run, in a real Chromium: first view, scrolling,
memory."""

import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from statistics import median
from typing import Any, cast

from playwright.async_api import Browser, CDPSession, Page, async_playwright

from bench.figures import percentile
from bench.long_streams import fill, wide_entry
from bench.scrubber import measure_scrubber
from bench.table import Line, Say
from bench.wire import Address, Failed, calling
from bench.workshop import airboss, prepare, rehearsal
from scripts.chromium import FLAGS, MISSING, chromium

EVENTS = 100_000
ROWS, COLUMNS = 40, 50
SCROLL_SECONDS = 5
# By people who were never there before; the one in the middle counts.
VISITS = 5
FIRST_MS = 1_500
FRAME_MS = 50
HEAP_MB = 400

# Scrolls up and down, a step with each frame; answers how long each frame took.
_SCROLL = """
([where, seconds]) => new Promise((done) => {
  const box = document.querySelector(where);
  const took = [];
  let last = performance.now(), step = -120;
  const end = last + 1000 * seconds;
  const frame = (now) => {
    took.push(now - last);
    last = now;
    const before = box.scrollTop;
    box.scrollTop += step;
    if (box.scrollTop === before) step = -step;
    now < end ? requestAnimationFrame(frame) : done(took.slice(1));
  };
  requestAnimationFrame(frame);
})
"""


# With each frame it looks for what is to be seen; behind the frame that shows it, it is painted.
_WATCH = """
(places) => {
  const isThere = ([where, text]) =>
    [...document.querySelectorAll(where)].some((one) => one.textContent.includes(text));
  const look = () => {
    if (!Object.entries(places).every(isThere)) return requestAnimationFrame(look);
    const seen = () => { document.documentElement.dataset.seen = performance.now(); };
    requestAnimationFrame(() => setTimeout(seen));
  };
  requestAnimationFrame(look);
}
"""


async def _code(address: Address) -> str:
    async with calling(address) as caller:
        made = await caller.post("/api/v1/links")
    return str(made["url"]).rpartition("=")[2]


class _Visit:
    """A page that is looked at for the first time."""

    def __init__(self, page: Page, devtools: CDPSession, url: str) -> None:
        self._page = page
        self._devtools = devtools
        self._url = url

    async def first_view(self, path: str, places: dict[str, str]) -> float:
        """From the click on an address until the page has painted the text that belongs into each
        place, in milliseconds. The page itself looks at its clock: who asks it has to wait."""
        await self._page.goto("about:blank")
        await self._page.add_init_script(f"({_WATCH})({json.dumps(places)})")
        await self._page.goto(f"{self._url}{path}", wait_until="commit")
        await self._page.locator("html[data-seen]").wait_for(state="attached", timeout=60_000)
        return float(await self._page.locator("html").get_attribute("data-seen") or 0)

    async def close(self) -> None:
        await self._page.context.close()

    async def scroll(self, where: str) -> list[float]:
        took: list[float] = await self._page.evaluate(_SCROLL, [where, SCROLL_SECONDS])
        return took

    async def scrub(self, path: str, events: int, say: Say) -> Line:
        """With the task selected whose session is as long as the run."""
        return await measure_scrubber(self._page, f"{self._url}{path}#node=0", events, say)

    async def heap_mb(self) -> float:
        # Playwright's types say nothing of what DevTools answers.
        send = cast("Callable[[str], Awaitable[dict[str, Any]]]", self._devtools.send)  # pyright: ignore[reportUnknownMemberType]
        await send("HeapProfiler.collectGarbage")
        return float((await send("Runtime.getHeapUsage"))["usedSize"]) / 2**20


async def _visit(browser: Browser, url: str, address: Address) -> _Visit:
    context = await browser.new_context(viewport={"width": 1440, "height": 900})
    page = await context.new_page()
    await page.goto(f"{url}/#code={await _code(address)}")
    await page.get_by_role("navigation", name="Pages").wait_for()
    return _Visit(page, await context.new_cdp_session(page), url)


async def _filled(folder: Path, events: int, say: Say) -> tuple[str, str]:
    """A run like one that was really started and stopped, and a session that is its first task's;
    both are in the log alone."""
    data, work = prepare(folder)
    entry = folder / "entry.json"
    entry.write_text(json.dumps(wide_entry(ROWS, COLUMNS)), encoding="utf-8")
    async with (
        rehearsal(folder) as source,
        airboss(folder, source, options=("--entry", str(entry))) as server,
        calling(server.address) as caller,
    ):
        started = await caller.post("/api/v1/runs", {"job": "wide", "cwd": str(work)})
        await caller.post(f"/api/v1/runs/{started['id']}/stop")
    tasks = [f"task-{row}-{column}" for row in range(ROWS) for column in range(COLUMNS)]
    run, session = await fill(data, work, str(started["id"]), tasks, events)
    say(f"filled a run and a session with {events:,} events each")
    return run, session


async def measure(folder: Path, quick: bool, say: Say) -> list[Line]:
    browser_path = chromium()
    if browser_path is None:
        raise Failed(MISSING)
    events = EVENTS // 10 if quick else EVENTS
    run, session = await _filled(folder, events, say)
    pages = (
        (
            "session",
            f"/index.html?session={session}",
            {"article.message": f"Answer {events // 8 - 1}"},
            (".conv",),
        ),
        (
            "tracking",
            f"/jobTracking.html?jobName=wide&jobId={run}",
            {"h1": "JOB: SUCCEEDED", ".flow g.node": "task-0-", ".gantt": "task-0-"},
            (".chart",),
        ),
    )
    lines: list[Line] = []
    async with airboss(folder) as server, async_playwright() as playwright:
        url = f"http://localhost:{server.address.port}"
        launched = playwright.chromium.launch(executable_path=browser_path, args=FLAGS)
        async with await launched as browser:
            for name, path, places, boxes in pages:
                views: list[float] = []
                for _ in range(VISITS - 1):
                    visit = await _visit(browser, url, server.address)
                    views.append(await visit.first_view(path, places))
                    await visit.close()
                visit = await _visit(browser, url, server.address)
                views.append(await visit.first_view(path, places))
                frames = [await visit.scroll(box) for box in boxes]
                heap = await visit.heap_mb()
                await visit.close()
                lines.append(_line(name, events, median(views), frames, heap, say))
            visit = await _visit(browser, url, server.address)
            lines.append(
                await visit.scrub(f"/jobTracking.html?jobName=wide&jobId={run}", events, say)
            )
            await visit.close()
    return lines


def _line(
    name: str, events: int, first: float, frames: list[list[float]], heap: float, say: Say
) -> Line:
    slowest = max(percentile(took, 0.95) for took in frames)
    found = f"{first:.0f} ms; {slowest:.0f} ms; {heap:.0f} MB"
    say(f"the {name} page: {found}")
    size = (
        f"{ROWS * COLUMNS:,} nodes, {events:,} events"
        if name == "tracking"
        else f"{events:,} events"
    )
    what = f"the {name} page, {size}: first view; 95 % of the frames of a scroll; heap"
    met = first <= FIRST_MS and slowest <= FRAME_MS and heap <= HEAP_MB
    return Line("l", what, found, f"≤ {FIRST_MS} ms; ≤ {FRAME_MS} ms; ≤ {HEAP_MB} MB", met)
