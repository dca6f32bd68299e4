"""What somebody wants to be run."""

from dataclasses import dataclass

from airboss.errors import Invalid
from airboss.model.ids import RunId


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


def must_fit(request: NewRun, *, takes_input: bool) -> None:
    given = bool(request.user_input.strip())
    if takes_input and not given:
        raise Invalid(f"The job {request.job} needs some input: say what it is to do.")
    if given and not takes_input:
        raise Invalid(f"The job {request.job} takes no input. Start it without.")
