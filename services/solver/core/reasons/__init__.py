"""Why a pod has no place: per pool and node, out of the state in which packing ended."""
