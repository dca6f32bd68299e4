"""What happens, durably."""
