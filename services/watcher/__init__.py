"""The watcher: observes the cluster, pushes snapshots of it, drives provisioning.

Read `loop.py` first: a batch of waiting pods closes, a snapshot is pushed, the solver is asked,
lifecycle applies the answer. `publisher.py` makes snapshots, `adapters/feed.py` takes in what the
informers see, `adapters/sinks.py` pushes, `adapters/providers.py` keeps the catalogues.

It only reads Kubernetes (but for its lease) and writes nothing.
"""
