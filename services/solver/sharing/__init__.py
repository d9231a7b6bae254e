"""Questions shared among processes of one machine: who computes them, and how they get there."""
