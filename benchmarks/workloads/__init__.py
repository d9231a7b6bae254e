"""The workloads, a module per kind; `named.py` is the front door."""
