"""An extension as a new user has it: created, tested, trusted on the page, used and reloaded."""

import time
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.e2e.visit import asked, new_session, signed_in, usable_by_all
from tests.e2e.witness import Quiet
from tests.portal import Portal

SCRIPT = """
models:
  - {id: rehearsal, name: Rehearsal, multiplier: 0}
rules:
  - when: "greet"
    steps:
      - call: {tool: my_tools_hello, arguments: {name: captain}}
      - say: "Greeted."
  - when: "reload"
    steps:
      - call: {tool: extensions_reload, arguments: {}}
      - call: {tool: my_tools_bye, arguments: {name: captain}}
      - say: "Reloaded."
"""
MORE = '''

@tool
def my_tools_bye(name: str) -> str:
    """Says good bye."""
    return f"Good bye, {name}!"
'''
PART = "#extensions"


@pytest.fixture(scope="module")
def portal(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Portal]:
    folder = tmp_path_factory.mktemp("extensions")
    portal = Portal(folder, ("--permissions", "approve-all"), SCRIPT)
    portal.extra_environ["COPILOT_HOME"] = str(folder / "copilot")
    (portal.work / ".git").mkdir(parents=True)
    portal.start()
    yield portal
    portal.stop()


@pytest.fixture
def settings(portal: Portal, page: Page) -> Iterator[Page]:
    quiet = Quiet(page)
    signed_in(page, portal).goto(f"{portal.url}/settings.html{PART}")
    yield page
    quiet.check(but="status of 4")


def answers(portal: Portal, session: str) -> list[str]:
    """What its tools gave, in order, when its turns are over."""
    until = time.monotonic() + 40
    while (view := asked(portal, "GET", f"/api/v1/sessions/{session}").json())["state"] != "idle":
        assert time.monotonic() < until, view
        time.sleep(0.1)
    page = asked(portal, "GET", f"/api/v1/sessions/{session}/events?limit=1000").json()
    events = [item["event"] for item in page["items"]]
    return [event["text"] for event in events if event["kind"] == "tool.ended"]


def told(portal: Portal, session: str, text: str) -> list[str]:
    path = f"/api/v1/sessions/{session}/prompts"
    assert asked(portal, "POST", path, {"text": text}).status_code == 202
    time.sleep(0.3)
    return answers(portal, session)


@pytest.mark.timeout(150)
def test_one_is_created_tested_trusted_used_changed_and_reloaded(
    portal: Portal, settings: Page, browser: Browser
) -> None:
    began = time.monotonic()
    place = ".github/extensions/my-tools"
    assert portal.run("extension", "new", "my-tools").returncode == 0
    tested = portal.run("extension", "test", place)
    assert tested.returncode == 0, tested.stderr
    assert "ok\ttool\tmy_tools_hello\tHello, example!\t" in tested.stdout
    assert "ok\thook\tpreToolUse\tnothing\t" in tested.stdout

    panel = settings.get_by_role("region", name="Extensions")
    expect(panel).to_contain_text("with the rights of the user that this server runs as")
    settings.reload()
    row = panel.get_by_role("listitem").filter(has_text="my-tools")
    expect(row).to_contain_text("Not trusted")
    row.get_by_role("button", name="Review my-tools").click()
    dialog = settings.get_by_role("dialog", name="Trust the extension my-tools as it is now?")
    expect(dialog).to_contain_text("It runs with the rights of the server")
    expect(dialog).to_contain_text("def my_tools_hello")
    dialog.get_by_role("button", name="Trust").click()
    expect(row).to_contain_text("Trusted")
    trusted = settings.get_by_role("region", name="Trusted files and folders")
    expect(trusted).to_contain_text(place)

    session = new_session(portal)
    assert told(portal, session, "greet me") == ["Hello, captain!"]
    row.get_by_role("button", name="Details of my-tools").click()
    expect(row).to_contain_text("my_tools_hello")
    expect(row.get_by_role("link", name=session)).to_be_visible()

    file = portal.work / place / "extension.py"
    with file.open("a", encoding="utf-8") as opened:
        opened.write(MORE)
    settings.reload()
    expect(row).to_contain_text("Changed")
    row.get_by_role("button", name="Review my-tools").click()
    expect(dialog).to_contain_text("Changed since it was trusted")
    expect(dialog).to_contain_text("def my_tools_bye")
    expect(dialog).not_to_contain_text("Hello, {name}!")
    dialog.get_by_role("button", name="Trust").click()
    expect(row).to_contain_text("Trusted")
    reloaded = portal.run("extension", "reload", session)
    assert f"{session}\tmy-tools\trunning" in reloaded.stdout, reloaded.stderr
    # The agent reloads it in mid-turn, too, and has the new tool at once.
    assert told(portal, session, "reload it")[2:] == ["Good bye, captain!"]
    assert time.monotonic() - began < 120

    def seen(page: Page) -> None:
        page.goto(f"{portal.url}/settings.html{PART}")
        page.get_by_role("button", name="Details of my-tools").click()
        page.get_by_role("button", name="New extension").click()
        expect(page.get_by_role("form", name="New extension")).to_be_visible()

    def reviewed(page: Page) -> None:
        page.goto(f"{portal.url}/settings.html{PART}")
        page.get_by_role("button", name="Review other").click()
        expect(page.get_by_role("dialog")).to_be_visible()

    assert portal.run("extension", "new", "other").returncode == 0
    usable_by_all(browser, portal, seen, reviewed)


