"""The network: what leaves this machine and where it may go, and servers for this machine alone."""
