"""Is a plan right? kube-scheduler's filters on Kubernetes objects, and the pool's own rules.

Apart from `libs.oracle`, which knows nothing of plans, pools and prices; apart from the solver,
whose work it judges.
"""
