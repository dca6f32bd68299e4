"""What a provider is to the runtime, and to the proxy."""

import pytest

from airboss.harness.providers import (
    PLACEHOLDER_KEY,
    Upstream,
    answer_headers,
    is_model_call,
    request_headers,
    runtime_provider,
    upstream_of,
)
from airboss.provider_settings import Auth, Provider, ProviderModel, ProviderType

KEY = "key-of-the-house-0123456789"
PLAIN = ProviderModel(id="m")


def provider(kind: ProviderType = "openai", auth: Auth = "key", **more: object) -> Provider:
    said = {"name": "house", "type": kind, "auth": auth, "base_url": "https://x/v1"}
    return Provider.model_validate({**said, "models": [PLAIN], **more})


@pytest.mark.parametrize(
    ("kind", "auth", "name", "value"),
    [
        ("openai", "key", "authorization", f"Bearer {KEY}"),
        ("openai", "bearer", "authorization", f"Bearer {KEY}"),
        ("azure", "key", "api-key", KEY),
        ("azure", "bearer", "authorization", f"Bearer {KEY}"),
        ("anthropic", "key", "x-api-key", KEY),
        ("anthropic", "bearer", "authorization", f"Bearer {KEY}"),
    ],
)
def test_each_type_has_its_own_place_for_the_key(
    kind: ProviderType, auth: Auth, name: str, value: str
) -> None:
    upstream = upstream_of(provider(kind, auth, headers={"X-Team": "night"}), KEY)
    assert upstream.headers == {"X-Team": "night", name: value}
    assert KEY not in repr(upstream)
    assert upstream_of(provider(kind, auth), None).headers == {}


def test_private_addresses_are_for_loopback_and_for_what_is_said_to_be_private() -> None:
    urls = {"https://x": False, "http://127.0.0.1:1/v1": True, "https://10.0.0.1": False}
    found = {url: upstream_of(provider(base_url=url), None).allows_private for url in urls}
    assert found == urls
    assert upstream_of(provider(base_url="http://10.0.0.1", private=True), None).allows_private


def test_the_runtime_gets_no_key_and_no_address_of_a_provider() -> None:
    plain = runtime_provider(provider(), PLAIN)
    assert plain == {"type": "openai", "api_key": PLACEHOLDER_KEY}
    model = ProviderModel(id="m", wire_model="n", prompt_tokens=9000, output_tokens=800)
    azure = provider("azure", wire="responses", api_version="2025-04-01")
    assert runtime_provider(azure, model) == {
        "type": "azure",
        "api_key": PLACEHOLDER_KEY,
        "wire_api": "responses",
        "azure": {"api_version": "2025-04-01"},
        "wire_model": "n",
        "max_prompt_tokens": 9000,
        "max_output_tokens": 800,
    }


@pytest.mark.parametrize(
    ("base", "path", "query", "found"),
    [
        ("https://x/v1", "/v1/models", "", "https://x/v1/models"),
        ("https://x/v1/", "/v1/models", "a=b", "https://x/v1/models?a=b"),
        ("https://x", "/v1/messages", "", "https://x/v1/messages"),
        ("https://x?t=1", "/v1/messages", "a=b", "https://x/v1/messages?t=1&a=b"),
        ("https://x/v1", "/v1", "", "https://x/v1"),
        ("https://x/v1", "/v2/models", "", None),
        ("https://x/v1", "/v11", "", None),
        ("https://x/v1", "/v1/../v2", "", None),
        ("https://x/v1", "/v1/%2E%2e/v2", "", None),
        ("https://x/v1", "/v1/a%5c..%5cb", "", None),
        ("https://x", "@evil/", "", None),
        ("https://x", "", "", "https://x"),
    ],
)
def test_a_request_stays_below_the_base_address(
    base: str, path: str, query: str, found: str | None
) -> None:
    assert Upstream("house", base).address(path, query) == found


@pytest.mark.parametrize(
    ("path", "is_one"),
    [
        ("/chat/completions", True),
        ("/responses", True),
        ("/v1/messages", True),
        ("/messages/count_tokens", True),
        ("/openai/deployments/gpt-4.1/chat/completions", True),
        ("/openai/v1/responses", True),
        ("/models", True),
        ("", False),
        ("/models/gpt-4.1", False),
        ("/organization/admin_api_keys", False),
        ("/openai/deployments/a/b/chat/completions", False),
        ("/files/chat/completions", False),
    ],
)
def test_a_call_of_a_model_is_known_by_its_path(path: str, is_one: bool) -> None:
    assert is_model_call(path) == is_one


def test_a_body_in_pieces_has_no_length_beside_theirs() -> None:
    given = [(b"Transfer-Encoding", b"chunked"), (b"Content-Length", b"5"), (b"ETag", b"x")]
    assert answer_headers(given) == [(b"etag", b"x")]
    assert answer_headers(given[1:]) == [(b"content-length", b"5"), (b"etag", b"x")]
    upstream = Upstream("house", "https://x", {"ETag": "y"})
    assert request_headers(given, upstream) == [(b"etag", b"y"), (b"accept-encoding", b"identity")]
