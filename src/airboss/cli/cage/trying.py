"""`airboss cage try`: a command in a cage of the working folder, with the hosts of its profile."""

import asyncio
import os
from pathlib import Path
from typing import Final

from airboss.cage_settings import CageProfile
from airboss.cli.cage.listing import known_cages
from airboss.cli.folder import data_folder
from airboss.cli.screen import aside, visible_line
from airboss.cli.trouble import CommandRefused
from airboss.model.cage_bounds import ServerCages
from airboss.model.cage_events import EgressEvent, EgressRefused
from airboss.runtime.cage.ability import ability
from airboss.runtime.cage.attempt import Attempted, attempt
from airboss.runtime.cage.doors import CageDoors
from airboss.runtime.cage.folders import remove_cage
from airboss.runtime.cage.given_cage import held_here
from airboss.runtime.cage.host_request import HostAnswer, HostRequest
from airboss.runtime.cage.plan import CagePlan
from airboss.runtime.cage.watch import in_words
from airboss.runtime.cage.way_out import WayOut
from airboss.store.cage_places import TRIED

_NOT_LISTED: Final = "The profile does not name it."


def try_command(data: Path | None, profile: str, command: tuple[str, ...]) -> int:
    """Its exit code; 128 + n for signal n."""
    cages, folder = known_cages(data), data_folder(data).path
    terms = cages.profile(profile)
    if terms is None:
        known = ", ".join(cages.names)
        raise CommandRefused(f"There is no profile {visible_line(profile)}. There are: {known}.")
    plan = _plan(cages, profile, terms)
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    try:
        ended = asyncio.run(_tried(plan, folder, command))
    finally:
        remove_cage(folder, plan.key)
    if ended.limit is not None:
        aside().line(in_words(ended.limit, terms))
    return ended.code


def _plan(cages: ServerCages, profile: str, terms: CageProfile) -> CagePlan:
    held = held_here(cages, ability())
    if held.kind == "none":
        raise CommandRefused(" ".join(filter(None, (held.why, held.advice))))
    cwd = Path(os.path.realpath(Path.cwd()))
    return CagePlan(held.kind, profile, terms, cwd, f"{TRIED}{os.getpid()}")


async def _tried(plan: CagePlan, folder: Path, command: tuple[str, ...]) -> Attempted:
    way_out = WayOut(plan.terms, _permit, _tell)
    return await attempt(
        plan, folder, command, doors=CageDoors(way_out.serve, close=way_out.close), is_quiet=False
    )


async def _permit(asked: HostRequest) -> HostAnswer:
    """Nobody is asked here, whatever the profile says of unknown hosts."""
    why = "" if asked.listed else asked.unclear or _NOT_LISTED
    return HostAnswer(asked.listed, why, "profile")


def _tell(event: EgressEvent) -> None:
    if isinstance(event, EgressRefused):
        port = f":{event.port}" if event.port else ""
        aside().line(visible_line(f"{event.host}{port} was refused. {event.why}"))
