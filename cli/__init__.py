"""The `joiner` command: answers from files without a server, and the demonstration."""
