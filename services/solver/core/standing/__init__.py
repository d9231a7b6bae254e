"""What stands: nodes and claims in flight as bins with a fixed room, and what bins hold."""
