"""What tables show of objects: a module per family of kinds, and the table of them all."""
