"""Which models an entry can ask for."""

from collections.abc import Iterable

from airboss.entry.document import Entry, Model
from airboss.entry.works import refs


def model_ids(entry: Entry) -> list[str]:
    """Each of them once, by its id."""

    def named(models: "Iterable[Model | None]") -> list[str]:
        return [model.id for model in models if model and model.id]

    works = [ref.model_override for job in entry.jobs.values() for ref in refs(job.work)]
    driving = [retry.model_id for retry in entry.driving_session_retries or ()]
    tasks = named(task.model for task in entry.tasks.values())
    return list(dict.fromkeys([*entry.model_ids, *driving, *tasks, *named(works)]))
