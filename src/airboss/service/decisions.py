"""What a person says to what waits for one: allow, deny, answer, go on. The first word counts."""

import contextlib
from dataclasses import dataclass
from functools import partial
from typing import Final

from airboss.background import Background
from airboss.errors import Conflict, Invalid, NotFound
from airboss.harness.extension_door import TRUST
from airboss.harness.pending_items import NOT_WAITED_FOR
from airboss.harness.questions import read_answer
from airboss.log.doubt import InDoubt, once_known
from airboss.model.audit_events import ItemDecided
from airboss.model.ids import ItemId, RuleId
from airboss.model.inbox_events import (
    ApprovalAsked,
    Asked,
    Decision,
    InboxItem,
    ItemSettled,
    LimitReached,
    PlanAsked,
    QuestionAsked,
    SignInAsked,
    SwitchAsked,
)
from airboss.model.redaction import Redactor
from airboss.model.rules import Rule
from airboss.service.audit import Audit, actor
from airboss.service.inbox import Inbox
from airboss.service.rules import Rules
from airboss.service.sessions import Sessions

_MOST_WORDS: Final = 2_000
_MOST_WORDS_ON_A_PLAN: Final = 20_000
_LONGEST_ABOUT: Final = 400
_NO_QUESTION: Final = "This is not a question. Approve or deny it."


@dataclass(frozen=True)
class Decisions:
    """The verbs of the inbox."""

    inbox: Inbox
    sessions: Sessions
    rules: Rules
    redactor: Redactor
    chores: Background
    audit: Audit | None = None

    async def decide(
        self, item: str, choice: Decision, who: str, words: str = "", option: str | None = None
    ) -> ItemSettled:
        """On an approval, a plan, or a limit: there, to allow is to go on. `words` are told to the
        agent with a no, and with either word on a plan. `option` says what “always” means, where
        not the narrowest."""
        found = await self._find(item)
        match found.asked:
            case QuestionAsked():
                raise Invalid("This is a question. Answer it instead.")
            case SignInAsked():
                return await self._without(found, choice, who)
            case LimitReached():
                outcome = "deny" if choice == "deny" else "go-on"
                return await self._settle(
                    found, ItemSettled(item=found.id, outcome=outcome, who=who)
                )
            case PlanAsked() | SwitchAsked():
                return await self._settle(found, self._word(found, choice, who, words))
            case ApprovalAsked() as asked:
                if choice not in asked.choices:
                    raise Invalid(f"Choose one of: {' or '.join(asked.choices)}.")
                clean = self.redactor.text(words.strip())[:_MOST_WORDS] or None
                settled = ItemSettled(item=found.id, outcome=choice, who=who, answer=clean)
                if choice != "allow-always" or asked.rule is None:
                    return await self._settle(found, settled)
                rule, is_for_session = _meant(asked, asked.rule, option)
                if is_for_session:
                    return await self._settle(found, settled.model_copy(update={"allows": rule}))
                return await self._allow_always(found, rule, settled, who)

    async def trusts_code(self, item: str) -> bool:
        """Whether a yes to it lets an extension run."""
        asked = (await self._find(item)).asked
        return isinstance(asked, ApprovalAsked) and asked.wish == TRUST

    async def _without(self, found: InboxItem, choice: Decision, who: str) -> ItemSettled:
        """The agent goes on without the server. Yes is to sign in, and nothing else."""
        if choice not in ("deny", "reject"):
            raise Invalid(
                "Sign in at the server instead: on the page, or with `airboss approve`. To go on "
                "without the server, deny it."
            )
        return await self._settle(found, ItemSettled(item=found.id, outcome="declined", who=who))

    async def signed_in(self, item: ItemId, who: str) -> ItemSettled:
        """A person has signed in at the server that the item is about."""
        found = await self._find(item)
        return await self._settle(found, ItemSettled(item=found.id, outcome="signed-in", who=who))

    def _word(self, found: InboxItem, choice: Decision, who: str, words: str) -> ItemSettled:
        """On a plan, or on the switch of a model: yes or no."""
        is_plan, is_yes = isinstance(found.asked, PlanAsked), choice in ("approve", "allow-once")
        if not is_yes and choice not in ("reject", "deny"):
            offered = "approve or reject" if is_plan else "allow-once or deny"
            raise Invalid(f"Choose one of: {offered}.")
        yes, no = ("approved", "rejected") if is_plan else ("go-on", "deny")
        said = self.redactor.text(words.strip())[:_MOST_WORDS_ON_A_PLAN] or None
        outcome = yes if is_yes else no
        return ItemSettled(
            item=found.id, outcome=outcome, who=who, answer=said if is_plan else None
        )

    async def _allow_always(
        self, found: InboxItem, rule: Rule, settled: ItemSettled, who: str
    ) -> ItemSettled:
        before = self.rules.current
        # Before all others: behind one that wants a person to be asked it would never speak.
        kept = await self.rules.add(rule, who, place=0)
        try:
            return await self._settle(found, settled.model_copy(update={"rule": kept.id}))
        except InDoubt as error:
            if kept not in before:
                once_known(error, partial(self._take_back, kept.id, who))
            raise
        except BaseException:  # somebody was faster: nothing of this one stays
            if kept not in before:
                await self.rules.remove(kept.id, who)
            raise

    def _take_back(self, rule: RuleId, who: str, is_settled: bool) -> None:
        """What was not decided makes no rule."""
        if not is_settled:
            self.chores.start_if_open(self._remove(rule, who), "rule")

    async def _remove(self, rule: RuleId, who: str) -> None:
        with contextlib.suppress(NotFound):  # somebody was faster
            await self.rules.remove(rule, who)

    async def answer(self, item: str, text: str, who: str) -> ItemSettled:
        """What is no answer is refused, and the question stays open."""
        found, asked = await self._question(item)
        return await self._answer(found, asked, text, who)

    async def has_question(self, session: str) -> bool:
        """Whether the session waits for an answer of a person."""
        return bool(await self._questions(session))

    async def answer_next(self, session: str, text: str, who: str) -> bool:
        """For callers who know only queries: the text answers what the session asks. Where it asks
        nothing this says so, and where somebody was faster."""
        for item, asked in await self._questions(session):
            with contextlib.suppress(Conflict):
                await self._answer(item, asked, text, who)
                return True
        return False

    async def _questions(self, session: str) -> list[tuple[InboxItem, QuestionAsked]]:
        """To callers who know only queries, a person's session that was cut off is closed."""
        view = await self.sessions.show(session)
        items = view.items if view.is_open or view.task else ()
        asked = [(item, item.asked) for item in items]
        return [(item, one) for item, one in asked if isinstance(one, QuestionAsked)]

    async def _answer(
        self, found: InboxItem, asked: QuestionAsked, text: str, who: str
    ) -> ItemSettled:
        given = read_answer(asked, self.redactor.text(text))
        settled = ItemSettled(
            item=found.id,
            outcome="answered",
            who=who,
            answer=given.answer,
            was_words=given.was_words,
        )
        return await self._settle(found, settled)

    async def decline(self, item: str, who: str) -> ItemSettled:
        """A question that somebody does not want to answer, of which the agent is told; or a
        sign-in that nobody wants."""
        found = await self._find(item)
        if not isinstance(found.asked, SignInAsked):
            found, _ = await self._question(item)
        return await self._settle(found, ItemSettled(item=found.id, outcome="declined", who=who))

    async def _settle(self, found: InboxItem, settled: ItemSettled) -> ItemSettled:
        try:
            await self.sessions.settle(found.session, settled)
        except Conflict:
            raise await self._too_late(found.id) from None
        if self.audit:
            await self.audit.write(
                ItemDecided(
                    by=actor(settled.who),
                    item=found.id,
                    session=found.session,
                    outcome=settled.outcome,
                    about=_about(found.asked),
                )
            )
        return settled

    async def _question(self, item: str) -> tuple[InboxItem, QuestionAsked]:
        found = await self._find(item)
        if not isinstance(found.asked, QuestionAsked):
            raise Invalid(_NO_QUESTION)
        return found, found.asked

    async def _find(self, item: str) -> InboxItem:
        found = self.inbox.find(ItemId(item))
        if found is not None:
            return found
        if settled := await self.inbox.what_became_of(ItemId(item)):
            raise _conflict(settled)
        raise NotFound("item", item)

    async def _too_late(self, item: ItemId) -> Conflict:
        return _conflict(await self.inbox.what_became_of(item))


