"""Kubelets of the simulated nodes: they boot, report, beat, and run pods that do nothing.

One part plays them all (`kubelets.Kubelets`). Nodes are its own whose providerID begins with
`kwok://` or whose annotation says `kwok.x-k8s.io/node: fake`; the pods on other nodes are left to
whoever runs those.
"""
