"""The drawing of a run, without a server."""

from typing import Any, cast

import pytest

from airboss.cli.client import Client
from airboss.cli.frame import Line, cut
from airboss.cli.heard import Record
from airboss.cli.run import start as starting
from airboss.cli.run.story import Story
from airboss.cli.run.tree import PLAIN, SIGNS, Tree, usage_words, work_of
from airboss.cli.trouble import CommandRefused, Unreachable

RUN = "run_1"


def ref(task: str, **more: Any) -> dict[str, Any]:
    return {"kind": "Ref", "taskId": task, **more}


def group(kind: str, *works: dict[str, Any]) -> dict[str, Any]:
    return {"kind": kind, "works": [*works]}


WORK = group(
    "Seq",
    ref("plan", modelOverride={"category": "planning"}),
    group("Par", ref("left"), group("Seq", ref("right"), ref("further"))),
    {
        "kind": "Loop",
        "preCondition": [True, ref("wanted")],
        "body": group("Seq", ref("do"), ref("test")),
        "postCondition": [False, group("Seq", ref("look"), ref("judge"))],
    },
    {"kind": "Alt", "condition": ref("good"), "trueWork": ref("ship")},
)


class Teller:
    """Tells a story event by event, a second between them."""

    def __init__(self, job: str = "deliver") -> None:
        self.story = Story(RUN)
        self.at = 0
        self.runs: dict[str, str] = {}
        given = {"entry": "digest", "cwd": "/work", "user_input": ""}
        self.say("run.accepted", job=job, who="owner", **given)

    def say(self, kind: str, **event: Any) -> None:
        self.at += 1000
        self.story.hear(Record(self.at, self.at, {"kind": kind, **event}))

    def begin(self, path: str, task: str, task_run: str | None = None) -> None:
        task_run = self.runs[path] = task_run or f"tsk_{path}"
        self.say("run.work.started", work=0, path=path, task=task, task_run=task_run)

    def end(self, path: str, succeeded: bool = True, **usage: Any) -> None:
        said = {"work": 0, "task_run": self.runs[path], "succeeded": succeeded}
        usage = {"milliseconds": 1000, **usage}
        self.say("run.work.stopped", path=path, usage=usage, **said)

    def do(self, path: str, task: str, succeeded: bool = True) -> None:
        self.begin(path, task, f"tsk_{path}")
        self.end(path, succeeded)

    def draw(self, limit: int | None = None, **options: Any) -> list[str]:
        given: dict[str, Any] = {"work": WORK, "signs": SIGNS, **options}
        return [text_of(line) for line in Tree(self.story, **given).lines(self.at, limit)]


def text_of(line: Line) -> str:
    return "".join(text for text, _ in line).rstrip()


def test_a_tree_says_what_is_done_what_runs_and_what_comes() -> None:
    teller = Teller()
    teller.do("0.0", "plan")
    teller.begin("0.1.0", "left")
    teller.begin("0.1.1.0", "right")
    teller.say("run.work.waiting", path="0.1.1.0", reason="a free place")
    assert teller.draw() == [
        "deliver · running · 0:04 · 1 done · 1 of 2 tasks are waiting for a free place "
        "(run more at once: airboss settings set max_tasks N)",
        "├ ✓ plan (planning)  0:01",
        "├ in parallel",
        "│ ├ ⠙ left  0:02",
        "│ └ in sequence",
        "│   ├ ◌ right  0:01 · waiting for a free place",
        "│   └ · further",
        "├ loop",
        "│ ├ · wanted (continues if true)",
        "│ ├ · do",
        "│ ├ · test",
        "│ └ condition (repeats if false)",
        "│   ├ · look",
        "│   └ · judge",
        "└ if",
        "  ├ · good (decides)",
        "  └ true",
        "    └ · ship",
    ]
    teller.say("run.work.waiting", path="0.1.0", reason="a free place")
    assert teller.draw()[0] == (
        "deliver · waiting · 0:05 · 1 done · 2 of 2 tasks are waiting for a free place "
        "(run more at once: airboss settings set max_tasks N)"
    )
    teller.say("run.work.going", path="0.1.0")
    assert teller.draw()[0].startswith("deliver · running")
    teller.say("run.ending", outcome="canceled", reason="Stopped by owner.")
    assert teller.draw()[0] == "deliver · stopping · 0:06 · 1 done · Stopped by owner."
    cut = {"milliseconds": 4500}
    teller.say("run.work.cut", path="0.1.0", task_run="tsk_0.1.0", usage=cut)
    teller.say("run.ended", outcome="canceled", reason="Stopped by owner.")
    teller.say("something.new")
    assert teller.draw()[0] == "deliver · canceled · 0:05 · 1 done · Stopped by owner."
    assert teller.draw()[3] == "│ ├ ■ left  0:04"


