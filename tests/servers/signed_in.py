"""An MCP server for tests that wants a person to sign in, with the authorization server of the
protocol's own package. `/allow` and `/refuse` are what its page of consent leads to.

    python signed_in.py PORT [SECONDS] [no-refresh]

With the variables REGISTERED (`ID` or `ID:SECRET`) and BACK it knows this client, and lets no other
register.
"""

import os
import secrets
import sys
import time
from typing import Any

import uvicorn
from mcp.server.auth.provider import (
    AccessToken,
    AuthorizationCode,
    AuthorizationParams,
    RefreshToken,
    TokenError,
    construct_redirect_uri,
)
from mcp.server.auth.settings import AuthSettings, ClientRegistrationOptions
from mcp.server.mcpserver import MCPServer
from mcp.shared.auth import OAuthClientInformationFull, OAuthToken
from pydantic import AnyHttpUrl, AnyUrl
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response

SCOPE = "read"


class Gatekeeper:
    """Who may come in. All is lost when this program ends."""

    def __init__(self, address: str, seconds: int, *, refreshes: bool) -> None:
        self.address = address
        self.seconds = seconds
        self.refreshes = refreshes
        self.clients: dict[str, OAuthClientInformationFull] = {}
        self.asked: dict[str, tuple[str, AuthorizationParams]] = {}
        self.codes: dict[str, AuthorizationCode] = {}
        self.access: dict[str, AccessToken] = {}
        self.refresh: dict[str, RefreshToken] = {}
        self.given = 0

    async def get_client(self, client_id: str) -> OAuthClientInformationFull | None:
        return self.clients.get(client_id)

    async def register_client(self, client_info: OAuthClientInformationFull) -> None:
        assert client_info.client_id
        self.clients[client_info.client_id] = client_info

    async def authorize(
        self, client: OAuthClientInformationFull, params: AuthorizationParams
    ) -> str:
        name = secrets.token_hex(8)
        self.asked[name] = (client.client_id or "", params)
        return f"{self.address}/consent?asked={name}"

    def allow(self, name: str) -> str:
        client, params = self.asked.pop(name)
        code = AuthorizationCode(
            code=secrets.token_urlsafe(24),
            scopes=params.scopes or [SCOPE],
            expires_at=time.time() + 60,
            client_id=client,
            code_challenge=params.code_challenge,
            redirect_uri=params.redirect_uri,
            redirect_uri_provided_explicitly=params.redirect_uri_provided_explicitly,
            resource=params.resource,
        )
        self.codes[code.code] = code
        return construct_redirect_uri(
            str(params.redirect_uri), code=code.code, state=params.state, iss=self.address
        )

    def refuse(self, name: str) -> str:
        _, params = self.asked.pop(name)
        return construct_redirect_uri(
            str(params.redirect_uri), error="access_denied", state=params.state
        )

    async def load_authorization_code(
        self, client: OAuthClientInformationFull, authorization_code: str
    ) -> AuthorizationCode | None:
        return self.codes.get(authorization_code)

    async def exchange_authorization_code(
        self, client: OAuthClientInformationFull, authorization_code: AuthorizationCode
    ) -> OAuthToken:
        if self.codes.pop(authorization_code.code, None) is None:
            raise TokenError("invalid_grant", "It was used before.")
        return self._tokens(authorization_code.client_id, authorization_code.resource)

    async def load_refresh_token(
        self, client: OAuthClientInformationFull, refresh_token: str
    ) -> RefreshToken | None:
        return self.refresh.get(refresh_token)

    async def exchange_refresh_token(
        self, client: OAuthClientInformationFull, refresh_token: RefreshToken, scopes: list[str]
    ) -> OAuthToken:
        del self.refresh[refresh_token.token]
        return self._tokens(refresh_token.client_id, refresh_token.resource)

    async def load_access_token(self, token: str) -> AccessToken | None:
        found = self.access.get(token)
        return found if found and (found.expires_at or 0) > time.time() else None

    async def revoke_token(self, token: AccessToken | RefreshToken) -> None:
        self.access.pop(token.token, None)

    async def exchange_identity_assertion(self, client: Any, params: Any) -> OAuthToken:
        raise TokenError("unsupported_grant_type")

    def _tokens(self, client: str, resource: str | None) -> OAuthToken:
        self.given += 1
        access, again = f"in-{secrets.token_hex(16)}", f"again-{secrets.token_hex(16)}"
        ends = int(time.time()) + self.seconds
        self.access[access] = AccessToken(
            token=access, client_id=client, scopes=[SCOPE], expires_at=ends, resource=resource
        )
        if self.refreshes:
            self.refresh[again] = RefreshToken(
                token=again, client_id=client, scopes=[SCOPE], resource=resource
            )
        return OAuthToken(
            access_token=access,
            expires_in=self.seconds,
            refresh_token=again if self.refreshes else None,
            scope=SCOPE,
        )


