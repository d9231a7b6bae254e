"""Which offering a claim gets, and the Node object that stands for its instance."""
