"""What MCP servers are started and called with: values for programs, addresses of the proxy."""

import pytest

from airboss.harness.proxy import ProviderProxy
from airboss.harness.server_launch import ServerLaunch
from airboss.model.mcp_events import McpChanged
from airboss.model.redaction import Redactor
from airboss.model.setup import ServerSetup, Setup
from airboss.runtime.mcp_servers import ServerAddress, ServerProgram

pytestmark = pytest.mark.anyio


async def test_programs_get_values_and_addresses_lead_to_the_proxy_until_given_back() -> None:
    files = ServerSetup(command=("serve",), env={"A": "$WORD"}, seconds=3)
    wiki = ServerSetup(url="https://wiki.example.com/mcp", token_variable="WIKI")
    proxy = ProviderProxy()
    launch = ServerLaunch(proxy, {"WORD": "hello", "WIKI": "secret-token"})
    try:
        servers = await launch.servers(Setup(mcp_servers={"files": files, "wiki": wiki}))
        assert servers["files"] == ServerProgram(("serve",), {"A": "hello"}, None, 3)
        address = servers["wiki"]
        assert isinstance(address, ServerAddress)
        assert address.url.startswith("http://127.0.0.1:")
        assert address.url.endswith("/mcp")
        lent = launch.lent["wiki"]
        assert lent.upstream.headers == {"authorization": "Bearer secret-token"}
        assert "secret-token" not in f"{launch}{servers}"

        assert lent.upstream.hidden == ("secret-token",)

        lent.trouble, lent.wants_sign_in = "The MCP server wiki did not let us in (401).", True
        failed = McpChanged(server="wiki", state="failed", error=f"HTTP 403 at {address.url}")
        said = launch.in_our_words(failed, Redactor())
        assert (said.state, said.error) == ("needs-sign-in", lent.trouble)
    finally:
        launch.give_back()
        await proxy.close()
    assert launch.lent == {}
