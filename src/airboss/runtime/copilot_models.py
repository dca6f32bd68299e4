"""The models that Copilot's service offers, and its refusals in our words."""

from dataclasses import dataclass
from typing import Any

from airboss.errors import NotSignedIn, RuntimeUnavailable
from airboss.runtime.amounts import known_amount_of, known_count_of
from airboss.runtime.runtime_process import RuntimeRefused


@dataclass(frozen=True)
class CopilotModel:
    """A model that Copilot's service offers to the one who asked."""

    id: str
    name: str
    multiplier: float | None
    max_prompt_tokens: int | None
    policy: str | None
    context_tokens: int | None = None
    efforts: tuple[str, ...] = ()
    vision: bool | None = None
    max_output_tokens: int | None = None


def in_words(error: RuntimeRefused) -> RuntimeUnavailable | NotSignedIn:
    """A refusal for want of a sign-in says what to do; any other stays what it is."""
    said = str(error)
    refused = any(word in said for word in ("401", "403", "Unauthorized", "Forbidden"))
    if refused or "authenticated" in said or "No GitHub" in said:
        return NotSignedIn(
            "Copilot's service did not accept the sign-in. Enter a valid token in Settings, under "
            "Accounts and providers, or sign in with the Copilot CLI."
        )
    if "network fetch failed" in said:
        return RuntimeUnavailable(
            "Could not connect to Copilot. Check the network, or the proxy in HTTPS_PROXY. "
            f"Your own providers and the rehearsal model still work. Details: {said}"
        )
    return error


def copilot_model(model: Any) -> CopilotModel:
    billing, policy = getattr(model, "billing", None), getattr(model, "policy", None)
    capabilities = getattr(model, "capabilities", None)
    limits = getattr(capabilities, "limits", None)
    state = getattr(policy, "state", None)
    return CopilotModel(
        id=str(model.id),
        name=str(model.name),
        multiplier=known_amount_of(getattr(billing, "multiplier", None)),
        max_prompt_tokens=known_count_of(getattr(limits, "max_prompt_tokens", None)),
        policy=None if state is None else str(getattr(state, "value", state)),
        context_tokens=known_count_of(getattr(limits, "max_context_window_tokens", None)),
        efforts=tuple(getattr(model, "supported_reasoning_efforts", None) or ()),
        vision=getattr(getattr(capabilities, "supports", None), "vision", None),
        max_output_tokens=known_count_of(getattr(limits, "max_output_tokens", None)),
    )
