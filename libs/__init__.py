"""What several services share: domain, wire, runtime, Kubernetes access."""
