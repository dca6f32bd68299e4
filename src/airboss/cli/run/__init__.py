"""Runs of jobs in the terminal."""
