"""A model that means harm: whatever it writes, nothing runs, nothing is fetched, nothing hides."""

import json
import time
from collections.abc import Iterator

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.e2e.visit import asked, new_session, signed_in
from tests.e2e.witness import Quiet
from tests.portal import Portal
from tests.trials import whole_only

BAD = "window.ran=(window.ran||0)+1"
HERE = "https://evil.invalid"
VECTORS = [
    f"<script>{BAD}</script>",
    f"<img src=x onerror='{BAD}'>",
    f"<img src='{HERE}/a.png'>",
    f"![a picture]({HERE}/b.png)",
    f"![a picture]({HERE}/b2.png 'x\" onerror=\"{BAD}')",
    f"<svg onload='{BAD}'><circle/></svg>",
    f"<svg><script>{BAD}</script></svg>",
    f"<svg><a xlink:href='javascript:{BAD}'><text>go</text></a></svg>",
    f"<math><mtext><table><mglyph><style><img src=x onerror='{BAD}'>",
    f"<iframe src='javascript:{BAD}'></iframe>",
    f"<iframe srcdoc='<script>parent.{BAD}</script>'></iframe>",
    f"<object data='{HERE}/c'></object><embed src='{HERE}/d'>",
    f"<video src='{HERE}/e' autoplay></video><audio src='{HERE}/f'></audio>",
    f"<link rel=stylesheet href='{HERE}/g.css'><link rel=preload href='{HERE}/g' as=image>",
    f"<style>@import '{HERE}/h.css'; .btn {{ display: none }}</style>",
    f"<div style='background:url({HERE}/i.png);position:fixed;inset:0'>over all</div>",
    f"<meta http-equiv=refresh content='0;url={HERE}/j'>",
    f"<base href='{HERE}/'>",
    f"<form action='{HERE}/k'><input name=q autofocus onfocus='{BAD}'><button>Go</button></form>",
    f"<button onclick='{BAD}'>Allow once</button>",
    f"<a href='javascript:{BAD}'>raw link</a>",
    f"[markdown link](javascript:{BAD})",
    f"[tabbed link](java\tscript:{BAD})",
    f"[entity link](&#106;avascript:{BAD})",
    f"[colon link](javascript&colon;{BAD})",
    f"[data link](data:text/html,<script>{BAD}</script>)",
    f"[vb link](vbscript:{BAD})",
    f"[blob link](blob:{HERE}/x)",
    f"<javascript:{BAD}>",
    f"[https://good.invalid]({HERE}/phish)",
    f"[reference][r]\n\n[r]: javascript:{BAD}",
    f"<details open ontoggle='{BAD}'><summary>more</summary>x</details>",
    f"<p id=content name=body class='top btn primary' onmouseover='{BAD}'>clobbers</p>",
    "<form id=page><input id=innerHTML></form><a id=document name=cookie>clobbers</a>",
    f"<template><script>{BAD}</script></template>",
    f"<noscript><p title='</noscript><img src=x onerror={BAD}>'>",
    f"<!--><img src=x onerror='{BAD}'>-->",
    f"<x-element onclick='{BAD}'>custom</x-element>",
    f"`` `<img src=x onerror='{BAD}'>` ``",
    f"```html\"><img src=x onerror='{BAD}'>\n<img src=x onerror='{BAD}'>\n```",
    f"| a | b |\n|---|---|\n| <img src=x onerror='{BAD}'> | <b onclick='{BAD}'>b</b> |",
    f"# <img src=x onerror='{BAD}'> heading {{#content}}",
    "<plaintext>the rest",
    "<textarea><title><select><option>the rest",
]
# So many messages of one session are looked at together.
TOGETHER = 9
SAFE = (
    "# A plan\n\nRun `make`, **now**.\n\n```python\nprint('hi')\n```\n\n- [x] done\n\n"
    "| a | b |\n|---|---|\n| 1 | 2 |\n"
)
HIDDEN = (
    "**Approve** \u202eevil\u202c and zero\u200bwidth, tag\U000e0041ged\n\n"
    "```\nif (\u2066x\u2069)\n```\n"
)
# Minutes of work for a parser that tries every way to read it.
ENDLESS = "_a__b" * 30_000

TEXTS = {
    "safe": SAFE,
    "hidden": HIDDEN,
    "endless": ENDLESS,
    **{f"vector {number:02}": f"# Report\n\n{text}" for number, text in enumerate(VECTORS)},
    "everything": "\n\n".join(["# Report", *VECTORS]),
}


def script() -> str:
    rules = [{"when": f"^say {name}$", "steps": [{"say": text}]} for name, text in TEXTS.items()]
    # JSON is YAML, but for the pairs in which it escapes what lies beyond the first plane.
    return json.dumps({"models": [{"id": "rehearsal"}], "rules": rules}, ensure_ascii=False)


@pytest.fixture(scope="module")
def portal(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Portal]:
    portal = Portal(tmp_path_factory.mktemp("hostile"), script=script())
    portal.start()
    yield portal
    portal.stop()


def shown(page: Page, portal: Portal, name: str) -> Locator:
    """The message of a session in which the model said it."""
    session = new_session(portal, f"say {name}")
    signed_in(page, portal).goto(f"{portal.url}/index.html?session={session}")
    return page.locator(".blk.message").last


