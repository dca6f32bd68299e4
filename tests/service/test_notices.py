"""Notices of what waits: by a real command, and to a real receiver on loopback."""

import asyncio
import contextlib
import hashlib
import hmac
import json
import os
import sys
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import dataclass
from operator import ge
from pathlib import Path
from typing import Any

import psutil
import pytest

from airboss.log.journal import Journal
from airboss.log.log import EventLog
from airboss.log.writer import Writer, now_ms
from airboss.model.ids import ItemId, SessionId, new_item_id, new_session_id
from airboss.model.inbox_events import (
    INBOX,
    ApprovalAsked,
    Asked,
    InboxArrived,
    InboxItem,
    InboxSettled,
    LimitReached,
    QuestionAsked,
    Subject,
)
from airboss.model.redaction import MASK, Redactor
from airboss.service import notices as module
from airboss.service.notice_command import CommandChannel
from airboss.service.notices import Channel, Notices
from airboss.service.webhook import WebhookChannel
from airboss.store.deliveries import Deliveries
from airboss.store.sqlite_database import SqliteDatabase
from tests.service.receiver import NEVER, Posted, free_port, receiving

SECRET = "a-secret-of-the-test"
HIDDEN = "another-secret-value"
QUICK = (0.05, 0.1, 0.2)
SESSION: SessionId = new_session_id()


@dataclass
class Desk:
    """One server's notices; several after another may have the same folder."""

    writer: Writer
    deliveries: Deliveries
    said: int = 0

    async def ask(self, question: str = "Which one?", **subject: Any) -> str:
        item = new_item_id()
        asked: Asked = QuestionAsked(item=item, question=question)
        if subject:
            asked = approval(item, question, Subject(**subject))
        await self.arrive(item, asked)
        return item

    async def arrive(self, item: ItemId, asked: Asked) -> None:
        said = InboxItem(id=item, session=SESSION, asked=asked, asked_at=1)
        self.said = (await self.writer.commit(InboxArrived(item=said))).seq

    async def settle(self, item: str) -> None:
        said = InboxSettled(item=ItemId(item), session=SESSION, outcome="answered", who="me")
        self.said = (await self.writer.commit(said)).seq

    async def until_done(self, channel: str = "webhook") -> None:
        """Everything that was said so far is delivered or given up."""
        await self.until_left(channel)

    async def until_left(self, channel: str, *attempts: int) -> None:
        """All was read, and what is left was tried so often, at least."""

        async def is_so() -> bool:
            # In this order: what is read between the two is left then.
            read_to = await self.deliveries.position(channel) or 0
            left = await self.deliveries.waiting(channel)
            tried = [one.attempts for one in left]
            enough = len(tried) == len(attempts) and all(map(ge, tried, attempts))
            return enough and read_to >= self.said

        await until(is_so)


async def until(is_so: Callable[[], Awaitable[bool]]) -> None:
    async with asyncio.timeout(20):
        while not await is_so():  # noqa: ASYNC110 - the disk has no event for it
            await asyncio.sleep(0.02)


def approval(item: ItemId, title: str, subject: Subject) -> ApprovalAsked:
    return ApprovalAsked(
        item=item,
        request="r",
        wish="shell",
        title=title,
        description="d",
        severity="high",
        subject=subject,
        fingerprint="f",
    )


@contextlib.asynccontextmanager
async def desk_in(
    folder: Path, *channels: Channel, now: Callable[[], int] = now_ms
) -> AsyncGenerator[Desk]:
    database = SqliteDatabase(folder / "airboss.sqlite")
    await database.open()
    try:
        async with EventLog(database, Journal(folder / "deltas")).running() as log:
            deliveries = Deliveries(database)
            url, redactor = "http://localhost:8888", Redactor((HIDDEN,))
            notices = Notices(log, deliveries, channels, url, redactor, now)
            await notices.start()
            try:
                yield Desk(await log.writer(INBOX), deliveries)
            finally:
                await notices.close()
    finally:
        await database.close()


