"""Why: what a pod, a node or a pool is to the solver, and which single change would help.

Computed when somebody asks, never in a solve. Everything that is said comes out of the solver's own
rules on the state that packing ended in, and every change that is proposed was tried: the solver
decided again with it.

Laws:
    - A pod has a place in the explanation exactly if it has one in the plan.
    - Each proposed change, made, gives the pod a place.
    - The work is bounded by counts, never by time: the same question gets the same answer.
"""
