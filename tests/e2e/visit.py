"""How a test visits a page: as somebody who is let in, and with an eye on who could not use it."""

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import httpx2
from playwright.sync_api import Browser, Locator, Page, ViewportSize, expect

from tests.e2e.witness import Quiet
from tests.portal import Portal
from tests.signing import sign_in
from tests.trials import IS_WHOLE

AXE = Path(__file__).parents[2] / "web/node_modules/axe-core/axe.min.js"

Theme = Literal["light", "dark"]
WIDTHS = (360, 1600)


def asked(portal: Portal, method: str, path: str, body: object = None) -> httpx2.Response:
    """What a script with the token would be answered."""
    headers = {"Authorization": f"Bearer {portal.token}"}
    return httpx2.request(method, portal.url + path, headers=headers, json=body, timeout=30)


def link(portal: Portal) -> str:
    """A fresh address, as `airboss link` prints it."""
    return str(asked(portal, "POST", "/api/v1/links").json()["url"])


def signed_in(page: Page, portal: Portal, token: str | None = None) -> Page:
    """The page of a browser that came in by an address before; no page is open yet."""
    signed = sign_in(portal.url, token or portal.token)
    page.context.add_cookies(
        [
            {
                "name": signed.cookie_name,
                "value": signed.cookie,
                "url": portal.url,
                "httpOnly": True,
                "sameSite": "Strict",
            }
        ]
    )
    page.context.add_init_script(
        f"if (location.origin === {json.dumps(portal.url)})"
        f" localStorage['airboss.keys'] ??= {json.dumps(signed.key)}"
    )
    return page


def window(browser: Browser, portal: Portal, theme: Theme = "light", width: int = 1440) -> Page:
    """A signed-in page in a window of its own, by day or by night."""
    viewport: ViewportSize = {"width": width, "height": 900}
    context = browser.new_context(color_scheme=theme, viewport=viewport, reduced_motion="reduce")
    return signed_in(context.new_page(), portal)


def calm(page: Page) -> Page:
    """Everything that the page asked for at first is there, and nothing moves any more."""
    page.emulate_media(reduced_motion="reduce")
    expect(page.get_by_role("main")).to_be_visible()
    expect(page.locator("[aria-busy=true]")).to_have_count(0, timeout=15_000)
    return page


def new_session(portal: Portal, text: str | None = None) -> str:
    """A session on the rehearsal model, with a first request if there is a text."""
    asked_for = {"model": "rehearsal", "cwd": str(portal.work)}
    session = str(asked(portal, "POST", "/api/v1/sessions", asked_for).json()["id"])
    if text is not None:
        answer = asked(portal, "POST", f"/api/v1/sessions/{session}/prompts", {"text": text})
        assert answer.status_code == 202, answer.text
    return session


def usable_by_all(browser: Browser, portal: Portal, *views: Callable[[Page], object]) -> None:
    """On a phone and on a wide screen, by day and by night: nobody is shut out of any view, nothing
    scrolls sideways, and nothing is complained of. The trials audit every view on both, the tests
    on one of them in turn."""
    for turn, width in enumerate(WIDTHS):
        page = window(browser, portal, width=width)
        quiet = Quiet(page)
        for number, view in enumerate(views, turn):
            view(page)
            calm(page)
            fits(page)
            if IS_WHOLE or number % len(WIDTHS) == 0:
                _audit_by_day_and_by_night(page)
        quiet.check()
        page.context.close()


def _audit_by_day_and_by_night(page: Page) -> None:
    audit(page)
    # By night there are other colours, and the rest is the same.
    by_day = _background(page)
    page.emulate_media(color_scheme="dark")
    assert _background(page) != by_day
    audit(page, runOnly=["color-contrast", "link-in-text-block"])
    page.emulate_media(color_scheme="light")


def _background(page: Page) -> str:
    return str(page.evaluate("getComputedStyle(document.documentElement).backgroundColor"))


def audit(page: Page, **options: object) -> None:
    """Nobody is shut out: axe-core has nothing serious to say about the page as it stands."""
    if not page.evaluate("'axe' in window"):
        # Not by a script tag: the page's content policy allows none.
        page.evaluate(AXE.read_text(encoding="utf-8"))
    found: list[dict[str, Any]] = page.evaluate(
        "(options) => axe.run(options).then((told) => told.violations)",
        {"resultTypes": ["violations"], **options},
    )
    serious = [finding for finding in found if finding["impact"] in ("serious", "critical")]
    assert serious == [], json.dumps(
        [[finding["id"], [node["html"] for node in finding["nodes"]]] for finding in serious],
        indent=1,
    )


def fits(page: Page) -> None:
    """Nothing makes the page scroll sideways."""
    width = page.evaluate("innerWidth")
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def is_wide(part: Locator, width: float) -> None:
    """Soon, give or take a pixel: a bar that is dragged moves with the next frame."""
    until = time.monotonic() + 15
    while abs((found := part.evaluate("(it) => it.getBoundingClientRect().width")) - width) > 1:
        assert time.monotonic() < until, found
        time.sleep(0.02)