def hook(url: str, **more: Any) -> WebhookChannel:
    given: dict[str, Any] = {"allows_private": True, "waits": QUICK, **more}
    return WebhookChannel(url, SECRET, **given)


def items(got: list[Posted]) -> list[str]:
    return [posted.item for posted in got]


async def test_what_arrives_and_what_is_settled_is_posted_with_a_signature(tmp_path: Path) -> None:
    async with receiving() as receiver, desk_in(tmp_path, hook(receiver.url())) as desk:
        before = int(time.time())
        item = await desk.ask("Which one?", command="make", arguments="{}")
        arrived = (await receiver.until(1))[0]
        await desk.settle(item)
        settled = (await receiver.until(2))[1]
    assert arrived.line == "POST /hook?a=b HTTP/1.1"
    assert arrived.headers["host"] == f"127.0.0.1:{receiver.port}"
    assert arrived.headers["content-type"] == "application/json"
    stamp = arrived.headers["x-airboss-timestamp"]
    assert before <= int(stamp) <= time.time()
    wanted = hmac.new(SECRET.encode(), stamp.encode() + b"." + arrived.body, hashlib.sha256)
    assert arrived.headers["x-airboss-signature"] == f"sha256={wanted.hexdigest()}"
    assert SECRET not in str(arrived)
    address = f"http://localhost:8888/inbox.html?item={item}"
    told = arrived.told
    assert (told["event"], told["id"], told["url"]) == ("inbox.arrived", item, address)
    assert told["item"]["session"] == SESSION
    assert told["item"]["asked"]["subject"]["command"] == "make"
    told = settled.told
    assert (told["event"], told["id"], told["url"]) == ("inbox.settled", item, address)
    assert (told["outcome"], told["who"], told["session"]) == ("answered", "me", SESSION)
    assert arrived.headers["x-airboss-delivery"] == f"{item}.arrived"
    assert settled.headers["x-airboss-delivery"] == f"{item}.settled"


async def test_no_secret_leaves_and_no_body_is_too_large(tmp_path: Path) -> None:
    async with receiving() as receiver, desk_in(tmp_path, hook(receiver.url())) as desk:
        await desk.ask(f"Use {HIDDEN}?", command=f"x {HIDDEN} ghp_{'a' * 30}")
        await desk.ask("Large?", diff="é" * 1_000_000, command="make")
        question = QuestionAsked(item=new_item_id(), question="?", choices=("long",) * 50_000)
        await desk.arrive(question.item, question)
        secret, large, many = sorted(await receiver.until(3), key=lambda posted: posted.told["at"])
    assert HIDDEN not in str(secret.body)
    assert secret.told["item"]["asked"]["title"] == f"Use {MASK}?"
    assert secret.told["item"]["asked"]["subject"]["command"] == f"x {MASK} {MASK}"
    assert "cut" not in secret.told
    assert len(large.body) <= module.MOST_BYTES
    assert large.told["cut"] is True
    assert large.told["item"]["asked"]["subject"]["command"] == "make"
    assert large.told["item"]["asked"]["subject"]["diff"].endswith("éé…")
    assert (len(many.body) < 1000, many.item, many.told["cut"]) == (True, question.item, True)


async def test_a_receiver_that_fails_is_asked_again_until_it_takes_it(tmp_path: Path) -> None:
    statuses = [500, 429, 408, 204]

    def answer(_: Posted) -> int:
        return statuses.pop(0)

    async with receiving(answer) as receiver, desk_in(tmp_path, hook(receiver.url())) as desk:
        item = await desk.ask()
        got = await receiver.until(4)
        await desk.until_done()
    assert items(got) == [item] * 4
    assert {posted.headers["x-airboss-delivery"] for posted in got} == {f"{item}.arrived"}
    assert statuses == []


