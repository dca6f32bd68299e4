"""Cages in the terminal."""
