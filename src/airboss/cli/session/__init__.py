"""Sessions in the terminal."""
