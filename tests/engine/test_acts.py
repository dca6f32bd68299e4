"""An act is answered in its own way; a wrong answer is an error of ours."""

import pytest

from airboss.engine.acts import (
    Acts,
    Answer,
    Done,
    OpenAct,
    Opened,
    Put,
    close,
    open_session,
    put,
    tell,
)
from airboss.model.ids import SessionId
from airboss.model.task_events import Mission, TaskDecided

SESSION = SessionId("ses_1")
OPEN = OpenAct("coder", is_driving=True)
MISSION = Put(SESSION, Mission(kind="prompt", round=0, attempt=1), "Do it.")


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
