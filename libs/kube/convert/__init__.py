"""Kubernetes objects → domain: pure functions from structs of `libs.kube.objects`.

Apart from the structs because what is read and what it means change for different reasons, and from
`libs.cluster` because nothing here knows more than the objects it is given.

Laws:
    - A function returns a legal value or raises `InvalidRequest` with the path of the field.
    - Nothing is looked up: what an object refers to is an argument.
"""
