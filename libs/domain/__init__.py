"""Pure value types and algebra; imports only the standard library."""
