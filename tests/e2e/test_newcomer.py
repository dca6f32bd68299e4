"""A newcomer in a browser: from the address that `make run` prints to a job of their own that
succeeds. Nothing but that address comes from the terminal."""

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest
import yaml
from playwright.sync_api import Locator, Page, expect

import airboss
from tests.e2e.editor.editing import badge, code, go_to_end_of, problems, rehearsal
from tests.e2e.tracked import run_tab, state
from tests.e2e.witness import Quiet
from tests.portal import Portal

REASON: Final = "The fix recognizes 2 and 3, the values of the test."
# What the models answer once the job runs for real. Below it are the rules that come with Airboss.
RULES: Final = rf"""
- when: '\ARun `make test` once'
  times: 1
  steps:
    - call: {{tool: bash, arguments: {{command: make test, description: Run the tests}}}}
    - say: One test fails.
- when: '\ADid `make test` end with'
  times: 1
  steps:
    - call: {{tool: job_boolean_false, arguments: {{argument: "test_add fails: 6 is not 5."}}}}
- when: '\ARead `git diff` and the code around it'
  times: 3
  steps:
    - call: {{tool: job_boolean_false, arguments: {{argument: "{REASON}"}}}}
- when: '\A(Read `git diff` and the code around it|Did `make test` end with)'
  steps:
    - call: {{tool: job_boolean_true, arguments: {{argument: "It adds, for all numbers."}}}}
- when: '\A(Run `make test` once|Tests of this project fail|A reviewer did not accept)'
  steps: [{{say: Done.}}]
"""
MODELS: Final = ("rehearsal", "gpt-5-mini", "gpt-5.2")


KEY: Final = "key-of-the-newcomer-0123456789"


@pytest.fixture
def provider(portal: Portal) -> Iterator[str]:
    """A service of their own that has these models; its address."""
    words = ["-m", "airboss.runtime.rehearsal", "--script", str(portal.folder / "script.yaml")]
    command = [sys.executable, *words, "--key", KEY]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        yield json.loads(process.stdout.readline())["base_url"]
        process.terminate()


@pytest.fixture
def portal(tmp_path: Path) -> Iterator[Portal]:
    file = Path(airboss.__file__).parent / "runtime/rehearsal/builtin.yaml"
    rules = [*yaml.safe_load(RULES), *yaml.safe_load(file.read_text("utf-8"))["rules"]]
    script = {"models": [{"id": model} for model in MODELS], "rules": rules}
    portal = Portal(tmp_path, ("--permissions", "ask"), json.dumps(script))
    portal.start()
    yield portal
    portal.stop()


@pytest.mark.timeout(180)
def test_a_newcomer_gets_a_job_of_their_own_to_succeed(
    portal: Portal, provider: str, page: Page, quiet: Quiet
) -> None:
    page.set_viewport_size({"width": 1440, "height": 900})
    [address] = re.findall(r"http://\S+/#code=\S+", portal.log)
    page.goto(address)
    read_the_sample_run(page)
    add_a_provider_of_their_own(page, provider)
    write_an_entry_from_an_example(page)
    rehearse_and_save_it(page)
    run_it_and_allow_its_command(page)
    understand_the_failure_and_retry(page)
    it_was_their_own_models(page)
    quiet.check()


def report(page: Page, region: str) -> Locator:
    return page.locator(".report").get_by_role("region", name=region)


def menu(page: Page, name: str) -> Locator:
    return page.get_by_role("navigation", name="Pages").get_by_role("link", name=name)


def read_the_sample_run(page: Page) -> None:
    page.get_by_role("button", name="Run the sample job").click()
    expect(state(page)).to_have_text("JOB: SUCCEEDED", timeout=60_000)
    run_tab(page, "Report").click()
    expect(report(page, "Outcome")).to_contain_text("Succeeded.")


def add_a_provider_of_their_own(page: Page, address: str) -> None:
    """With its address and key, tested with one call, two of its models chosen."""
    menu(page, "Settings").click()
    panel = page.get_by_role("region", name="Providers")
    panel.get_by_role("button", name="Add a provider").click()
    panel.get_by_label("Name").fill("lab")
    panel.get_by_label("Address").fill(address)
    panel.get_by_label("Key").fill(KEY)
    panel.get_by_role("button", name="Test", exact=True).click()
    expect(panel).to_contain_text("lab answered in")
    for model in MODELS:
        panel.get_by_role("checkbox", name=model).set_checked(model != "rehearsal")
    panel.get_by_role("button", name="Add lab with 2 models").click()
    expect(panel.get_by_role("listitem").filter(has_text="lab")).to_contain_text("gpt-5-mini")


def choose_their_models(page: Page) -> None:
    lines = page.locator(".cm-line").all_inner_texts()
    for name, model in (("driving", "gpt-5-mini"), ("coding", "gpt-5.2")):
        line = next(n for n, text in enumerate(lines, 1) if text.startswith(f"  {name}: "))
        go_to_end_of(page, line)
        page.keyboard.press("Shift+Home")
        page.keyboard.insert_text(f"{name}: lab/{model}")


def write_an_entry_from_an_example(page: Page) -> None:
    """Their own in some lines, with a mistake at first."""
    menu(page, "Jobs").click()
    page.get_by_role("link", name="Edit").first.click()
    expect(badge(page)).to_have_text("New file")
    page.get_by_text("Start from an example", exact=True).click()
    page.get_by_role("button", name="Fix failing tests").click()
    expect(code(page)).to_contain_text("test-command")
    choose_their_models(page)
    lines = page.locator(".cm-line").all_inner_texts()
    line = lines.index("  test-command: [python3 -m unittest discover]") + 1
    go_to_end_of(page, line)
    page.keyboard.press("Shift+Home")
    page.keyboard.insert_text("test-comand: [make test]")
    expect(problems(page)).to_contain_text("test-command")
    expect(page.get_by_role("button", name="Rehearse", exact=True)).to_be_disabled()
    go_to_end_of(page, line)
    page.keyboard.press("Shift+Home")
    page.keyboard.insert_text("test-command: [make test]")
    expect(problems(page)).to_contain_text("No errors")


def rehearse_and_save_it(page: Page) -> None:
    page.get_by_role("button", name="Rehearse", exact=True).click()
    expect(rehearsal(page)).to_contain_text("Succeeded", timeout=60_000)
    page.get_by_role("button", name="Save", exact=True).click()
    expect(badge(page)).to_have_text("Saved")


def run_it_and_allow_its_command(page: Page) -> None:
    menu(page, "Jobs").click()
    page.get_by_role("button", name="Fix failing tests").click()
    page.get_by_role("button", name="Start Job").click()
    allow = page.get_by_role("button", name="Allow once")
    expect(allow).to_be_enabled(timeout=30_000)
    expect(page.locator(".ask")).to_contain_text("make test")
    allow.click()
    expect(state(page)).to_have_text("JOB: FAILED", timeout=60_000)


def understand_the_failure_and_retry(page: Page) -> None:
    run_tab(page, "Report").click()
    expect(report(page, "Outcome")).to_contain_text("fix failed")
    words = report(page, "What the failed check said")
    expect(words).to_contain_text(REASON)
    page.get_by_role("button", name="Retry the failed part").first.click()
    expect(state(page)).to_have_text("JOB: SUCCEEDED", timeout=60_000)
    expect(report(page, "Outcome")).to_contain_text("Succeeded.")


def it_was_their_own_models(page: Page) -> None:
    menu(page, "Settings").click()
    row = page.get_by_role("region", name="Providers").get_by_role("listitem")
    expect(row.filter(has_text="lab").first).to_contain_text("Fine")
