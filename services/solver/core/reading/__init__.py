"""What is read of clusters: pods, nodes and claims as columns, known by the identity of each.

Apart from what is decided because it outlives a decision: revisions and what-ifs share it.
"""
