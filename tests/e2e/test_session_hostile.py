"""A model that means harm: what it says is shown, and does nothing."""

import json
import re
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.sessions import at_page
from tests.e2e.visit import new_session
from tests.e2e.witness import Quiet
from tests.portal import Portal
from tests.trials import IS_WHOLE, share, whole_only

TRAP = """# A title
<script>window.caught = 1</script>
<img src="https://elsewhere.example/x.png" onerror="window.caught = 2">
![a picture](https://elsewhere.example/y.png)
<svg onload="window.caught = 3"><a href="javascript:window.caught=4">here</a></svg>
[a link](javascript:window.caught=5) <form action="https://elsewhere.example"><input name=q></form>
<iframe src="https://elsewhere.example"></iframe><style>body { display: none }</style>
<details open ontoggle="window.caught = 6">x</details>
a \u202eturned\u202c and \u0007rung and \u001b[31mred line
"""
SCRIPT = json.dumps(
    {
        "chunk_chars": 2_000,
        "models": [{"id": "rehearsal", "name": "Rehearsal", "multiplier": 0}],
        "rules": [
            {
                "when": "A title",
                "steps": [
                    {"reasoning": TRAP},
                    {"say": TRAP},
                    {"call": {"tool": "view", "arguments": {"path": TRAP}}},
                    {"call": {"tool": "<b onclick=x>bold</b>\u202e", "arguments": {"a": TRAP}}},
                    {"say": "Done."},
                ],
            },
            {"when": "flood", "steps": [{"say": "0123456789 <b>\n" * 200_000}]},
        ],
    }
)
FORBIDDEN = "script, img, svg:not(.i), iframe, form, style, input, object, [onerror], [onclick]"


@pytest.fixture(scope="module")
def portal(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Portal]:
    portal = Portal(tmp_path_factory.mktemp("hostile"), script=SCRIPT)
    portal.start()
    yield portal
    portal.stop()


def test_nothing_that_a_model_says_runs_is_fetched_or_leaves_its_block(
    portal: Portal, page: Page, quiet: Quiet
) -> None:
    person = at_page(portal, page, new_session(portal, TRAP))
    person.is_idle()
    expect(person.block("Message")).to_contain_text("Done.")
    closed = person.log.locator("[data-step][aria-expanded=false]")
    while closed.count() > 0:
        closed.first.click()
    raws = page.get_by_role("button", name="View Raw Data")
    for _ in range(2):  # rendered, then raw
        assert person.log.locator(FORBIDDEN).count() == 0
        assert page.evaluate("window.caught") is None
        assert person.log.locator("a[href^=javascript]").count() == 0
        while raws.count() > 0:
            raws.first.click()
    expect(person.log).to_contain_text("<script>")
    expect(person.log).to_contain_text("⟨U+202E⟩")
    expect(person.log).to_contain_text("⟨U+0007⟩")
    expect(page).to_have_title("# A title · Airboss")
    assert "\u202e" not in page.evaluate("document.body.innerText")
    quiet.check()


def test_a_flood_leaves_the_page_usable(portal: Portal, page: Page, quiet: Quiet) -> None:
    person = at_page(portal, page)
    person.says("flood")
    expect(person.button("Send")).to_be_enabled(timeout=60_000)
    message = person.block("Message")
    expect(message).to_contain_text("hidden")
    assert message.evaluate("block => block.textContent.length") < 100_000
    person.request.fill("still here")
    # Of three million characters half a million is kept, and what is not is counted.
    expect(message).to_contain_text(re.compile(r"2,475,\d{3} characters left out in the middle"))
    message.locator(".hd").click()
    expect(message).not_to_contain_text("hidden")
    quiet.check()


DROPS = share(8_000, 100_000)
DRIPPING = json.dumps(
    {
        "chunk_chars": 1,
        "chunk_ms": 0,
        "models": [{"id": "rehearsal", "name": "Rehearsal", "multiplier": 0}],
        "rules": [{"when": "drip", "steps": [{"say": "<b>drop\n" * (DROPS // 8)}]}],
    }
)


@whole_only
@pytest.mark.timeout(300)
def test_a_flood_of_single_letters_leaves_the_page_usable(
    tmp_path: Path, page: Page, quiet: Quiet
) -> None:
    portal = Portal(tmp_path, script=DRIPPING)
    portal.start()
    try:
        person = at_page(portal, page)
        person.says("drip")
        keys = page.get_by_role("dialog", name="Keyboard shortcuts")
        while person.view["turns"] == 0:  # whoever presses a key meanwhile is answered
            person.log.focus()
            page.keyboard.press("?")
            expect(keys).to_be_visible(timeout=5_000)
            page.keyboard.press("Escape")
            expect(keys).to_have_count(0, timeout=5_000)
            time.sleep(2)
        person.is_idle()
        assert person.view["seq"] > DROPS / 2  # a few may have come together
        # The runtime says a part of it twice; the page shows it once.
        assert person.events("message.ended")[0]["text"].count("drop") == DROPS // 8
        expect(person.log.locator("article.blk.message")).to_have_count(1)
        # A busy machine draws the last of it a while after the server is done.
        message = person.block("Message")
        expect(message.get_by_text("[receiving...]")).to_have_count(0, timeout=30_000)
        if IS_WHOLE:
            expect(message).to_contain_text("hidden")
        else:
            assert message.inner_text().count("drop") == DROPS // 8
        assert page.evaluate("document.querySelectorAll('*').length") < 5_000
        quiet.check()
    finally:
        portal.stop()
