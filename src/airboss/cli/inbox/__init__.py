"""What waits for a person, in the terminal."""
