"""Stories that the server and the pages tell alike: a stream's events, and what they fold into.

`python -m tests.model.stories` writes anew what each comes to; look at the difference.
"""

import json
from pathlib import Path
from typing import Any, cast

from airboss.model.events import Recorded
from airboss.model.states import STATES, State

FOLDER = Path(__file__).parents[1] / "stories"
Story = dict[str, Any]


def all_stories() -> list[str]:
    return sorted(path.stem for path in FOLDER.glob("*.json"))


def read(name: str) -> Story:
    return json.loads((FOLDER / f"{name}.json").read_text("utf-8"))


def recorded(story: Story) -> list[Recorded]:
    return [
        Recorded(one["seq"], one["at"], json.dumps(one["event"], ensure_ascii=False))
        for one in story["events"]
    ]


def tell(story: Story, events: list[Recorded]) -> State:
    state = STATES[story["kind"]](story["stream"])
    for event in events:
        state.tell(event)
    return state


def bare(value: Any) -> Any:
    """Without what is null: the wire leaves it out."""
    match value:
        case dict():
            named = cast("dict[str, Any]", value).items()
            return {name: bare(part) for name, part in named if part is not None}
        case list() | tuple():
            return [bare(part) for part in cast("list[Any]", value)]
        case _:
            return value


def write(name: str, story: Story) -> None:
    """An event a line, so that a person can read it."""
    state = tell(story, recorded(story))
    told = {**story, "expected": bare(state.plain()), "digest": state.digest()}
    events = ",\n    ".join(json.dumps(one, ensure_ascii=False) for one in told.pop("events"))
    body = json.dumps(told, ensure_ascii=False, indent=2)
    text = body.replace("{\n", f'{{\n  "events": [\n    {events}\n  ],\n', 1)
    (FOLDER / f"{name}.json").write_text(text + "\n", "utf-8")


if __name__ == "__main__":
    for each in all_stories():
        write(each, read(each))
