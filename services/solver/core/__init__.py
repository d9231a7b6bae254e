"""How the solver decides: columns in, a plan out.

Words: a *shape* is what decides where a pod may run; an *ask* is a shape with some of its
preferences given up; *standing* capacity is nodes and claims in flight, whose room is fixed; a
*claim* is a node that this plan would buy, whose instance type stays open until the end; a *bin*
is either, counted standing first; a *tally* counts pods by topology domain.

Layers, each importing only those before it: `vectors`, `ports`, `catalogue` → `workload`, `ask` →
`domains`, `template`, `standing`, `claim_class` → `tally`, `topology`, `verdict` → `bins`,
`targets`, `packing`, `encode` → `launch`, `reasons`, `answer`, `gangs` → `solve`.
"""
