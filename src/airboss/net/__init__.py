"""What leaves this machine, and where it may go."""
