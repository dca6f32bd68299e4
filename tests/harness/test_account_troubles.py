"""Which failures make an account rest, and for how long."""

import pytest

from airboss.errors import NotSignedIn, RuntimeUnavailable
from airboss.harness.account_troubles import trouble_of_opening, trouble_of_turn


@pytest.mark.parametrize(
    ("name", "status", "rests"),
    [
        ("authentication", 401, True),
        ("query", 401, True),
        ("quota", None, True),
        ("rate_limit", 429, True),
        ("query", 429, True),
        ("query", 402, True),
        ("query", 400, False),
        ("authorization", 403, False),
        ("query", 500, False),
        ("query", None, False),
        ("context_limit", None, False),
    ],
)
def test_only_what_is_the_accounts_own_fault_makes_it_rest(
    name: str, status: int | None, rests: bool
) -> None:
    assert (trouble_of_turn(name, status, "No.") is not None) is rests


def test_how_long_is_taken_from_what_the_service_says() -> None:
    for said, seconds in (
        ("Too many. Please try again in 3 minutes.", 180),
        ("retry-after: 20", 20),
        ("Please retry after 2 hours", 7200),
        ("Too many.", None),
        ("Try again in 250ms", 0.25),
        ("retry-after-ms: 1500", 1.5),
        ("Please try again in 3 days.", 3 * 86400),
        ("Try again in 2 hours 30 minutes.", 9000),
        ("try again in about 1 hour, 5 min and 2.5 seconds", 3902.5),
        ("Try again in 1m30s.", 90),
        ("try again in 1,200 seconds", 1200),
        ("retry-after: 1760000000", None),
        (f"retry-after: {'9' * 20}", None),
        (f"try again in {'9' * 400} days", None),
    ):
        trouble = trouble_of_turn("rate_limit", 429, said)
        assert trouble is not None
        assert trouble.seconds == seconds


def test_a_token_that_is_refused_at_the_start_is_told_from_a_runtime_that_is_away() -> None:
    refused = trouble_of_opening(RuntimeUnavailable("Failed to fetch Copilot user info: 401"))
    assert refused is not None
    assert refused.why == "its token was refused"
    assert trouble_of_opening(NotSignedIn("Copilot did not accept it.")) is not None
    assert trouble_of_opening(RuntimeUnavailable("The agent runtime died.")) is None
