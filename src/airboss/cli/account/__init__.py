"""Accounts of Copilot in the terminal."""
