"""(h) Reading an entry: as long for each task, however many there are."""

import json
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

import yaml

from airboss.entry.load import load_entry
from bench.table import Line, Say

FORMS = ("JSON", "YAML")
# How many tasks, and how often they are read in a round.
REPEATS = {10: 50, 1_000: 4, 10_000: 1}
ROUNDS = 4
TASKS_A_JOB = 10
TOOLS = "job_boolean_true when it holds, else job_boolean_false."


def _entry(count: int) -> dict[str, Any]:
    """Tasks as people write them, each in one job, and a button for every job."""
    names = [f"task-{number}" for number in range(count)]
    jobs = {
        f"job-{first // TASKS_A_JOB}": {"work": _work(names[first : first + TASKS_A_JOB])}
        for first in range(0, count, TASKS_A_JOB)
    }
    cells = [{"name": "Go", "jobName": name} for name in jobs]
    return {
        "models": {"driving": "first", "work": "second"},
        "promptVariables": {"tools": [TOOLS], "ask": ["Call one of them:", "$tools"]},
        "tasks": {name: _task(name) for name in names},
        "jobs": jobs,
        "grid": [{"keyword": "bench", "jobs": cells}],
    }


def _task(name: str) -> dict[str, Any]:
    return {
        "model": {"category": "work"},
        "prompt": [f"Do the work of {name}, and nothing else.", "$user-input"],
        "requireUserInput": True,
        "criteria": {
            "toolExecuted": ["job_prepare_document"],
            "condition": ["Is all of it in $reported-document?", "$ask"],
            "runConditionInSameSession": False,
            "failureAction": {"retryTimes": 3, "additionalPrompt": ["$reported-false-reason"]},
        },
    }


def _work(names: list[str]) -> dict[str, Any]:
    refs = [{"kind": "Ref", "taskId": name} for name in names]
    loop = {"kind": "Loop", "body": refs[0], "postCondition": [False, refs[1]]}
    return {"kind": "Seq", "works": [loop, {"kind": "Par", "works": refs[2:]}]}


def _milliseconds(path: Path, count: int) -> float:
    """CPU time: nothing waits here."""
    began = time.process_time()
    entry = load_entry(path)
    taken = 1000 * (time.process_time() - began)
    if len(entry.tasks) != count:
        raise ValueError(f"{len(entry.tasks)} of {count} tasks were read.")
    return taken


def _write(folder: Path, count: int) -> dict[str, Path]:
    text = json.dumps(_entry(count), indent=1)
    # From the text: no anchors for what two places share.
    written = yaml.dump(json.loads(text), Dumper=yaml.CSafeDumper, sort_keys=False)
    files = {form: folder / f"{count}.{form.lower()}" for form in FORMS}
    for path, content in zip(files.values(), (text, written), strict=True):
        path.write_text(content, encoding="utf-8")
    return files


async def measure(folder: Path, quick: bool, say: Say) -> list[Line]:
    files = {count: _write(folder, count) for count in REPEATS}
    found: dict[str, dict[int, list[float]]] = {
        form: {count: [] for count in REPEATS} for form in FORMS
    }
    for number in range(1 if quick else ROUNDS):
        for count, repeats in REPEATS.items():  # by turns, so that a busy moment hits all of them
            for form, path in files[count].items():
                found[form][count] += [_milliseconds(path, count) for _ in range(repeats)]
        say(f"round {number + 1} is over")
    return [_line(form, taken) for form, taken in found.items()]


def _line(form: str, taken: dict[int, list[float]]) -> Line:
    """By the best of each: the work is always the same, and only neighbours make it longer."""
    each = {count: min(times) / count for count, times in taken.items()}
    words = ", ".join(
        f"{count:,}: {one * count:.0f} ms ({one:.2f} a task)" for count, one in each.items()
    )
    growth = max(more / less for less, more in pairwise(each.values()))
    what = f"to load and check an entry of so many tasks, {form}"
    found = f"{words}; at most {growth:.2f} times a task from one to the next"
    return Line("h", what, found, "linear: ≤ 1.5 times", growth <= 1.5)