def _conflict(settled: ItemSettled | None) -> Conflict:
    if settled is None or settled.outcome == "cancelled":
        return Conflict((settled and settled.reason) or NOT_WAITED_FOR)
    if settled.outcome == "timeout":
        return Conflict("Too late: the time limit for this decision has passed.")
    return Conflict(f"This was already decided: {settled.outcome}, by {settled.who}.")


def _meant(asked: ApprovalAsked, rule: Rule, option: str | None) -> tuple[Rule, bool]:
    """The rule, and whether it holds until the session or task run ends only."""
    if option is None:
        return rule, False
    offered = asked.options or ()
    for one in offered:
        if one.id == option:
            return one.rule, one.until is not None
    raise Invalid(f"For “always”, choose one of: {', '.join(one.id for one in offered)}.")


def _about(asked: Asked) -> str:
    """In a line; all of it is in the session's stream."""
    match asked:
        case ApprovalAsked():
            said = f"{asked.wish}: {asked.title}"
        case QuestionAsked():
            said = asked.question
        case LimitReached():
            said = f"{asked.limit} of {asked.scope}: {asked.used:g} of {asked.allowed:g}"
        case PlanAsked():
            said = f"plan: {asked.summary}"
        case SignInAsked():
            said = f"sign-in at {asked.server} ({asked.address})"
        case SwitchAsked():
            said = f"another model instead of {asked.model}"
    return " ".join(said.split())[:_LONGEST_ABOUT]
