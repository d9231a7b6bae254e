"""How the solver decides: columns in, a plan out.

Words: a *shape* is what decides where a pod may run; an *ask* is a shape with some of its
preferences given up; *standing* capacity is nodes and claims in flight, whose room is fixed; a
*claim* is a node that this plan would buy, whose instance type stays open until the end; a *bin*
is either, counted standing first; a *tally* counts pods by topology domain.

Layers, each importing only those before it; within one in the order named:

- the input: `vectors`, `highs`, `ask`, `bearing`, `exclusion`, `domains`, `workload`, `precedence`
- what is sold: `catalogue`, `market`, `price`, `template`, `limits`
- where pods may go: `claim_class` and `min_values`, `reservations`; `possible`, `standing`;
  `devices`; `holdings`, `bins`, `targets`
- what pods mean for each other: `shape_index`, `tally`, `rules`, `ground`; `algebra`, by which the
  kernel (`kernel/`) counts, judges and places; `tallies`, `counting`, `verdict`, `topology`
- packing: `problem`, `settling`, `turns`, `packing`; before it
  `supply`, `companions`, `encode`, around it `gangs`, `latecomers`
- the answer: `case`, `neighbours`, `pool_reasons`, `standing_reasons`, `reasons`; `holes`,
  `steering`, `launch`; `messages`, `plan_id`, `answer`
- the questions: `solve`, `acceptance`, `explaining`, `simulating`, `consolidating`
"""
