"""What is worth another try, and what the real runtime says when a turn fails."""

import asyncio
from pathlib import Path

import pytest

from airboss.harness.crashes import is_crash
from airboss.harness.turn import Failure, TurnReport
from airboss.model.ids import TaskRunId
from tests.service.house import ME, house_in

SCRIPT = """
rules:
  - {when: "bad request", steps: [{fail: {status: 400}}]}
  - {when: "no key", steps: [{fail: {status: 401}}]}
  - {when: "too long", steps: [{fail: {status: 413}}]}
  - {when: "out of order", steps: [{fail: {status: 500}}]}
  - {when: "cut off", steps: [{say: "The beginning of"}, {drop: true}]}
  - {when: "nothing at all", steps: [{sleep: 0}]}
  - {when: "longer than a book", steps: [{say: "Never sent."}]}
"""


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 504, 529])
def test_a_service_that_may_recover_is_worth_another_try(status: int) -> None:
    for name in ("query", "rate_limit"):
        assert is_crash(TurnReport("failed", Failure(name, "It said no.", status)))


@pytest.mark.parametrize("status", [400, 401, 402, 403, 404, 409, 413, 422, 451])
def test_a_service_that_says_no_is_not(status: int) -> None:
    assert not is_crash(TurnReport("failed", Failure("query", "It said no.", status)))


@pytest.mark.parametrize(
    "error",
    [
        Failure("RuntimeUnavailable", "The agent runtime did not answer within 30 s."),
        Failure("SessionGone", "The agent runtime has no record of session x any more."),
        Failure("runtime_quiet", "The agent runtime told nothing of this turn for 60 s."),
        Failure("query", "Failed to get response from the AI model; retried 5 times"),
        Failure("query", "Could not connect to local model provider at http://127.0.0.1:9/v1."),
        Failure("query", "No response was returned. Send your message again to retry."),
        Failure("query", "The stream was cut.", 200),
    ],
    ids=lambda error: error.message[:30],
)
def test_what_broke_on_the_way_is_worth_another_try(error: Failure) -> None:
    assert is_crash(TurnReport("failed", error))


@pytest.mark.parametrize(
    "error",
    [
        Failure("ModelReplaced", "The session asked for a and the service took b instead."),
        Failure("ModelIdNotFound", "The model x is not available."),
        Failure("NotSignedIn", "The service refused the sign-in."),
        Failure("authentication", "Authentication failed with provider."),
        Failure("authorization", "Your credentials may be expired or invalid.", 403),
        Failure("quota", "You have no requests left.", 429),
        Failure("context_limit", "Too many tokens."),
        Failure("query", "Execution failed: InvalidArg, No GitHub OAuth token or Copilot HMAC key"),
        Failure("query", 'External tool "bash" conflicts with a built-in tool of the same name.'),
        Failure(
            "query", "Request exceeds the model's prompt budget after reserving output (158759"
        ),
        Failure("query", "The provider rejected the prompt as too long, but automatic recovery"),
    ],
    ids=lambda error: f"{error.name} {error.message[:30]}",
)
def test_what_stays_as_it_is_is_not(error: Failure) -> None:
    for outcome in ("failed", "interrupted"):
        assert not is_crash(TurnReport(outcome, error))


def test_only_what_failed_or_was_interrupted_can_be_a_crash() -> None:
    lost = Failure("RuntimeLost", "The agent runtime died.")
    assert is_crash(TurnReport("interrupted", lost))
    assert is_crash(TurnReport("interrupted"))
    for outcome in ("done", "aborted", "dropped"):
        assert not is_crash(TurnReport(outcome))
        assert not is_crash(TurnReport(outcome, lost))


async def test_the_real_runtimes_failures_are_told_apart(tmp_path: Path) -> None:
    """All at once: it asks a service that is out of order six times, which takes 16 s."""
    script = tmp_path / "script.yaml"
    script.write_text(SCRIPT, encoding="utf-8")
    found: dict[str, tuple[str, int | None, bool]] = {}
    async with house_in(tmp_path, rehearsal=script) as house:

        async def ask(text: str) -> None:
            session = (await house.start()).id
            asked = await house.sessions.ask(session, text, ME, TaskRunId("tsk_1"))
            report = await asked.report()
            assert report.error is not None, text[:18]
            found[text[:18]] = (report.error.name, report.error.status, is_crash(report))

        async with asyncio.timeout(50), asyncio.TaskGroup() as group:
            for text in (
                "bad request",
                "no key",
                "too long",
                "out of order",
                "cut off",
                "nothing at all",
                "longer than a book" + " word" * 200_000,
            ):
                group.create_task(ask(text))
    assert found == {
        "bad request": ("query", 400, False),
        "no key": ("authentication", 401, False),
        "too long": ("query", None, False),
        "out of order": ("query", 500, True),
        "cut off": ("query", None, True),
        "nothing at all": ("query", None, True),
        "longer than a book": ("query", None, False),
    }
