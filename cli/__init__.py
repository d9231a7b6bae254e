"""The `joiner` command: offline answers from files, and the demonstration that `make run` starts."""
