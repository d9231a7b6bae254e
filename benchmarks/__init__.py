"""Benchmarks: fixed workloads, and how long the real services take for them.

Apart from the tests because timings are measured here and asserted nowhere. `joiner bench` is the
way in; `docs/benchmarks.md` says what each figure means.

Laws:
- A workload is a function of its name, its sizes and its seed.
- Everything is measured from outside: a solver process of its own, gRPC over loopback, the same
  cluster state and pusher that the watcher uses.
"""