HARM = """() => {
  const inside = [...document.querySelectorAll(".message .prose, .message .prose *")];
  const attributes = inside.flatMap((one) => [...one.attributes].map((a) => a.name));
  const ours = ["class", "href", "target", "rel", "title", "tabindex", "role", "aria-label",
    "aria-live", "aria-hidden", "type", "viewBox", "cx", "cy", "r", "d", "x", "y", "width",
    "height", "rx", "open"];
  const outsideOfButtons = inside.filter((one) => !one.closest("button.copy"));
  return {
    ran: window.ran ?? 0,
    tags: [...new Set(outsideOfButtons.map((one) => one.tagName.toLowerCase()))],
    attributes: [...new Set(attributes)].filter((name) => !ours.includes(name)),
    links: inside.filter((one) => one.matches("a")).map((a) => [a.protocol, a.target, a.rel]),
    classes: [...new Set(outsideOfButtons.flatMap((one) => [...one.classList]))],
  };
}"""
TAGS = {
    *("a", "b", "blockquote", "br", "code", "del", "details", "div", "em", "h3", "h4", "h5", "h6"),
    *("hr", "i", "ins", "kbd", "li", "mark", "ol", "p", "pre", "s", "small", "span", "strong"),
    *("sub", "summary", "sup", "table", "tbody", "td", "th", "thead", "tr", "u", "ul"),
}
CLASSES = {"prose", "codebox", "code", "grow", "scroll", "tbl"}


def is_harmless(page: Page) -> None:
    # The page's own mark, where it still writes.
    expect(page.locator(".message .caret")).to_have_count(0, timeout=30_000)
    found = page.evaluate(HARM)
    assert found["ran"] == 0
    assert set(found["tags"]) <= TAGS
    assert found["attributes"] == []
    for protocol, target, rel in found["links"]:
        assert protocol in {"http:", "https:", "mailto:"}
        assert (target, rel) == ("_blank", "noopener noreferrer")
    unknown = {name for name in found["classes"] if not name.startswith(("hljs-", "language-"))}
    assert unknown <= CLASSES


@pytest.mark.timeout(180)
@pytest.mark.parametrize("begin", range(0, len(VECTORS), TOGETHER))
def test_nothing_that_a_model_writes_runs_or_is_fetched(
    portal: Portal, page: Page, quiet: Quiet, begin: int
) -> None:
    page.on("dialog", lambda dialog: pytest.fail(f"a dialog: {dialog.message}"))
    numbers = range(begin, min(begin + TOGETHER, len(VECTORS)))
    session = new_session(portal)
    for number in numbers:
        words = {"text": f"say vector {number:02}"}
        asked(portal, "POST", f"/api/v1/sessions/{session}/prompts", words)
    page.set_viewport_size({"width": 1200, "height": 6_000})  # what is out of view is not drawn
    signed_in(page, portal).goto(f"{portal.url}/index.html?session={session}")
    reports = page.locator(".blk.message").get_by_role("heading", name="Report")
    expect(reports).to_have_count(len(numbers), timeout=30_000)
    is_harmless(page)
    assert page.url.startswith(portal.url)
    quiet.check()


@whole_only
def test_all_of_it_at_once_does_no_more(portal: Portal, page: Page, quiet: Quiet) -> None:
    message = shown(page, portal, "everything")
    expect(message.get_by_role("heading", name="Report")).to_be_visible(timeout=20_000)
    expect(message).to_contain_text("<script>")
    for link in message.locator(".prose a").all():
        link.hover()
    is_harmless(page)
    expect(page.get_by_role("button", name="Allow once")).to_have_count(0)
    address = message.get_by_role("link", name="https://good.invalid")
    expect(address).to_have_attribute("title", f"{HERE}/phish")
    quiet.check()


def test_an_honest_text_is_drawn(portal: Portal, page: Page, quiet: Quiet) -> None:
    message = shown(page, portal, "safe")
    expect(message.get_by_role("heading", name="A plan")).to_be_visible(timeout=20_000)
    expect(message.locator("strong")).to_have_text("now")
    expect(message.locator(".codebox .hljs-string")).to_have_text("'hi'")
    expect(message.locator(".codebox").get_by_role("button", name="Copy")).to_be_visible()
    expect(message.get_by_role("cell", name="2")).to_be_visible()
    expect(message).to_contain_text("☑ done")
    is_harmless(page)
    quiet.check()


def test_what_cannot_be_seen_is_seen(portal: Portal, page: Page, quiet: Quiet) -> None:
    message = shown(page, portal, "hidden")
    expect(message.locator("strong")).to_have_text("Approve", timeout=20_000)
    for mark in ("⟨U+202E⟩evil", "zero⟨U+200B⟩width", "tag⟨U+E0041⟩ged", "(⟨U+2066⟩x⟨U+2069⟩)"):
        expect(message).to_contain_text(mark)
    quiet.check()


@whole_only
def test_a_text_that_takes_for_ever_does_not_hold_the_page(
    portal: Portal, page: Page, quiet: Quiet
) -> None:
    message = shown(page, portal, "endless")
    expect(message).to_contain_text("_a__b_a__b", timeout=20_000)
    for _ in range(8):
        began = time.monotonic()
        page.evaluate("new Promise(requestAnimationFrame)")
        assert time.monotonic() - began < 5
        time.sleep(0.5)
    quiet.check()
