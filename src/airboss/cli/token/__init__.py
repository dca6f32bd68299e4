"""Tokens and sign-ins in the terminal."""
