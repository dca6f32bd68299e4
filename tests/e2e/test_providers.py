"""A provider of one's own, added, tested, given another key and removed on the Settings page."""

import json
import re
import subprocess
import sys
import time
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from tests.e2e.visit import asked, signed_in, usable_by_all
from tests.e2e.witness import Quiet
from tests.portal import SCRIPT, Portal
from tests.trials import trial

KEY = "key-of-the-house-0123456789"
MODELS = "models:\n  - {id: grand}\n  - {id: small}\n  - {id: bge-m3}\n"
# The models are listed by the agent runtime, which has to start.
SLOW = 45_000


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A model service in a process of its own; its address."""
    script = tmp_path_factory.mktemp("service") / "script.yaml"
    script.write_text(MODELS + SCRIPT[SCRIPT.index("rules:") :], encoding="utf-8")
    words = ["-m", "airboss.runtime.rehearsal", "--script", str(script), "--key", KEY]
    with subprocess.Popen([sys.executable, *words], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        yield json.loads(process.stdout.readline())["base_url"]
        process.terminate()


@pytest.fixture(scope="module")
def portal(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Portal]:
    portal = Portal(tmp_path_factory.mktemp("providers"), script=None)
    addresses = ("COPILOT_API_URL", "COPILOT_DEBUG_GITHUB_API_URL")
    portal.extra_environ.update(dict.fromkeys(addresses, "http://127.0.0.1:9"))
    portal.start()
    yield portal
    portal.stop()


@pytest.fixture
def settings(portal: Portal, page: Page) -> Iterator[Page]:
    quiet = Quiet(page)
    signed_in(page, portal).goto(f"{portal.url}/settings.html#providers")
    yield page
    quiet.check(but="status of 4")


@pytest.mark.timeout(150)
@trial
def test_a_provider_is_added_used_mended_and_removed(
    portal: Portal, service: str, settings: Page, browser: Browser
) -> None:
    panel = settings.get_by_role("region", name="Providers")
    panel.get_by_role("button", name="Add a provider").click()
    form = panel.get_by_role("form", name="Add a provider")
    form.get_by_label("Name").fill("lab")
    # What cannot be is said before anything is asked.
    form.get_by_label("Address").fill("http://llm.example.com/v1")
    expect(form).to_contain_text("without TLS: others on it can read the key")
    form.get_by_role("button", name="Test").click()
    expect(form).to_contain_text("Over http everybody on the way can read the key")
    form.get_by_label("Address").fill(service)
    form.get_by_label("Key").fill("wrong-key-0123456789")
    form.get_by_role("button", name="Test").click()
    expect(form).to_contain_text("lab does not work yet.")
    expect(form).to_contain_text("refused the key (401)")
    form.get_by_label("Key").fill(KEY)
    form.get_by_role("button", name="Test").click()
    expect(form).to_contain_text("lab answered in")
    expect(form).to_contain_text("One call to grand")
    expect(form.get_by_role("checkbox", name="grand")).to_be_checked()
    expect(form.get_by_role("checkbox", name="bge-m3")).to_be_disabled()
    form.get_by_role("checkbox", name="small").check()
    form.get_by_role("button", name="Add lab with 2 models").click()
    expect(form).to_have_count(0)
    row = panel.get_by_role("listitem").filter(has_text="lab")
    expect(row).to_contain_text("OpenAI-compatible")
    expect(row).to_contain_text("key in a private file")
    models = settings.get_by_role("region", name="Models", exact=True)
    expect(models).to_contain_text("lab/small", timeout=SLOW)

    # Another window follows, and says when the key is refused.
    other = signed_in(browser.new_context(reduced_motion="reduce").new_page(), portal)
    other.goto(f"{portal.url}/settings.html#providers")
    seen = other.get_by_role("region", name="Providers").get_by_role("listitem")
    expect(seen.filter(has_text="lab")).to_be_visible()
    row.get_by_role("button", name="Change the key of lab").click()
    row.get_by_label("New key", exact=True).fill("wrong-key-0123456789")
    row.get_by_role("button", name="Save and test").click()
    expect(row).to_contain_text("Failing")
    expect(seen.filter(has_text="lab").first).to_contain_text("Failing")
    row.get_by_role("button", name="Change the key of lab").click()
    row.get_by_label("New key", exact=True).fill(KEY)
    row.get_by_role("button", name="Save and test").click()
    expect(row).to_contain_text("lab answered in")
    expect(row).to_contain_text("Fine")
    row.get_by_role("checkbox", name="grand").uncheck()
    row.get_by_role("button", name="Use 1 model").click()
    expect(row.locator(".mod")).to_have_text(["small"])

    # It is a model like others.
    done = portal.run("chat", "--model", "lab/small", "--keep", "hello")
    assert "Hello, captain." in done.stdout, done.stderr
    expect(row).to_contain_text("1 session is open")

    viewer = portal.run("token", "add", "eye", "--role", "decide").stdout.strip()
    guest = signed_in(browser.new_context(reduced_motion="reduce").new_page(), portal, viewer)
    guest.goto(f"{portal.url}/settings.html#providers")
    theirs = guest.get_by_role("region", name="Providers")
    expect(theirs.get_by_role("listitem").filter(has_text="lab")).to_contain_text("Fine")
    for name in ("Test lab", "Remove lab", "Change the key of lab", "Add a provider"):
        expect(theirs.get_by_role("button", name=name)).to_be_disabled()
    expect(theirs).to_contain_text("you need the role own")

    def add(page: Page) -> None:
        page.goto(f"{portal.url}/settings.html#sign-in")
        expect(page.get_by_role("form", name="Sign in with a token")).to_be_visible()
        page.get_by_role("button", name="Add a provider").click()
        expect(page.get_by_role("form", name="Add a provider")).to_be_visible()

    usable_by_all(browser, portal, add)

    row.get_by_role("button", name="Remove lab").click()
    dialog = settings.get_by_role("dialog", name="Remove the provider lab?")
    expect(dialog).to_contain_text("will fail at the next request")
    dialog.get_by_role("button", name="Remove").click()
    expect(row).to_have_count(0)
    expect(seen).to_have_count(0)
    assert asked(portal, "GET", "/api/v1/providers").json()["items"] == []
    assert list((portal.data / "secrets").iterdir()) == []


def test_a_token_that_does_not_work_is_told_and_not_kept(portal: Portal, settings: Page) -> None:
    panel = settings.get_by_role("region", name="Copilot accounts")
    expect(panel.get_by_role("listitem")).to_contain_text("signed in to the Copilot CLI")
    panel.get_by_role("button", name="Sign in with a token").click()
    form = panel.get_by_role("form", name="Sign in with a token")
    form.get_by_label("Name").fill("work")
    form.get_by_label("Token").fill("no-token-0123456789")
    form.get_by_role("button", name="Sign in and test").click()
    expect(form).to_contain_text("Could not sign in with this token.", timeout=SLOW)
    form.get_by_role("button", name="Cancel").click()
    assert [one["name"] for one in asked(portal, "GET", "/api/v1/accounts").json()["items"]] == [
        "cli"
    ]


def test_an_account_that_rests_is_fine_again_when_that_is_over(
    portal: Portal, settings: Page
) -> None:
    def resting(route: Route) -> None:
        answer = route.fetch()
        body = answer.json()
        until = time.time() * 1_000 + 1_000
        body["items"][0] |= {"state": "resting", "resting_until": until, "why": "At its limit."}
        route.fulfill(response=answer, json=body)

    settings.route("**/api/v1/accounts", resting)
    settings.reload()
    row = settings.get_by_role("region", name="Copilot accounts").get_by_role("listitem")
    expect(row).to_contain_text("Resting")
    expect(row).to_contain_text("then it is tried again")
    settings.unroute("**/api/v1/accounts")
    expect(row).not_to_contain_text("Resting")


def test_lists_whose_first_answer_was_lost_are_there_when_the_server_answers(
    portal: Portal, page: Page
) -> None:
    paths = re.compile("/api/v1/(accounts|providers|rules|trust|settings|extensions|models)$")
    page.route(paths, lambda route: route.abort())
    signed_in(page, portal).goto(f"{portal.url}/settings.html#providers")
    part = page.get_by_role("link", name="Accounts and providers")
    expect(part).to_have_attribute("aria-current", "true")
    accounts = page.get_by_role("region", name="Copilot accounts")
    expect(accounts).to_contain_text("The server is not responding.")
    page.unroute(paths)
    expect(accounts.get_by_role("listitem")).to_have_count(1)
    expect(accounts).not_to_contain_text("not responding")
    for name in ("Providers", "Rules", "Server settings", "Trusted files and folders"):
        part = page.get_by_role("region", name=name)
        expect(part).to_have_attribute("aria-busy", "false")
        expect(part).not_to_contain_text("not responding")
