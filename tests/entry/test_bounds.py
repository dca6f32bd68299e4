"""Of several requests the narrowest holds, and a file widens nothing before a person trusts it."""

from typing import Any

from airboss.cage_settings import CageProfile
from airboss.entry.bounds import limited_in, narrowest_limits, ungranted
from airboss.entry.document import Entry, Limits
from airboss.entry.validate import validate_entry
from airboss.model.cage_bounds import ServerCages
from tests.entry.example import entry


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


def test_a_cage_is_granted_in_the_place_of_asking_where_cages_are_offered() -> None:
    data = entry()
    data["permissions"] = "caged"
    loaded = validate_entry(data)
    assert list(ungranted(loaded, "ask", cages=ServerCages())) == []
    refused = 'entry.permissions: "caged" is not granted: the server allows "{}", '
    end = "until a person trusts this file."
    off, narrow = ServerCages(use="off"), ServerCages()
    assert [str(one) for one in ungranted(loaded, "ask", cages=off)] == [
        refused.format("ask") + end
    ]
    assert [str(one) for one in ungranted(loaded, "read-only", cages=narrow)] == [
        refused.format("read-only") + end
    ]


def test_more_than_the_servers_profile_is_told() -> None:
    data = entry()
    data["cage"] = {"hosts": ["a.example.org", "example.com"], "memoryMb": 256}
    data["tasks"]["plan"]["cage"] = "wide"
    wide = CageProfile(write=("/srv",), hosts=("*.example.org",))
    cages = ServerCages(profiles={"default": CageProfile(hosts=("*.example.org",)), "wide": wide})
    end = "which is not granted until a person trusts this file."
    assert [str(one) for one in ungranted(validate_entry(data), "ask", cages=cages)] == [
        f"entry.cage.hosts: It asks to reach example.com in its cage, {end}",
        f'entry.tasks["plan"].cage: It asks to write /srv in its cage, {end}',
    ]


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
