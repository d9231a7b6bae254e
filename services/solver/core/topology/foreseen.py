"""What later claims of a plan will make, told to whoever is placed before."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Foreseen:
    """A domain, or a host, at which a spread constraint will look once all nodes are there."""

    tally: object
    """Name of the tally of the constraint."""
    key: str
    value: str
    """The domain; empty for a host."""
    pods: int
    """How many pods come there by themselves."""
    avoidable: bool = False
    """Whether the claims that make it may still come up elsewhere."""
