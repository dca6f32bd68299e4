"""The agents and MCP servers of the entry in use, for sessions of people: whoever starts one may
name them."""

from airboss.harness.setup import Said
from airboss.service.entries import Entries
from airboss.session_keys import SessionKeys


async def said_of_entry(
    entries: Entries, asked: SessionKeys, server: SessionKeys
) -> tuple[Said, ...]:
    """What the entry says about its agents and servers, where one of them is asked for that neither
    the request nor the settings describe."""
    agent = asked.agent not in {None, *(server.agents or ()), *(asked.agents or ())}
    named = [name for name, keys in (asked.mcp_servers or {}).items() if keys.is_name]
    needs_server = any(name not in (server.mcp_servers or {}) for name in named)
    installed = await entries.to_run() if agent or needs_server else None
    if installed is None:
        return ()
    from airboss.entry.session_words import keys_of

    keys = keys_of(installed.entry)
    agent = agent and asked.agent in (keys.agents or {})
    said = SessionKeys(
        agents=keys.agents if agent else None,
        skills=keys.skills if agent and asked.skills is None else None,
        mcp_servers=keys.mcp_servers if agent or needs_server else None,
    )
    return (Said(said, "entry.", installed.trusted, must_be_trusted=True),) if said.said else ()
