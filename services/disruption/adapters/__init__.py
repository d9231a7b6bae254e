"""Where disruption meets lifecycle."""
