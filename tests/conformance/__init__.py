"""What a Kubernetes cluster does, asked of the simulator and of real servers alike."""
