"""What lifecycle stands on: the cached cluster, guarded doors to Kubernetes and the clouds."""
