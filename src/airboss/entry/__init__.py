"""The entry language, pure: what a team writes, checked and explained."""
