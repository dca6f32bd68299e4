"""What somebody wants to be run."""

from collections.abc import Iterable
from dataclasses import dataclass

from airboss.errors import Invalid
from airboss.model.ids import RunId
from airboss.model.run_titles import short_title, title_again
from airboss.model.runs import RunView


@dataclass(frozen=True)
class NewRun:
    """Which job is to be run, where, and with what."""

    job: str
    user_input: str
    cwd: str | None
    who: str
    again: RunId | None = None
    # The caller's own name for this request: said again, it is the same run.
    key: str | None = None
    # Input that is missing, or that the job does not take, is refused.
    is_exact: bool = True
    # What it is to be known by; without one, the beginning of its input.
    short_title: str | None = None
    # The profile of the cage that its sessions work in.
    cage: str | None = None
    # What a worker must have, beside what the job wants.
    labels: tuple[str, ...] = ()


def wanted_labels(of_entry: Iterable[str], asked: Iterable[str]) -> tuple[str, ...]:
    """A worker must have all of them."""
    return tuple(sorted({*of_entry, *asked}))


def must_fit(request: NewRun, *, takes_input: bool) -> None:
    given = bool(request.user_input.strip())
    if takes_input and not given:
        raise Invalid(f"The job {request.job} needs input. Tell it what to do.")
    if given and not takes_input:
        raise Invalid(f"The job {request.job} takes no input. Start it without input.")


def title_of(request: NewRun, user_input: str) -> str:
    """What lists show of the run."""
    return short_title(user_input) if request.short_title is None else request.short_title


def again_of(view: RunView, user_input: str, who: str) -> NewRun:
    """The same job with the same input in the same folder."""
    title = title_again(view.short_title)
    return NewRun(
        *(view.job, user_input, view.cwd, who, view.id),
        is_exact=False,
        short_title=title,
        cage=view.cage,
        labels=view.labels,
    )
