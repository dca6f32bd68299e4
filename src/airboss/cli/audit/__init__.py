"""The audit in the terminal."""
