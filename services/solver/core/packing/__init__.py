"""From a snapshot to bins with pods: the problem, and the rounds in which it is packed."""
