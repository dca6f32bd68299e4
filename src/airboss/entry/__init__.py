"""The entry language, pure."""
