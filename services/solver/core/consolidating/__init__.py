"""Consolidation: which nodes are best given up or replaced, as commands that stand on their own.

Words: a *leaver* is a candidate with the pods that would need another place; *remains* are a
cluster after some commands; a *trial* packs the pods of a few leavers on the remains.

Two halves. What is best is chosen by a model that adds up requests and knows no other rule
(`delete_set`, `teams`); what holds is found by the packer that also plans for waiting pods, under
all rules (`remains`, `trial`, `replacing`). A choice that does not hold is dropped, and what it
would have used is chosen again.

Laws:
    - A command is valid on the cluster that the commands before it leave, whether or not any later
      one is carried out. Pods of later commands are counted where they run; the room on their
      nodes is promised to nobody, so that no pod moves twice.
    - Pods that wait come first: what they get stays theirs.
    - No command costs more than it saves, moves at the price that the caller puts on them.

Layers, each importing only those before it:

- what there is: `node_prices`, `leavers`, `bound_pods`, `destinations`, `seats`, `remains`,
  `charging`, `settling`
- what is best in sum: `budgets`, `choice`, `milp`, `delete_set`, `teams`; what balanced pools say:
  `balance`
- what holds: `replacing`, `instead`, `trial`
- both: `choosing`, `consolidate`
"""
