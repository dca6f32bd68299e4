"""(l) The scrubber of the run page, in a real Chromium: how long frames and tasks take while the
moment is dragged along the axis, and while the run is played at fifty times its speed."""

import asyncio
import math
import time
from dataclasses import dataclass

from playwright.async_api import Page

from bench.figures import percentile
from bench.table import Line, Say

SECONDS = 5.0
FRAME_MS = 33.5  # two frames of a screen with 60 Hz, and the clock's error
TASK_MS = 100

# Notes every frame, and what kept the page busy for more than 50 ms: shorter tasks have no entry.
_WATCH = """
() => {
  const noted = { frames: [], tasks: [0], last: performance.now(), on: true };
  window.noted = noted;
  noted.observer = new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) noted.tasks.push(entry.duration);
  });
  noted.observer.observe({ type: "longtask" });
  const frame = (now) => {
    noted.frames.push(now - noted.last);
    noted.last = now;
    if (noted.on) requestAnimationFrame(frame);
  };
  requestAnimationFrame(frame);
}
"""
_STOP = """
() => {
  noted.on = false;
  for (const entry of noted.observer.takeRecords()) noted.tasks.push(entry.duration);
  noted.observer.disconnect();
  return { frames: noted.frames.slice(1), longest: Math.max(...noted.tasks) };
}
"""


@dataclass(frozen=True)
class Moved:
    """What frames and tasks took while the moment moved, in milliseconds."""

    frames: list[float]
    longest: float

    @property
    def words(self) -> str:
        half, most = percentile(self.frames, 0.5), percentile(self.frames, 0.95)
        longest = f"{self.longest:.0f} ms" if self.longest else "≤ 50 ms"
        return f"{half:.0f} / {most:.0f} ms, {longest}"

    @property
    def is_fluid(self) -> bool:
        return percentile(self.frames, 0.95) <= FRAME_MS and self.longest <= TASK_MS


async def _noted(page: Page) -> Moved:
    told = await page.evaluate(_STOP)
    return Moved(told["frames"], told["longest"])


async def _until_whole(page: Page) -> None:
    """Until the transcript has its first words: they come last."""
    await page.get_by_role("slider", name="Time in the run").press("Home")
    await page.locator(".sess .conv").get_by_text("Request").first.wait_for(timeout=60_000)
    await page.get_by_role("slider", name="Time in the run").press("End")
    await page.locator(".pastbar").wait_for(state="detached")


async def _dragged(page: Page) -> Moved:
    """To and fro over the whole axis, as fast as a hand does."""
    box = await page.locator(".axis").bounding_box()
    if box is None:
        raise RuntimeError("The page has no axis.")
    left, width, y = box["x"] + 140, box["width"] - 190, box["y"] + 29
    await page.mouse.move(left + width, y)
    await page.mouse.down()
    await page.mouse.move(left + width / 2, y)
    await page.evaluate(_WATCH)
    began = time.monotonic()
    while (after := time.monotonic() - began) < SECONDS:
        await page.mouse.move(left + width * (0.5 + 0.48 * math.sin(2.5 * after)), y)
        await asyncio.sleep(0.004)
    moved = await _noted(page)
    await page.mouse.up()
    return moved


async def _played(page: Page) -> Moved:
    await page.get_by_role("combobox", name="Speed").select_option("50")
    await page.get_by_role("button", name="Play").click()
    await page.locator(".pastbar").wait_for()
    await page.evaluate(_WATCH)
    await asyncio.sleep(SECONDS)
    moved = await _noted(page)
    await page.get_by_role("button", name="Pause").click()
    await page.keyboard.press("Escape")
    return moved


async def measure_scrubber(page: Page, address: str, events: int, say: Say) -> Line:
    await page.goto(address)
    await _until_whole(page)
    dragged = await _dragged(page)
    played = await _played(page)
    found = f"dragged: {dragged.words}; played: {played.words}"
    say(f"the scrubber: {found}")
    what = f"the scrubber, {events:,} events, {events // 5:,} in the shown session"
    return Line(
        "l",
        f"{what}: p50 / p95 of the frames, longest task; dragged, and played at 50 times",
        found,
        f"p95 ≤ 33 ms, ≤ {TASK_MS} ms",
        dragged.is_fluid and played.is_fluid,
    )
