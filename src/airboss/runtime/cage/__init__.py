"""Cages: one runtime with all that it starts, behind walls."""
