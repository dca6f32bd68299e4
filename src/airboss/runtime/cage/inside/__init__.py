"""What runs inside the walls before the runtime does. The standard library, and nothing of ours."""
