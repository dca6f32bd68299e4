"""The conversation of each session in a file of its own: whole groups, nothing twice, and no turn
fails where it cannot be written."""

import json
from pathlib import Path
from typing import Any

import pytest

from airboss.harness.setup import Said
from airboss.service import mirror as mirror_module
from airboss.service.doctor_checks import check_transcripts
from airboss.service.mirror import Mirror
from airboss.session_keys import SessionKeys
from tests.runtime.conftest import soon
from tests.runtime.copilot_service import Stage, on_stage
from tests.service.house import ME, house_in
from tests.service.test_bindings import provider, turn


def lines(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text("utf-8").splitlines()]


async def test_what_is_said_and_done_is_written_once_also_behind_a_restart(tmp_path: Path) -> None:
    folder = tmp_path / "transcripts"
    settings: dict[str, Any] = {"transcripts": folder, "permissions": "approve-all"}
    async with on_stage(Stage()) as stage:
        async with house_in(tmp_path, **provider(stage), **settings) as house:
            session = (await house.sessions.start("house/stand-in", str(house.work), ME)).id
            file = folder / f"{session}.jsonl"
            await turn(house, session, "say one", 1)
            await turn(house, session, "shell echo hello", 2)
            assert await soon(lambda: file.exists() and len(lines(file)) == 5)
            said = lines(file)
            roles = ["user", "assistant", "user", "tools", "assistant"]
            assert [line["role"] for line in said] == roles
            assert (said[0]["who"], said[0]["text"]) == (ME, "say one")
            [call] = said[3]["calls"]
            assert (call["name"], "hello" in call["text"], call["error"]) == ("bash", True, None)
            assert file.stat().st_mode & 0o777 == 0o600
        # A line that was cut off is written anew, and no other twice.
        file.write_text(file.read_text("utf-8")[:-20], "utf-8")
        async with house_in(tmp_path, **provider(stage), **settings) as house:
            await house.sessions.resume(session, ME)
            await turn(house, session, "say two", 3)
            assert await soon(lambda: len(lines(file)) == 7)
            keys = [line["key"] for line in lines(file)]
            assert len(set(keys)) == 7
            assert [line["role"] for line in lines(file)] == [*roles, "user", "assistant"]


async def test_lines_of_others_are_left_as_they_are_and_stop_no_session(tmp_path: Path) -> None:
    folder = tmp_path / "transcripts"
    settings: dict[str, Any] = {"transcripts": folder}
    others = ['{"note": "kept"}', "[1]", "7", '{"key": 7}', "no JSON", "[" * 100_000, ""]
    async with on_stage(Stage()) as stage:
        async with house_in(tmp_path, **provider(stage), **settings) as house:
            first = (await house.sessions.start("house/stand-in", str(house.work), ME)).id
            second = (await house.sessions.start("house/stand-in", str(house.work), ME)).id
            await turn(house, first, "say one", 1)
            file, other = (folder / f"{session}.jsonl" for session in (first, second))
            assert await soon(lambda: file.exists() and len(lines(file)) == 2)
        strange = "\n".join(others) + "\n"
        file.write_text(file.read_text("utf-8") + strange, "utf-8")
        async with house_in(tmp_path, **provider(stage), **settings) as house:
            mirror = house.services.status.mirror
            assert isinstance(mirror, Mirror)
            for session in (first, second):
                await house.sessions.resume(session, ME)
            await turn(house, first, "say two", 2)
            await turn(house, second, "say three", 1)
            assert await soon(lambda: other.exists() and len(lines(other)) == 2)
            assert await soon(lambda: file.read_text("utf-8").count('"key": "') == 4)
            assert mirror.audit == "complete"
        before, after = file.read_text("utf-8").split(strange)
        keys = [json.loads(line)["key"] for line in (before + after).splitlines()]
        assert len(keys) == len(set(keys)) == 4


