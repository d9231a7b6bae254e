"""kube-scheduler's filters, pod by pod, naive and readable, on plain Kubernetes objects.

It is apart from the solver so that it can judge it: nothing here is shared with `services/solver`,
which may not import it. Its own judge is the real kube-scheduler: `replay` asks every recorded
verdict again, and devices are held against recorded answers of the real allocator.

Read `verdict.judge` first, then `filters/__init__.py` (the plugins in their order), then any of
the filters.

All filters of the default profile of 1.36 are there. GangScheduling and the placement of pod groups
are off by default; gangs are a matter of `libs.checker`.

Laws: pure; input objects are JSON-like mappings as the API server stores them and never changed;
`Cluster` is the only mutable thing.
"""
