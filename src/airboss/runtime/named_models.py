"""The model of a session, and those of its agents at other providers, in the SDK's words."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from copilot.session import ModelCapabilitiesOverride

    from airboss.runtime.session_request import SessionRequest

# What of a provider is said of one model, where the runtime knows several.
_OF_THE_MODEL: Final = ("wire_model", "max_prompt_tokens", "max_output_tokens")


@dataclass(frozen=True)
class ServiceModel:
    """A model at a provider of one's own: the runtime knows it as SERVICE/MODEL."""

    service: str
    model: str
    provider: Mapping[str, Any] = field(repr=False)
    vision: bool = True

    @property
    def name(self) -> str:
        return f"{self.service}/{self.model}"


def model_options(asked: "SessionRequest") -> dict[str, Any]:
    """One provider for all of the session; or each by its name, which the runtime does not take
    beside the other."""
    if not asked.named:
        provider = None if asked.provider is None else dict(asked.provider)
        return {
            "model": asked.model,
            "provider": provider,
            # A model that the runtime does not know would not be shown images by itself.
            "model_capabilities": provider and _sees(asked.vision),
        }
    services = {one.service: _service(one) for one in asked.named}
    models = {one.name: _model(one) for one in asked.named}
    return {
        "model": asked.runtime_model(asked.model),
        "providers": list(services.values()),
        "models": list(models.values()),
    }


def _service(one: ServiceModel) -> dict[str, Any]:
    kept = {name: said for name, said in one.provider.items() if name not in _OF_THE_MODEL}
    return {"name": one.service, **kept}


def _model(one: ServiceModel) -> dict[str, Any]:
    said = {name: one.provider[name] for name in _OF_THE_MODEL if name in one.provider}
    known = {"id": one.model, "provider": one.service, "capabilities": _sees(one.vision)}
    return {**known, **said}


def _sees(vision: bool) -> "ModelCapabilitiesOverride":
    from copilot.session import ModelCapabilitiesOverride, ModelSupportsOverride

    return ModelCapabilitiesOverride(supports=ModelSupportsOverride(vision=vision))
