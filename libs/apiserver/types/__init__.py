"""The built-in types: their field table, their canonical form, their quantities."""
