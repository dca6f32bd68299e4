"""The rules around one agent session: who is signed in, which models, what it may do."""
