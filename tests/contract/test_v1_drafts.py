"""An entry that somebody is writing, over v1: against a real server, small and huge."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.contract.entries import entry
from tests.contract.guest import Guest, Told

PATH = "/api/v1/entry/draft"


async def drafted(guest: Guest, text: object, form: str = "json") -> Told:
    said = text if isinstance(text, str) else json.dumps(text, indent=1)
    answer = await guest.http.post(PATH, json={"text": said, "format": form})
    assert answer.status_code == 200, answer.text
    return answer.json()


async def test_a_good_draft_has_tasks_charts_and_what_is_not_granted(guest: Guest) -> None:
    told = await drafted(guest, entry())
    assert (told["valid"], told["violations"], told["mistakes"]) == (True, [], 0)
    assert told["tasks"] == ["plan", "build"]
    assert [(job["name"], job["requireUserInput"]) for job in told["jobs"]] == [
        ("all", True),
        ("again", False),
    ]
    assert [node["label"] for node in told["jobs"][0]["chart"]["nodes"]] == ["plan", "build"]
    assert told["ungranted"] == [
        'entry.tasks["build"].permissions: "approve-all" is not granted: the server allows '
        '"read-only", until a person trusts this file.'
    ]


async def test_a_mistake_has_the_words_of_a_check_and_a_repair(guest: Guest) -> None:
    wrong = entry()
    wrong["jobs"]["again"]["work"]["taskId"] = "biuld"
    text = json.dumps(wrong, indent=1)
    told = await drafted(guest, text)
    checked = (
        await guest.http.post("/api/v1/entry/check", json={"text": text, "format": "json"})
    ).json()
    [mistake] = told["violations"]
    [repair] = mistake.pop("repairs")
    assert [mistake] == checked["violations"]
    assert (told["valid"], told["mistakes"]) == (False, 1)
    line = text.splitlines()[int(repair["line"]) - 1]
    assert repair["title"] == "Use build"
    assert (repair["end_line"], repair["text"]) == (repair["line"], '"build"')
    assert line[repair["column"] - 1 : repair["end_column"] - 1] == '"biuld"'
    again = told["jobs"][1]
    assert (again["name"], again["chart"]["nodes"][0]["broken"]) == ("again", "no such task")


async def test_a_draft_is_neither_used_nor_kept(guest: Guest) -> None:
    before = (await guest.http.get("/api/v1/entry")).json()
    await drafted(guest, entry())
    assert (await guest.http.get("/api/v1/entry")).json() == before


async def test_python_is_not_a_format_and_nothing_runs(guest: Guest, tmp_path: Path) -> None:
    trace = tmp_path / "ran"
    program = f"open({str(trace)!r}, 'w')\nentry = {{}}\n"
    answer = await guest.http.post(PATH, json={"text": program, "format": "python"})
    assert answer.status_code == 422
    assert (await drafted(guest, program, "yaml"))["valid"] is False
    assert not trace.exists()


def _many(tasks: int) -> dict[str, Any]:
    made = entry()
    made["tasks"] |= {f"task-{number}": made["tasks"]["build"] for number in range(tasks)}
    made["jobs"]["again"]["work"]["taskId"] = "task-1x"
    return made


async def test_a_large_draft_is_read_apart_and_answers_the_same(guest: Guest) -> None:
    told = await drafted(guest, _many(2_000))
    assert (told["mistakes"], len(told["tasks"]), len(told["jobs"])) == (1, 2_002, 2)
    assert told["violations"][0]["repairs"][0]["text"].startswith('"task-1')
    assert told["violations"][0]["excerpt"]


@pytest.mark.parametrize("form", ["yaml", "json"])
async def test_whatever_is_sent_has_an_answer(guest: Guest, form: str) -> None:
    for text in ("", "\0", "[" * 5_000, "\ufeff", "a: &a [*a]", "{", "- " * 3_000, "\r\n\r"):
        assert (await drafted(guest, text, form))["valid"] is False
    bomb = "\n".join(
        ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
        + [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 30)]
    )
    assert (await drafted(guest, bomb, form))["valid"] is False


async def test_more_than_an_entry_may_have_is_refused(guest: Guest) -> None:
    body = {"text": "#" * (8 * 1024 * 1024 + 1), "format": "yaml"}
    answer = await guest.http.post(PATH, json=body)
    assert (answer.status_code, answer.json()["code"]) == (413, "body_too_large")


async def test_a_secret_does_not_come_back(guest: Guest) -> None:
    key = "ghp_" + "b" * 30
    wrong = entry()
    wrong["tasks"][key] = wrong["tasks"].pop("plan")
    wrong["jobs"]["all"]["work"]["works"][0]["taskId"] = key[:-1] + "c"
    answer = await guest.http.post(PATH, json={"text": json.dumps(wrong), "format": "json"})
    assert answer.status_code == 200
    assert key not in answer.text
