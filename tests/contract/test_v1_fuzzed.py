"""Whatever the API's description allows is answered as it says, and whatever it does not is refused
in words: a share of `make trials`, always the same requests."""

from pathlib import Path

import pytest

from tests.contract.fuzzing import (
    HARD_TO_REACH,
    LEFT_OUT,
    described,
    furnished_portal,
    fuzz,
    is_bounded,
)

# Whose bounds are all tried, which is most of the work; `make trials` tries those of every one.
ONE_OF = 8


def test_only_operations_that_there_are_have_a_reason() -> None:
    names = {operation["operationId"] for operation in described()}
    assert {*LEFT_OUT, *HARD_TO_REACH} - names == set()


@pytest.mark.timeout(600)
def test_the_api_is_as_it_is_described(tmp_path: Path) -> None:
    with furnished_portal(tmp_path) as (portal, names):
        outcome = fuzz(portal, names, seed=20261116, examples=3, one_of=ONE_OF)
        assert outcome.code == 0, outcome.report
        assert "Traceback" not in portal.log
    assert {name for name, _ in outcome.answers} == {
        operation["operationId"] for operation in described()
    } - set(LEFT_OUT)
    never = {name for name in outcome.never_reached if is_bounded(name, ONE_OF)}
    assert never == set(), outcome.report
    assert outcome.answers.total() > 400