async def test_without_a_folder_nothing_is_written_and_a_hook_changes_what_is(
    tmp_path: Path,
) -> None:
    script = tmp_path / "shorten.sh"
    script.write_text('#!/bin/sh\necho \'{"modifiedText": "(as said)"}\'\n', "utf-8")
    script.chmod(0o755)
    hook = {"beforeMessageWrite": [{"command": [str(script)]}]}
    said = Said(SessionKeys.model_validate({"hooks": hook}), may_widen=True)
    async with on_stage(Stage()) as stage:
        async with house_in(tmp_path, **provider(stage)) as house:
            assert house.services.status.mirror is None
        folder = tmp_path / "transcripts"
        async with house_in(tmp_path, **provider(stage), transcripts=folder) as house:
            model, work = "house/stand-in", str(house.work)
            session = (await house.sessions.start(model, work, ME, said=(said,))).id
            await turn(house, session, "say one", 1)
            file = folder / f"{session}.jsonl"
            assert await soon(lambda: file.exists() and len(lines(file)) == 2)
            assert {line["text"] for line in lines(file)} == {"(as said)"}
            assert len({line["key"] for line in lines(file)}) == 2


async def test_what_cannot_be_written_stops_nothing_and_is_told(tmp_path: Path) -> None:
    folder = tmp_path / "transcripts"
    folder.write_text("not a folder", "utf-8")
    settings: dict[str, Any] = {"transcripts": folder}
    async with (
        on_stage(Stage()) as stage,
        house_in(tmp_path, **provider(stage), **settings) as house,
    ):
        mirror = house.services.status.mirror
        assert isinstance(mirror, Mirror)
        session = (await house.sessions.start("house/stand-in", str(house.work), ME)).id
        await turn(house, session, "say one", 1)
        assert await soon(lambda: session in mirror.incomplete)
        assert (await house.services.status.show(ME, "own")).audit == "incomplete"
        assert check_transcripts(mirror).state == "warn"
        folder.unlink()
        await turn(house, session, "say two", 2)
        file = folder / f"{session}.jsonl"
        assert await soon(lambda: file.exists() and len(lines(file)) == 4 and not mirror.incomplete)
        assert check_transcripts(mirror).state == "ok"


async def test_what_one_server_could_not_write_the_next_one_does_without_a_word_more(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "transcripts"
    folder.write_text("not a folder", "utf-8")
    settings: dict[str, Any] = {"transcripts": folder}
    async with on_stage(Stage()) as stage:
        async with house_in(tmp_path, **provider(stage), **settings) as house:
            session = (await house.sessions.start("house/stand-in", str(house.work), ME)).id
            await turn(house, session, "say one", 1)
            await house.sessions.close(session, ME)
        async with house_in(tmp_path, **provider(stage), **settings) as house:
            mirror = house.services.status.mirror
            assert isinstance(mirror, Mirror)
            assert await soon(lambda: mirror.audit == "incomplete")
        folder.unlink()
        file = folder / f"{session}.jsonl"
        async with house_in(tmp_path, **provider(stage), **settings):
            assert await soon(lambda: file.exists() and len(lines(file)) == 2)
        until = [int(note.read_text("utf-8")) for note in folder.glob(".complete*")]
        assert until
        assert min(until) > 0
        file.write_text("", "utf-8")
        async with house_in(tmp_path, **provider(stage), **settings):
            assert await soon(lambda: len(lines(file)) == 2)


async def test_what_could_not_be_written_is_tried_again_by_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mirror_module, "_AGAIN_SECONDS", 0.1)
    monkeypatch.setattr(mirror_module, "_MOST_KNOWN", 0)
    folder = tmp_path / "transcripts"
    folder.write_text("not a folder", "utf-8")
    async with (
        on_stage(Stage()) as stage,
        house_in(tmp_path, **provider(stage), transcripts=folder) as house,
    ):
        mirror = house.services.status.mirror
        assert isinstance(mirror, Mirror)
        session = (await house.sessions.start("house/stand-in", str(house.work), ME)).id
        await turn(house, session, "say one", 1)
        assert await soon(lambda: session in mirror.incomplete)
        folder.unlink()
        file = folder / f"{session}.jsonl"
        assert await soon(lambda: not mirror.incomplete)
        await turn(house, session, "say two", 2)
        assert await soon(lambda: len(lines(file)) == 4)
