"""What every hook is told beside what it is asked about, and the hooks that a session has."""

import asyncio
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Final

from airboss.background import Background, unless
from airboss.errors import PromptBlocked
from airboss.harness.gate import HOOK_SECONDS, Checks, LastCheck, Policy
from airboss.harness.hooks import SessionHooks
from airboss.harness.turn import Outcome, Turn
from airboss.model.hook_events import HookRan
from airboss.model.tool_lists import known_and_allowed
from airboss.runtime.hook_process import HookPrograms

if TYPE_CHECKING:
    from airboss.harness.gate import Ask
    from airboss.harness.session_state import SessionState
    from airboss.harness.session_terms import SessionTerms

# Of whoever's request is being answered; set where requests come in.
ACTING_ROLE: Final[ContextVar[str | None]] = ContextVar("acting_role", default=None)


def session_hooks(
    state: "SessionState", terms: "Callable[[], SessionTerms]", tell: Callable[[HookRan], None]
) -> SessionHooks | None:
    """None for most sessions: they have no hooks, and nobody waits for any."""
    given = terms()
    if not given.setup.hooks:
        return None

    def block_turn(reason: str) -> None:
        """Of what was put into a running turn only that is not read."""
        agent, turn = state.agent, state.turn
        if turn is not None and agent is not None and not agent.has_begun:
            state.fail_turn(turn, PromptBlocked.__name__, blocked_words(reason))

    return SessionHooks(
        given.setup.hooks,
        HookPrograms(
            *(given.hook_environ, given.rule.cwd, given.caging),
            written=given.cage.written if given.cage else (),
        ),
        state.redactor,
        lambda: facts_of(state, terms()),
        tell,
        block_turn,
        Background("session hooks", state.session),
    )


def blocked_words(reason: str) -> str:
    return f"A hook refused the request: {reason}"


def gate_checks(
    hooks: SessionHooks | None,
    policies: "tuple[Policy, ...]",
    ask: "Ask",
    last: LastCheck | None = None,
) -> Checks:
    if hooks is None:
        return Checks(policies=policies, ask=ask, last=last)
    seconds = max(HOOK_SECONDS, hooks.longest)  # each keeps its own time
    return Checks(policies, hooks.checks, hooks.after, ask, seconds, last)


def facts_of(state: "SessionState", terms: "SessionTerms") -> dict[str, Any]:
    view, turn, route = state.view, state.turn, terms.route
    request = turn.request if turn else None
    provider = route.upstream.name if route.upstream else None
    return {
        "session": state.session,
        "run": view.run if view else None,
        "task": (request.task if request else None) or state.task,
        "turn": turn.id if turn else None,
        "prompt": turn.prompt if turn else None,
        "who": (request.who if request else None) or (view.who if view else None),
        "role": request.role if request else None,
        "account": view.account if view else None,
        "policy": view.policy if view else None,
        "model": {
            "id": view.model if view else route.model,
            "name": route.model,
            "provider": provider,
            "reasoningEffort": terms.setup.reasoning_effort,
            "efforts": route.efforts,
            "vision": route.vision,
            "multiplier": route.multiplier,
        },
        "tools": known_and_allowed(terms.setup.tools.lists),
        "images": turn.images if turn else 0,
    }


async def built_prompt(
    hooks: SessionHooks | None, text: str, images: int, over: asyncio.Event
) -> str | None:
    """What is put to the agent; raises where a hook says no. None where the turn was `over`
    first."""
    if hooks is None or not hooks.has("beforePromptBuild"):
        return text  # most have none, and to wait for nothing takes two tasks
    return await unless(over, _built_prompt(hooks, text, images))


async def _built_prompt(hooks: SessionHooks, text: str, images: int) -> str:
    said = await hooks.ask("beforePromptBuild", {"prompt": text, "images": images})
    if said.no is not None:
        raise PromptBlocked(blocked_words(said.no))
    parts = [str(said.given["prompt"]), said.context]
    return "\n\n".join(part for part in parts if part)


async def written_prompt(hooks: SessionHooks | None, text: str, who: str) -> str:
    """A person's message as it is written down; raises where a hook says no."""
    if hooks is None or not hooks.has("beforeMessageWrite"):
        return text
    said = await hooks.ask("beforeMessageWrite", {"role": "user", "text": text, "who": who})
    if said.no is not None:
        raise PromptBlocked(blocked_words(said.no))
    return str(said.given["text"])


def tell_turn_ended(hooks: SessionHooks | None, turn: Turn, outcome: Outcome | None) -> None:
    """Nobody waits for what they say, and the session does not end before they have."""
    if hooks is None:
        return
    ended = outcome if outcome and turn.outcome == "done" else turn.outcome
    told: Mapping[str, Any] = {
        "turn": turn.id,
        "outcome": ended,
        "error": turn.error.message if turn.error else None,
        "text": turn.message,
        "models": list(turn.models),
        "usage": turn.usage.model_dump(mode="json"),
    }
    if turn.is_sent:
        hooks.start("modelOutput", told)
    hooks.start("agentEnd", told)


def leave_hooks(hooks: SessionHooks | None) -> None:
    """Its runtime is gone: nobody hears what they say."""
    if hooks is not None:
        hooks.beside.cancel()


async def close_hooks(hooks: SessionHooks | None) -> None:
    if hooks is not None:
        await hooks.close()
