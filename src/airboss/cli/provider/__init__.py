"""Providers of one's own in the terminal."""
