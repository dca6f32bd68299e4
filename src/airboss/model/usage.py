"""What work with a model costs."""

from airboss.model.words import Frozen


class Usage(Frozen):
    """What a turn cost, summed over every call of a model in it; of more than one turn, the sum."""

    requests: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float = 0.0

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            requests=self.requests + other.requests,
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            cost=self.cost + other.cost,
        )
