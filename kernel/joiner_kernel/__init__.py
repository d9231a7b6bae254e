"""The hot path of the solver, in C++: everything that is done per bin and per claim.

Apart because it is compiled; `services/solver/core` is its only user.
"""

from joiner_kernel._kernel import BECOME, OPENED, PLACED, ROOM, Domains, Packing, Search, Verdict

__all__ = ["BECOME", "OPENED", "PLACED", "ROOM", "Domains", "Packing", "Search", "Verdict"]
