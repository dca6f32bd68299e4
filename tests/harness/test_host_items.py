"""Hosts that programs in a cage want to reach: by rules, by the profile, or by a person."""

import asyncio
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from airboss.cage_settings import CageProfile, UnknownHosts
from airboss.errors import Conflict
from airboss.harness.host_items import HostDecisions, HostItems
from airboss.harness.open_cages import OpenCages
from airboss.harness.permissions import PolicyRule
from airboss.harness.session_state import SessionState
from airboss.log.log import EventLog
from airboss.model.ids import ItemId, RuleId, TaskRunId
from airboss.model.inbox import InboxView
from airboss.model.inbox_events import ApprovalAsked, ItemOutcome, ItemSettled
from airboss.model.rules import KeptRule, Rule
from airboss.runtime.cage.host_request import HostAnswer, HostRequest
from airboss.runtime.cage.plan import CagePlan
from tests.harness.desk import Desk, NoRules
from tests.harness.states import state_in

pytestmark = pytest.mark.anyio

YES = HostAnswer(True, "", "profile")
LATER = HostAnswer(None, "")


@dataclass
class Cage:
    """One session's hosts, and a person who decides about them."""

    state: SessionState
    rules: NoRules = field(default_factory=NoRules)
    seconds: float = 0.05
    desk: Desk = field(init=False)
    hosts: HostItems = field(init=False)

    def __post_init__(self) -> None:
        self.desk = Desk(self.state)
        policy = PolicyRule("ask", Path("/work"), given=False)
        self.hosts = HostItems(self.state, self.rules, lambda: policy, self.seconds)

    async def permits(
        self,
        host: str = "a.example",
        *,
        listed: bool = False,
        unknown: UnknownHosts = "ask",
        port: int = 443,
    ) -> HostAnswer:
        return await self.hosts.permission(unknown)(HostRequest(host, port, listed))

    def rule(self, rule: Rule) -> None:
        kept = KeptRule(id=RuleId("rul_1"), rule=rule, who="mona", made_at=0)
        self.rules.current = (*self.rules.current, kept)

    async def asked(self) -> ApprovalAsked:
        [asked] = await self.desk.asked()
        assert isinstance(asked, ApprovalAsked)
        return asked

    async def settle(
        self, outcome: ItemOutcome, answer: str | None = None, allows: Rule | None = None
    ) -> None:
        asked = await self.asked()
        settled = ItemSettled(
            item=asked.item, outcome=outcome, who="ada", answer=answer, allows=allows
        )
        await self.desk.pending.settle(settled)
        await asyncio.sleep(0)


@pytest.fixture
async def cage(log: EventLog) -> Cage:
    return Cage(await state_in(log))


async def test_what_the_profile_names_is_allowed_and_other_hosts_are_not(cage: Cage) -> None:
    assert await cage.permits(listed=True, unknown="refuse") == YES
    refused = await cage.permits(unknown="refuse")
    assert refused == HostAnswer(False, "It is not among the hosts of this cage.")
    assert cage.state.view is not None
    assert cage.state.view.items == ()


async def test_where_nobody_knows_all_that_the_profile_names_the_refusal_says_why(
    cage: Cage,
) -> None:
    asked = HostRequest("a.example", 443, listed=False, unclear="@node: npm was not found.")
    refused = HostAnswer(False, "@node: npm was not found.")
    assert await cage.hosts.permission("refuse")(asked) == refused
    assert await cage.hosts.permission("ask")(asked) == LATER
    await cage.asked()


async def test_rules_narrow_the_profile_and_widen_it_only_where_a_person_would_be_asked(
    cage: Cage,
) -> None:
    cage.rule(Rule(verdict="deny", wish="host", host="bad.example"))
    cage.rule(Rule(verdict="allow", wish="host", host="*.example"))
    denied = await cage.permits("bad.example", listed=True)
    assert denied == HostAnswer(False, "A rule of mona refuses it.")
    assert (await cage.permits(unknown="refuse")).allowed is False
    assert await cage.permits() == HostAnswer(True, "", "rule rul_1")


