"""What work with a model costs."""

from airboss.model.words import Frozen


class Spent(Frozen):
    """What calls of models took. The cost is in the words of the runtime: premium requests."""

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
    def whole_cost(self) -> float:
        return self.cost + self.sub_agents.cost

    @property
    def minutes(self) -> float:
        return self.milliseconds / 60_000

    def __add__(self, other: "Usage") -> "Usage":
        known = [one for one in (self.multiplier, other.multiplier) if one is not None]
        return Usage(
            **_sums(self, other, 1),
            sub_agents=Spent(**_sums(self.sub_agents, other.sub_agents, 1)),
            turns=self.turns + other.turns,
            milliseconds=self.milliseconds + other.milliseconds,
            multiplier=max(known, default=None),
        )

    def beyond(self, told: "Usage") -> "Usage":
        """What is in this and was not told yet."""
        return Usage(
            **_sums(self, told, -1),
            sub_agents=Spent(**_sums(self.sub_agents, told.sub_agents, -1)),
            turns=max(0, self.turns - told.turns),
            milliseconds=max(0, self.milliseconds - told.milliseconds),
            multiplier=self.multiplier,
        )


def _sums(one: Spent, other: Spent, sign: int) -> dict[str, int | float]:
    return {
        name: max(0, getattr(one, name) + sign * getattr(other, name))
        for name in Spent.model_fields
    }
