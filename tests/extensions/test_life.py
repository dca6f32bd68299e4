"""The life of an extension: named in order, restarted, reloaded, ended whole."""

import asyncio
import json
import os
import signal
from collections.abc import Mapping
from pathlib import Path

import pytest

from airboss.extension_settings import ExtensionSettings
from airboss.model.events import PromptAccepted, ToolEnded
from airboss.model.extension_events import ExtensionEnded, ExtensionRefused, ExtensionStarted
from airboss.model.inbox_events import QuestionAsked
from airboss.runtime.descendants import Descendants, process_table
from airboss.runtime.sweep import processes_of_extensions
from tests.extensions.hosted import (
    GOOD,
    Hosted,
    hosted_in,
    is_alive,
    results_in,
    tools_in,
    until,
)
from tests.service.house import ME


async def test_the_second_of_two_never_has_the_name_whoever_is_faster(hosted: Hosted) -> None:
    slow = "time.sleep(1.5)\n@tool\ndef wanted() -> str:\n    'x'\n    return 'slow'\n"
    await hosted.add("a-slow", slow)
    await hosted.add("b-fast", "@tool\ndef wanted() -> str:\n    'x'\n    return 'fast'\n")
    await hosted.add("c-good", GOOD)
    session = await hosted.open()
    shown = await hosted.shown(session)
    assert {name: one.state for name, one in shown.items()} == {
        "a-slow": "running",
        "b-fast": "failed",
        "c-good": "running",
    }
    assert "the extension a-slow already uses" in shown["b-fast"].reason
    [refused] = await hosted.said(session, ExtensionRefused)
    assert refused.name == "b-fast"
    assert results_in(await hosted.ask(session, "call wanted {}"))[-1] == "slow"


async def test_other_pythons_that_one_starts_have_nothing_of_ours(
    hosted: Hosted, monkeypatch: pytest.MonkeyPatch
) -> None:
    room = hosted.host(await hosted.open()).room
    environ = {**room.environ, "PYTHONPATH": "/somebody/elses"}
    monkeypatch.setattr(room, "environ", environ)
    await hosted.add(
        "starts",
        """
        import subprocess
        @tool
        def paths() -> str:
            "Says where another Python looks for modules."
            told = "import os; print(*[f'{n}={v}' for n, v in os.environ.items() if 'PYTHON' in n])"
            done = subprocess.run([sys.executable, "-c", told], capture_output=True, text=True)
            return f"{done.stdout.strip()} {'/somebody/elses' in sys.path} {sys.flags.utf8_mode}"
        """,
    )
    session = await hosted.open()
    told = results_in(await hosted.ask(session, "call paths {}"))[-1]
    assert told == f"{' '.join(_pythons(environ))} False 1"
    await hosted.house.sessions.close(session, ME)


def _pythons(environ: Mapping[str, str]) -> list[str]:
    return [f"{name}={value}" for name, value in environ.items() if "PYTHON" in name]


async def test_a_crash_in_a_call_fails_it_with_name_and_reason_and_it_starts_again(
    hosted: Hosted,
) -> None:
    await hosted.bring("good", "hostile/crashes-in-a-call")
    session = await hosted.open()
    request = await hosted.ask(session, "call crash {}")
    assert "crashes-in-a-call failed: It ended with exit code 7" in results_in(request)[-1]
    [ended] = await hosted.said(session, ExtensionEnded)
    assert (ended.crashed, ended.restart_in) == (True, 1.0)
    # The next call waits for it.
    assert results_in(await hosted.ask(session, "call still_there {}"))[-1] == "yes"
    assert results_in(await hosted.ask(session, 'call echo {"text": "me"}'))[-1] == "me"


