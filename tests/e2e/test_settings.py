"""What is wrong, who answers, and what agents may do: seen and changed on one page."""

import time
from collections.abc import Iterator
from hashlib import sha256
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from tests.e2e.visit import asked, calm, signed_in, usable_by_all
from tests.e2e.witness import Quiet
from tests.portal import Portal
from tests.trials import trial, whole_only

RULES = "/api/v1/rules"
# The doctor looks at the agent runtime, which has to start.
SLOW = 45_000


@pytest.fixture(scope="module")
def portal(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Portal]:
    portal = Portal(tmp_path_factory.mktemp("settings"))
    portal.start()
    yield portal
    portal.stop()


@pytest.fixture
def settings(portal: Portal, page: Page) -> Iterator[Page]:
    for rule in rules(portal):
        asked(portal, "DELETE", f"{RULES}/{rule['id']}")
    quiet = Quiet(page)
    signed_in(page, portal).goto(f"{portal.url}/settings.html")
    expect(page.get_by_role("heading", name="Settings", exact=True)).to_be_visible()
    yield page
    quiet.check(but="status of 4")  # what the server refuses, Chromium says in its console


def rules(portal: Portal) -> list[dict[str, Any]]:
    return asked(portal, "GET", RULES).json()["items"]


def test_the_doctor_says_how_each_thing_is_and_looks_again(settings: Page) -> None:
    doctor = settings.get_by_role("region", name="Doctor")
    expect(doctor).to_have_attribute("aria-busy", "false", timeout=SLOW)
    expect(doctor.get_by_role("listitem")).to_have_count(20)
    named = settings.get_by_text("Agent runtime", exact=True)
    runtime = doctor.get_by_role("listitem").filter(has=named)
    expect(runtime).to_contain_text("OK")
    expect(runtime).to_contain_text("process")
    expect(doctor.get_by_role("status").first).to_contain_text("checked")
    with settings.expect_response("**/api/v1/doctor", timeout=SLOW):
        doctor.get_by_role("button", name="Check again").click()
    expect(doctor).to_have_attribute("aria-busy", "false", timeout=SLOW)
    with settings.expect_download() as report:
        doctor.get_by_role("button", name="Download the report").click()
    assert report.value.suggested_filename == "airboss-doctor.json"


def test_a_rule_is_added_moved_and_removed(portal: Portal, settings: Page) -> None:
    panel = settings.get_by_role("region", name="Rules")
    expect(panel).to_contain_text("No rules yet.")
    for decision, command in (("allow", "git *"), ("deny", "git push*")):
        panel.get_by_role("button", name="Add a rule").click()
        form = panel.get_by_role("form", name="New rule")
        form.get_by_label("Decision").select_option(decision)
        form.get_by_label("Command").fill(command)
        expect(form).to_contain_text(f"shell {command} → {decision}")
        form.get_by_role("button", name="Add rule").click()
        expect(form).to_have_count(0)
    written = [(kept["rule"]["verdict"], kept["rule"]["command"]) for kept in rules(portal)]
    assert written == [("deny", "git push*"), ("allow", "git *")]

    panel.get_by_role("button", name="Move down: shell git push* → deny").click()
    expect(panel.get_by_role("row").nth(1)).to_contain_text("git *")
    assert [kept["rule"]["verdict"] for kept in rules(portal)] == ["allow", "deny"]

    panel.get_by_role("button", name="Remove: shell git push* → deny").click()
    dialog = settings.get_by_role("dialog", name="Remove this rule?")
    expect(dialog.get_by_role("button", name="Cancel")).to_be_focused()
    settings.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    assert len(rules(portal)) == 2, "Esc is a no"
    panel.get_by_role("button", name="Remove: shell git push* → deny").click()
    dialog.get_by_role("button", name="Remove").click()
    expect(panel.get_by_role("row")).to_have_count(2)
    assert len(rules(portal)) == 1
    # Who works by keys goes on in the row that is left.
    expect(panel.locator("tbody button:focus")).to_have_count(1)


@whole_only
def test_a_rule_that_the_server_refuses_says_why(settings: Page) -> None:
    panel = settings.get_by_role("region", name="Rules")
    panel.get_by_role("button", name="Add a rule").click()
    form = panel.get_by_role("form", name="New rule")
    form.get_by_label("Kind of request").select_option("url")
    form.get_by_label("Host").fill("https://not a host/")
    form.get_by_role("button", name="Add rule").click()
    expect(panel.get_by_role("status")).to_contain_text("host")
    expect(form).to_be_visible()


