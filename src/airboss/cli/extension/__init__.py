"""Extensions in the terminal."""
