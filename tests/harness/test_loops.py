"""An agent that repeats itself is warned, refused and stopped; one that gets on is not."""

from collections.abc import Callable
from itertools import count as numbers
from typing import Any

import pytest

from airboss.harness.loops import Finding, Loops, Stint, normal, overlaid
from airboss.runtime.hooks import ToolOutcome
from airboss.settings import LoopDetection, LoopDetectors, Settings

STINT: Stint = ("trn_1", None)
SAME = ToolOutcome("the same")
Result = Callable[[int], ToolOutcome]


def always(_: int) -> ToolOutcome:
    return SAME


def never_twice(number: int) -> ToolOutcome:
    return ToolOutcome(f"line {number}")


class Agent:
    """Calls tools, and minds what it is told."""

    def __init__(self, loops: Loops, stint: Stint = STINT) -> None:
        self.loops = loops
        self.stint = stint
        self.found: list[Finding] = []
        self.ended: list[Finding] = []
        self._number = numbers()

    def call(self, tool: str = "view", result: Result = always, **arguments: Any) -> Finding | None:
        """One call, from the first look to its outcome, unless it is refused."""
        found = self.loops.look(self.stint, tool, arguments)
        if found is not None:
            self.found.append(found)
            if found.level == "critical":
                return found
        call = self.loops.begin(self.stint, tool, arguments)
        outcome = result(next(self._number))
        if end := self.loops.settle(self.stint, call, arguments, outcome):
            self.ended.append(end)
        return found

    def calls(self, times: int, tool: str = "view", result: Result = always, **given: Any) -> None:
        for _ in range(times):
            self.call(tool, result, **given)

    def told(self) -> list[tuple[str, str, int]]:
        return [(one.level, one.detector, one.count) for one in self.found]


@pytest.fixture
def agent() -> Agent:
    return Agent(Loops(LoopDetection()))


def of(**rules: Any) -> Agent:
    return Agent(Loops(LoopDetection(**rules)))


# Settings.


def test_it_is_on_by_default_with_the_documented_counts() -> None:
    """LOOP-1, LOOP-10 (a)."""
    rules = Settings().loop_detection
    assert rules.enabled
    counts = (rules.history, rules.warning, rules.unknown_tool, rules.critical, rules.breaker)
    assert counts == (30, 10, 10, 20, 30)
    assert rules.detectors == LoopDetectors(repeat=True, poll=True, ping_pong=True, errors=True)


@pytest.mark.parametrize("odd", [0, -3, 2.5, "many", None, True, [10]])
@pytest.mark.parametrize(
    "name", ["history", "warning", "critical", "breaker", "unknown_tool", "blocks"]
)
def test_what_is_no_count_becomes_the_default(name: str, odd: object) -> None:
    """LOOP-1."""
    rules = LoopDetection.model_validate({name: odd})
    assert getattr(rules, name) == getattr(LoopDetection(), name)


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ({}, (10, 20, 30, 30)),
        ({"warning": 20}, (20, 21, 30, 30)),
        ({"warning": 40}, (40, 41, 42, 42)),
        ({"critical": 5}, (10, 11, 30, 30)),
        ({"critical": 50}, (10, 50, 51, 51)),
        ({"breaker": 3}, (10, 20, 21, 30)),
        ({"warning": 2, "critical": 3, "breaker": 4, "history": 4}, (2, 3, 4, 4)),
        ({"history": 5}, (10, 20, 30, 30)),
    ],
)
def test_the_counts_are_put_in_order(given: dict[str, int], meant: tuple[int, ...]) -> None:
    """LOOP-1: critical is above warning, the breaker above critical; all of them can be seen."""
    rules = normal(LoopDetection.model_validate(given))
    assert (rules.warning, rules.critical, rules.breaker, rules.history) == meant


def test_an_agents_own_settings_lie_over_those_of_all_field_by_field() -> None:
    """LOOP-1: nested blocks included."""
    below = LoopDetection(warning=4, detectors=LoopDetectors(poll=False))
    rules = overlaid(below, {"critical": 9, "detectors": {"repeat": False}})
    assert (rules.enabled, rules.warning, rules.critical) == (True, 4, 9)
    assert rules.detectors == LoopDetectors(poll=False, repeat=False)
    assert overlaid(below, {}) == below
    assert overlaid(below, {"warning": -1}).warning == LoopDetection().warning


