"""The reference solver of the tests: pod by pod, slow, obvious, on raw objects and the oracle.

It shares nothing with `services/solver` but the value types, so that the solver's plans can be held
against it: `reference_solve` says how many pods it places, `takers` which nodes could take a pod
that a plan left out. Read `solving` first, then `placing`.
"""

from tests.support.reference.solving import ReferenceSolution, reference_solve
from tests.support.reference.takers import takers

__all__ = ["ReferenceSolution", "reference_solve", "takers"]
