"""Budgets without an agent: what is reached, what a yes grants, and how usage adds up."""

import time
from dataclasses import asdict

from airboss.harness.limits import Budget, Stopwatch
from airboss.model.ids import ItemId
from airboss.model.inbox_events import LimitReached, granted_by
from airboss.model.limits import UsageLimits
from airboss.model.usage import Spent, Usage

CALL = Usage(requests=1, input_tokens=10, output_tokens=5, cost=1)


def yes_to(budget: Budget) -> None:
    reached = budget.reached(before_turn=False)
    assert reached
    asked = LimitReached(item=ItemId("itm_1"), **asdict(reached))
    budget.grant([granted_by(asked)])
    budget.grant([granted_by(asked)])  # told twice, it counts once


def test_sums_keep_sub_agents_apart_and_the_highest_multiplier_and_can_be_taken_apart() -> None:
    """USE-4."""
    sub = Usage(sub_agents=Spent(requests=2, input_tokens=7), turns=1, multiplier=3)
    whole = CALL + sub + Usage(multiplier=1, milliseconds=90_000)
    assert (whole.requests, whole.sub_agents.requests, whole.multiplier) == (1, 2, 3)
    assert (whole.tokens, whole.whole_cost, whole.minutes, whole.turns) == (22, 1, 1.5, 1)
    assert whole.beyond(CALL).requests == 0
    assert whole.beyond(CALL) + CALL == whole
    assert (
        Usage.model_validate_json('{"requests":1,"input_tokens":10,"output_tokens":5,"cost":1}')
        == CALL
    )


def test_a_yes_grants_the_same_amount_again_from_where_it_is() -> None:
    budget = Budget("job ship", UsageLimits(tokens=10))
    assert budget.reached(before_turn=True) is None
    budget.spend(CALL)
    reached = budget.reached(before_turn=False)
    assert reached
    assert (reached.limit, reached.allowed, reached.used, reached.more) == ("tokens", 10, 15, 10)
    yes_to(budget)
    assert budget.reached(before_turn=False) is None
    budget.spend(CALL)
    reached = budget.reached(before_turn=False)
    assert reached
    assert (reached.allowed, reached.used) == (25, 30)


def test_a_limit_of_nothing_is_reached_by_the_first_thing_that_counts_and_lifted_by_a_yes() -> None:
    budget = Budget("session", UsageLimits(cost=0))
    budget.spend(Usage(requests=1, input_tokens=10))
    assert budget.reached(before_turn=True) is None
    budget.spend(CALL)
    yes_to(budget)
    budget.spend(CALL)
    assert budget.reached(before_turn=True) is None


def test_turns_count_only_where_another_one_would_begin() -> None:
    budget = Budget("task plan", UsageLimits(turns=1))
    budget.spend(Usage(turns=1))
    assert budget.reached(before_turn=False) is None
    reached = budget.reached(before_turn=True)
    assert reached
    assert (reached.limit, reached.before_turn) == ("turns", True)


def test_a_watch_stands_still_while_it_is_held() -> None:
    watch = Stopwatch()
    assert watch.lap() == 0
    watch.start()
    time.sleep(0.03)
    watch.hold()
    time.sleep(0.6)
    watch.go_on()
    assert 25 <= watch.lap() < 550
