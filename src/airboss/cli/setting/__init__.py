"""Settings in the terminal."""
