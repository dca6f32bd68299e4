"""Entries in the terminal."""
