"""The one hand on the cluster: applies plans, executes commands, runs the NodeClaim state machine.

Owns every write to nodes, NodeClaims, NodePools, node classes, their statuses and events, and every
eviction. Serves `joiner.lifecycle.v1.LifecycleService`. Laws: decisions are checked against live
objects before they are carried out, one at a time; state lives in Kubernetes objects and cloud tags
alone, so that a crash at any line loses nothing; nothing is changed without leadership, or while a
live Karpenter holds its lease.
"""
