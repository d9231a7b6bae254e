"""The solver: where does every waiting pod go, on what exists and on what could be bought?

Decides, and nothing else: a pure function of a snapshot. It holds the snapshots that are pushed
to it, answers anyone and calls nobody.
"""
