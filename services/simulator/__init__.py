"""The simulator: an embedded Kubernetes API with scheduler, kubelets and controllers.

It is for trying, tests and compose, and owns all state of the simulated cluster. Laws: clients of
Kubernetes work against it unmodified; it never crashes on input; everything that waits does so on
the injected clock.
"""
