"""How the solver decides: columns in, a plan out.

Words: a *shape* is what decides where a pod may run; an *ask* is a shape with some of its
preferences given up; *standing* capacity is nodes and claims in flight, whose room is fixed; a
*claim* is a node that this plan would buy, whose instance type stays open until the end; a *bin*
is either, counted standing first; a *tally* counts pods by topology domain.

Layers, each importing only those before it (an import contract holds them to it):

- `vectors`, `sums`, `domains`, `exclusion`, `highs`: what all compute with
- `reading`: clusters in columns, shared by revisions and what-ifs
- `pods`: groups of waiting pods and what they ask for
- `offers`: what is sold, and what a claim may still become
- `standing`: nodes and claims in flight
- `devices`: claims of devices
- `topology`: what pods mean for each other; in it `algebra`, by which the kernel (`kernel/`)
  counts, judges and places
- `packing`: the problem and its rounds
- `reasons`, `answer`: who has no place and why; what is bought
- `packed`, `refining`: the fast answer, and a cheaper one
- `solve`, `acceptance`, `explaining`, `simulating`, `consolidating`: the questions
"""