def test_a_file_is_trusted_and_no_longer(portal: Portal, settings: Page) -> None:
    entry = portal.work / "airboss.yaml"
    entry.write_text("tasks: {}\n", encoding="utf-8")
    panel = settings.get_by_role("region", name="Trusted files and folders")
    panel.get_by_label("File or folder to trust").fill(str(entry))
    panel.get_by_role("button", name="Review").click()
    dialog = settings.get_by_role("dialog", name="Trust this version?")
    expect(dialog).to_contain_text("tasks: {}")
    expect(dialog).to_contain_text(sha256(entry.read_bytes()).hexdigest())
    dialog.get_by_role("button", name="Trust").click()
    row = panel.get_by_role("row").filter(has_text="airboss.yaml")
    expect(row).to_contain_text("file")
    row.get_by_role("button", name="Stop trusting").click()
    settings.get_by_role("dialog").get_by_role("button", name="Stop trusting").click()
    expect(panel).to_contain_text("No trusted files or folders yet.")
    assert asked(portal, "GET", "/api/v1/trust").json() == {"items": []}


@whole_only
def test_a_file_that_changes_while_somebody_reads_it_is_not_trusted(
    portal: Portal, settings: Page
) -> None:
    entry = portal.work / "airboss.py"
    entry.write_text("entry = {}\n", encoding="utf-8")
    panel = settings.get_by_role("region", name="Trusted files and folders")
    panel.get_by_label("File or folder to trust").fill(str(entry))
    panel.get_by_role("button", name="Review").click()
    dialog = settings.get_by_role("dialog", name="Trust this version?")
    expect(dialog).to_contain_text("entry = {}")
    entry.write_text("entry = {}  # and more\n", encoding="utf-8")
    dialog.get_by_role("button", name="Trust").click()
    expect(panel.get_by_role("status")).to_contain_text("has changed since you reviewed it")
    assert asked(portal, "GET", "/api/v1/trust").json() == {"items": []}


def test_a_setting_is_changed_refused_in_words_and_reset(portal: Portal, settings: Page) -> None:
    panel = settings.get_by_role("region", name="Server settings")
    row = panel.get_by_role("listitem").filter(has=settings.get_by_text("max_tasks", exact=True))
    expect(row).to_contain_text("Maximum number of job agents running at the same time")
    expect(row).to_contain_text("Default")
    expect(row).to_contain_text("Takes effect immediately.")
    row.get_by_role("button", name="Change max_tasks").click()
    box = row.get_by_label("New value of max_tasks")
    expect(box).to_be_focused()
    box.fill("0")
    settings.keyboard.press("Enter")
    expect(panel.get_by_role("status")).to_contain_text("max_tasks: Input should be greater than 0")
    box.fill("24")
    settings.keyboard.press("Enter")
    expect(row).to_contain_text("Changed here by owner")
    expect(row).to_contain_text("24")
    expect(panel.get_by_role("status")).to_be_empty()
    row.get_by_role("button", name="Reset max_tasks").click()
    expect(row).to_contain_text("Default")

    locked = panel.get_by_role("listitem").filter(
        has=settings.get_by_text("permissions", exact=True)
    )
    expect(locked).to_contain_text("--permissions sets it.")
    expect(locked).to_contain_text("Locked")
    expect(locked.get_by_role("button")).to_have_count(0)


@whole_only
def test_a_setting_that_is_changed_elsewhere_is_another_here_at_once(
    portal: Portal, settings: Page
) -> None:
    panel = settings.get_by_role("region", name="Server settings")
    row = panel.get_by_role("listitem").filter(has=settings.get_by_text("max_tasks", exact=True))
    expect(row).to_contain_text("Default")
    panel.get_by_role("button", name="Change max_sessions").click()
    panel.get_by_label("New value of max_sessions").fill("17")
    assert portal.run("settings", "set", "max_tasks", "23").returncode == 0
    expect(row).to_contain_text("Changed here by owner")
    expect(row).to_contain_text("23")
    asked(portal, "DELETE", "/api/v1/settings/max_tasks")
    expect(row).to_contain_text("Default")
    written = panel.get_by_label("New value of max_sessions")
    expect(written, "what somebody writes meanwhile stays").to_have_value("17")


