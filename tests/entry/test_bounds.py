"""Of several requests the narrowest holds, and a file widens nothing before a person trusts it."""

from typing import Any

import pytest

from airboss.entry.bounds import (
    POLICIES,
    granted_policy,
    limited_in,
    narrowest_limits,
    narrowest_policy,
    ungranted,
)
from airboss.entry.document import Entry, Limits, Policy
from airboss.entry.validate import validate_entry
from tests.entry.example import entry


def test_policies_from_the_narrowest_to_the_widest() -> None:
    assert POLICIES == ("deny-all", "read-only", "ask", "approve-all")


@pytest.mark.parametrize("wide", POLICIES)
@pytest.mark.parametrize("narrow", POLICIES)
def test_the_narrowest_policy_holds(narrow: Policy, wide: Policy) -> None:
    if POLICIES.index(narrow) <= POLICIES.index(wide):
        assert narrowest_policy(wide, None, narrow) == narrow
        assert narrowest_policy(narrow, wide, None) == narrow


def test_alone_a_policy_holds() -> None:
    assert narrowest_policy("ask", None, None) == "ask"


@pytest.mark.parametrize(
    ("server", "of_entry", "of_task", "trusted", "granted"),
    [
        ("read-only", "approve-all", None, False, "read-only"),
        ("read-only", "approve-all", None, True, "approve-all"),
        ("read-only", "approve-all", "ask", True, "ask"),
        ("read-only", None, "approve-all", False, "read-only"),
        ("read-only", None, "approve-all", True, "approve-all"),
        ("approve-all", "ask", "deny-all", False, "deny-all"),
        ("approve-all", "ask", None, False, "ask"),
        ("approve-all", "deny-all", "approve-all", True, "deny-all"),
        ("ask", None, None, True, "ask"),
    ],
)
def test_only_a_trusted_file_widens_the_servers_policy(
    server: Policy, of_entry: Policy | None, of_task: Policy | None, trusted: bool, granted: Policy
) -> None:
    assert granted_policy(server, of_entry, of_task, trusted=trusted) == granted


def test_wishes_that_are_not_granted_are_told() -> None:
    data = entry()
    data["permissions"] = "ask"
    data["tasks"]["plan"]["permissions"] = "deny-all"
    data["tasks"]["build"]["permissions"] = "approve-all"
    loaded = validate_entry(data)
    assert [str(asked_for) for asked_for in ungranted(loaded, "read-only")] == [
        'entry.permissions: "ask" is not granted: the server allows "read-only", '
        "until a person trusts this file.",
        'entry.tasks["build"].permissions: "approve-all" is not granted: the server allows '
        '"read-only", until a person trusts this file.',
    ]
    assert list(ungranted(loaded, "approve-all")) == []


def test_the_narrowest_of_each_limit_holds() -> None:
    held = narrowest_limits(
        Limits(turns=10, tokens=500, minutes=5), None, Limits(turns=3, cost=0.5), Limits(tokens=0)
    )
    assert held == Limits(turns=3, tokens=0, cost=0.5, minutes=5)
    assert narrowest_limits(None) == Limits()


def test_what_each_limit_means_is_said_in_words() -> None:
    written: dict[str, dict[str, Any]] = {
        "limits": {"cost": 40},
        "tasks": {"plan": {"limits": {"turns": 2, "idleMinutes": 0.5}}, "free": {}},
        "jobs": {"ship": {"limits": {"minutes": 120}}, "other": {"limits": {}}},
    }
    task = {"prompt": ["x"], "requireUserInput": False, "model": {"category": "driving"}}
    work = {"kind": "Ref", "taskId": "plan"}
    entry = Entry.model_validate(
        {
            "models": {"driving": "m"},
            "promptVariables": {},
            "grid": [],
            "limits": written["limits"],
            "tasks": {name: {**task, **more} for name, more in written["tasks"].items()},
            "jobs": {name: {"work": work, **more} for name, more in written["jobs"].items()},
        }
    )
    asks = "asks a person before it goes on after"
    assert [*limited_in(entry)] == [
        f"Each run and each task run {asks} 40 of cost.",
        f"Each run of the job ship {asks} 120 minutes at work.",
        f"Each run of the task plan {asks} 2 turns or 0.5 minutes without a sign of life.",
    ]
