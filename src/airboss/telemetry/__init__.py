"""Traces of what this server does, in OpenTelemetry's form. Imported only where they are wanted."""