def test_switched_off_it_says_nothing() -> None:
    """LOOP-1, LOOP-9."""
    agent = of(enabled=False)
    agent.calls(100, path="a")
    agent.loops.compacted()
    agent.calls(10, path="a")
    assert (agent.found, agent.ended) == ([], [])


# One call again and again.


def test_the_same_call_is_warned_of_after_ten_and_refused_after_twenty(agent: Agent) -> None:
    """LOOP-5, LOOP-8: a warning lets the call run, critical does not."""
    agent.calls(10, path="a")
    assert agent.found == []
    agent.calls(10, path="a")
    assert agent.told() == [("warning", "repeat", 10)]
    agent.call(path="a")
    assert agent.told()[1:] == [("critical", "repeat", 20)]
    assert "view" in agent.found[-1].text


def test_progress_is_not_mistaken_for_a_loop(agent: Agent) -> None:
    """LOOP-5: other output each time is warned of, and never refused."""
    agent.calls(200, result=never_twice, path="a")
    assert {one.level for one in agent.found} == {"warning"}


def test_other_arguments_are_other_calls(agent: Agent) -> None:
    for number in range(200):
        agent.call(path=f"file {number}")
    assert agent.found == []


def test_one_new_result_begins_the_count_anew(agent: Agent) -> None:
    """LOOP-6: the streak stops at the first different hash."""
    agent.calls(19, path="a")
    agent.call(result=never_twice, path="a")
    agent.calls(19, path="a")
    assert {one.level for one in agent.found} == {"warning"}
    agent.call(path="a")
    assert agent.call(path="a") is not None
    assert agent.found[-1].level == "critical"


def test_other_calls_in_between_do_not_break_a_streak(agent: Agent) -> None:
    """LOOP-6."""
    for number in range(20):
        agent.call(path="a")
        if number % 2:
            agent.call("grep", never_twice, pattern=f"{number}")
    assert agent.call(path="a") is not None
    assert agent.told()[-1] == ("critical", "repeat", 20)


def test_calls_without_an_outcome_yet_are_no_streak(agent: Agent) -> None:
    """LOOP-6: only calls with a result hash count, so many at once are no loop."""
    for _ in range(25):
        agent.loops.begin(STINT, "view", {"path": "a"})
    found = agent.loops.look(STINT, "view", {"path": "a"})
    assert found is not None
    assert found.level == "warning"


def test_a_refusal_is_no_result_so_it_stays(agent: Agent) -> None:
    """LOOP-4: the detector's own veto has no hash."""
    agent.calls(20, path="a")
    levels = [agent.call(path="a") for _ in range(4)]
    assert [one.level for one in levels if one] == ["critical"] * 4


def test_after_enough_other_work_the_call_is_allowed_again(agent: Agent) -> None:
    agent.calls(21, path="a")
    assert agent.found[-1].level == "critical"
    for number in range(30):
        agent.call("grep", never_twice, pattern=f"{number}")
    assert agent.call(path="a") is None


def test_the_breaker_needs_no_detector() -> None:
    """LOOP-5: thirty times without progress is too much, whatever was switched off."""
    off = LoopDetectors(repeat=False, poll=False, ping_pong=False, errors=False)
    agent = of(detectors=off)
    agent.calls(30, path="a")
    assert agent.found == []
    agent.call(path="a")
    assert agent.told() == [("critical", "breaker", 30)]


# Stints.


def test_another_turn_begins_anew() -> None:
    """LOOP-2."""
    loops = Loops(LoopDetection())
    for turn in ("trn_1", "trn_2", "trn_3"):
        agent = Agent(loops, (turn, None))
        agent.calls(10, path="a")
        assert agent.found == []


def test_no_run_id_matches_only_no_run_id() -> None:
    """LOOP-2."""
    loops = Loops(LoopDetection())
    Agent(loops, (None, None)).calls(20, path="a")
    named, unnamed = Agent(loops), Agent(loops, (None, None))
    assert named.call(path="a") is None
    assert (found := unnamed.call(path="a")) is not None
    assert found.level == "critical"