async def test_a_call_waits_for_one_that_starts_again_and_not_for_ever(
    hosted: Hosted, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("airboss.extensions.extension.RESTART_SECONDS", (3600.0,))
    monkeypatch.setattr("airboss.extensions.extension._UP_SECONDS", 0.3)
    await hosted.bring("hostile/crashes-in-a-call")
    session = await hosted.open()
    await hosted.ask(session, "call crash {}")
    said = results_in(await hosted.ask(session, "call still_there {}"))[-1]
    assert "The extension crashes-in-a-call is not running: It ended with exit code 7" in said
    assert hosted.extension(session, "crashes-in-a-call").state == "restarting"


async def test_one_that_ends_between_its_joining_and_the_naming_starts_again(
    hosted: Hosted, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("airboss.extensions.extension.RESTART_SECONDS", (2.0,) * 4)
    await hosted.add("a-slow", "time.sleep(2)\n" + GOOD)
    await hosted.add(
        "b-brief",
        """
        import threading
        note("starts")
        if len((HERE / "starts").read_text().splitlines()) == 1:
            threading.Timer(0.5, lambda: os._exit(3)).start()
        @tool
        def brief() -> str:
            "x"
            return "here again"
        """,
    )
    session = await hosted.open()
    assert results_in(await hosted.ask(session, 'call good {"word": "x"}'))[-1] == "good x"
    await until(lambda: hosted.extension(session, "b-brief").is_running)
    assert results_in(await hosted.ask(session, "call brief {}"))[-1] == "here again"
    started = [one.name for one in await hosted.said(session, ExtensionStarted)]
    assert sorted(started) == ["a-slow", "b-brief"]


async def test_only_a_repeatable_call_is_made_again_after_a_kill_with_the_same_id(
    hosted: Hosted,
) -> None:
    await hosted.add(
        "long",
        """
        async def long(name, call):
            note(name, call.id)
            if len((HERE / name).read_text().split()) == 1:
                await asyncio.sleep(60)
            return "done"
        @tool
        async def once(call: Call) -> str:
            "x"
            return await long("once", call)
        @tool(repeatable=True)
        async def twice(call: Call) -> str:
            "x"
            return await long("twice", call)
        """,
    )
    session = await hosted.open()
    for name in ("once", "twice"):
        asking = asyncio.create_task(hosted.ask(session, f"call {name} {{}}"))
        await until(lambda name=name: hosted.noted(name))
        [pids] = processes_of(hosted, session)
        os.kill(pids[0], signal.SIGKILL)
        result = results_in(await asking)[-1]
        assert ("SIGKILL" in result) == (name == "once")
    assert len(hosted.noted("once")) == 1
    assert len(hosted.noted("twice")) == 2
    assert len(set(hosted.noted("twice"))) == 1
    assert len(await hosted.said(session, ToolEnded)) == 2


def processes_of(hosted: Hosted, session: str) -> list[list[int]]:
    marks = {one.mark for one in hosted.host(session).extensions}
    return [pids for mark, pids in processes_of_extensions().items() if mark in marks]


async def test_while_it_restarts_what_its_before_hook_would_see_is_refused(hosted: Hosted) -> None:
    await hosted.add(
        "guard",
        """
        @hook.pre_tool_use(tools=["bash"])
        def check(use):
            return None
        @tool
        def die() -> str:
            "x"
            os._exit(1)
        """,
    )
    session = await hosted.open()
    await hosted.ask(session, "call die {}")
    request = await hosted.ask(session, 'call bash {"command": "echo hi", "description": "x"}')
    assert "could not check this call" in results_in(request)[-1]
    request = await hosted.ask(session, f"call view {json.dumps({'path': str(hosted.work)})}")
    assert "could not check" not in results_in(request)[-1]
    await until(lambda: hosted.extension(session, "guard").is_running)
    request = await hosted.ask(session, 'call bash {"command": "echo hi", "description": "x"}')
    assert "hi" in results_in(request)[-1]


async def test_the_fifth_crash_is_the_last_and_withdraws_its_tools(
    hosted: Hosted, monkeypatch: pytest.MonkeyPatch
) -> None:
    short = (0.05, 0.05, 0.05, 0.05)
    monkeypatch.setattr("airboss.extensions.extension.RESTART_SECONDS", short)
    await hosted.bring("good", "hostile/crashes-in-a-loop")
    session = await hosted.open()
    await until(lambda: hosted.extension(session, "crashes-in-a-loop").state == "failed")
    ends = [one.restart_in for one in await hosted.said(session, ExtensionEnded)]
    assert ends == [*short, None]
    request = await hosted.ask(session)
    assert "echo" in tools_in(request)
    assert "brief" not in tools_in(request)


async def test_a_reload_in_mid_turn_offers_new_tools_and_fails_calls_under_way(
    hosted: Hosted,
) -> None:
    folder = await hosted.add(
        "changing",
        """
        @tool
        async def old() -> str:
            "x"
            note("old")
            await asyncio.sleep(60)
            return "old"
        """,
    )
    session = await hosted.open()
    asking = asyncio.create_task(hosted.ask(session, "call old {}"))
    await until(lambda: hosted.noted("old"))
    hosted.write("changing", "@tool\ndef new() -> str:\n    'x'\n    return 'new'\n")
    await hosted.trust(folder)
    shown = await hosted.house.sessions.reload_extensions(session)
    assert [(one.state, one.tools) for one in shown] == [("running", ("new",))]
    request = await asking
    assert "was reloaded" in results_in(request)[-1]
    # The model is asked with what there is now, in the same turn.
    assert "new" in tools_in(request)
    assert "old" not in tools_in(request)
    assert results_in(await hosted.ask(session, "call new {}"))[-1] == "new"
    # A model may call what it knew before; such a call is answered.
    gone = results_in(await hosted.ask(session, "call old {}"))[-1]
    assert "does not exist" in gone or "not there any more" in gone


async def below(pids: list[int]) -> set[int]:
    found = Descendants()

    def look() -> set[int]:
        table = process_table()
        found.noted = {pid: table[pid][1] for pid in pids}
        found.look(table)
        return {*found.noted}

    async with asyncio.timeout(10):
        while len(there := await asyncio.to_thread(look)) < 2 * len(pids):  # noqa: ASYNC110
            await asyncio.sleep(0.02)
    return there


async def test_an_abort_spares_it_and_a_close_leaves_nothing(hosted: Hosted) -> None:
    await hosted.bring("hostile/leaves-children", "hostile/ignores-sigterm")
    session = await hosted.open()
    said = results_in(await hosted.ask(session, "call leave_children {}"))[-1]
    children = [int(pid) for pid in said.split()]
    assert len(children) == 2
    marks = {one.mark for one in hosted.host(session).extensions}
    await hosted.house.sessions.prompt(session, "call stay {}", ME)
    await hosted.house.until(session, "working")
    await asyncio.sleep(0.5)
    await hosted.house.sessions.abort(session)
    assert [one.state for one in (await hosted.shown(session)).values()] == ["running", "running"]
    assert all(is_alive(pid) for pid in children)
    hidden = [pid for pid in await below(children) if pid not in children]
    assert len(hidden) == 2
    async with asyncio.timeout(3):
        await hosted.extension(session, "leaves-children").stop()
    assert not [pid for pid in (*children, *hidden) if is_alive(pid)]
    await hosted.house.sessions.close(session, ME)
    assert not marks & processes_of_extensions().keys()
    assert not [one for one in await hosted.said(session, ExtensionEnded) if one.crashed]


async def test_what_it_sends_is_a_prompt_in_its_name_and_ten_in_a_row_are_the_most(
    hosted: Hosted,
) -> None:
    await hosted.add(
        "sender",
        """
        @tool
        async def send_many() -> str:
            "x"
            sent = 0
            try:
                for number in range(20):
                    await session.send(f"say number {number}")
                    sent += 1
            except HostError as error:
                return f"{sent}: {error}"
            return "all"
        @hook.user_prompt_submitted
        def hear(given):
            note("prompts", given.prompt)
        """,
    )
    session = await hosted.open()
    await hosted.ask(session, "call send_many {}")
    await until(lambda: not hosted.house.sessions._open[session].is_working)  # type: ignore[index]
    accepted = await hosted.said(session, PromptAccepted)
    assert [one.who for one in accepted] == [ME, *["extension sender"] * 10]
    [ended] = await hosted.said(session, ToolEnded)
    assert ended.text.startswith("10: Extensions have sent 10 prompts in a row.")
    # Its own prompts do not fire its own hook.
    assert hosted.noted("prompts") == ["call send_many {}"]


async def test_prompts_that_prompt_hooks_send_come_to_an_end(hosted: Hosted) -> None:
    for name in ("ping", "pong"):
        await hosted.add(
            name,
            f"""
            @hook.user_prompt_submitted
            async def hear(given):
                note("{name}", given.prompt)
                await session.send("say {name}")
            """,
        )
    session = await hosted.open()
    await hosted.ask(session)

    async def senders() -> list[str]:
        accepted = await hosted.said(session, PromptAccepted)
        return [one.who.removeprefix("extension ") for one in accepted if one.who != ME]

    async with asyncio.timeout(30):
        while len(await senders()) < 10:  # noqa: ASYNC110 - there is no event for this
            await asyncio.sleep(0.05)
    await hosted.house.until(session, "idle")
    # Each answers the other one, and nobody itself.
    assert sorted(await senders()) == ["ping"] * 5 + ["pong"] * 5
    assert set(hosted.noted("ping")) == {"say hello", "say pong"}
    assert set(hosted.noted("pong")) == {"say hello", "say ping"}


async def test_it_asks_a_person_beside_the_turn_and_waits_for_what_it_sent(hosted: Hosted) -> None:
    await hosted.add(
        "curious",
        """
        @tool
        async def curious() -> str:
            "x"
            answer = await session.ask("Which colour?", ["red", "blue"])
            return f"It is {answer}."
        async def later():
            note("reply", await session.send_and_wait("say four words are here"))
        @tool
        async def wait_for_it() -> str:
            "x"
            asyncio.get_running_loop().create_task(later())
            return "soon"
        """,
    )
    session = await hosted.open()
    asking = asyncio.create_task(hosted.ask(session, "call curious {}"))
    item = await hosted.asked_in_inbox(session)
    assert isinstance(item.asked, QuestionAsked)
    assert (item.asked.extension, item.asked.choices) == ("curious", ("red", "blue"))
    await hosted.house.services.decisions.answer(item.id, "2", ME)
    assert results_in(await asking)[-1] == "It is blue."
    await hosted.ask(session, "call wait_for_it {}")
    await until(lambda: hosted.noted("reply"))
    assert "four words are here" in hosted.noted("reply")[0]


async def test_the_questions_of_the_sdk_reach_the_inbox_and_forms_of_several_fields_do_not(
    hosted: Hosted,
) -> None:
    await hosted.add(
        "asking",
        """
        import { joinSession } from "@github/copilot-sdk/extension";
        const fields = { a: { type: "string" }, b: { type: "string" } };
        const form = { message: "Both?", requestedSchema: { type: "object", properties: fields } };
        const session = await joinSession({
          tools: [{
            name: "ask_all",
            description: "x",
            handler: async () => JSON.stringify([
              await session.ui.confirm("Sure?"),
              await session.ui.select("Which?", ["red", "blue"]),
              await session.ui.elicitation(form).catch((error) => error.message),
            ]),
          }],
        });
        """,
        "extension.mjs",
    )
    session = await hosted.open()
    asking = asyncio.create_task(hosted.ask(session, "call ask_all {}"))
    for question, answer in (("Sure?", "1"), ("Which?", "2")):
        item = await hosted.asked_in_inbox(session)
        assert isinstance(item.asked, QuestionAsked)
        assert item.asked.question == question
        await hosted.house.services.decisions.answer(item.id, answer, ME)
    sure, which, form = json.loads(results_in(await asking)[-1])
    assert (sure, which) == (True, "blue")
    assert "several fields cannot be had in Airboss" in form


async def test_a_required_extension_that_does_not_run_refuses_every_tool(tmp_path: Path) -> None:
    required = ExtensionSettings(required=("guard",))
    async with hosted_in(tmp_path, extensions=required) as hosted:
        session = await hosted.open()
        request = await hosted.ask(session, f"call view {json.dumps({'path': str(hosted.work)})}")
        assert "The extension guard must run in every session" in results_in(request)[-1]
        await hosted.add("guard", GOOD)
        await hosted.house.sessions.reload_extensions(session)
        request = await hosted.ask(session, f"call view {json.dumps({'path': str(hosted.work)})}")
        assert "must run" not in results_in(request)[-1]
        started = await hosted.said(session, ExtensionStarted)
        assert [one.name for one in started] == ["guard"]
