"""What differs between kinds when they are written: defaults, validation, what may change."""
