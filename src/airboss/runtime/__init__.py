"""The agent process itself. The only place that knows the Copilot SDK."""
