"""Hosts that programs in a session's cage want to reach: by rules, by the profile, or by a person.

Nobody in the cage waits long: a connection gets its answer within seconds, and the agent goes on.
What a person is asked stays asked beside that until the session ends, once for each host; the
sessions of a task run share what was decided.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from airboss.cage_settings import UnknownHosts
from airboss.errors import AirbossError
from airboss.harness.approvals import answer_of, approval_of
from airboss.harness.item_lines import with_inbox
from airboss.harness.pending_items import RulesInForce
from airboss.harness.permissions import PolicyRule
from airboss.harness.risks import risk_of
from airboss.harness.rule_options import rule_options
from airboss.harness.rules import HOST, first
from airboss.harness.session_state import SessionState, WaitingItem
from airboss.log.writer import commit, now_ms, say
from airboss.model.ids import ItemId, RuleId, TurnId
from airboss.model.inbox_events import ItemSettled
from airboss.model.rules import KeptRule, Rule
from airboss.net.host_lists import WEB_PORTS
from airboss.runtime.cage.host_request import HostAnswer, HostPermission, HostRequest
from airboss.runtime.permission import PermissionRequest

# So long a connection waits for a person.
_SECONDS: Final = 10.0
_RULING_SECONDS: Final = 15.0
# Names can be made up without end; a person is not shown more at a time.
_MOST_WAITING: Final = 20
_NOT_LISTED: Final = "It is not among the hosts of this cage."
_OVER: Final = "The session has ended."
_TOO_MANY: Final = "Too many hosts wait for a person's decision already."
_WHY: Final = (
    "The profile of this cage does not name the host. The agent continues meanwhile, and its "
    "programs are told to try again later."
)


@dataclass
class _Once:
    """For the turn in which it is first used, and no longer."""

    who: str
    turn: TurnId | None = None


@dataclass
class HostDecisions:
    """What people are asked and have said: of a person's session, or of all of a task run."""

    waiting: dict[str, WaitingItem] = field(default_factory=dict[str, WaitingItem])
    once: dict[str, _Once] = field(default_factory=dict[str, _Once])
    denied: dict[str, str] = field(default_factory=dict[str, str])
    allowed: list[Rule] = field(default_factory=list[Rule])
    asking: asyncio.Lock = field(default_factory=asyncio.Lock)


