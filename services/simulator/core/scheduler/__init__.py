"""The simulated cluster's scheduler: the oracle's filters and scores over a queue of pending pods.

`scheduler.Scheduler` is the part; `queue` says which pod is next, `volumes` binds what waits for
its first consumer, `report` words the PodScheduled condition.
"""
