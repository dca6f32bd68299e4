"""What a session that somebody asks for comes to: checked, before anything is written down."""

import asyncio
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from airboss.harness.cage_terms import CageWish
from airboss.harness.cages import Cages
from airboss.harness.models import Catalog, Route
from airboss.harness.server_launch import check_values
from airboss.harness.session_cage import SessionCage
from airboss.harness.setup import Said, SetupPlan, in_settings
from airboss.model.limits import UsageLimits
from airboss.model.redaction import Redactor
from airboss.model.setup import HookSetup, Setup
from airboss.service.folders import Folders
from airboss.session_keys import SessionSettings
from airboss.settings import Policy


@dataclass(frozen=True)
class NewChat:
    """A session that a person wants, and what is its own in place of the server's."""

    model: str | None
    cwd: str | None
    who: str
    policy: Policy | None = None
    limits: UsageLimits | None = None
    # For so long it waits for people, where whoever opens it cannot decide.
    approval_seconds: float | None = None
    said: tuple[Said, ...] = ()


class Surroundings(Protocol):
    """What is known of models, folders and secrets."""

    catalog: Catalog
    folders: Folders
    redactor: Redactor
    session_keys: SessionSettings
    environ: Mapping[str, str]
    cages: Cages


@dataclass(frozen=True)
class PlannedSession:
    """All that a session is opened with."""

    model: str
    route: Route
    folder: Path
    setup: Setup
    wish: CageWish


async def planned_session(
    around: Surroundings,
    model: str | None,
    cwd: str | None,
    said: Sequence[Said],
    *,
    is_of_task: bool,
) -> PlannedSession:
    """Checked in the order model, folder, then all that is said. Where the session is an agent, it
    is on that one's model, unless a person names another."""
    plan = SetupPlan((in_settings(around.session_keys), *said))
    plan.check_servers(around.session_keys.variables or ())
    plan.check_agents()
    if model is None or is_of_task:
        model = plan.agents.model or model
    plan.check_account(around.catalog.account_names)
    wanted = await around.catalog.default(plan.account) if model is None else model
    route = await around.catalog.route(wanted, plan.account)
    folder = await asyncio.to_thread(around.folders.check, cwd)
    plan.check_effort(wanted, route.efforts)
    plan.check_tools()
    await plan.agents.check_models(around.catalog.route, route)
    found = await asyncio.to_thread(_found, around, plan, folder, is_of_task=is_of_task)
    setup = plan.made(around.redactor.text, found.beside, found.skills, found.hooks)
    check_values(setup, around.environ)
    return PlannedSession(wanted, route, folder, setup, found.wish)


@dataclass(frozen=True)
class _Found:
    """What the disk has of all that is said."""

    beside: tuple[Path, ...]
    skills: tuple[Path, ...]
    hooks: tuple[HookSetup, ...]
    wish: CageWish


def _found(around: Surroundings, plan: SetupPlan, folder: Path, *, is_of_task: bool) -> _Found:
    """Blocks. All in one thread: most sessions name none of it, and to change threads takes longer
    than to find that."""
    beside = plan.find_directories(folder, around.folders.check)
    skills = plan.find_skills(folder, around.folders.check)
    plan.hooks.check()
    hooks = plan.hooks.find(folder, around.redactor.text)
    cage = SessionCage(plan.said, around.cages.said)
    cage.check()
    return _Found(beside, skills, hooks, cage.wish(is_of_task=is_of_task, real=_real))


def _real(word: str) -> str:
    return os.path.realpath(os.path.expanduser(word))
