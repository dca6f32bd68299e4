"""`airboss extension test`: an extension with a real agent on the rehearsal model, in a folder and
on a server that are thrown away."""

import asyncio
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias, cast

import yaml

from airboss.cli.client import Client, Json, find
from airboss.cli.extension.checking import meant, runtime, said_of, trial_environment
from airboss.cli.run.rehearse import served_on
from airboss.cli.screen import aside, out, print_json, visible_line, waited
from airboss.cli.trouble import CommandRefused, Exit, Trouble
from airboss.extensions.content import read
from airboss.extensions.discovery import project_folder
from airboss.extensions.joined import Joined
from airboss.extensions.samples import moments_for, script_for
from airboss.extensions.trial import FiredHook, TrialFailed, started_alone, trial_file
from airboss.runtime.rehearsal.script import load_script
from airboss.runtime.rehearsal.stage import PREFIX, Stage, with_models

PROMPT: Final = "Test the extension."
_HOOK_SECONDS: Final = 15.0
_MOST_SECONDS: Final = 900.0
_LOOK_SECONDS: Final = 0.1
_LONGEST: Final = 160
_MODEL: Final = "rehearsal"
_COPILOT_HOME: Final = "COPILOT_HOME"

Outcome: TypeAlias = Literal["ok", "failed", "no answer"]
_SIGNS: Final = {"ok": ("✓", "green"), "failed": ("!", "yellow"), "no answer": ("✗", "red")}


@dataclass(frozen=True)
class TriedPart:
    """One call of a tool, or one question to a hook."""

    what: Literal["tool", "hook"]
    name: str
    outcome: Outcome
    text: str
    ms: float


def test_extension(path: Path, script: Path | None, data: Path | None, *, is_json: bool) -> Exit:
    """With invented arguments a tool may be right to fail: then only what gives no answer counts.
    What a script calls has to succeed."""
    folder = meant(path)
    if script is not None:
        load_script(script.expanduser().absolute())  # says why it cannot be read
    with tempfile.TemporaryDirectory(prefix=PREFIX, ignore_cleanup_errors=True) as made:
        stage = Stage(Path(made))
        try:
            name, work = _prepared(folder, stage)
            brought, fired = asyncio.run(_alone(work, stage, name, runtime(data)))
        except TrialFailed as failed:
            if is_json:
                print_json({"valid": False, "fault": str(failed), "tried": []})
            else:
                out().line(visible_line(str(failed)))
            return Exit.FAILED
        hooks = [_told(hook) for hook in fired]
        tools = _played(stage, work, name, _script(script, brought), data)
    tried = [*hooks, *tools]
    if is_json:
        said = {"valid": True, "fault": None, **said_of(brought)}
        print_json({**said, "tried": [asdict(one) for one in tried]})
    else:
        _show(tried)
    wrong = [one for one in tried if one.outcome == "no answer" or (script and one.outcome != "ok")]
    return Exit.FAILED if wrong else Exit.DONE


def _prepared(folder: Path, stage: Stage) -> tuple[str, Path]:
    """A project that has this extension, and nothing else."""
    file = trial_file(folder)
    work = stage.folder / "work"
    (work / ".git").mkdir(parents=True)
    place = project_folder(work) / file.name
    for name, content in read(file.path).files:
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_bytes(content)
    return file.name, work


async def _alone(
    work: Path, stage: Stage, name: str, cli: Path | None
) -> tuple[Joined, list[FiredHook]]:
    """What it brings, and what each of its hooks says when it is asked."""
    cwd = stage.folder / "alone"
    cwd.mkdir()
    place = project_folder(work) / name
    async with started_alone(place, cwd, trial_environment(), cli) as trial:
        fired = [
            await trial.fire(kind, given, _HOOK_SECONDS)
            for kind, given in moments_for(trial.joined)
        ]
        return trial.joined, fired


def _told(hook: FiredHook) -> TriedPart:
    said = ", ".join(f"{name}: {value}" for name, value in hook.output.items()) or "nothing"
    outcome: Outcome = "no answer" if hook.failure else "ok"
    return TriedPart("hook", hook.kind, outcome, hook.failure or said, round(hook.milliseconds, 1))


