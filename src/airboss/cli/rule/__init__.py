"""Rules in the terminal."""
