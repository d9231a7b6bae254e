"""NodePools and NodeOverlays.

Apart because both are checked beyond what their schema says, and a pool that is wrong stays in the
snapshot, not ready, with the reasons.
"""

import re
from collections.abc import Iterable
from dataclasses import replace
from fractions import Fraction

from libs.domain import budget, hashing, validation
from libs.domain.duration import parse_nillable
from libs.domain.errors import InvalidRequest
from libs.domain.labels import canonical_labels
from libs.domain.nodepool import (
    Budget,
    ConsolidationPolicy,
    Disruption,
    NodePool,
    NodeTemplate,
)
from libs.domain.objective import PPM
from libs.domain.quantity import MAX
from libs.domain.resources import WELL_KNOWN, Resources
from libs.domain.workload import NodeOverlay
from libs.kube.convert.node import taints
from libs.kube.convert.nodeclaim import expire_after, grace_period, node_class_ref
from libs.kube.convert.selectors import pool_requirements, sorted_pairs
from libs.kube.objects import karpenter as objects
from libs.kube.objects.decoding import from_document

_NANOS = 10**9
_PRICE = re.compile(r"[0-9]+(\.[0-9]+)?")
_ADJUSTMENT = re.compile(r"(?P<sign>[+-])(?P<amount>[0-9]*\.?[0-9]+)(?P<percent>%?)")


def nodepool(
    pool: objects.NodePool,
    rules: validation.KeyRules = validation.CORE_RULES,
    class_problems: Iterable[str] = (),
) -> NodePool:
    """Return the pool, ready or with the reasons why not.

    Args:
        pool: the pool.
        rules: which label keys its provider allows.
        class_problems: what is wrong with its node class.

    Raises:
        InvalidRequest: so wrong that there is no template to speak of.
    """
    spec = pool.spec
    _check_not_negative("spec.weight", spec.weight)
    _check_not_negative("spec.replicas", spec.replicas)
    template = _template(pool)
    problems = [
        *map(str, validation.weight_problems(spec.weight, spec.replicas)),
        *map(str, validation.template_problems(spec.template, rules)),
        *class_problems,
        *_status_problems(pool),
    ]
    if pool.metadata.deletion_timestamp is not None:
        problems.append("it is being deleted")
    return NodePool(
        name=pool.metadata.name,
        uid=pool.metadata.uid or pool.metadata.name,
        generation=max(pool.metadata.generation, 0),
        hash=_hash(pool),
        weight=spec.weight,
        template=template,
        disruption=_disruption(spec.disruption),
        limits=Resources.from_allocatable(spec.limits, field="spec.limits"),
        replicas=spec.replicas,
        ready=not problems,
        problems=tuple(problems),
    )


def nodepool_class(pool: objects.NodePool) -> objects.NodeClassReference:
    """Return the reference to the pool's class, empty where it cannot be read."""
    try:
        return _typed_template(pool).spec.node_class_ref
    except InvalidRequest:
        return objects.NodeClassReference()


def class_problems(node_class: objects.NodeClass) -> tuple[str, ...]:
    """Return why nothing can be made from a node class.

    One without a Ready condition is fine: as long as its provider has not looked at it there is no
    catalogue either, and a file may leave the status out.
    """
    shown = f'{node_class.kind} "{node_class.metadata.name}"'
    if node_class.metadata.deletion_timestamp is not None:
        return (f"{shown} is being deleted",)
    conditions = node_class.status.get("conditions")
    for one in conditions if isinstance(conditions, list) else ():
        if isinstance(one, dict) and one.get("type") == "Ready":
            if one.get("status") == "True":
                return ()
            told = ": ".join(str(one[key]) for key in ("reason", "message") if one.get(key))
            return (f"{shown} is not ready" + (f": {told}" if told else ""),)
    return ()


def node_overlay(overlay: objects.NodeOverlay) -> NodeOverlay:
    """Return the overlay.

    Raises:
        InvalidRequest: a requirement, a price or a capacity that may not be.
    """
    spec = overlay.spec
    _check_not_negative("spec.weight", spec.weight)
    for index, one in enumerate(spec.requirements):
        if one.operator == "NotIn" and not one.values:
            raise InvalidRequest(
                "NotIn needs at least one value", field=f"spec.requirements[{index}].values"
            )
    if taken := sorted(WELL_KNOWN.intersection(spec.capacity)):
        raise InvalidRequest(f"{taken[0]} may not be overlaid", field="spec.capacity")
    if spec.price is not None and spec.price_adjustment is not None:
        raise InvalidRequest("price and priceAdjustment exclude each other", field="spec")
    delta, ppm = _adjustment(spec.price_adjustment)
    return NodeOverlay(
        name=overlay.metadata.name,
        uid=overlay.metadata.uid or overlay.metadata.name,
        weight=spec.weight,
        requirements=pool_requirements(spec.requirements, "spec.requirements"),
        price_nanos_per_hour=_price(spec.price),
        price_delta_nanos_per_hour=delta,
        price_delta_ppm=ppm,
        capacity=Resources.from_allocatable(spec.capacity, field="spec.capacity"),
    )


