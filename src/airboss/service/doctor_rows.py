"""The doctor's rows about what people gave to sessions: hooks, MCP servers, bindings, providers,
accounts and extensions."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from airboss.errors import AirbossError, Invalid
from airboss.harness.hook_plan import HookPlan, found_hook
from airboss.harness.setup import Said, in_settings
from airboss.model.events import SessionError, TurnEnded
from airboss.model.setup import HookSetup
from airboss.model.views import SessionView
from airboss.runtime.hook_process import HookPrograms
from airboss.service.doctor_checks import Check, check_servers, check_trial
from airboss.service.extension_checks import check_extensions
from airboss.session_keys import HOOK_SECONDS, HookName, SessionKeys
from airboss.settings import Settings
from airboss.store.views import PageEnd

if TYPE_CHECKING:
    from airboss.service.copilot_accounts import CopilotAccounts
    from airboss.service.extensions import Extensions
    from airboss.service.history import History
    from airboss.service.providers import Providers
    from airboss.service.sessions import Sessions

Examine: TypeAlias = Callable[[], Awaitable[Check]]

DOCTOR: Final = "doctor"
_MOST_SESSIONS: Final = 2_000
_AT_ONCE: Final = 100
_MOST_NAMED: Final = 5
# The doctor's own limit is later.
_TURN_SECONDS: Final = 20.0
_ASKED: Final = "Answer with the word OK and nothing else."


@dataclass(frozen=True)
class DoctorRows:
    """With `deep`, programs of hooks are asked, and a model of each provider and account."""

    settings: Settings
    sessions: "Sessions"
    history: "History"
    providers: "Providers"
    accounts: "CopilotAccounts"
    extensions: "Extensions"

    def rows(self, *, deep: bool) -> dict[str, Examine]:
        servers = self.settings.session.mcp_servers or {}
        rows: dict[str, Examine] = {
            "hooks": partial(self._check_hooks, deep=deep),
            "bindings": self._check_bindings,
            "mcp-servers": partial(check_servers, servers, self.sessions.environ),
            "extensions": partial(check_extensions, self.extensions, self.sessions.environ),
        }
        if deep:
            for provider, _ in self.providers.all():
                rows[f"provider.{provider.name}"] = partial(self._try_provider, provider.name)
            for name in self.accounts.accounts.names:
                rows[f"account.{name}"] = partial(self._try_account, name)
        return rows

    async def repair(self) -> list[str]:
        """What is ours and of no use any more, in a line each. Whatever people chose is left."""
        bindings = self.sessions.bindings
        orphans = await bindings.store.orphans() if bindings else []
        if not orphans or bindings is None:
            return []
        await bindings.store.forget_gone(orphans)
        return [f"Removed what was kept for deleted sessions: {len(orphans)}."]

    # Hooks.

    async def _check_hooks(self, *, deep: bool) -> Check:
        """Those of the settings; an entry's are checked with the entry."""
        plan = HookPlan((in_settings(self.settings.session),))
        found: list[HookSetup] = []
        wrong: list[str] = []
        cwd, clean = self.sessions.folders.repo_root, self.sessions.redactor.text
        for hook in plan:
            try:
                found.append(await asyncio.to_thread(found_hook, hook, cwd, clean))
            except Invalid as error:
                wrong.append(str(error))
        if deep and not wrong:
            wrong = await self._unanswered(found)
        if wrong:
            remedy = (
                "Fix the program, or its line in [session.hooks] of settings.toml. Until then "
                "sessions are refused, or the calls that the hook is asked about."
            )
            summary = f"{_counted(len(wrong), 'hook')} cannot be used."
            detail = clean("\n".join(wrong[:_MOST_NAMED]))
            return Check(id="hooks", state="fail", summary=summary, detail=detail, remedy=remedy)
        if not found:
            return Check(id="hooks", state="ok", summary="No hooks are configured.")
        said = "all programs answered" if deep else "all programs found"
        return Check(id="hooks", state="ok", summary=f"{_counted(len(found), 'hook')}, {said}")

    async def _unanswered(self, hooks: list[HookSetup]) -> list[str]:
        """Asked as in a session, about something harmless. A no is an answer, too."""
        programs = HookPrograms(self.sessions.hook_environ, self.sessions.folders.repo_root)
        async with asyncio.TaskGroup() as group:
            asked = [
                (hook, group.create_task(programs.ask(_hurried(hook), _given(hook.hook))))
                for hook in hooks
            ]
        answers = [(hook, task.result()) for hook, task in asked]
        return [f"{hook.place}: {answer.error}" for hook, answer in answers if answer.error]

    # Bindings.

    async def _check_bindings(self) -> Check:
        """Sessions that could be resumed, were there a model for them."""
        bindings = self.sessions.bindings
        orphans = await bindings.store.orphans() if bindings else []
        routes: dict[str, str | None] = {}
        without: list[str] = []
        async for view in self._resumable():
            model = view.instead_of or view.model
            if model not in routes:
                routes[model] = await self._why_no_route(model)
            if routes[model] is not None:
                without.append(f"{view.id} ({model})")
        if without:
            summary = f"{_counted(len(without), 'session')} cannot go on: nobody offers the model."
            named = ", ".join(without[:_MOST_NAMED])
            detail = f"{named} and more" if len(without) > _MOST_NAMED else named
            remedy = (
                "Add the provider or account again, give the session another model with "
                "`airboss switch SESSION --model MODEL`, or close it."
            )
            return Check(id="bindings", state="warn", summary=summary, detail=detail, remedy=remedy)
        if orphans:
            summary = f"Deleted sessions of which something is still kept: {len(orphans)}."
            remedy = "Run `airboss doctor --repair`."
            return Check(id="bindings", state="warn", summary=summary, remedy=remedy)
        return Check(id="bindings", state="ok", summary="Every session has a model to go on with.")

    async def _resumable(self) -> AsyncIterator[SessionView]:
        before: PageEnd | None = None
        for _ in range(_MOST_SESSIONS // _AT_ONCE):
            bodies = await self.sessions.index.page("session", ("interrupted",), before, _AT_ONCE)
            views = [SessionView.model_validate_json(body, extra="ignore") for body in bodies]
            for view in views:
                yield view
            if len(views) < _AT_ONCE:
                return
            before = PageEnd(views[-1].created_at, views[-1].id)

    async def _why_no_route(self, model: str) -> str | None:
        try:
            await self.sessions.catalog.route(model)
        except AirbossError as error:
            return str(error)
        return None

    # One call each.

    async def _try_provider(self, name: str) -> Check:
        return check_trial(name, await self.providers.test_known(name))

    async def _try_account(self, name: str) -> Check:
        """Who it is, what it is offered, and a word of the cheapest model of that."""
        row, remedy = f"account.{name}", "Change its token in Settings, or in settings.toml."
        tried = await self.accounts.test_known(name)
        if not tried.ok:
            summary = tried.problem or "It does not work."
            return Check(id=row, state="fail", summary=summary, remedy=remedy)
        offers = [one for one in await self.sessions.catalog.offers() if name in one.accounts]
        if not offers:
            return Check(id=row, state="warn", summary="Copilot offers it no model.")
        model = min(offers, key=lambda one: (one.multiplier, one.id)).id
        problem = await self._asked(name, model)
        if problem is not None:
            return Check(id=row, state="fail", summary=f"{model}: {problem}", remedy=remedy)
        return Check(id=row, state="ok", summary=f"{model} answered, {len(offers)} models offered.")

    async def _asked(self, account: str, model: str) -> str | None:
        """In a session like any other, which is deleted behind it. Why that does not work."""
        said = Said(SessionKeys(account=account), may_widen=True)
        view = await self.sessions.start(model, None, DOCTOR, "deny-all", said=(said,))
        try:
            await self.sessions.prompt(view.id, _ASKED, DOCTOR)
            return await self._heard(view.id, view.seq)
        finally:
            await self.sessions.close(view.id, DOCTOR)
            await self.history.delete_session(view.id)

    async def _heard(self, session: str, after: int) -> str | None:
        problem: str | None = None
        async with (
            asyncio.timeout(_TURN_SECONDS),
            self.sessions.follow(session, after) as follower,
        ):
            while True:
                for recorded in await follower.next(_TURN_SECONDS):
                    match recorded.event:
                        case SessionError(message=message):
                            problem = message
                        case TurnEnded(outcome=outcome):
                            return None if outcome == "done" else problem or f"It {outcome}."
                        case _:
                            pass


def _hurried(hook: HookSetup) -> HookSetup:
    """Nobody waits for the doctor as long as for a session."""
    return hook.model_copy(update={"seconds": min(hook.seconds, HOOK_SECONDS)})


def _given(hook: HookName) -> dict[str, Any]:
    """What a program of this hook may well be asked about, marked as a trial."""
    about: dict[str, Any] = {"prompt": "", "toolName": "view", "toolArgs": {}, "toolResult": {}}
    return {**about, "hook": hook, "airboss": {"doctor": True}}


def _counted(number: int, word: str) -> str:
    return f"{number} {word}" if number == 1 else f"{number} {word}s"
