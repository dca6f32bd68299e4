"""Walls of the kernel around one runtime, and the few doors in them."""