def test_what_waits_for_a_person_comes_with_the_words_to_type() -> None:
    teller = Teller()
    teller.begin("0.1.0", "left", "tsk_left")
    teller.begin("0.1.1.0", "right", "tsk_right")
    teller.say("run.work.waiting", path="0.1.0", reason="a free place")
    reason = "your approval: Run make?"
    teller.say("run.work.waiting", path="0.1.1.0", reason=reason, for_person=True)
    assert teller.draw()[0] == f"deliver · waiting for you · 0:04 · 0 done · waiting for {reason}"
    asked = {"kind": "approval.asked", "item": "itm_1", "title": "Run make?"}
    item = {"id": "itm_1", "task_run": "tsk_right", "asked": asked}
    other = {"id": "itm_2", "task_run": "tsk_other", "asked": asked}
    assert teller.story.take_items([item, other]) == [item]
    assert teller.story.take_items([item]) == [], "told once"
    line = f"! right  0:02 · airboss approve itm_1 · waiting for {reason}"
    assert teller.draw()[5] == f"│   ├ {line}"
    assert teller.draw(signs=PLAIN)[5].endswith(
        "! right  0:02 - airboss approve itm_1 - waiting for " + reason
    )
    teller.say("run.work.going", path="0.1.1.0")
    assert "airboss approve" not in teller.draw()[5]
    assert teller.draw()[0].startswith("deliver · running")


def test_a_condition_that_says_no_is_no_failure() -> None:
    teller = Teller()
    teller.do("0.2.it1.pre", "wanted")
    teller.do("0.2.it1.0", "do")
    teller.do("0.2.it1.1", "test")
    teller.do("0.2.it1.post.0", "look", succeeded=False)
    teller.do("0.2.it2.pre", "wanted", succeeded=False)
    drawn = teller.draw()
    assert drawn[0] == "deliver · running · 0:05 · 5 done"
    assert drawn[7:10] == [
        "├ loop, round 2",
        "│ ├ ◆ wanted (continues if true)  false · 0:01",
        "│ ├ · do",
    ]
    every = teller.draw(has_every_round=True, has_ids=True)
    assert every[7:10] == [
        "├ loop",
        "│ ├ round 1",
        "│ │ ├ ◆ wanted (continues if true)  true · 0:01 · tsk_0.2.it1.pre",
    ]
    teller.do("0.0", "plan", succeeded=False)
    assert teller.draw()[0].endswith("5 done, 1 failed")


def test_without_a_tree_there_is_a_list() -> None:
    teller = Teller()
    teller.do("0.0", "plan")
    teller.begin("0.2.it3.it2.0", "do")
    assert teller.draw(work=None)[1:] == ["├ ✓ plan  0:01", "└ ⠙ do, round 3.2  0:00"]
    assert teller.draw(work=None, signs=PLAIN)[1:] == ["+ v plan  0:01", "+ / do, round 3.2  0:00"]


