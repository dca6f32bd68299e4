"""What is said about the sessions of a task: by its entry, by the model's name in it, by itself."""

from dataclasses import dataclass

from airboss.cage_keys import CageKeys
from airboss.entry.document import DRIVING, Entry, Model, NamedModel
from airboss.entry.session_words import keys_of
from airboss.entry.violations import at
from airboss.harness.setup import Said
from airboss.session_keys import SessionKeys


@dataclass(frozen=True)
class SaidOfTask:
    """`model` is what the task is worked on by, as its work or itself names it."""

    entry: Entry
    task: str
    model: Model | None = None
    trusted: bool = False
    # A profile of cages that whoever started the run named.
    cage: str | None = None

    def about(self, model: str, *, is_driving: bool) -> tuple[Said, ...]:
        """For a session on this model. How long a task's own model thinks is not for the one that
        judges it."""
        task = self.entry.tasks[self.task]
        keys = keys_of(task, self.entry)
        # Where both go on in one session, that one is driving too.
        apart = task.criteria and task.criteria.run_condition_in_same_session is False
        only_judges = is_driving and bool(apart)
        if only_judges:
            keys = keys.model_copy(update={"reasoning_effort": None, "agent": None})
        name = self._name_of(model) if only_judges else self._category
        return (
            self._said(keys_of(self.entry)),
            self._said(self._keys_of(name), "models", name),
            self._said(keys, "tasks", self.task),
            *self._of_run,
        )

    @property
    def _of_run(self) -> tuple[Said, ...]:
        """What was looked at when the run was accepted."""
        if self.cage is None:
            return ()
        keys = SessionKeys(cage=CageKeys(profile=self.cage))
        return (Said(keys, "run.", may_widen=True),)

    @property
    def _category(self) -> str:
        """Empty for a model that is named by its id."""
        return DRIVING if self.model is None else self.model.category or ""

    def _name_of(self, model: str) -> str:
        names = [DRIVING, *self.entry.models]
        return next((name for name in names if self.entry.model_id(name) == model), "")

    def _keys_of(self, name: str) -> SessionKeys:
        model = self.entry.models.get(name)
        effort = model.reasoning_effort if isinstance(model, NamedModel) else None
        return SessionKeys(reasoning_effort=effort)

    def _said(self, keys: SessionKeys, *loc: str) -> Said:
        return Said(keys, f"{at(loc).where}.", self.trusted, must_be_trusted=True)
