"""`airboss extension check`: an extension started alone, and what it brings or what is wrong."""

import asyncio
import json
import os
import tempfile
from pathlib import Path
from typing import Any

from airboss.cli.folder import data_folder
from airboss.cli.screen import Pen, aside, out, print_json, visible, visible_line
from airboss.cli.trouble import Exit
from airboss.entry.places import find_repo_root
from airboss.extensions.discovery import project_folder, user_folder
from airboss.extensions.joined import HOOK_KINDS, Joined
from airboss.extensions.trial import TrialFailed, started_alone
from airboss.runtime.environment import agents_environment
from airboss.settings import load_settings


def check_extension(path: Path, *, is_json: bool) -> Exit:
    try:
        brought = asyncio.run(_brought(meant(path)))
    except TrialFailed as failed:
        if is_json:
            print_json({"valid": False, "fault": str(failed), "tools": [], "hooks": {}})
        else:
            out().line(visible_line(str(failed)))
            aside().line("1 error.")
        return Exit.FAILED
    if is_json:
        print_json({"valid": True, "fault": None, **said_of(brought)})
    else:
        _show(brought, out())
    return Exit.DONE


def meant(path: Path) -> Path:
    """A bare name that is not there is that of an extension, as in the other commands."""
    place = path.expanduser().absolute()
    if len(path.parts) == 1 and not place.exists():
        roots = project_folder(find_repo_root(Path.cwd())), user_folder(os.environ, Path.home())
        return next((root / path for root in roots if (root / path).is_dir()), place)
    return place


async def _brought(folder: Path) -> Joined:
    with tempfile.TemporaryDirectory(prefix="airboss-check-", ignore_cleanup_errors=True) as made:
        async with started_alone(folder, Path(made), trial_environment(), runtime()) as trial:
            return trial.joined


def trial_environment() -> dict[str, str]:
    """As extensions have it in sessions: without secrets."""
    return agents_environment(os.environ, owner="extension check")


def runtime(data: Path | None = None) -> Path | None:
    """The agent runtime that the settings name: JavaScript runs on its SDK."""
    return load_settings(data_folder(data).settings, {}).copilot_cli


def said_of(brought: Joined) -> dict[str, Any]:
    return {
        "tools": [
            {
                "name": name,
                "description": tool.offer.description,
                "parameters": tool.offer.parameters,
                "seconds": tool.seconds,
                "repeatable": tool.repeatable,
            }
            for name, tool in brought.tools.items()
        ],
        "hooks": {
            kind: sorted(tools) if tools is not None else None
            for kind, tools in brought.hooks.items()
        },
    }


def _show(brought: Joined, pen: Pen) -> None:
    for name, tool in brought.tools.items():
        pen.line(f"tool {pen.styled(visible_line(name), 'bold')}")
        pen.line(f"  {visible_line(tool.offer.description)}")
        schema = json.dumps(tool.offer.parameters, ensure_ascii=False)
        pen.line(f"  {pen.styled(visible(schema), 'dim')}")
    if says_no_hooks(brought):
        pen.line("hooks: it has some. JavaScript does not say which.")
    else:
        for kind, tools in brought.hooks.items():
            about = "" if tools is None else f"({', '.join(sorted(tools))})"
            name = pen.styled(visible_line(kind), "bold")
            pen.line(f"hook {name} {visible_line(about)}".rstrip())
    aside().line(f"No errors. Tools: {len(brought.tools)}.")


def says_no_hooks(brought: Joined) -> bool:
    """The SDK of JavaScript says only that there are some: then it is asked about all."""
    return {*brought.hooks} == {*HOOK_KINDS} and not any(brought.hooks.values())
