"""Acts are numbered in their order and answered one by one; a wrong answer is an error of ours."""

import pytest

from airboss.engine.acts import (
    Acts,
    Answer,
    Close,
    Done,
    OpenAct,
    Opened,
    Put,
    close,
    open_session,
    play,
    put,
    tell,
)
from airboss.model.ids import SessionId
from airboss.model.task_events import Mission, TaskChecked, TaskDecided, TaskRetrying

SESSION = SessionId("ses_1")
OPEN = OpenAct("coder", is_driving=True)
MISSION = Put(SESSION, Mission(kind="prompt", round=0, attempt=1), "Do it.")


def rules() -> Acts[str]:
    opened = yield from open_session(OPEN)
    assert isinstance(opened, Opened)
    yield from tell(TaskDecided(text="[OPERATION] Sends the prompt."))
    yield from put(MISSION)
    yield from close(opened.session, succeeded=True)
    return "done"


class Diary:
    def __init__(self) -> None:
        self.lines: list[str] = []

    def tell(self, number: int, event: TaskChecked | TaskRetrying | TaskDecided) -> None:
        self.lines.append(f"{number} {event.kind}")

    async def do(self, number: int, act: OpenAct | Put | Close) -> Answer:
        self.lines.append(f"{number} {type(act).__name__}")
        return {"OpenAct": Opened(SESSION), "Put": Done()}.get(type(act).__name__)


async def test_acts_are_numbered_from_one_whether_they_are_done_or_told() -> None:
    diary = Diary()
    assert await play(rules(), diary.tell, diary.do) == "done"
    assert diary.lines == ["1 OpenAct", "2 task.decided", "3 Put", "4 Close"]


async def test_rules_whose_act_fails_are_closed_with_it() -> None:
    closed: list[bool] = []

    def failing() -> Acts[None]:
        try:
            yield OPEN
        finally:
            closed.append(True)

    async def do(number: int, act: OpenAct | Put | Close) -> Answer:
        raise OSError("No disk.")

    with pytest.raises(OSError, match="No disk"):
        await play(failing(), Diary().tell, do)
    assert closed == [True]


@pytest.mark.parametrize(
    ("acts", "answer"),
    [
        (open_session(OPEN), Done()),
        (put(MISSION), Opened(SESSION)),
        (close(SESSION, succeeded=True), Done()),
        (tell(TaskDecided(text="[MISC] x")), Done()),
    ],
    ids=["open", "put", "close", "tell"],
)
def test_an_act_takes_no_answer_of_another(acts: Acts[object], answer: Answer) -> None:
    next(acts)
    with pytest.raises(TypeError, match="cannot be answered by"):
        acts.send(answer)