def _client(registered: str, back: str) -> OAuthClientInformationFull:
    """Somebody registered it by hand."""
    name, _, secret = registered.partition(":")
    return OAuthClientInformationFull(
        client_id=name,
        client_secret=secret or None,
        redirect_uris=[AnyUrl(back)],
        token_endpoint_auth_method="client_secret_post" if secret else "none",
        scope=SCOPE,
    )


def made(port: int, seconds: int, *, refreshes: bool) -> MCPServer:
    address = f"http://127.0.0.1:{port}"
    keeper = Gatekeeper(address, seconds, refreshes=refreshes)
    registered = os.environ.get("REGISTERED")
    if registered:
        client = _client(registered, os.environ["BACK"])
        keeper.clients[client.client_id or ""] = client
    server = MCPServer(
        "signed-in",
        auth_server_provider=keeper,
        auth=AuthSettings(
            issuer_url=AnyHttpUrl(address),
            resource_server_url=AnyHttpUrl(f"{address}/mcp"),
            validate_token_resource=True,
            required_scopes=[SCOPE],
            client_registration_options=ClientRegistrationOptions(
                enabled=not registered, valid_scopes=[SCOPE], default_scopes=[SCOPE]
            ),
        ),
    )

    @server.tool()
    def page(name: str) -> str:
        """A page of the wiki."""
        return f"All about {name}."

    @server.custom_route("/consent", methods=["GET"])
    async def consent(request: Request) -> Response:
        name = request.query_params["asked"]
        return HTMLResponse(
            "<!doctype html><html lang=en><title>Wiki</title><h1>May Airboss read the wiki?</h1>"
            f"<p><a href='/allow?asked={name}'>Allow</a> <a href='/refuse?asked={name}'>Refuse</a>"
        )

    @server.custom_route("/allow", methods=["GET"])
    async def allow(request: Request) -> Response:
        return RedirectResponse(keeper.allow(request.query_params["asked"]), 302)

    @server.custom_route("/refuse", methods=["GET"])
    async def refuse(request: Request) -> Response:
        return RedirectResponse(keeper.refuse(request.query_params["asked"]), 302)

    @server.custom_route("/known", methods=["GET"])
    async def known(request: Request) -> Response:
        """For tests: the secrets that it gave, and how often."""
        told = [*keeper.access, *keeper.refresh, *keeper.codes]
        told += [one.client_secret for one in keeper.clients.values() if one.client_secret]
        return JSONResponse({"secrets": told, "given": keeper.given})

    @server.custom_route("/forget", methods=["GET"])
    async def forget(request: Request) -> Response:
        """For tests: nobody is let in any more, as if all was revoked."""
        keeper.access.clear()
        if "all" in request.query_params:
            keeper.refresh.clear()
        return JSONResponse({})

    return server


def main(port: str, seconds: str = "3600", refreshes: str = "") -> None:
    server = made(int(port), int(seconds), refreshes=refreshes != "no-refresh")
    uvicorn.run(server.streamable_http_app(), host="127.0.0.1", port=int(port), log_level="error")


if __name__ == "__main__":
    main(*sys.argv[1:])
