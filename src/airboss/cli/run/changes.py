"""A run's changes in words, one line each, for where no tree is drawn."""

from typing import Any, Final

from airboss.cli.run.story import RunWork, Story
from airboss.cli.run.tree import shown_name, usage_words
from airboss.cli.screen import duration
from airboss.cli.trouble import Exit

_OUTCOMES: Final = {"succeeded": Exit.DONE, "canceled": Exit.STOPPED}


def ended_words(state: str) -> str:
    return "was canceled" if state == "canceled" else state


def outcome_of(state: str) -> Exit:
    return _OUTCOMES.get(state, Exit.FAILED)


def change_words(story: Story, kind: str, event: dict[str, Any]) -> str:
    """What an event changed, once the story knows of it; empty where that is nothing to tell."""
    if kind.startswith("run.work."):
        work = story.works.get(str(event.get("path", "")))
        return _work_words(kind, work) if work else ""
    match kind:
        case "run.accepted":
            said = f"{story.id} of the job {event['job']} in {event['cwd']}"
            return f"Run {said} was started by {event['who']}."
        case "run.resumed":
            return str(event["reason"])
        case "run.placed":
            return f"Running on {event['machine']}."
        case "run.moved":
            return f"Moved from {event['from']} to {event['to']}: {event['reason']}"
        case "run.retried":
            return f"Retried by {event['who']}, attempt {event['time']}."
        case "run.ending":
            return f"Stopping: {event['reason']}"
        case "run.error":
            return f"{event['name']}: {event['message']}"
        case "run.ended":
            words = usage_words(story.usage.model_dump())
            said = f"The run {ended_words(str(event['outcome']))}: {event['reason']}"
            return f"{said} ({words})" if words else said
        case _:
            return ""


def _work_words(kind: str, work: RunWork) -> str:
    name = shown_name(work)
    match kind:
        case "run.work.started":
            return f"{name} started ({work.task_run})."
        case "run.work.waiting":
            return f"{name} is waiting for {work.waits_for}."
        case "run.work.going":
            return f"{name} continues."
        case "run.work.retrying":
            return f"{name} is retried: {work.attempt}."
        case "run.work.stopped":
            words = usage_words(work.usage.model_dump())
            came = "could not be checked" if work.unasked else work.state
            if work.is_condition:
                came = f"answered {'true' if came == 'succeeded' else 'false'}"
            said = f"{name} {came} after {duration(work.seconds(0))}"
            return f"{said} ({words})." if words else f"{said}."
        case _:
            return ""