async def test_a_receiver_that_is_not_there_yet_gets_it_when_it_is(tmp_path: Path) -> None:
    port = free_port()
    channel = hook(f"http://127.0.0.1:{port}/", waits=(0.1,) * 100)
    async with desk_in(tmp_path, channel) as desk:
        item = await desk.ask()
        await desk.until_left("webhook", 2)
        async with receiving(port=port) as receiver:
            assert items(await receiver.until(1)) == [item]
            await desk.until_done()
            assert len(receiver.got) == 1


@pytest.mark.parametrize("status", [301, 307, 400, 401, 404, 410])
async def test_a_refusal_is_final_and_nobody_follows_it_elsewhere(
    tmp_path: Path, status: int, caplog: pytest.LogCaptureFixture
) -> None:
    async with (
        receiving(lambda _: status) as receiver,
        desk_in(tmp_path, hook(receiver.url())) as desk,
    ):
        item = await desk.ask()
        await receiver.until(1)
        await desk.until_done()
        await asyncio.sleep(0.2)
        assert len(receiver.got) == 1
    told = f"The notice {item}.arrived by webhook failed: 127.0.0.1 returned status {status}"
    assert told in caplog.text


async def test_it_is_given_up_after_the_last_wait(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with (
        receiving(lambda _: 503) as receiver,
        desk_in(tmp_path, hook(receiver.url())) as desk,
    ):
        await desk.ask()
        await receiver.until(1 + len(QUICK))
        await desk.until_done()
        await asyncio.sleep(0.3)
        assert len(receiver.got) == 1 + len(QUICK)
    assert "failed: 127.0.0.1 returned status 503" in caplog.text
    assert SECRET not in caplog.text
    assert WebhookChannel("http://x", SECRET).waits == (1, 5, 30, 120, 600)
    assert SECRET not in repr(WebhookChannel("http://x", SECRET))


async def test_a_receiver_that_hangs_holds_neither_the_next_notice_nor_the_command(
    tmp_path: Path,
) -> None:
    first: list[str] = []

    def answer(posted: Posted) -> int:
        first.append(posted.item)
        return NEVER if posted.item == first[0] else 200

    note = tmp_path / "note"
    command = command_channel(f"open({str(note)!r}, 'a').write(os.environ['AIRBOSS_ITEM'] + ' ')")
    async with receiving(answer) as receiver:
        slow = hook(receiver.url(), seconds=50)
        async with desk_in(tmp_path, slow, command) as desk:
            hanging = await desk.ask()
            await receiver.until(1)
            others = [await desk.ask() for _ in range(5)]
            await receiver.until(6)
            await desk.until_done("command")
            assert sorted(items(receiver.got)) == sorted([hanging, *others])
            await desk.until_left("webhook", 0)  # the one that hangs
    assert sorted(read(note).split()) == sorted([hanging, *others])


async def test_each_is_told_once_although_the_server_restarts(tmp_path: Path) -> None:
    """What was delivered is not told again, what was not is, and what came while nobody told."""

    def answer(posted: Posted) -> int:
        return 500 if posted.told["item"]["asked"]["question"] == "later" else 200

    async with receiving(answer) as receiver:
        channel = hook(receiver.url(), waits=(60.0, 0.01))
        async with desk_in(tmp_path) as desk:
            await desk.ask("before anybody wanted notices")
        async with desk_in(tmp_path, channel) as desk:
            late = await desk.ask("later")
            await receiver.until(1)
            told = await desk.ask("at once")
            await receiver.until(2)
            await desk.until_left("webhook", 1)
        async with desk_in(tmp_path) as desk:
            missed = await desk.ask("while nobody told")
        assert items(receiver.got) == [late, told]
        receiver.answer = lambda _: 200
        async with desk_in(tmp_path, channel) as desk:
            await receiver.until(4)
            await desk.until_done()
        async with desk_in(tmp_path, channel) as desk:
            await asyncio.sleep(0.3)
    assert sorted(items(receiver.got)[2:]) == sorted([late, missed])


async def test_what_is_a_day_old_is_not_told_any_more(tmp_path: Path) -> None:
    async with receiving() as receiver:
        channel = hook(receiver.url())
        async with desk_in(tmp_path, channel):
            pass
        async with desk_in(tmp_path) as desk:
            await desk.ask()
        tomorrow = now_ms() + 25 * 60 * 60 * 1000
        async with desk_in(tmp_path, channel, now=lambda: tomorrow) as desk:
            await desk.until_done()
    assert receiver.got == []


def command_channel(program: str, **more: Any) -> CommandChannel:
    words = (sys.executable, "-c", f"import os, sys, json\n{program}")
    environ = {"PATH": os.environ["PATH"], **more.pop("environ", {})}
    return CommandChannel(words, environ, os.getcwd(), **more)


def read(file: Path) -> str:
    return file.read_text(encoding="utf-8")


async def test_a_command_is_run_with_the_item_when_it_arrives(tmp_path: Path) -> None:
    note = tmp_path / "note"
    program = f"""
about = {{name: text for name, text in os.environ.items() if name.startswith("AIRBOSS_")}}
json.dump([about, json.load(sys.stdin)], open({str(note)!r}, "x"))
"""
    async with desk_in(tmp_path, command_channel(program)) as desk:
        item = await desk.ask("Delete\nit\0 all?")
        await desk.until_done("command")
        await desk.settle(item)
        await desk.until_done("command")
    about, told = json.loads(read(note))
    assert about == {
        "AIRBOSS_ITEM": item,
        "AIRBOSS_TITLE": "Delete it⟨U+0000⟩ all?",
        "AIRBOSS_URL": f"http://localhost:8888/inbox.html?item={item}",
    }
    assert (told["event"], told["item"]["asked"]["question"]) == (
        "inbox.arrived",
        "Delete\nit\0 all?",
    )


async def test_a_limit_has_a_title_of_its_own(tmp_path: Path) -> None:
    note = tmp_path / "note"
    channel = command_channel(f"open({str(note)!r}, 'x').write(os.environ['AIRBOSS_TITLE'])")
    async with desk_in(tmp_path, channel) as desk:
        limit = LimitReached(item=new_item_id(), scope="session", limit="tokens", allowed=1, used=2)
        await desk.arrive(limit.item, limit)
        await desk.until_done("command")
    assert read(note) == "The limit tokens of the session was reached"


async def test_a_command_that_hangs_is_ended_with_its_children(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    note = tmp_path / "note"
    program = f"sleep 60 & echo $$ $! > {note}; sleep 60"
    channel = CommandChannel(("sh", "-c", program), dict(os.environ), "/", seconds=3.0)
    async with desk_in(tmp_path, channel) as desk:
        await desk.ask()
        await desk.until_done("command")
    pids = [int(text) for text in read(note).split()]

    async def are_gone() -> bool:
        return not any(is_alive(pid) for pid in pids)

    await until(are_gone)
    assert "sh timed out after 3 s" in caplog.text


def is_alive(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("/nowhere/notify",), "could not run /nowhere/notify"),
        ((sys.executable, "-c", "raise SystemExit(3)"), "exited with code 3"),
        ((sys.executable, "-c", "print('x' * 1_000_000)"), ""),
    ],
)
async def test_a_command_that_fails_is_told_once_and_holds_nobody(
    tmp_path: Path, words: tuple[str, ...], told: str, caplog: pytest.LogCaptureFixture
) -> None:
    channel = CommandChannel(words, {}, "/")
    async with desk_in(tmp_path, channel) as desk:
        await desk.ask()
        await desk.ask()
        await desk.until_done("command")
    assert caplog.text.count("by command failed:") == (2 if told else 0)
    assert told in caplog.text
