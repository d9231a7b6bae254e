"""Custom resources: structural schemas and rules, as a Kubernetes API server applies them.

Apart from the API server's handlers because it is a pure function of a CRD and two objects; it
knows neither HTTP nor storage. `admission.compile_crd` is the way in.
"""
