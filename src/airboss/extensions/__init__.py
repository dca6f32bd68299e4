"""What others bring: their discovery, their process, their tools and hooks."""
