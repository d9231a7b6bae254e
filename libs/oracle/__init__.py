"""kube-scheduler's filters, pod by pod, naive and readable, on plain Kubernetes objects.

It is apart from the solver so that it can judge it: nothing here is shared with `services/solver`,
which may not import it. Its own judge is the real kube-scheduler: `replay` asks every recorded
verdict again.

Read `verdict.judge` first, then `filters/__init__.py` (the plugins in their order), then any of
the filters.

Laws: pure; input objects are JSON-like mappings as the API server stores them and never changed;
`Cluster` is the only mutable thing.
"""