def test_a_sub_agent_is_a_run_of_its_own() -> None:
    """LOOP-2: what several agents do beside each other is no repetition."""
    loops = Loops(LoopDetection())
    helpers = [Agent(loops, ("trn_1", f"helper {number}")) for number in range(5)]
    for _ in range(10):
        for helper in helpers:
            helper.call(path="a")
    assert [helper.found for helper in helpers] == [[]] * 5


def test_old_stints_are_forgotten() -> None:
    loops = Loops(LoopDetection())
    for number in range(500):
        Agent(loops, (f"trn_{number}", None)).calls(2, path="a")
    assert len(loops._stints) == 64  # pyright: ignore[reportPrivateUsage]


# Tools that do not exist.


def missing(_: int) -> ToolOutcome:
    return ToolOutcome(error="Tool 'fly' does not exist.", is_missing=True)


def test_a_tool_that_does_not_exist_is_refused_after_ten_calls() -> None:
    """LOOP-5: whatever the arguments."""
    agent = of(detectors=LoopDetectors(errors=False))
    for number in range(10):
        assert agent.call("fly", missing, to=f"place {number}") is None
    agent.call("fly", missing, to="another place")
    assert agent.told() == [("critical", "unknown-tool", 10)]


def test_a_missing_tool_counts_in_a_row_only(agent: Agent) -> None:
    """LOOP-5."""
    for number in range(12):
        agent.calls(5, "fly", missing, to=f"place {number}")
        agent.call(path=f"file {number}")
        agent.calls(3, "swim", missing, to=f"place {number}")
    assert agent.found == []


# Polls.


@pytest.mark.parametrize("tool", ["read_bash", "list_bash", "read_agent", "list_agents"])
def test_a_poll_that_brings_nothing_is_warned_of_and_refused(tool: str) -> None:
    """LOOP-5: the known polls of this runtime."""
    agent = of()
    agent.calls(21, tool, shellId="1")
    assert agent.told() == [("warning", "poll", 10), ("critical", "poll", 20)]


def test_a_poll_that_brings_something_is_left_alone(agent: Agent) -> None:
    """LOOP-5: of polls the streak counts, not the calls."""
    agent.calls(200, "read_bash", never_twice, shellId="1")
    assert agent.found == []


def test_each_detector_can_be_switched_off() -> None:
    """LOOP-1."""
    agent = of(detectors=LoopDetectors(poll=False, errors=False))
    agent.calls(25, "read_bash", shellId="1")
    assert agent.found == []
    agent = of(detectors=LoopDetectors(repeat=False, errors=False))
    agent.calls(25, path="a")
    assert agent.found == []


# Ping-pong.


def ping_pong(agent: Agent, times: int, pong: Result = always) -> None:
    for number in range(times):
        if number % 2:
            agent.call("grep", pong, pattern="x")
        else:
            agent.call("view", path="a")


def test_two_calls_in_turn_are_warned_of_and_refused(agent: Agent) -> None:
    """LOOP-5, LOOP-7: ten and twenty, the call itself among them."""
    ping_pong(agent, 20)
    assert agent.told() == [("warning", "ping-pong", 10), ("critical", "ping-pong", 20)]
    assert "grep and view" in agent.found[-1].text


def test_progress_on_either_side_is_no_ping_pong(agent: Agent) -> None:
    """LOOP-7: it prevents critical."""
    ping_pong(agent, 100, pong=never_twice)
    assert {one.level for one in agent.found} == {"warning"}


def test_a_third_call_breaks_the_alternation(agent: Agent) -> None:
    """LOOP-7: strict alternation at the tail."""
    for number in range(20):
        ping_pong(agent, 8)
        agent.call("glob", never_twice, pattern=f"{number}")
    assert "ping-pong" not in {one.detector for one in agent.found}


def test_the_partner_is_refused_too(agent: Agent) -> None:
    """LOOP-10 (e): hopping to the other one of the pair does not help."""
    ping_pong(agent, 20)
    for found in (agent.call("view", path="a"), agent.call("grep", pattern="x")):
        assert found is not None
        assert (found.level, found.detector) == ("critical", "ping-pong")
    assert agent.call("view", path="another file") is None


def test_a_pair_is_forgotten_like_all_else(agent: Agent) -> None:
    ping_pong(agent, 20)
    for number in range(30):
        agent.call("glob", never_twice, pattern=f"{number}")
    assert agent.call("grep", pattern="x") is None