@dataclass
class HostItems:
    """Of one session. `policy` is the one that counts now."""

    state: SessionState
    rules: RulesInForce
    policy: Callable[[], PolicyRule]
    seconds: float = _SECONDS
    _said: HostDecisions = field(default_factory=HostDecisions)
    _is_shared: bool = False
    _is_over: bool = False

    def share(self, said: HostDecisions) -> None:
        """With the other sessions of its task run, also what an earlier server heard."""
        self._said, self._is_shared = said, True
        kept = self.state.view.allowances if self.state.view else ()
        said.allowed += [rule for rule in kept if rule.wish == HOST and rule not in said.allowed]

    def permission(self, unknown: UnknownHosts) -> HostPermission:
        """For the way out of a cage that treats hosts outside its profile so."""
        return lambda asked: self.permit(asked, unknown)

    async def permit(self, asked: HostRequest, unknown: UnknownHosts) -> HostAnswer:
        """Rules narrow what the profile names; they widen it only where a person would be asked."""
        if self._is_over:
            return HostAnswer(False, _OVER)
        kept = await self._first(asked, self.rules.current)
        verdict = kept and kept.rule.verdict
        is_open = asked.listed or unknown == "ask"
        if kept and verdict == "deny":
            return HostAnswer(False, f"A rule of {kept.who} refuses it.")
        if kept and verdict == "allow" and is_open:
            return HostAnswer(True, "", "profile" if asked.listed else f"rule {kept.id}")
        if asked.listed and verdict != "ask":
            return HostAnswer(True, "", "profile")
        if is_open:
            return await self._by_person(asked, unknown)
        return HostAnswer(False, asked.unclear or _NOT_LISTED)

    async def _first(self, asked: HostRequest, rules: tuple[KeptRule, ...]) -> KeptRule | None:
        async with asyncio.timeout(_RULING_SECONDS):
            return await asyncio.to_thread(first, rules, _request(asked), self.policy().cwd)

    async def _by_person(self, asked: HostRequest, unknown: UnknownHosts) -> HostAnswer:
        if (allowed := await self._allowed_before(asked)) is not None:
            return allowed
        said = self._said
        async with said.asking:  # clients open several connections at once
            waiting = said.waiting.get(asked.host)
            if waiting is None and asked.host not in said.denied | said.once:
                if len(said.waiting) >= _MOST_WAITING:
                    return HostAnswer(False, _TOO_MANY)
                waiting = await self._ask(asked)
        if waiting is not None:
            try:
                async with asyncio.timeout(self.seconds):
                    await asyncio.shield(waiting.answer)
            except TimeoutError:
                return HostAnswer(None, "")
        return await self.permit(asked, unknown)

    async def _allowed_before(self, asked: HostRequest) -> HostAnswer | None:
        """Until the session or task run ends, for this turn, or not at all."""
        view, said = self.state.view, self._said
        kept = tuple(
            KeptRule(id=RuleId("session"), rule=rule, who="this session", made_at=0)
            for rule in (*(view.allowances if view else ()), *said.allowed)
        )
        if kept and await self._first(asked, kept):
            return HostAnswer(True, "", "session")
        if (why := said.denied.get(asked.host)) is not None:
            return HostAnswer(False, why)
        if (once := said.once.get(asked.host)) is not None:
            now = self.state.turn.id if self.state.turn else None
            once.turn = once.turn or now
            if once.turn == now:
                return HostAnswer(True, "", f"person {once.who}")
            del said.once[asked.host]
        return None

    async def _ask(self, asked: HostRequest) -> WaitingItem:
        """On disk before anybody waits for it."""
        policy, redactor, request = self.policy(), self.state.redactor, _request(asked)
        approval = approval_of(
            request,
            why=_WHY,
            options=await asyncio.to_thread(
                rule_options, request, policy, redactor, is_for_run=self._is_shared
            ),
            risk=risk_of(request, policy.cwd),
            prompt=self.state.prompt,
            expires_at=None,
            redactor=redactor,
        )
        waiting = self._said.waiting[asked.host] = WaitingItem(approval)
        self.state.beside[approval.item] = waiting
        waiting.answer.add_done_callback(lambda _: self._hear(asked.host, waiting))
        lines = with_inbox(self.state.writer, self.state.inbox, approval, at=(at := now_ms()))
        try:
            await commit(*lines, at=at)
        except BaseException as error:
            self._forget(asked.host, approval.item)
            if not isinstance(error, AirbossError):  # it may be on disk, or will be
                self._withdraw(waiting)
            raise
        return waiting

    def _hear(self, host: str, waiting: WaitingItem) -> None:
        self._forget(host, waiting.asked.item)
        if waiting.answer.cancelled():
            return
        settled = waiting.answer.result()
        if settled.outcome == "allow-once":
            self._said.once[host] = _Once(settled.who or "somebody")
        elif settled.outcome == "deny":
            self._said.denied[host] = answer_of(settled).reason
        elif self._is_shared and settled.allows is not None:
            self._said.allowed.append(settled.allows)

    def _forget(self, host: str, item: ItemId) -> None:
        self._said.waiting.pop(host, None)
        self.state.beside.pop(item, None)

    def _withdraw(self, waiting: WaitingItem) -> None:
        if not waiting.is_taken:
            waiting.is_taken = True
            settled = ItemSettled(item=waiting.asked.item, outcome="cancelled")
            say(*with_inbox(self.state.writer, self.state.inbox, settled))
            waiting.answer.set_result(settled)

    def end(self) -> None:
        """The session ends or is cut off: its programs are gone, and so is what they asked."""
        self._is_over = True
        for waiting in list(self._said.waiting.values()):
            if waiting.asked.item in self.state.beside:  # others are asked by other sessions
                self._withdraw(waiting)


def _request(asked: HostRequest) -> PermissionRequest:
    """In the words of a permission request, so that the same rules and pages fit."""
    scheme = "http" if asked.port == 80 else "https"
    port = "" if asked.port in WEB_PORTS else f":{asked.port}"
    return PermissionRequest(
        request_id="",
        call=None,
        kind=HOST,
        tool=None,
        paths=(),
        command=None,
        url=f"{scheme}://{asked.host}{port}/",
        about=asked.host,
        raw={"host": asked.host, "port": asked.port},
    )