def _template(pool: objects.NodePool) -> NodeTemplate:
    template = _typed_template(pool)
    metadata, spec = template.metadata, template.spec
    path = "spec.template"
    try:
        return NodeTemplate(
            labels=sorted_pairs(canonical_labels(metadata.labels)),
            annotations=sorted_pairs(metadata.annotations),
            requirements=pool_requirements(spec.requirements, "spec.requirements"),
            taints=taints(spec.taints, "spec.taints"),
            startup_taints=taints(spec.startup_taints, "spec.startupTaints"),
            node_class=node_class_ref(spec.node_class_ref),
            expire_after=expire_after(spec.expire_after),
            termination_grace_period=grace_period(spec.termination_grace_period),
        )
    except InvalidRequest as error:
        raise error.under(path) from None


def _typed_template(pool: objects.NodePool) -> objects.NodeClaimTemplate:
    try:
        template = from_document(pool.spec.template, objects.NodeClaimTemplate)
    except InvalidRequest as error:
        raise error.under("spec.template") from None
    reference = template.spec.node_class_ref
    if not (reference.group and reference.kind and reference.name):
        raise InvalidRequest(
            "names no node class; give group, kind and name",
            field="spec.template.spec.nodeClassRef",
        )
    return template


def _hash(pool: objects.NodePool) -> str:
    try:
        return hashing.nodepool_hash(_with_defaults(pool.spec.template))
    except InvalidRequest as error:
        raise error.under("spec.template") from None


def _with_defaults(template: dict[str, object]) -> dict[str, object]:
    """Return the template as the API server stores it: a pool out of a file has no defaults yet."""
    spec = template.get("spec")
    if not isinstance(spec, dict) or spec.get("expireAfter") is not None:
        return template
    return {**template, "spec": {**spec, "expireAfter": "720h"}}


def _disruption(spec: objects.DisruptionSpec) -> Disruption:
    path = "spec.disruption"
    try:
        consolidate_after = parse_nillable(spec.consolidate_after)
    except InvalidRequest as error:
        raise error.under(f"{path}.consolidateAfter") from None
    try:
        policy = ConsolidationPolicy(spec.consolidation_policy)
    except ValueError:
        known = ", ".join(ConsolidationPolicy)
        raise InvalidRequest(
            f"{spec.consolidation_policy!r} is not one of {known}",
            field=f"{path}.consolidationPolicy",
        ) from None
    return Disruption(
        consolidate_after=consolidate_after,
        consolidation_policy=policy,
        budgets=tuple(
            _budget(one, f"{path}.budgets[{index}]") for index, one in enumerate(spec.budgets)
        ),
    )


def _budget(given: objects.Budget, path: str) -> Budget:
    try:
        found = budget.parse(given.nodes, given.reasons, given.schedule, given.duration)
    except InvalidRequest as error:
        raise error.under(path) from None
    if found.nodes is None or found.nodes <= budget.UNLIMITED:
        return found
    return replace(found, nodes=budget.UNLIMITED)


def _status_problems(pool: objects.NodePool) -> list[str]:
    """Return what lifecycle said of this generation; what it said of an older one is void."""
    return [
        f"{one.reason}: {one.message}" if one.message else one.reason
        for one in pool.status.conditions
        if one.type == "Ready"
        and one.status == "False"
        and one.observed_generation == pool.metadata.generation
    ]


def _check_not_negative(path: str, number: int | None) -> None:
    if number is not None and number < 0:
        raise InvalidRequest(f"{number} is negative", field=path)


def _price(text: str | None) -> int | None:
    if text is None:
        return None
    if not _PRICE.fullmatch(text):
        raise InvalidRequest(f"{text!r} is not a price such as 0.25", field="spec.price")
    return _within_limit(Fraction(text) * _NANOS, "spec.price")


def _adjustment(text: str | None) -> tuple[int | None, int | None]:
    """Return what to add to a price, in nano-dollars or in millionths of it."""
    if text is None:
        return None, None
    match = _ADJUSTMENT.fullmatch(text)
    if match is None:
        raise InvalidRequest(
            f"{text!r} is not an adjustment such as -10% or +0.05", field="spec.priceAdjustment"
        )
    amount = Fraction(match["sign"] + match["amount"])
    if not match["percent"]:
        return _within_limit(amount * _NANOS, "spec.priceAdjustment"), None
    if amount < -100:
        raise InvalidRequest(f"{text!r} is below -100%", field="spec.priceAdjustment")
    return None, _within_limit(amount * PPM / 100, "spec.priceAdjustment")


def _within_limit(amount: Fraction, path: str) -> int:
    if abs(amount) > MAX:
        raise InvalidRequest("is beyond any price", field=path)
    return round(amount)
