"""Kubernetes access: port and transport, informers, object to domain, leases, events.

The only importer of `kubernetes`, and in it only the transport is: everything else works on bytes
and small types.
"""
