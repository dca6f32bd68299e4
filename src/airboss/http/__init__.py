"""The door: parse, one verb, answer. The only place that knows FastAPI."""
