"""By what something that was asked of a person is known again when it is asked a second time."""

from hashlib import sha256

from airboss.model.inbox_events import Asked, LimitReached, PlanAsked, SignInAsked


def plain_mark(asked: Asked) -> str:
    """What is asked, in whatever call."""
    match asked.kind:
        case "approval.asked":
            return asked.fingerprint
        case "question.asked":
            return f"question {asked.question}"
        case "limit.reached":
            return f"limit {asked.scope} {asked.limit}"
        case "plan.asked":
            return plan_mark(asked)
        case "sign-in.asked":
            return f"sign-in {asked.server} {asked.address}"
        case "switch.asked":
            return f"switch {asked.model}"


def plan_mark(asked: PlanAsked) -> str:
    """Of the very plan that a person sees: another one is decided anew."""
    whole = f"{asked.summary}\0{asked.plan or ''}"
    return f"plan {sha256(whole.encode('utf-8', 'surrogatepass')).hexdigest()}"


def call_mark(call: str | None, mark: str) -> str:
    """What is asked in this call. The id of a call is the model's, and it may give another call the
    same one: what was shown to a person decides about nothing else."""
    return f"{call} {mark}"


def mark_of(asked: Asked) -> str | None:
    """Of what the runtime asks for again after a resume; None where nothing can be known again."""
    if isinstance(asked, LimitReached | SignInAsked):
        return plain_mark(asked)
    if asked.kind == "switch.asked":
        return None
    return call_mark(asked.call, plain_mark(asked)) if asked.call else None
