"""Volumes that are there and that claims may still take, counted by kind.

Apart from what a pod's volumes demand of its node because these run out: two pods may both be able
to take a volume, and only one of them will.

Laws:
    - Volumes of one kind differ in nothing that any claim asks for but in where they can be used.
    - The order of claims, and of places by rank, is that in which kube-scheduler chooses: small
      claims first, each the smallest volume that will do, by name among equals.

Source: kube-scheduler's VolumeBinding.
"""

from dataclasses import dataclass

from libs.domain.requirements import Requirements


@dataclass(frozen=True, slots=True, kw_only=True)
class VolumePlace:
    """Some volumes of a kind that can be used in the same place."""

    rank: int
    """Of what a claim may take, of whatever kind, it takes that of the lowest rank."""
    count: int
    terms: tuple[Requirements, ...]
    """Nodes that can use them, any one suffices; one without requirements is every node."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VolumeKind:
    """Volumes that no claim tells apart."""

    key: str
    """For people, too: class, size and the like."""
    places: tuple[VolumePlace, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class UnboundClaim:
    """A claim that is bound when its pod has a node: to a volume that is there, if any is."""

    claim: str = ""
    """`namespace/name` where other pods use it, too; else empty."""
    kinds: tuple[str, ...]
    """Kinds that it may take, sorted."""
    made: tuple[Requirements, ...] = ()
    """Where a volume can be made for it if there is none left, any one suffices; empty: nowhere."""
    made_at_start: tuple[Requirements, ...] = ()
    """The same of nodes that are yet to start: of those no driver can have said that there is no
    room."""
