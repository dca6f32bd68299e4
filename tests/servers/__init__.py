"""Programs that tests run as MCP servers."""
