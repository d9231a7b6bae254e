"""The type of the injected randomness; a process seeds one from the system, a test its own.

Code outside `libs/runtime` names the type through here and gets the object from its `Runtime`.
"""

from random import Random

__all__ = ["Random"]
