"""kube-scheduler's filters, pod by pod, naive and readable, on plain Kubernetes objects.

It is apart from the solver so that it can judge it: nothing here is shared with `services/solver`,
which may not import it. Its own judge is the real kube-scheduler: `replay` asks every recorded
verdict again, and devices are held against recorded answers of the real allocator.

Read `verdict.judge` first, then `filters/__init__.py` (the plugins in their order), then any of
the filters.

Of the filters of the default profile of 1.36 one is left out: NodeDeclaredFeatures, by which a pod
with a rule that restarts all containers, or with a user namespace on the host's network, keeps off
nodes whose kubelet does not say that it can do that. What the kubelet of a node that is yet to be
bought will say, nobody knows. GangScheduling and the placement of pod groups are off by default;
gangs are a matter of `libs.checker`.

Laws: pure; input objects are JSON-like mappings as the API server stores them and never changed;
`Cluster` is the only mutable thing.
"""
