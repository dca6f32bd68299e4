"""What a provider of one's own is to the runtime."""

from typing import Any

from airboss.provider_settings import Provider, ProviderModel


def runtime_provider(
    provider: Provider, model: ProviderModel, base_url: str, key: str | None
) -> dict[str, Any]:
    """In the SDK's words. `model_id` stays out: where it differs from the session's model, the
    runtime passes over `wire_model`."""
    found: dict[str, Any] = {
        "type": provider.type,
        "base_url": base_url,
        "api_key": key,
        "wire_api": provider.wire,
        "azure": provider.api_version and {"api_version": provider.api_version},
        "wire_model": model.wire_model,
        "max_prompt_tokens": model.prompt_tokens,
        "max_output_tokens": model.output_tokens,
    }
    return {name: value for name, value in found.items() if value}
