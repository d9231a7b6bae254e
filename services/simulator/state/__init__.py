"""The state of the simulated cluster, loaded from files of objects and saved to a dump.

`loading` puts objects into the store as they were in their own cluster, or creates what was in
none; `saving` writes everything that is in the store. What comes of it is the matter of the parts
that run on top: pods that ran still run, nodes that were silent stay so.
"""
