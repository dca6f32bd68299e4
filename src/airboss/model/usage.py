"""What work with a model costs."""

from typing import Any

from airboss.model.words import Frozen


class Spent(Frozen):
    """What calls of models took. The cost is as the runtime says it: the multiplier of each."""

    requests: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    # Of the input tokens, those that the service had kept.
    cached_tokens: int = 0
    cost: float = 0.0


class Usage(Spent):
    """What a turn cost, summed over every call that its agent made of a model; of more than one
    turn, the sum. What the agent's sub-agents took stands apart from it."""

    sub_agents: Spent = Spent()
    # Requests that were put to an agent.
    turns: int = 0
    # The time at work; while a person was waited for no time passed.
    milliseconds: int = 0
    # What the model counts for, by the list of models; of several the highest.
    multiplier: float | None = None

    @property
    def tokens(self) -> int:
        """All of them, those of sub-agents included."""
        sub = self.sub_agents
        return self.input_tokens + self.output_tokens + sub.input_tokens + sub.output_tokens

    @property
    def whole_requests(self) -> int:
        return self.requests + self.sub_agents.requests

    @property
    def whole_cost(self) -> float:
        return self.cost + self.sub_agents.cost

    @property
    def minutes(self) -> float:
        return self.milliseconds / 60_000

    def __add__(self, other: "Usage") -> "Usage":
        known = [one for one in (self.multiplier, other.multiplier) if one is not None]
        return self._with(other, 1, max(known, default=None))

    def beyond(self, said: "Usage") -> "Usage":
        """What is in this and was not told yet."""
        return self._with(said, -1, self.multiplier)

    def _with(self, other: "Usage", sign: int, multiplier: float | None) -> "Usage":
        # Sums of what was checked, several in each turn: to check them again costs ten times this.
        return Usage.model_construct(
            **_spent(self, other, sign),
            sub_agents=_sum(self.sub_agents, other.sub_agents, sign),
            turns=max(0, self.turns + sign * other.turns),
            milliseconds=max(0, self.milliseconds + sign * other.milliseconds),
            multiplier=multiplier,
        )


def _sum(one: Spent, other: Spent, sign: int) -> Spent:
    # Most turns have no sub-agents, and what is frozen can be had twice.
    tokens = other.input_tokens or other.output_tokens or other.cached_tokens
    if not (other.requests or tokens or other.cost):
        return one
    return Spent.model_construct(**_spent(one, other, sign))


def _spent(one: Spent, other: Spent, sign: int) -> dict[str, Any]:
    return {
        "requests": max(0, one.requests + sign * other.requests),
        "input_tokens": max(0, one.input_tokens + sign * other.input_tokens),
        "output_tokens": max(0, one.output_tokens + sign * other.output_tokens),
        "cached_tokens": max(0, one.cached_tokens + sign * other.cached_tokens),
        "cost": max(0.0, one.cost + sign * other.cost),
    }


def worked_since(since: int | None, now: int) -> int:
    """The milliseconds of what works since then; nothing while it waits."""
    return 0 if since is None else max(0, now - since)
