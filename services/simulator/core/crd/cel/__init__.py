"""The Common Expression Language, as Kubernetes evaluates the validation rules of CRDs.

Apart from the rest of `crd` because it knows nothing of schemas. Why it is ours:
`docs/decisions/0003-own-cel-evaluator.md`.
"""
