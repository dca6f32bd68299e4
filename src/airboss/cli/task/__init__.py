"""Task runs in the terminal."""
