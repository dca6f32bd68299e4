"""Entries that the contract's tests bring along."""

import json
from copy import deepcopy
from pathlib import Path
from typing import Any

ENTRY: dict[str, Any] = {
    "models": {"driving": "rehearsal", "coding": "house/grand-model"},
    "promptVariables": {"rules": ["Be brief."]},
    "tasks": {
        "plan": {
            "model": {"category": "coding"},
            "prompt": ["Plan $user-input", "$rules"],
            "requireUserInput": True,
        },
        "build": {
            "model": {"id": "rehearsal"},
            "prompt": ["Build it."],
            "requireUserInput": False,
            "permissions": "approve-all",
            "criteria": {
                "condition": ["Is it built? job_boolean_true or job_boolean_false"],
                "failureAction": {"retryTimes": 1},
            },
        },
    },
    "jobs": {
        "all": {
            "work": {
                "kind": "Seq",
                "works": [{"kind": "Ref", "taskId": "plan"}, {"kind": "Ref", "taskId": "build"}],
            }
        },
        "again": {"work": {"kind": "Ref", "taskId": "build"}},
    },
    "grid": [{"keyword": "make", "jobs": [{"name": "All", "jobName": "all"}, None]}],
}


def entry() -> dict[str, Any]:
    """A fresh copy; bend it as you like."""
    return deepcopy(ENTRY)


def write(file: Path, content: object) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    text = content if isinstance(content, str) else json.dumps(content)
    file.write_text(text, encoding="utf-8")
    return file
