"""What came of a request, read from its session's events: the same as who waited for it heard."""

from dataclasses import asdict

from airboss.harness.turn import TurnReport
from airboss.model.ids import PromptId, new_prompt_id, new_task_run_id
from airboss.service.turn_reports import report_of_prompt
from tests.service.errands import TaskHouse

REQUESTS = ("Are you quite sure?", "Write both", "Be refused", "Touch the file", "Is it ready?")


async def test_it_is_what_whoever_waited_was_told(tasks: TaskHouse) -> None:
    session, task, log = await tasks.lend(), new_task_run_id(), tasks.services.log
    told: dict[PromptId, TurnReport] = {}
    for text in REQUESTS:
        prompt = new_prompt_id()
        told[prompt] = await (await tasks.sessions.ask(session, text, "me", task, prompt)).report()
    for prompt, report in told.items():
        assert asdict(await report_of_prompt(log, session, prompt)) == asdict(report)
    assert {report.outcome for report in told.values()} == {"done", "failed"}
    assert any(report.calls for report in told.values())
    nobody_asked = await report_of_prompt(log, session, new_prompt_id())
    assert nobody_asked == TurnReport("interrupted")
    await tasks.sessions.close(session, "me")


async def test_of_a_turn_that_is_still_at_work_it_is_what_a_server_would_cut_off(
    tasks: TaskHouse,
) -> None:
    session, prompt = await tasks.lend(), new_prompt_id()
    asked = await tasks.sessions.ask(session, "Take your time.", "me", new_task_run_id(), prompt)
    await tasks.until(session, "working")
    assert (await report_of_prompt(tasks.services.log, session, prompt)).outcome == "interrupted"
    await tasks.sessions.abort(session)
    await asked.report()
    assert (await report_of_prompt(tasks.services.log, session, prompt)).outcome == "aborted"
    await tasks.sessions.close(session, "me")
