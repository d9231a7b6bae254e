"""Where the watcher meets Kubernetes, providers, sinks, solver and lifecycle."""
