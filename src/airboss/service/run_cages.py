"""Whether the agents of a run work in cages: what is known of its tasks when it is accepted."""

from typing import TYPE_CHECKING

from airboss.harness.cages import Cages
from airboss.model.run_events import RunCaged
from airboss.service.installed import Installed

if TYPE_CHECKING:
    from airboss.entry.document import Entry


async def caging_of(cages: Cages, installed: Installed, job: str, named: str | None) -> RunCaged:
    """`named` is the profile that whoever starts the run wants. A task that is to be caged never
    works otherwise: where no cage holds, it is refused."""
    from airboss.entry.works import refs

    entry = installed.entry
    is_for_all = named is not None or cages.said.use == "always" or _is_usual(installed)
    tasks = {ref.task_id for ref in refs(entry.jobs[job].work)}
    caged = {task for task in tasks if is_for_all or _is_caged(installed, entry, task)}
    kind = (await cages.held()).kind if caged else "none"
    if kind == "none":
        return "no"
    return kind if caged == tasks else "partly"


def _is_usual(installed: Installed) -> bool:
    """The settings put every session into a cage."""
    return installed.server.session.cage is not None


def _is_caged(installed: Installed, entry: "Entry", task: str) -> bool:
    from airboss.entry.session_words import keys_of

    keys = keys_of(entry.tasks[task], entry)
    return installed.policy_for(task) == "caged" or keys.cage is not None
