"""Kept secrets in the terminal."""
