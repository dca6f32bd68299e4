"""A server whose notices are configured, made as `serve` makes it."""

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from airboss.errors import SettingsInvalid
from airboss.model.ids import new_item_id, new_session_id
from airboss.model.inbox_events import INBOX, InboxArrived, InboxItem, QuestionAsked
from airboss.service.notices import SECRET_VARIABLE, take_secret
from airboss.settings import Settings
from tests.portal import Portal
from tests.service.house import ME, House, house_in
from tests.service.receiver import receiving

SECRET = "a-secret-of-the-test"
KEY = "a-key-of-a-provider"


async def ask(house: House) -> str:
    item = new_item_id()
    asked = QuestionAsked(item=item, question=f"May I use {KEY}?")
    told = InboxItem(id=item, session=new_session_id(), asked=asked, asked_at=1)
    writer = await house.services.log.writer(INBOX)
    await writer.commit(InboxArrived(item=told))
    return item


async def test_a_server_tells_by_command_and_webhook_and_hides_its_secrets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    note = tmp_path / "note"
    program = f"import json, os; json.dump(dict(os.environ), open({str(note)!r}, 'w'))"
    monkeypatch.setenv(SECRET_VARIABLE, SECRET)
    monkeypatch.setenv("GH_TOKEN", "a-token-of-somebody")
    monkeypatch.setenv("MODELS", KEY)
    provider = {"name": "own", "base_url": "http://127.0.0.1:1", "key_variable": "MODELS"}
    async with receiving() as receiver:
        settings: dict[str, Any] = {
            "notify_command": [sys.executable, "-c", program],
            "webhook_url": receiver.url(),
            "webhook_private": True,
            "providers": [{**provider, "models": ["m"]}],
        }
        async with house_in(tmp_path, **settings) as house:
            assert SECRET_VARIABLE not in os.environ
            item = await ask(house)
            (posted,) = await receiver.until(1)
            async with asyncio.timeout(10):
                while not _is_written(note):  # noqa: ASYNC110 - the command has no event for it
                    await asyncio.sleep(0.02)
            assert house.sessions.redactor.count(SECRET) == 1
    assert posted.item == item
    assert KEY not in str(posted.body)
    environ = _read(note)
    assert environ["AIRBOSS_ITEM"] == item
    assert environ["AIRBOSS_URL"] == f"http://localhost/inbox.html?item={item}"
    assert environ["PATH"] == os.environ["PATH"]
    told = json.dumps(environ)
    assert [secret for secret in (SECRET, KEY, "a-token-of-somebody") if secret in told] == []
    assert environ.keys().isdisjoint({"AIRBOSS_TOKEN", "GH_TOKEN", "MODELS"})


def _is_written(note: Path) -> bool:
    try:
        return bool(_read(note))
    except (OSError, ValueError):
        return False


def _read(note: Path) -> dict[str, str]:
    return json.loads(note.read_text(encoding="utf-8"))


SCRIPT = """
rules:
  - when: "touch it"
    steps:
      - call: {tool: bash, arguments: {command: "touch {cwd}/made.txt", description: "make it"}}
      - say: "Done."
"""


async def test_what_an_agent_asks_for_and_what_a_person_says_is_posted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = _written(tmp_path / "script.yaml", SCRIPT)
    monkeypatch.setenv(SECRET_VARIABLE, SECRET)
    async with receiving() as receiver:
        settings: dict[str, Any] = {"webhook_url": receiver.url(), "webhook_private": True}
        async with house_in(tmp_path, permissions="ask", rehearsal=script, **settings) as house:
            session = await house.start()
            await house.sessions.prompt(session.id, "touch it", ME)
            (arrived,) = await receiver.until(1)
            asked = arrived.told["item"]["asked"]
            assert (asked["kind"], arrived.told["session"]) == ("approval.asked", session.id)
            assert asked["subject"]["command"] == f"touch {house.work}/made.txt"
            await house.services.decisions.decide(arrived.item, "deny", ME)
            settled = (await receiver.until(2))[1].told
    assert (settled["event"], settled["id"], settled["outcome"], settled["who"]) == (
        "inbox.settled",
        arrived.item,
        "deny",
        ME,
    )


def _written(file: Path, text: str) -> Path:
    file.write_text(text, encoding="utf-8")
    return file


async def test_a_server_without_them_starts_neither(tmp_path: Path) -> None:
    async with house_in(tmp_path):
        names = [task.get_name() for task in asyncio.all_tasks()]
        assert [name for name in names if name.startswith("notices")] == []


def test_the_secret_comes_by_the_environment_or_a_file(tmp_path: Path) -> None:
    file = tmp_path / "secret"
    file.write_text(f"{SECRET}\n", encoding="utf-8")
    url = "https://example.com"
    environ = {SECRET_VARIABLE: f" {KEY} "}
    settings = Settings(webhook_url=url, webhook_secret_file=file)
    assert take_secret(settings, environ) == KEY
    assert environ == {}
    assert take_secret(settings, environ) == SECRET
    environ = {SECRET_VARIABLE: "x"}
    assert take_secret(Settings(), environ) == "x"  # still a secret, and gone from there
    assert environ == {}
    for wrong in (None, tmp_path / "gone", tmp_path):
        with pytest.raises(SettingsInvalid, match=r"webhook"):
            take_secret(Settings(webhook_url=url, webhook_secret_file=wrong), {})
    with pytest.raises(SettingsInvalid, match="at least 16 characters"):
        take_secret(Settings(webhook_url=url), {SECRET_VARIABLE: "short"})


def test_a_webhook_without_a_secret_is_refused_before_anything_is_served(tmp_path: Path) -> None:
    portal = Portal(tmp_path)
    done = portal.run("serve", "--port", "0", "--webhook", "https://example.com/hook")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error: A webhook needs a secret of at least 16")
