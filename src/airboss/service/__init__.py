"""What one may ask for, in the trade's words. No HTTP, no SQL, no SDK."""
