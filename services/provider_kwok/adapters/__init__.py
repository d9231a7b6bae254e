"""The KWOK cloud on a Kubernetes API server."""
