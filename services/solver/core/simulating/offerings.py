"""What is sold otherwise than now: zones, capacity types and types that are gone, other prices.

Apart because an offering that is gone takes nodes with it: those that it is, and claims that could
become nothing else.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from libs.domain import labels as label_keys
from libs.domain.capacity import Catalogue, InstanceType, Offering
from libs.domain.errors import InvalidRequest
from libs.domain.node import Node
from libs.domain.nodeclaim import NodeClaim
from libs.domain.price_change import changed
from libs.domain.requirements import Requirements
from libs.domain.scenario import EditOfferings
from services.solver.core.simulating.draft import Draft, unknown
from services.solver.core.simulating.nodes import drop, in_flight


@dataclass(frozen=True, slots=True, kw_only=True)
class _Field:
    """A part of an offering that an edit may name."""

    name: str
    noun: str
    label: str
    wanted: str


def edit_offerings(draft: Draft, edit: EditOfferings) -> None:
    """Change the offerings that match, of every catalogue.

    Raises:
        InvalidRequest: none matches.
    """
    before: dict[str, Catalogue] = {one.key: one for one in draft.all("catalogues")}
    if not any(_sells(catalogue, edit) for catalogue in before.values()):
        raise _none(before.values(), edit)
    after = {key: _changed(catalogue, edit) for key, catalogue in before.items()}
    for key, catalogue in after.items():
        if catalogue is not before[key]:
            draft.put("catalogues", catalogue)
    if edit.available is False:
        fields = [one for one in _fields(edit) if one.wanted]
        gone = {node.name for node in draft.all("nodes") if _is_in(node, fields)}
        for claim in in_flight(draft):
            key = claim.node_class.key
            launched = len(claim.capacity) > 0
            if _is_in(claim, fields) if launched else _lost(claim, before.get(key), after.get(key)):
                gone.add(claim.name)
        drop(draft, gone)


def _changed(catalogue: Catalogue, edit: EditOfferings) -> Catalogue:
    """Return the catalogue after the edit; the same one where that changes nothing."""
    kinds = tuple(_changed_kind(kind, edit) for kind in catalogue.instance_types)
    if all(map(_is, kinds, catalogue.instance_types)):
        return catalogue
    return replace(catalogue, instance_types=kinds)


def _changed_kind(kind: InstanceType, edit: EditOfferings) -> InstanceType:
    if edit.instance_type not in ("", kind.name):
        return kind
    if not any(_matches(one, edit) for one in kind.offerings):
        return kind
    offerings = tuple(
        _changed_offering(one, edit) if _matches(one, edit) else one for one in kind.offerings
    )
    if all(map(_is, offerings, kind.offerings)):
        return kind
    return replace(kind, offerings=offerings)


def _changed_offering(one: Offering, edit: EditOfferings) -> Offering:
    if edit.available is not None:
        return one if one.available is edit.available else replace(one, available=edit.available)
    nanos = changed(one.price_nanos_per_hour, edit.price_delta_ppm or 0)
    return one if one.price_nanos_per_hour == nanos else replace(one, price_nanos_per_hour=nanos)


def _matches(one: Offering, edit: EditOfferings) -> bool:
    return edit.zone in ("", one.zone) and edit.capacity_type in ("", one.capacity_type)


def _sells(catalogue: Catalogue, edit: EditOfferings) -> bool:
    return any(
        _matches(one, edit)
        for kind in catalogue.instance_types
        if edit.instance_type in ("", kind.name)
        for one in kind.offerings
    )


def _is_in(there: Node | NodeClaim, fields: Sequence[_Field]) -> bool:
    """Tell whether labels say that it is such an offering; without any it is none."""
    labels = label_keys.canonical_labels(dict(there.labels))
    if not fields:
        return label_keys.INSTANCE_TYPE in labels and label_keys.CAPACITY_TYPE in labels
    return all(labels.get(one.label) == one.wanted for one in fields)


def _lost(claim: NodeClaim, before: Catalogue | None, after: Catalogue | None) -> bool:
    """Tell whether a claim that is not launched is left with nothing that it could become."""
    if before is None or after is None or before is after:
        return False
    return _can_become(claim, before) and not _can_become(claim, after)


def _can_become(claim: NodeClaim, catalogue: Catalogue) -> bool:
    wanted = claim.requirements.intersection(
        Requirements.from_labels(label_keys.canonical_labels(dict(claim.labels)))
    )
    return any(
        wanted.has_intersection(kind.requirements)
        and any(
            one.available and wanted.has_intersection(one.requirements) for one in kind.offerings
        )
        for kind in catalogue.instance_types
    )


def _fields(edit: EditOfferings) -> tuple[_Field, ...]:
    return (
        _Field(
            name="instance_type",
            noun="instance type",
            label=label_keys.INSTANCE_TYPE,
            wanted=edit.instance_type,
        ),
        _Field(name="zone", noun="zone", label=label_keys.ZONE, wanted=edit.zone),
        _Field(
            name="capacity_type",
            noun="capacity type",
            label=label_keys.CAPACITY_TYPE,
            wanted=edit.capacity_type,
        ),
    )


def _none(catalogues: Iterable[Catalogue], edit: EditOfferings) -> InvalidRequest:
    """Return the error for an edit that selects nothing: the first word that nobody knows."""
    known = _known(catalogues)
    for one in _fields(edit):
        if one.wanted and one.wanted not in known[one.name]:
            return unknown(one.noun, one.wanted, known[one.name], f"offerings.{one.name}")
    asked = " / ".join(one.wanted for one in _fields(edit) if one.wanted)
    return unknown("offering", asked, (), "offerings")


def _known(catalogues: Iterable[Catalogue]) -> Mapping[str, frozenset[str]]:
    sold = [
        (kind.name, one.zone, one.capacity_type)
        for catalogue in catalogues
        for kind in catalogue.instance_types
        for one in kind.offerings
    ]
    names, zones, capacity_types = zip(*sold, strict=True) if sold else ((), (), ())
    return {
        "instance_type": frozenset(names),
        "zone": frozenset(zones),
        "capacity_type": frozenset(capacity_types),
    }


def _is(one: object, other: object) -> bool:
    return one is other