async def test_a_rule_about_hosts_of_every_kind_holds_here_too(cage: Cage) -> None:
    cage.rule(Rule(verdict="deny", host="*.example"))
    cage.rule(Rule(verdict="allow", wish="url", host="*"))
    assert (await cage.permits(listed=True)).allowed is False
    assert await cage.permits("other.test") == LATER


async def test_a_rule_that_asks_asks_also_about_what_the_profile_names(cage: Cage) -> None:
    cage.rule(Rule(verdict="ask", wish="host"))
    assert await cage.permits(listed=True) == LATER
    assert (await cage.asked()).title == "Connect to a.example?"


async def test_a_person_is_asked_once_for_all_connections_in_plain_words(cage: Cage) -> None:
    async with asyncio.TaskGroup() as tasks:
        ports = (443, 443, 80, 443, 80)
        answers = [tasks.create_task(cage.permits(port=port)) for port in ports]
    assert [one.result() for one in answers] == [LATER] * 5
    asked = await cage.asked()
    assert asked.wish == "host"
    assert asked.title == "Connect to a.example?"
    assert asked.subject.address == "https://a.example/"
    assert asked.risk == "Programs in the cage can send a.example whatever they can read."
    assert "does not name the host" in asked.description
    assert [option.id for option in asked.options or ()] == ["folder", "session", "exact"]
    assert asked.rule == Rule(verdict="allow", wish="host", host="a.example", folder="/work")
    inbox = cage.state.inbox.view
    assert isinstance(inbox, InboxView)
    assert [item.id for item in inbox.items] == [asked.item]


async def test_the_agent_goes_on_meanwhile(cage: Cage) -> None:
    assert await cage.permits() == LATER
    assert cage.state.waiting == {}
    assert cage.state.view is not None
    assert cage.state.view.asking is None


async def test_a_yes_within_seconds_lets_the_waiting_connections_through(log: EventLog) -> None:
    cage = Cage(await state_in(log), seconds=20)
    async with asyncio.TaskGroup() as tasks:
        waiting = [tasks.create_task(cage.permits()) for _ in range(3)]
        await cage.settle("allow-once")
    assert [one.result() for one in waiting] == [HostAnswer(True, "", "person ada")] * 3


async def test_allowed_once_holds_for_the_turn_in_which_it_is_first_used(cage: Cage) -> None:
    first = cage.state.begin_turn(None, None)
    assert await cage.permits() == LATER
    await cage.settle("allow-once")
    cage.state.end_turn(first, None, is_cut=False)
    second = cage.state.begin_turn(None, None)
    for port in (443, 80):
        assert await cage.permits(port=port) == HostAnswer(True, "", "person ada")
    cage.state.end_turn(second, None, is_cut=False)
    cage.state.begin_turn(None, None)
    assert await cage.permits() == LATER


async def test_allowed_until_the_session_ends(cage: Cage) -> None:
    assert await cage.permits("a.b.example") == LATER
    asked = await cage.asked()
    options = {option.id: option for option in asked.options or ()}
    assert list(options) == ["folder", "session", "folder-domain", "exact", "domain"]
    assert options["domain"].rule.host == "*.b.example"
    assert options["session"].until == "session"
    await cage.settle("allow-always", allows=options["session"].rule)
    for _ in range(3):
        cage.state.begin_turn(None, None)
        assert await cage.permits("a.b.example") == HostAnswer(True, "", "session")
    assert await cage.permits("c.b.example") == LATER


async def test_allowed_by_a_rule(log: EventLog) -> None:
    cage = Cage(await state_in(log), seconds=20)
    async with asyncio.TaskGroup() as tasks:
        waiting = tasks.create_task(cage.permits())
        asked = await cage.asked()
        assert asked.rule is not None
        cage.rule(asked.rule)
        await cage.settle("allow-always")
    assert waiting.result() == HostAnswer(True, "", "rule rul_1")


