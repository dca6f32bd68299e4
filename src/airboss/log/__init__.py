"""What was said: append, read, follow."""
