"""Whether the agents of a run work in cages, as it is told when the run is accepted."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from airboss.entry.load import check_text
from airboss.harness.cages import Cages
from airboss.model.cage_bounds import ServerCages
from airboss.model.run_events import RunCaged
from airboss.runtime.cage.ability import Ability
from airboss.service.installed import Installed
from airboss.service.run_cages import caging_of
from airboss.settings import Settings

pytestmark = pytest.mark.anyio

STRONG = Ability("strong", "All walls hold.", "")
NARROW = Ability("narrow", "There is no bwrap.", "Install it.")
NONE = Ability("none", "This is not Linux.", "Use Linux.")
ENTRY = """
models: {driving: m}
promptVariables: {}
tasks:
  caged: {prompt: ["It."], requireUserInput: false, permissions: caged}
  asking: {prompt: ["It."], requireUserInput: false, cage: {profile: default}}
  free: {prompt: ["It."], requireUserInput: false}
jobs:
  all:
    work:
      kind: Seq
      works: [{kind: Ref, taskId: caged, modelOverride: {category: driving}},
              {kind: Ref, taskId: asking, modelOverride: {category: driving}}]
  some:
    work:
      kind: Seq
      works: [{kind: Ref, taskId: caged, modelOverride: {category: driving}},
              {kind: Ref, taskId: free, modelOverride: {category: driving}}]
  none: {work: {kind: Ref, taskId: free, modelOverride: {category: driving}}}
grid: []
"""


def installed(**settings: Any) -> Installed:
    checked = check_text(ENTRY, "yaml")
    assert checked.entry is not None, checked.violations
    server = Settings(data=Path("/data"), permissions="ask", **settings)
    return Installed(checked.entry, "digest", "file", server, 0)


@pytest.mark.parametrize(
    ("job", "ability", "caged"),
    [
        ("all", STRONG, "strong"),
        ("all", NARROW, "narrow"),
        ("all", NONE, "no"),
        ("some", STRONG, "partly"),
        ("none", STRONG, "no"),
    ],
)
async def test_a_run_is_as_caged_as_its_tasks(job: str, ability: Ability, caged: RunCaged) -> None:
    cages = Cages(ServerCages(narrow=True), lambda: ability)
    assert await caging_of(cages, installed(), job, None) == caged


async def test_a_profile_that_is_named_or_usual_is_for_all_of_them() -> None:
    cages = Cages(ServerCages(), lambda: STRONG)
    assert await caging_of(cages, installed(), "none", "default") == "strong"
    always = replace(cages, said=ServerCages(use="always"))
    assert await caging_of(always, installed(), "none", None) == "strong"
    usual = installed(session={"cage": "default"})
    assert await caging_of(cages, usual, "none", None) == "strong"
