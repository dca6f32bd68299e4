"""Everything Airboss says no with: a stable code and a sentence. HTTP is not known here."""


class AirbossError(Exception):
    """A refusal we foresaw. `code` is for programs and never changes; the text is for people."""

    code = "airboss_error"


class NotFound(AirbossError):
    """What was named does not exist, or no longer."""

    code = "not_found"

    def __init__(self, kind: str, key: str) -> None:
        super().__init__(f"There is no {kind} {key}.")
        self.kind = kind
        self.key = key


class Invalid(AirbossError):
    """The request itself is wrong, and stays wrong when it is repeated."""

    code = "invalid"


class InvalidAnswer(Invalid):
    """What somebody said is no answer to what was asked; the question stays open."""

    code = "invalid_answer"


class TooLarge(Invalid):
    """More than is taken at once."""

    code = "body_too_large"


class Conflict(AirbossError):
    """The request is right, but not in the state that things are in."""

    code = "conflict"


class OwnedElsewhere(Conflict):
    """Another process on the same database has the stream, and only that one writes in it."""


class PromptBlocked(Conflict):
    """A hook refused what somebody asked for."""


class TooMuch(AirbossError):
    """A bound was reached: size, count or time."""

    code = "too_much"


class AccessEnded(AirbossError):
    """Whoever asked was let in, and is not any more."""

    code = "signed_out"


class RoleNeeded(AirbossError):
    """Whoever asked may not do this; somebody with another role may."""

    code = "role_needed"

    def __init__(self, needed: str, role: str, name: str, why: str = "") -> None:
        super().__init__(
            f"This needs the role {needed}{why and f', because {why}'}; {name} has {role}. Ask the "
            f"owner to do it, or to create a token: `airboss token add NAME --role {needed}`."
        )
        self.needed = needed


class ModelIdNotFound(Invalid):
    """No configured source offers this model."""

    code = "model_not_found"


class WorkingDirectoryNotAbsolute(Invalid):
    """A working directory is written out in full."""

    code = "working_directory_not_absolute"


class WorkingDirectoryMissing(Invalid):
    """The working directory is not there, or is not a directory. Perhaps this one was meant?"""

    code = "working_directory_missing"

    def __init__(self, said: str, suggestion: str | None = None) -> None:
        super().__init__(said)
        self.suggestion = suggestion


class WorkingDirectoryNotAllowed(Invalid):
    """The working directory lies outside the configured roots."""

    code = "working_directory_not_allowed"


class NoWorkerFits(Invalid):
    """Of several machines, none that lives could work on this."""

    code = "no_worker_fits"


class SettingsInvalid(AirbossError):
    """A setting, an option or a settings file that cannot be used."""

    code = "settings_invalid"


class CageRefused(Conflict):
    """The session has to work in a cage, and none holds here."""

    code = "cage_refused"


class DataFolderTaken(AirbossError):
    """Another server has this data folder."""

    code = "data_folder_taken"


class StoreUnavailable(AirbossError):
    """The data folder cannot be written: full disk, read-only, or gone."""

    code = "store_unavailable"


class StoreAway(StoreUnavailable):
    """The database cannot be reached just now. It comes back: who works waits for it, and only
    people are refused. `in_doubt` says that what was asked for may have been written all the same.
    """

    code = "store_away"

    def __init__(self, said: str, *, in_doubt: bool = False) -> None:
        super().__init__(said)
        self.in_doubt = in_doubt


class RuntimeMissing(AirbossError):
    """The agent runtime is not installed where we look for it."""

    code = "runtime_missing"


class RuntimeUnavailable(AirbossError):
    """The agent runtime cannot be reached, or died while it was asked."""

    code = "runtime_unavailable"


class RuntimesBusy(RuntimeUnavailable):
    """There are as many runtimes as there may be, and all have sessions; or as many `cages`."""

    code = "runtimes_busy"

    def __init__(self, said: str, cages: int | None = None) -> None:
        super().__init__(said)
        self.cages = cages


class CageUnavailable(RuntimeUnavailable):
    """The cage that was asked for cannot be built here. Nothing runs without it instead."""

    code = "cage_unavailable"


class SessionGone(AirbossError):
    """The runtime has no record of the session any more, so it cannot be resumed."""

    code = "session_gone"


class NotSignedIn(AirbossError):
    """The service needs a sign-in that is missing or was refused."""

    code = "not_signed_in"


class SignInFailed(AirbossError):
    """A sign-in at a server of somebody else came to nothing."""

    code = "sign_in_failed"
