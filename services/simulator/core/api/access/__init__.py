"""Who asks, what they may do, and what is written down of it.

Each request passes authenticate → impersonate → authorize → audit → dispatch (`gate`); the rest of
the API knows none of it, but for the `user` of a request.

Source: Kubernetes documentation, "Authenticating", "Using RBAC Authorization", "Auditing"; wordings
as recorded from kube-apiserver 1.36.
"""
