"""The checks of this machine and the server."""
