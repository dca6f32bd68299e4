"""Airboss runs coding agents as dependable jobs on GitHub Copilot's agent runtime."""