async def test_a_no_holds_until_the_session_ends_and_says_why(cage: Cage) -> None:
    assert await cage.permits() == LATER
    await cage.settle("deny", "use the mirror")
    for _ in range(3):
        cage.state.begin_turn(None, None)
        assert await cage.permits() == HostAnswer(False, "ada denied it: use the mirror")
    assert cage.state.view is not None
    assert cage.state.view.items == ()


async def test_of_made_up_names_a_person_is_shown_a_few(cage: Cage) -> None:
    async with asyncio.TaskGroup() as tasks:
        begun = [tasks.create_task(cage.permits(f"h{one}.example")) for one in range(30)]
    answers = [one.result() for one in begun]
    assert answers.count(LATER) == 20
    assert {one.why for one in answers} == {
        "",
        "Too many hosts wait for a person's decision already.",
    }


async def test_at_the_end_what_was_asked_is_withdrawn_and_nothing_more_is(log: EventLog) -> None:
    cage = Cage(await state_in(log), seconds=20)
    async with asyncio.TaskGroup() as tasks:
        waiting = tasks.create_task(cage.permits())
        asked = await cage.asked()
        cage.hosts.end()
    assert waiting.result() == HostAnswer(False, "The session has ended.")
    with pytest.raises(Conflict):
        await cage.desk.pending.settle(ItemSettled(item=asked.item, outcome="deny", who="ada"))
    assert (await cage.permits(listed=True)).allowed is False
    await cage.desk.asked(0)
    assert isinstance(cage.state.inbox.view, InboxView)
    assert cage.state.inbox.view.items == ()


@pytest.fixture
async def sessions_of_a_run(log: EventLog) -> tuple[Cage, Cage]:
    cages, plan = OpenCages(), CagePlan("strong", "p", CageProfile(), Path("/work"), "k", "tsk_1")
    found: list[Cage] = []
    for session in ("ses_1", "ses_2"):
        one = Cage(await state_in(log, TaskRunId("tsk_1"), session=session))
        cages.session(one.state, one.hosts, plan)
        found.append(one)
    return found[0], found[1]


async def test_what_is_allowed_in_one_session_of_a_task_run_is_allowed_in_the_next(
    sessions_of_a_run: tuple[Cage, Cage],
) -> None:
    first, second = sessions_of_a_run
    assert await first.permits("a.b.example") == LATER
    options = {option.id: option for option in (await first.asked()).options or ()}
    assert options["session"].title == "This host, until this task run ends"
    assert options["session"].until == "task-run"
    await first.settle("allow-always", allows=options["session"].rule)
    first.hosts.end()
    assert await second.permits("a.b.example") == HostAnswer(True, "", "session")
    assert await second.permits("c.b.example") == LATER


async def test_what_is_denied_in_one_session_of_a_task_run_is_denied_in_the_next(
    sessions_of_a_run: tuple[Cage, Cage],
) -> None:
    first, second = sessions_of_a_run
    assert await first.permits() == LATER
    await first.settle("deny", "use the mirror")
    first.hosts.end()
    assert await second.permits() == HostAnswer(False, "ada denied it: use the mirror")


async def test_two_sessions_of_a_task_run_ask_once_until_the_one_that_asked_ends(
    sessions_of_a_run: tuple[Cage, Cage],
) -> None:
    first, second = sessions_of_a_run
    assert await first.permits() == LATER
    assert await second.permits() == LATER
    await second.desk.asked(0)
    second.hosts.end()
    await first.asked()
    first.hosts.end()
    await first.desk.asked(0)


async def test_a_session_that_goes_on_brings_what_an_earlier_server_heard(log: EventLog) -> None:
    rule = Rule(verdict="allow", wish="host", host="a.example")
    resumed = Cage(await state_in(log, TaskRunId("tsk_1")))
    await resumed.state.writer.commit(
        ItemSettled(item=ItemId("itm_1"), outcome="allow-always", who="ada", allows=rule)
    )
    following = Cage(await state_in(log, TaskRunId("tsk_1"), session="ses_2"))
    said = HostDecisions()
    for one in (resumed, following):
        one.hosts.share(said)
    assert await following.permits() == HostAnswer(True, "", "session")