@whole_only
def test_what_may_delete_something_is_asked_about_first(portal: Portal, settings: Page) -> None:
    panel = settings.get_by_role("region", name="Server settings")
    row = panel.get_by_role("listitem").filter(has=settings.get_by_text("keep_days", exact=True))
    row.get_by_role("button", name="Change keep_days").click()
    row.get_by_label("New value of keep_days").fill("900")
    row.get_by_role("button", name="Save").click()
    dialog = settings.get_by_role("dialog", name="Change this setting and delete old data?")
    dialog.get_by_role("button", name="Cancel").click()
    expect(dialog).to_have_count(0)
    kept = asked(portal, "GET", "/api/v1/settings").json()["items"]
    assert next(one["value"] for one in kept if one["name"] == "keep_days") is None


def test_a_theme_is_kept_and_there_before_the_first_paint(settings: Page) -> None:
    themes = settings.get_by_role("group", name="Theme")
    themes.get_by_role("button", name="Dark").click()
    ground = "getComputedStyle(document.documentElement).backgroundColor"
    dark = settings.evaluate(ground)
    settings.reload(wait_until="commit")
    expect(settings.locator("html")).to_have_attribute("data-theme", "dark")
    assert settings.evaluate(ground) == dark
    themes.get_by_role("button", name="Light").click()
    assert settings.evaluate(ground) != dark
    themes.get_by_role("button", name="System").click()
    expect(settings.locator("html")).not_to_have_attribute("data-theme", "dark")


def _late(route: Route) -> None:
    answer = route.fetch()
    time.sleep(0.5)
    route.fulfill(response=answer)


def test_what_is_closed_gives_the_focus_back(settings: Page) -> None:
    stop = settings.get_by_role("button", name="Stop Server")
    for key, opened in (("Enter", "Keep running"), ("Control+k", "Search or run a command")):
        stop.focus()
        settings.keyboard.press(key)
        first = (
            settings.get_by_role("dialog")
            .get_by_label(opened)
            .or_(settings.get_by_role("dialog").get_by_role("button", name=opened))
        )
        expect(first).to_be_focused()
        settings.keyboard.press("Escape")
        expect(settings.get_by_role("dialog")).to_have_count(0)
        expect(stop).to_be_focused()
    # One that opens another gives it back behind that.
    settings.keyboard.press("Control+k")
    settings.keyboard.type("stop server")
    settings.keyboard.press("Enter")
    expect(settings.get_by_role("button", name="Keep running")).to_be_focused()
    settings.keyboard.press("Escape")
    expect(stop).to_be_focused()


@whole_only
def test_an_address_can_name_a_part(portal: Portal, settings: Page) -> None:
    # What stands above the part comes late, as on a slow line, and pushes it down.
    settings.route("**/api/v1/audit*", _late)
    settings.goto("about:blank")  # a change of the part alone would load nothing
    settings.goto(f"{portal.url}/settings.html#about")
    expect(settings.get_by_role("region", name="Audit").get_by_role("table")).to_be_visible()
    expect(settings.get_by_role("region", name="About")).to_be_in_viewport(timeout=SLOW)
    expect(settings.get_by_role("region", name="About")).to_contain_text(str(portal.data))
    expect(settings.get_by_role("region", name="Access")).to_contain_text("airboss token add")
    expect(settings.get_by_role("region", name="Extensions")).to_contain_text(
        "It does not run until you trust its exact content."
    )


@trial
def test_everybody_can_use_it_by_day_and_by_night(portal: Portal, browser: Browser) -> None:
    asked(portal, "POST", RULES, {"rule": {"verdict": "deny", "wish": "shell", "command": "rm *"}})

    def with_a_new_rule(page: Page) -> None:
        page.goto(f"{portal.url}/settings.html")
        expect(page.locator(".doc li")).to_have_count(20, timeout=SLOW)
        page.get_by_text("Only set when the server starts").click()
        page.get_by_role("button", name="Change max_tasks", exact=True).click()
        calm(page).get_by_role("button", name="Add a rule").click()

    usable_by_all(browser, portal, with_a_new_rule)
