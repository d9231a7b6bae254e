"""What-ifs: edits of a snapshot, and what they change.

Apart from solving because nothing here decides where a pod goes: an edited snapshot is a snapshot,
and the solver is asked about it as about any other.

Layers, each importing only those before it: `draft` → `devices`, `owners` → `nodes` → `new_nodes`,
`offerings`, `pods`, `pools` → `edited`, `difference` → `simulate`.
"""