def test_only_what_fits_is_drawn_and_what_runs_comes_first() -> None:
    teller = Teller()
    teller.do("0.0", "plan", succeeded=False)
    teller.begin("0.3.true", "ship")
    drawn = teller.draw(limit=6)
    assert drawn == [
        "deliver · running · 0:01 · 0 done, 1 failed",
        "├ ✗ plan (planning)  0:01",
        "  ├ · good (decides)",
        "  └ true",
        "    └ ⠙ ship  0:00",
        "(13 more lines: airboss show run_1)",
    ]
    assert len(teller.draw(limit=1)) == 1


def test_a_retry_takes_the_place_of_what_failed_and_its_cost_counts() -> None:
    teller = Teller()
    teller.begin("0.0", "plan", "tsk_a")
    teller.end("0.0", False, requests=1, input_tokens=1000, output_tokens=10, cost=0.5)
    teller.say("run.ended", outcome="failed", reason="A task failed.")
    teller.say("run.retried", time=2, who="owner")
    teller.say("run.resumed", reason="Resumed after a restart of the server.")
    teller.begin("0.0", "plan", "tsk_b")
    teller.end("0.0", True, requests=2, input_tokens=3000, output_tokens=5, cost=0.25)
    usage = "3 requests, 4,000 tokens in, 15 out, cost 0.75"
    drawn = teller.draw(has_ids=True)
    assert drawn[0] == f"deliver · running · 0:02 · 1 done · {usage} · attempt 2 · restarts: 1"
    assert "succeeded · 0:01 · tsk_b · before tsk_a · 2 requests, " in drawn[1]
    assert usage_words({}) == ""


def test_names_and_decisions_cannot_drive_the_terminal() -> None:
    teller = Teller("de\x1b[31mliver")
    teller.begin("0", "ta\nsk\u202e")
    teller.story.works["0"].decision = "[DECISION] \x1b]0;title\x07\nnext"
    drawn = "\n".join(teller.draw(work=None))
    assert not {"\x1b", "\x07", "\u202e"} & set(drawn)
    assert len(drawn.splitlines()) == 2


@pytest.mark.parametrize(
    ("width", "text"),
    [(9, "ab 日本 c"), (8, "ab 日本…"), (7, "ab 日…"), (6, "ab 日…"), (3, "ab…"), (1, "…")],
)
def test_a_line_is_cut_by_the_cells_that_it_takes(width: int, text: str) -> None:
    assert text_of(cut([("ab ", ()), ("日本", ("dim",)), (" c", ())], width)) == text


class Answers:
    """A client that answers from a list; what is an error is raised."""

    def __init__(self, *answers: Any) -> None:
        self.answers = [*answers]
        self.keys: list[str | None] = []

    def get(self, path: str) -> Any:
        return self._next(path)

    def post(self, path: str, body: Any, *, key: str | None = None) -> Any:
        self.keys.append(key)
        return self._next(path, body)

    def _next(self, *asked: object) -> Any:
        del asked
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer


def test_the_tree_is_the_run_s_own_or_none() -> None:
    entry = {"digest": "a", "document": {"jobs": {"deliver": {"work": WORK}}}}
    run = {"entry": "a", "job": "deliver"}
    assert work_of(cast("Client", Answers(entry)), run) == WORK
    assert work_of(cast("Client", Answers(entry)), {**run, "entry": "b"}) is None
    assert work_of(cast("Client", Answers(CommandRefused("There is no entry."))), run) is None


def test_a_start_that_is_repeated_has_the_same_key(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(starting, "_PAUSE_SECONDS", 0)
    client = Answers(Unreachable("Gone."), Unreachable("Gone."), {"id": RUN})
    start = starting._start  # pyright: ignore[reportPrivateUsage]
    assert start(lambda: cast("Client", client), {"job": "x"}, "k", 9) == {"id": RUN}
    assert client.keys == ["k", "k", "k"]
    assert capsys.readouterr().err == "Gone. Retrying …\n"
    with pytest.raises(Unreachable):
        start(lambda: cast("Client", Answers(Unreachable("Gone."))), {"job": "x"}, "k", 0)
