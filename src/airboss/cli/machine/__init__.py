"""Commands about several machines on one database."""
