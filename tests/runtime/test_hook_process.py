"""One hook's program: what it says, and that it comes to an end whatever it does."""

import asyncio
import os
import shlex
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from airboss.model.setup import HookSetup
from airboss.runtime.cage.programs import CagePrograms
from airboss.runtime.hook_process import HookPrograms, digest_of_file

pytestmark = pytest.mark.anyio


@pytest.fixture
def programs(tmp_path: Path) -> HookPrograms:
    return HookPrograms({"PATH": os.environ["PATH"], "ONLY": "this"}, tmp_path)


def shell(words: str, seconds: float = 5) -> HookSetup:
    return HookSetup(hook="agentStop", command=("sh", "-c", words), seconds=seconds)


async def test_it_is_given_json_and_gives_json(programs: HookPrograms) -> None:
    answer = await programs.ask(HookSetup(hook="agentStop", command=("cat",)), {"a": [1]})
    assert (answer.output, answer.no, answer.error) == ({"a": [1]}, None, None)
    assert (await programs.ask(shell("true"), {})).output == {}


async def test_exit_code_2_is_a_no_with_its_reason(programs: HookPrograms) -> None:
    assert (await programs.ask(shell("echo why >&2; exit 2"), {})).no == "why"
    assert (await programs.ask(shell("exit 2"), {})).no == "It gave no reason."


@pytest.mark.parametrize(
    ("words", "error"),
    [
        ("exit 1", "It ended with exit code 1."),
        ("echo oh >&2; exit 3", "It ended with exit code 3: oh"),
        ("echo '[]'", "It did not write a JSON object."),
        ("echo oh", "It did not write a JSON object."),
        ("echo '{\"a\": NaN}'", "It did not write a JSON object."),
        ("python3 -c 'print(\"[\" * 100000)'", "It did not write a JSON object."),
        ("head -c 2000000 /dev/zero", "It wrote more than 1 MiB."),
    ],
)
async def test_all_else_is_a_failure_in_words(
    programs: HookPrograms, words: str, error: str
) -> None:
    assert (await programs.ask(shell(words), {})).error == error


async def test_half_a_letter_in_its_answer_is_no_trouble_to_the_runtime(
    programs: HookPrograms,
) -> None:
    answer = await programs.ask(shell('echo \'{"modifiedPrompt": "a\\\\ud800b"}\''), {})
    assert (answer.output, answer.error) == ({"modifiedPrompt": "a\ufffdb"}, None)


async def test_one_that_cannot_be_run_says_so(programs: HookPrograms) -> None:
    answer = await programs.ask(HookSetup(hook="agentStop", command=("/nowhere/x",)), {})
    assert answer.error is not None
    assert answer.error.startswith("It could not be run: ")


async def test_what_hangs_or_floods_or_leaves_something_behind_is_ended(
    programs: HookPrograms, tmp_path: Path
) -> None:
    late = "It did not answer within 0.5 s."
    assert (await programs.ask(shell("sleep 60", 0.5), {})).error == late
    assert (await programs.ask(shell("yes", 0.5), {})).error == late
    note = shlex.quote(str(tmp_path / "pid"))
    left = await programs.ask(shell(f"setsid sleep 60 & echo $! > {note}; echo '{{}}'"), {})
    assert left.error is None
    pid = int((tmp_path / "pid").read_text("utf-8"))
    assert not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE


async def test_whoever_stops_waiting_ends_it(programs: HookPrograms) -> None:
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.5):
            await programs.ask(shell("exec sleep 61.5", 30), {})
    found = [one.info["cmdline"] for one in psutil.process_iter(["cmdline"])]
    assert ["sleep", "61.5"] not in found


async def test_its_environment_is_the_one_that_was_given(programs: HookPrograms) -> None:
    answer = await programs.ask(
        shell('printf \'{"only": "%s", "home": "%s"}\' "$ONLY" "$HOME"'), {}
    )
    assert answer.output == {"only": "this", "home": ""}


async def test_a_python_function_runs_in_a_process_of_its_own(
    programs: HookPrograms, tmp_path: Path
) -> None:
    file = tmp_path / "hooks.py"
    file.write_text(
        "import os\n"
        "async def own(given):\n    print('not an answer')\n    return {'pid': os.getpid()}\n"
        "def bad(given):\n    raise ValueError('no luck')\n"
        "def odd(given):\n    return 5\n",
        "utf-8",
    )

    def hook(name: str, digest: str | None = None) -> HookSetup:
        files = {} if digest is None else {str(file): digest}
        return HookSetup(hook="agentStop", python=f"{file}:{name}", files=files)

    assert (await programs.ask(hook("own", digest_of_file(str(file))), {})).output[
        "pid"
    ] != os.getpid()
    said = (await programs.ask(hook("bad"), {})).error
    assert said == "It ended with exit code 1: ValueError: no luck"
    assert "odd returned int" in ((await programs.ask(hook("odd"), {})).error or "")
    assert "has no function none" in ((await programs.ask(hook("none"), {})).error or "")
    changed = (await programs.ask(hook("own", "0" * 64), {})).error
    assert changed == f"It was not run: {file} has changed since the session was opened."


def test_what_stands_in_the_place_of_a_script_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("/dev/zero")
    for name in ("pipe", "link"):
        assert digest_of_file(str(tmp_path / name)) is None


async def test_beside_a_cage_it_does_not_start_where_the_agent_writes(
    programs: HookPrograms,
) -> None:
    """There, the agent's `json.py` would be run as its own."""

    async def never() -> CagePrograms:
        raise AssertionError("it was to run outside")

    (programs.cwd / "json.py").write_text("print('of the agent')", "utf-8")
    script = 'python3 -c "import json" >&2; pwd >&2; echo "$AIRBOSS_SESSION_FOLDER" >&2; exit 2'
    words = ("sh", "-c", script)
    hook = HookSetup(hook="agentStop", command=words, seconds=5, on_host=True)
    answer = await replace(programs, cage=never).ask(hook, {})
    started, of_session = (answer.no or "").splitlines()
    assert of_session == str(programs.cwd)
    assert started != of_session
    assert not await asyncio.to_thread(Path(started).exists)


@pytest.mark.parametrize("how", ["program", "script", "python", "link"])
async def test_beside_a_cage_nothing_is_run_outside_that_the_agent_writes(
    tmp_path: Path, how: str
) -> None:
    async def never() -> CagePrograms:
        raise AssertionError("it was to run outside")

    work, ran = tmp_path / "work", tmp_path / "ran"
    work.mkdir()
    (work / "own.py").write_text(f"#!/bin/sh\ntouch {ran}\n", "utf-8")
    (work / "own.py").chmod(0o755)
    (tmp_path / "link").symlink_to(work / "own.py")
    file = str(work / "own.py")
    programs = HookPrograms({"PATH": os.environ["PATH"]}, work, never, (work,))
    words = {"program": [file], "script": ["sh", file], "link": [str(tmp_path / "link")]}
    said = {"command": words[how]} if how in words else {"python": f"{file}:check"}
    hook = HookSetup.model_validate({"hook": "agentStop", "on_host": True, **said})
    answer = await programs.ask(hook, {})
    assert "is not run outside of the cage: an agent can write there" in str(answer.error)
    assert not ran.exists()
    named = HookSetup(hook="agentStop", command=("test", "-f", file), on_host=True)
    assert (await programs.ask(named, {})).error is None, "to be read, it may be there"
