"""Dynamic resource allocation: which devices a pod's claims get, and where.

Apart from packing because it is a search of its own: packing asks whether a pod's claims can be
met at a place and takes what it is offered.

Laws:
    - A device is given to one claim, unless several may share it or only look at it.
    - What is given never exceeds a shared device's capacity nor a pool's counters.
    - The order in which pools, classes or claims come in does not matter.
    - Where kube-scheduler and Karpenter differ, kube-scheduler is followed: both constraints, admin
      access, taints of devices.
    - A search does a bounded amount of work; what was not found by then is refused with the reason.

Source: kube-scheduler's structured allocator of 1.36; `docs/sources.md` D11.
"""
