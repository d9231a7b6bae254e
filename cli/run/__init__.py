"""`joiner run`: the whole loop on one machine, with something to do, and a view of it.

Services are real processes that speak gRPC; only cluster and cloud are simulated. Pure are
`services` (who listens where), `shop` and `workload` (what is to run), `progress` and `timing`
(what to make of what is seen); the rest waits, draws or starts processes.
"""