def _script(chosen: Path | None, brought: Joined) -> str:
    if chosen is not None:
        return chosen.expanduser().absolute().read_text(encoding="utf-8")
    return yaml.safe_dump(script_for(brought, PROMPT), allow_unicode=True)


def _played(stage: Stage, work: Path, name: str, script: str, data: Path | None) -> list[TriedPart]:
    stage.script.write_text(with_models(script, "script", [_MODEL]), encoding="utf-8")
    words = stage.words("approve-all", [work])
    if cli := runtime(data):
        words += ["--copilot-cli", str(cli)]
    # Only this extension: not those of whoever tests it.
    with served_on(stage, work, words, {_COPILOT_HOME: str(stage.folder / "copilot")}):
        client = Client(find(stage.data.path, {}))
        place = str(project_folder(work) / name)
        seen = client.get("/api/v1/trust/look", path=place)
        client.post("/api/v1/trust", {"path": place, "digest": seen["digest"]})
        started = client.post("/api/v1/sessions", {"model": _MODEL, "cwd": str(work)})
        session = str(started["id"])
        client.post(f"/api/v1/sessions/{session}/prompts", {"text": PROMPT})
        waited("Testing", lambda: _wait(client, session))
        return list(_calls(client, session))


def _wait(client: Client, session: str) -> None:
    """Whatever it asks a person is answered meanwhile."""
    until = time.monotonic() + _MOST_SECONDS
    while True:
        view = client.get(f"/api/v1/sessions/{session}")
        if view["state"] == "idle" and view["turns"] > 0:
            return
        if view["state"] in ("closed", "interrupted") or time.monotonic() > until:
            raise Trouble("The session of the test ended before its turn did.")
        for item in cast("list[Json]", client.get("/api/v1/inbox", session=session)["items"]):
            _answer(client, item)
        time.sleep(_LOOK_SECONDS)


def _answer(client: Client, item: Json) -> None:
    asked = cast("Json", item["asked"])
    path = f"/api/v1/inbox/{item['id']}"
    try:
        if str(asked["kind"]).startswith("question"):
            choices = cast("Sequence[Any]", asked.get("choices") or ())
            client.post(f"{path}/answer", {"answer": "1" if choices else "This is a test."})
        else:
            client.post(f"{path}/decision", {"choice": "allow-once"})
    except CommandRefused:  # it was withdrawn, or wants a form
        client.post(f"{path}/decline")


def _calls(client: Client, session: str) -> Iterator[TriedPart]:
    began: dict[str, tuple[str, int]] = {}
    after, more = 0, True
    while more:
        page = client.get(f"/api/v1/sessions/{session}/events", after=after, limit=1000)
        for item in cast("list[Json]", page["items"]):
            event = cast("Json", item["event"])
            match event["kind"]:
                case "tool.started":
                    began[str(event["block"])] = str(event["name"]), int(item["at"])
                case "tool.ended" if str(event["block"]) in began:
                    name, at = began.pop(str(event["block"]))
                    error = cast("Json | None", event.get("error"))
                    text = str(error["message"] if error else event["text"])
                    outcome: Outcome = "failed" if error else "ok"
                    yield TriedPart("tool", name, outcome, text, int(item["at"]) - at)
                case "extension.ended" if event.get("crashed"):
                    yield TriedPart(
                        "tool", str(event["name"]), "no answer", str(event["reason"]), 0
                    )
                case "extension.refused":
                    yield TriedPart(
                        "tool", str(event["name"]), "no answer", str(event["reason"]), 0
                    )
                case _:
                    pass
        after, more = int(page["next_after"]), bool(page["more"])
    for name, _ in began.values():
        yield TriedPart("tool", name, "no answer", "It did not answer.", 0)


def _show(tried: Sequence[TriedPart]) -> None:
    pen = out()
    for one in tried:
        sign, colour = _SIGNS[one.outcome]
        text = visible_line(one.text, _LONGEST)
        shown = pen.styled(sign, colour) if pen.is_terminal else one.outcome
        pen.line(f"{shown}\t{one.what}\t{visible_line(one.name)}\t{text}\t{one.ms:g} ms")
    answered = sum(one.outcome != "no answer" for one in tried)
    aside().line(f"{answered} of {len(tried)} answered.")
