"""The refine stage: how far a plan is from the least that is possible, and cheaper valid plans.

Apart from the fast stage because it weighs prices where that only finds places; it begins where the
fast stage ended and is left out where nobody has time for it.

Laws:
    - Never worse than the fast answer by what the user asked for, which is its cost where nothing
      else was (`score`), and no pod loses its place.
    - The same snapshot, options, seed and number of iterations give the same plan.
"""
