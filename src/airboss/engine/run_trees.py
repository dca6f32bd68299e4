"""The files of a run's folder, as they were when it began and when it ended: kept in git, where the
folder is in git. A run goes on without, where that fails."""

import asyncio
import logging
from pathlib import Path
from typing import Final, Literal

from airboss.log.writer import LogLine, Writer
from airboss.model.run_events import RunTreeKept
from airboss.model.runs import LoneRunView, RunView
from airboss.store.git_trees import NotInGit, NotKept, forget_trees, keep_tree

_log = logging.getLogger(__name__)

_BEGIN: Final = "tree/begin"


async def keep_first_tree(view: RunView, writer: Writer) -> None:
    """Before anything of the run works."""
    if isinstance(view, LoneRunView) or writer.said_from(_BEGIN) is not None:
        return
    kept = await _keep(view, "begin")
    if kept is not None:
        await writer.commit(kept, origin=_BEGIN)


async def keep_last_tree(view: RunView, writer: Writer) -> tuple[LogLine, ...]:
    """When nothing of the run works any more; to be written with its end."""
    origin = f"tree/end@{view.attempt}"
    if writer.said_from(_BEGIN) is None or writer.said_from(origin) is not None:
        return ()
    kept = await _keep(view, "end")
    return () if kept is None else (writer.line(kept, origin),)


async def forget_run_trees(view: RunView) -> None:
    if not isinstance(view, LoneRunView):
        await asyncio.to_thread(forget_trees, Path(view.cwd), view.id)


async def _keep(view: RunView, when: Literal["begin", "end"]) -> RunTreeKept | None:
    try:
        kept = await asyncio.to_thread(keep_tree, Path(view.cwd), view.id, when)
    except NotInGit as none:
        if when == "begin":
            return None
        return RunTreeKept(when=when, reason=str(none))
    except NotKept as error:
        return RunTreeKept(when=when, reason=str(error))
    except OSError as error:  # a full disk, a folder that is gone: the run is more than its report
        _log.warning("The files of %s could not be kept: %s", view.id, error)
        return RunTreeKept(when=when, reason=f"{type(error).__name__}: {error.strerror}")
    return RunTreeKept(when=when, tree=kept.tree, left_out=kept.left_out)
