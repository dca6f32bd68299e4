"""What the runtime asks of us, permission and answers to calls: each gets its answer, once."""

import contextlib
from collections.abc import Callable, Coroutine, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, cast

from airboss.background import Background
from airboss.errors import AirbossError
from airboss.runtime.hooks import missing
from airboss.runtime.origins import Origin, Origins
from airboss.runtime.permission import (
    Decide,
    PermissionAnswer,
    PermissionRequest,
    permission_request,
)
from airboss.runtime.tools import (
    AnswerCall,
    OutsideCall,
    ToolOffer,
    ToolPictures,
    ToolRefusal,
    ToolSaid,
    outside_call,
)

if TYPE_CHECKING:
    from copilot.rpc import ExternalToolTextResultForLlm, SessionRpc

T = TypeVar("T")

_NO_ANSWER = "The call could not be answered. Go on without it."
_NO_DECISION = "Permission could not be asked for, so it is denied."


class SayToRuntime(Protocol):
    """Says something to the runtime about one session, and waits for its word."""

    async def __call__(self, ask: "Callable[[SessionRpc], Coroutine[Any, Any, T]]") -> T: ...


class Requests:
    """Answers what one session's agent asks for, each request beside the session's turn."""

    def __init__(
        self,
        decide: Decide,
        tools: Iterable[ToolOffer],
        answer: AnswerCall | None,
        beside: Background,
    ) -> None:
        self._decide = decide
        self.take_tools(tools)
        self._answer = answer
        self._beside = beside
        self.origins = Origins()

    def take_tools(self, tools: Iterable[ToolOffer]) -> None:
        """Calls of these are the SDK's to answer. All others are ours, also those of a tool that
        was withdrawn meanwhile: the SDK would leave them unanswered for ever."""
        self._handled = frozenset(offer.name for offer in tools if offer.handle is not None)

    def ask_permission(self, say: SayToRuntime, raw: Mapping[str, Any]) -> None:
        """A raw `permission.requested`."""
        data = raw["data"]
        if not data.get("resolvedByHook"):
            permit = self._permit(say, data, self.origins.of(raw))
            self._begin(str(data.get("requestId")), permit)

    def ask_outside(
        self, say: SayToRuntime, data: Mapping[str, Any], *, again: bool = False
    ) -> None:
        call = outside_call(data, again=again)
        if call.tool not in self._handled and self._answer:
            self._begin(call.request_id, self._call(say, self._answer, call))

    def _begin(self, request: str, work: Coroutine[Any, Any, None]) -> None:
        """Asked a second time, the same request is answered once."""
        self.drop(request)
        self._beside.start(work, request)

    def drop(self, request: str) -> None:
        """It was answered elsewhere."""
        self._beside.cancel(request)

    async def _permit(self, say: SayToRuntime, data: Mapping[str, Any], origin: Origin) -> None:
        """Where deciding fails, the answer is no."""
        from copilot import rpc

        try:
            asked = await _traced(say, data, origin)
            answer = asked if isinstance(asked, PermissionAnswer) else await self._decide(asked)
            allowed = cast("object", answer.allowed) is True
        except Exception:  # noqa: BLE001  # the border: whatever failed, the answer is no
            answer, allowed = PermissionAnswer(allowed=False, reason=_NO_DECISION), False
        decision = (
            rpc.PermissionDecisionApproveOnce()
            if allowed
            else rpc.PermissionDecisionReject(feedback=answer.reason)
        )
        name = str(data.get("requestId") or "")
        request = rpc.PermissionDecisionRequest(request_id=name, result=decision)
        with contextlib.suppress(AirbossError):
            await say(lambda to: to.permissions.handle_pending_permission_request(request))

    async def _call(self, say: SayToRuntime, answer: AnswerCall, call: OutsideCall) -> None:
        """Where answering fails, the agent is told that it did."""
        from copilot import rpc

        try:
            said = await answer(call)
        except Exception:  # noqa: BLE001  # the border: whatever failed, the turn goes on
            said = ToolRefusal(_NO_ANSWER)
        request = rpc.HandlePendingToolCallRequest(request_id=call.request_id, result=_result(said))
        with contextlib.suppress(AirbossError):
            await say(lambda to: to.tools.handle_pending_tool_call(request))


def _result(said: ToolSaid) -> "ExternalToolTextResultForLlm":
    from copilot import rpc

    if isinstance(said, ToolRefusal):
        return rpc.ExternalToolTextResultForLlm(
            text_result_for_llm=said.reason, result_type=said.kind, error=said.reason
        )
    text, images = (said.text, said.images) if isinstance(said, ToolPictures) else (said, ())
    kind = rpc.ExternalToolTextResultForLlmBinaryResultsForLlmType.IMAGE
    pictures = [
        rpc.ExternalToolTextResultForLlmBinaryResultsForLlm(
            data=image.data, mime_type=image.mime, type=kind
        )
        for image in images
    ]
    return rpc.ExternalToolTextResultForLlm(
        text_result_for_llm=text, result_type="success", binary_results_for_llm=pictures or None
    )


async def _traced(
    say: SayToRuntime, data: Mapping[str, Any], origin: Origin
) -> PermissionRequest | PermissionAnswer:
    """The request, with the MCP server that it is about. The runtime's list says which tool is
    whose: the start of a call may not be known yet, and with the id of another call it names the
    server of that. It is a no where the runtime has no such tool: a person need not be asked
    for what cannot be, and by itself it would say so only behind our yes."""
    asked = permission_request(data)
    if asked.kind != "mcp" or asked.raw.get("serverName") or not asked.tool:
        return asked
    try:
        known = (await say(lambda to: to.tools.get_current_metadata())).tools
    except AirbossError:
        return asked
    servers = {tool.name: tool.mcp_server_name for tool in known or ()}
    if asked.tool in servers:
        return permission_request(data, servers[asked.tool])
    if not servers or not origin.is_known or origin.server:
        return asked
    there = ", ".join(servers)
    return PermissionAnswer(False, f"{missing(asked.tool)} The tools that there are: {there}.")


@dataclass(frozen=True)
class CutOffRequests:
    """What was asked for when a session was cut off: permission, and answers from outside."""

    permissions: tuple[Mapping[str, Any], ...]
    calls: tuple[Mapping[str, Any], ...]

    def __len__(self) -> int:
        return len(self.permissions) + len(self.calls)


async def pending_requests(say: SayToRuntime) -> CutOffRequests:
    requests = await say(lambda to: to.permissions.pending_requests())
    calls = await say(lambda to: to.tools.list_pending_requests())
    asked = (_plain(pending) for pending in requests.items)
    return CutOffRequests(
        tuple({**pending, "permissionRequest": pending.get("request")} for pending in asked),
        tuple(_plain(pending) for pending in calls.items),
    )


def _plain(pending: Any) -> dict[str, Any]:
    return pending.to_dict()
