"""What is asked of an open session beside its turns."""

from airboss.harness.aside import ask_aside
from airboss.harness.cage_rest import CageRest
from airboss.harness.compaction import Compacting
from airboss.harness.server_sign_ins import SignInRequests
from airboss.harness.session_state import SessionState
from airboss.runtime.errands import CommandAnswer, Compaction


class SessionErrands:
    """Of one session, whose `_state` they read."""

    _state: SessionState
    _compacting: Compacting
    _sign_ins: SignInRequests
    rest: CageRest

    async def aside(self, question: str, who: str) -> str:
        """Answered from the session's history, which stays as it is; a running turn goes on."""
        await self.rest.end()
        return await ask_aside(self._state, question, who)

    async def command(self, name: str, words: str) -> CommandAnswer:
        """What the runtime makes of it; the session's history stays as it is."""
        await self.rest.end()
        return await self._state.opened_agent.command(name, words)

    async def compact(self, instructions: str | None, who: str) -> Compaction | None:
        """Only while it is idle; what is asked for meanwhile waits."""
        self._state.must_be_open()
        return await self._compacting.compact(instructions, who)

    async def come_in(self, server: str) -> None:
        """Somebody signed in at one of its servers."""
        if self._state.agent is not None and not self._state.is_closing:
            await self._sign_ins.come_in(server, self._state.agent)
