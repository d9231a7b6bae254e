"""Pure parts of the watcher: what a snapshot asks for, what an answer means."""
