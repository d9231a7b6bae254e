"""State loaded and saved."""
