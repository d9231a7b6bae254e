"""Kubernetes access: port, transport, informers, objects, leases, events.

The only importer of `kubernetes`, and in it only the transport is: everything else works on bytes
and small types.
"""
