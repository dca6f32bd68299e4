"""Ten thousand tasks and a thousand jobs load in a few seconds; the time grows with the size."""

import json
import time
from pathlib import Path

from airboss.entry.load import load_entry
from tests.entry.example import Data, par, ref, seq


def large(tasks: int) -> Data:
    """As long prompts and as many conditions as people write, a job for every ten tasks."""
    task = {
        "model": {"category": "coding"},
        "prompt": ["Read $ground first.", "Then do this: $user-input", "x" * 200],
        "requireUserInput": True,
        "availability": {"condition": ["$ask"]},
        "criteria": {
            "toolExecuted": ["job_boolean_true"],
            "condition": ["$ask"],
            "failureAction": {"retryTimes": 3, "additionalPrompt": ["Again."]},
        },
    }

    def job(first: int) -> Data:
        names = [f"task-{(first * 10 + i) % tasks}" for i in range(10)]
        loop = {"kind": "Loop", "body": ref(names[0]), "postCondition": [False, ref(names[1])]}
        return {"work": seq(par(*map(ref, names[2:5])), loop, seq(*map(ref, names[5:])))}

    return {
        "models": {"driving": "m", "coding": "n"},
        "promptVariables": {
            "ground": ["the $rules"],
            "rules": ["x" * 500],
            "ask": ["job_boolean_true"],
        },
        "tasks": {f"task-{i}": task for i in range(tasks)},
        "jobs": {f"job-{i}": job(i) for i in range(max(tasks // 10, 1))},
        "grid": [{"keyword": "k", "jobs": [None, {"name": "x", "jobName": "job-0"}]}],
    }


def seconds_to_load(file: Path) -> float:
    begun = time.process_time()
    load_entry(file)
    return time.process_time() - begun


def test_a_large_json_loads_in_a_few_seconds_and_in_linear_time(tmp_path: Path) -> None:
    spent: dict[int, float] = {}
    for tasks in (1_000, 10_000):
        file = tmp_path / f"{tasks}.json"
        file.write_text(json.dumps(large(tasks)), encoding="utf-8")
        spent[tasks] = min(seconds_to_load(file) for _ in range(2))
    assert spent[10_000] < 8
    assert spent[10_000] < spent[1_000] * 30


def test_a_large_yaml_loads_in_seconds(tmp_path: Path) -> None:
    file = tmp_path / "large.yaml"
    # JSON is YAML too, and written a hundred times as fast.
    file.write_text(json.dumps(large(10_000), indent=1), encoding="utf-8")
    assert seconds_to_load(file) < 16
