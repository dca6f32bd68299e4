"""What the runtime tells beyond the blocks of a conversation: how its work goes, and with whom."""

from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class TurnBegan:
    """The agent works: on a request, or because the runtime woke it."""


@dataclass(frozen=True, slots=True)
class TurnIdle:
    """The agent has nothing to do any more; every block was closed before this."""

    aborted: bool = False


@dataclass(frozen=True, slots=True)
class TurnFailed:
    """The turn failed. The session may still be usable; `TurnIdle` says so."""

    name: str
    message: str
    status: int | None = None
    cause: str | None = None


@dataclass(frozen=True, slots=True)
class RequestRead:
    """A request that was put into a running turn is in the agent's history from here on. Where no
    turn runs any more, one begins with it; of a `past` one that was a while ago, and is over."""

    tag: str
    past: bool = False


@dataclass(frozen=True, slots=True)
class ModelAnswered:
    """This model spoke, by its own name."""

    model: str


@dataclass(frozen=True, slots=True)
class UsageSeen:
    """One call of a model, and what it took."""

    model: str
    input_tokens: int
    output_tokens: int
    cost: float
    sub_agent: bool
    cached_tokens: int = 0
    # The block of the call that began the sub-agent.
    parent: str | None = None


@dataclass(frozen=True, slots=True)
class ModelReplaced:
    """The runtime took another model than the asked one."""

    asked: str
    got: str
    cause: str

    @property
    def words(self) -> str:
        return (
            f"The session asked for {self.asked} and the service took {self.got} instead "
            f"({self.cause}). Choose a model that is offered."
        )


@dataclass(frozen=True, slots=True)
class Compacted:
    """The conversation was too long for the model and was shortened. Only the gate minds."""


@dataclass(frozen=True, slots=True)
class Retrying:
    """The model's service failed and is asked again."""

    reason: str


@dataclass(frozen=True, slots=True)
class RuntimeLost:
    """The process that this session lived on is gone, and the session with it."""

    reason: str


Signal: TypeAlias = (
    TurnBegan
    | TurnIdle
    | TurnFailed
    | RequestRead
    | ModelAnswered
    | UsageSeen
    | ModelReplaced
    | Retrying
    | RuntimeLost
)


def went_quiet(limit: float, working: bool | None) -> TurnFailed:
    found = "says that it does not work on it" if working is False else "does not say what it does"
    message = f"The agent runtime told nothing of this turn for {limit:g} s, and {found}."
    return TurnFailed("runtime_quiet", message)
