"""The Common Expression Language, as Kubernetes evaluates rules of CRDs and selectors of devices.

Apart because two who never meet need it: the simulator's API server and whoever allocates devices.
It knows nothing of schemas. Why it is ours: `docs/decisions/0003-own-cel-evaluator.md`.
"""
