"""By what something that was asked of a person is known again when it is asked a second time."""

from airboss.model.inbox_events import Asked


def plain_mark(asked: Asked) -> str:
    """What is asked, in whatever call."""
    match asked.kind:
        case "approval.asked":
            return asked.fingerprint
        case "question.asked":
            return f"question {asked.question}"
        case "limit.reached":
            return f"limit {asked.scope} {asked.limit}"


def call_mark(call: str | None, mark: str) -> str:
    """What is asked in this call. The id of a call is the model's, and it may give another call the
    same one: what was shown to a person decides about nothing else."""
    return f"{call} {mark}"


def mark_of(asked: Asked) -> str | None:
    """Of what the runtime asks for again after a resume; None where nothing can be known again."""
    if asked.kind == "limit.reached":
        return plain_mark(asked)
    return call_mark(asked.call, plain_mark(asked)) if asked.call else None
