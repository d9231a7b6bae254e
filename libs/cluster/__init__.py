"""The state of a cluster: decoded Kubernetes objects and catalogues in, `ClusterSnapshot` out.

Apart from `libs.kube`, which knows objects one by one: here they are joined. The watcher feeds it
from informers, the command line from files; both get the same snapshot for the same objects.

Read `state.ClusterState` first. Laws:
    - Nothing that an object says makes a snapshot fail: what is broken or leads nowhere is set
      aside, with the field, and the rest goes on.
    - The order in which objects come does not matter.
    - Pure: no I/O, no clock; `now` is an argument.
"""
