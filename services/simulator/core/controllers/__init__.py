"""The controllers of the simulated cluster: workloads, budgets, volumes, node lifecycle, garbage.

Each module holds one, built by a function of the client. `controller.Controller` is what they
share: sources whose changes queue keys, and a function that brings one key up to date. `manager`
is their list.
"""
