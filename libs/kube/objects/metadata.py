"""What all objects share: metadata, conditions, label selectors, quantities."""

from datetime import datetime
from typing import Annotated

import msgspec

Instant = Annotated[datetime, msgspec.Meta(tz=True)]
Int32 = Annotated[int, msgspec.Meta(ge=-(2**31), le=2**31 - 1)]
Int64 = Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)]
Quantity = str | int | float
"""As written; `libs.domain.quantity` parses it."""
Quantities = dict[str, Quantity]


class KubeStruct(msgspec.Struct, frozen=True, gc=False, rename="camel", omit_defaults=True):
    """Root of all structs, which is how msgspec shares configuration."""


class OwnerReference(KubeStruct, frozen=True):
    """A reference to an owner; at most one is the controller."""

    api_version: str = ""
    kind: str = ""
    name: str = ""
    uid: str = ""
    controller: bool = False


class ObjectMeta(KubeStruct, frozen=True):
    """Metadata of an object or a template."""

    name: str = ""
    namespace: str = ""
    uid: str = ""
    generation: Int64 = 0
    resource_version: str = ""
    labels: dict[str, str] = msgspec.field(default_factory=dict)
    annotations: dict[str, str] = msgspec.field(default_factory=dict)
    owner_references: tuple[OwnerReference, ...] = ()
    finalizers: tuple[str, ...] = ()
    creation_timestamp: Instant | None = None
    deletion_timestamp: Instant | None = None

    @property
    def controller(self) -> OwnerReference | None:
        """Return the owner that manages the object."""
        for owner in self.owner_references:
            if owner.controller:
                return owner
        return None


class Condition(KubeStruct, frozen=True):
    """A condition of any object."""

    type: str = ""
    status: str = ""
    reason: str = ""
    message: str = ""
    observed_generation: Int64 = 0
    last_transition_time: Instant | None = None


class LabelSelectorRequirement(KubeStruct, frozen=True):
    """One expression, of a label selector, a node selector or a NodePool."""

    key: str = ""
    operator: str = ""
    values: tuple[str, ...] = ()
    min_values: Int32 | None = None


class LabelSelector(KubeStruct, frozen=True):
    """A label selector; all of it must match."""

    match_labels: dict[str, str] = msgspec.field(default_factory=dict)
    match_expressions: tuple[LabelSelectorRequirement, ...] = ()


class NodeSelectorTerm(KubeStruct, frozen=True):
    """A term of a node selector; all of it must match."""

    match_expressions: tuple[LabelSelectorRequirement, ...] = ()
    match_fields: tuple[LabelSelectorRequirement, ...] = ()


class NodeSelector(KubeStruct, frozen=True):
    """Terms of which one must match."""

    node_selector_terms: tuple[NodeSelectorTerm, ...] = ()


class Taint(KubeStruct, frozen=True):
    """A taint of a node or of a template."""

    key: str = ""
    value: str = ""
    effect: str = ""
    time_added: Instant | None = None