# Errors.


def test_errors_in_a_row_are_warned_of_and_stopped_whatever_was_called(agent: Agent) -> None:
    """LOOP-10 (f)."""
    for number in range(31):
        agent.call("edit", lambda n: ToolOutcome(error=f"No {n}."), path=f"file {number}")
    assert agent.told() == [
        ("warning", "errors", 10),
        ("warning", "errors", 20),
        ("critical", "errors", 30),
    ]


def test_one_success_ends_a_row_of_errors(agent: Agent) -> None:
    """LOOP-10 (f)."""
    for number in range(100):
        failed = ToolOutcome(error=f"No {number}.")
        agent.call("edit", lambda _, told=failed: told, path=f"file {number}")
        if number % 9 == 8:
            agent.call("view", path=f"file {number}")
    assert agent.found == []


# Warnings and refusals.


def test_a_warning_comes_once_for_each_ten(agent: Agent) -> None:
    """LOOP-8."""
    agent.calls(200, result=never_twice, path="a")
    assert [one.count for one in agent.found] == [10, 20, 30]


def test_warnings_are_kept_apart_by_call(agent: Agent) -> None:
    """LOOP-8: one bucket for each key."""
    agent.calls(12, result=never_twice, path="a")
    agent.calls(12, result=never_twice, path="b")
    assert agent.told() == [("warning", "repeat", 10)] * 2


def test_at_most_256_keys_are_remembered() -> None:
    """LOOP-8."""
    agent = of(warning=1, critical=2, breaker=3)
    for number in range(400):
        agent.calls(2, result=never_twice, path=f"file {number}")
    assert len(agent.loops._warned) == 256  # pyright: ignore[reportPrivateUsage]


def test_repeated_refusals_end_the_turn(agent: Agent) -> None:
    """LOOP-10 (b)."""
    agent.calls(25, path="a")
    refusals = [one for one in agent.found if one.level == "critical"]
    assert [one.ends_turn for one in refusals] == [False] * 4 + [True]
    assert "the turn ends" in refusals[-1].text


def test_refusals_of_several_calls_count_together() -> None:
    """LOOP-10 (b)."""
    agent = of(warning=2, critical=3, breaker=9, history=60, blocks=3)
    for name in ("a", "b", "c"):
        agent.calls(4, path=name)
    assert [one.ends_turn for one in agent.found if one.level == "critical"] == [False, False, True]


def test_refusals_long_ago_do_not_count(agent: Agent) -> None:
    """LOOP-10 (b): an agent that went on with its work is not stopped for old sins."""
    for stage in range(10):
        agent.calls(21, path=f"file {stage}")
        for number in range(30):
            agent.call("grep", never_twice, pattern=f"{stage} {number}")
    refusals = [one for one in agent.found if one.level == "critical"]
    assert len(refusals) == 10
    assert not any(one.ends_turn for one in refusals)


# Compaction.


def test_the_same_three_calls_behind_a_compaction_end_the_turn(agent: Agent) -> None:
    """LOOP-9."""
    agent.calls(5, path="a")
    agent.loops.compacted()
    agent.calls(3, path="a")
    [end] = agent.ended
    assert (end.detector, end.count, end.ends_turn) == ("after-compaction", 3, True)
    assert "compaction_loop_persisted" in end.text


@pytest.mark.parametrize("window", [1, 2, 5])
def test_how_many_calls_are_watched_behind_a_compaction_can_be_set(window: int) -> None:
    """LOOP-9."""
    agent = of(after_compaction=window)
    agent.loops.compacted()
    agent.calls(window - 1, path="a")
    assert agent.ended == []
    agent.call(path="a")
    assert [end.count for end in agent.ended] == [window]


def test_other_work_behind_a_compaction_is_fine_and_it_is_watched_once(agent: Agent) -> None:
    """LOOP-9: armed for three observations."""
    agent.loops.compacted()
    agent.calls(2, path="a")
    agent.call(path="b")
    agent.calls(5, path="a")
    assert agent.ended == []


def test_the_same_call_with_another_result_is_fine_behind_a_compaction(agent: Agent) -> None:
    """LOOP-9: tool, arguments and result."""
    agent.loops.compacted()
    agent.calls(3, result=never_twice, path="a")
    assert agent.ended == []
