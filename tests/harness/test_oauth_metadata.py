"""Where servers say who lets people in, and what is not believed of that."""

import pytest

from airboss.errors import SignInFailed
from airboss.harness.oauth_metadata import (
    DoorMetadata,
    ResourceMetadata,
    challenge,
    door_places,
    must_be_address,
    must_be_of,
    resource_places,
)


def test_a_server_is_looked_up_where_the_standards_say() -> None:
    assert list(resource_places("https://a.example/v1/mcp", None)) == [
        "https://a.example/.well-known/oauth-protected-resource/v1/mcp",
        "https://a.example/.well-known/oauth-protected-resource",
    ]
    assert next(resource_places("https://a.example/", "https://b.example/m")) == (
        "https://b.example/m"
    )
    assert list(door_places("https://in.example/team/")) == [
        "https://in.example/.well-known/oauth-authorization-server/team",
        "https://in.example/.well-known/openid-configuration/team",
        "https://in.example/team/.well-known/openid-configuration",
    ]
    told = challenge('Bearer error="x", scope="read write", resource_metadata="https://a/m"')
    assert told == {"error": "x", "scope": "read write", "resource_metadata": "https://a/m"}


@pytest.mark.parametrize(
    "resource", ["https://b.example/mcp", "https://a.example/other", "http://a.example/mcp", "::"]
)
def test_a_token_for_one_server_is_not_for_another(resource: str) -> None:
    with pytest.raises(SignInFailed):
        must_be_of(ResourceMetadata(resource=resource), "https://a.example/mcp")
    must_be_of(ResourceMetadata(resource="https://A.example"), "https://a.example/mcp")


@pytest.mark.parametrize(
    "url", ["http://in.example/x", "javascript:alert(1)", "https://u:p@in.example", "https://", "x"]
)
def test_neither_a_browser_nor_a_secret_goes_to_such_an_address(url: str) -> None:
    with pytest.raises(SignInFailed):
        must_be_address(url, allows_private=False)
    must_be_address("http://127.0.0.1:1/x", allows_private=False)


def test_we_say_who_we_are_with_the_least_that_it_takes() -> None:
    door = {"issuer": "x", "authorization_endpoint": "x", "token_endpoint": "x"}
    ways = {None: "client_secret_basic", ("client_secret_post", "none"): "none", (): "client_se"}
    for offered, method in ways.items():
        said = DoorMetadata.model_validate(
            {**door, "token_endpoint_auth_methods_supported": offered}
        )
        assert said.method.startswith(method)