def test_one_is_created_and_turned_off_on_the_page_and_others_only_look(
    portal: Portal, settings: Page, browser: Browser
) -> None:
    panel = settings.get_by_role("region", name="Extensions")
    panel.get_by_role("button", name="New extension").click()
    form = panel.get_by_role("form", name="New extension")
    form.get_by_label("Name").fill("bell")
    form.get_by_label("For").select_option("user")
    form.get_by_label("Language").select_option("javascript")
    form.get_by_role("button", name="Create").click()
    row = panel.get_by_role("listitem").filter(has_text="bell")
    expect(row).to_contain_text("Yours · JavaScript")
    row.get_by_role("button", name="Disable bell").click()
    expect(row).to_contain_text("Disabled")
    row.get_by_role("button", name="Enable bell").click()
    expect(row).to_contain_text("Not trusted")
    # What changed between the look and the yes is not trusted.
    file = portal.folder / "copilot/extensions/bell/extension.mjs"
    row.get_by_role("button", name="Review bell").click()
    dialog = settings.get_by_role("dialog", name="Trust the extension bell as it is now?")
    expect(dialog).to_contain_text("joinSession")
    file.write_text("process.exit(1)\n", encoding="utf-8")
    dialog.get_by_role("button", name="Trust").click()
    expect(panel).to_contain_text("has changed since you reviewed it")
    expect(row).to_contain_text("Not trusted")

    viewer = portal.run("token", "add", "eye", "--role", "decide").stdout.strip()
    guest = signed_in(browser.new_context(reduced_motion="reduce").new_page(), portal, viewer)
    guest.goto(f"{portal.url}/settings.html{PART}")
    theirs = guest.get_by_role("region", name="Extensions")
    for name in ("New extension", "Review bell", "Disable bell"):
        expect(theirs.get_by_role("button", name=name)).to_be_disabled()
    theirs.get_by_role("button", name="Details of bell").click()
    expect(theirs).to_contain_text("process.exit(1)")


def test_one_that_came_after_its_session_is_loaded_from_the_page(
    portal: Portal, page: Page
) -> None:
    folder = portal.work / "empty"
    (folder / ".git").mkdir(parents=True)
    asking = {"model": "rehearsal", "cwd": str(folder)}
    session = asked(portal, "POST", "/api/v1/sessions", asking).json()["id"]
    made = {"cwd": str(folder), "name": "late"}
    assert asked(portal, "POST", "/api/v1/extensions", made).is_success
    signed_in(page, portal).goto(f"{portal.url}/index.html?session={session}")
    page.get_by_role("tab", name="Session").locator("visible=true").first.click()
    part = page.get_by_role("region", name="Extensions")
    row = part.get_by_role("listitem").filter(has_text="late")
    row.get_by_role("link", name="Review late").click()
    page.get_by_role("button", name="Review late").click()
    page.get_by_role("dialog").get_by_role("button", name="Trust").click()
    expect(row).to_contain_text("Trusted")
    page.go_back()
    page.get_by_role("tab", name="Session").locator("visible=true").first.click()
    expect(row).to_contain_text("not loaded yet")
    part.get_by_role("button", name="Reload").click()
    expect(row).to_contain_text("running")
