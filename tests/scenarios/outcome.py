"""What a scenario expects, compared with a plan.

Apart because it is the half of the runner that reads `expect`. Nodes come in any order; what an
entry leaves out may be anything; what `expect` leaves out altogether must not happen.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from libs.domain.plan import Plan, PlannedNodeClaim, UnplacedPods
from libs.domain.reason import Rejection, Unplaceable
from libs.domain.requirement import Entry, Operator
from libs.domain.requirements import Requirements
from libs.domain.resources import Resources
from tests.scenarios.words import canonical, checked, requirement

Expected = Mapping[str, Any]
Names = Mapping[str, str]

_EXPECT = {"new", "existing", "unplaced", "pools", "buffers", "overlays", "anyOf"}
_REASON = {"message", "pools", "existing", "suggestions", "deferred"}


def differences(expected: Expected, plan: Plan, names: Names) -> list[str]:
    """Return in words where the plan differs from what is expected; empty if nowhere.

    Args:
        expected: `expect` of a scenario; of several under `anyOf` the nearest counts.
        plan: what was decided.
        names: names of pods by uid.
    """
    checked(expected, _EXPECT)
    choices = expected.get("anyOf", [{}])
    rest = {key: value for key, value in expected.items() if key != "anyOf"}
    found = [list(_differences({**rest, **choice}, plan, names)) for choice in choices]
    return min(found, key=len)


def _differences(expected: Expected, plan: Plan, names: Names) -> Iterator[str]:
    yield from _bought(expected.get("new", []), plan, names)
    existing = {
        one.target: sorted(names.get(uid, uid) for uid in one.pod_uids) for one in plan.nominations
    }
    yield from _existing(expected.get("existing", {}), existing)
    yield from _unplaced(expected.get("unplaced", {}), plan, names)
    said = {one.nodepool: f"{one.rule}: {one.message}" for one in plan.pool_messages}
    yield from _texts("pool", expected.get("pools", {}), said)
    overlays = {one.name: one.problem for one in plan.overlays}
    yield from _overlays(expected.get("overlays", {}), overlays)
    buffers = {
        one.name: {
            "existing": one.fit_existing,
            "new": one.need_new,
            "unplaced": one.unplaced,
        }
        for one in plan.buffers
    }
    yield from _same("buffers", expected.get("buffers", {}), buffers)


def _bought(expected: list[dict[str, Any]], plan: Plan, names: Names) -> Iterator[str]:
    """Yield what differs unless each claim can be matched with an entry of its own."""
    claims = list(plan.nodeclaims)
    wrong = [[_wrong(wanted, claim, names) for claim in claims] for wanted in expected]
    if len(claims) == len(expected) and _matched(wrong, frozenset()):
        return
    yield f"new: {len(claims)} nodes, {len(expected)} are expected:"
    for claim in claims:
        yield f"  bought {_shown(claim, names)}"
    for wanted, row in zip(expected, wrong, strict=True):
        if all(row):
            nearest = min(row, key=len) if row else []
            yield f"  none is {wanted}" + "".join(f"; {one}" for one in nearest)


def _matched(wrong: list[list[list[str]]], taken: frozenset[int]) -> bool:
    """Tell whether every row can have a column of its own in which nothing is wrong."""
    if not wrong:
        return True
    return any(
        _matched(wrong[1:], taken | {column})
        for column, faults in enumerate(wrong[0])
        if not faults and column not in taken
    )


def _wrong(wanted: Mapping[str, Any], claim: PlannedNodeClaim, names: Names) -> list[str]:
    checked(wanted, _CLAIM)
    return [
        f"{field} is {_CLAIM[field](claim, names)}"
        for field, value in wanted.items()
        if not _holds(field, value, claim, names)
    ]


def _holds(field: str, value: Any, claim: PlannedNodeClaim, names: Names) -> bool:
    found = _CLAIM[field](claim, names)
    match field:
        case "pods" | "types" if isinstance(value, int):
            return len(found) == value
        case "pods":
            return bool(found == sorted(value))
        case "labels" | "annotations":
            wanted = {canonical(key): text for key, text in value.items()}
            return wanted.items() <= dict(found).items()
        case "requirements":
            return all(_states(claim.requirements, one) for one in value)
        case "requests":
            amounts = Resources.from_requests({key: str(one) for key, one in value.items()})
            return all(claim.requests.get(name) == amount for name, amount in amounts.items())
        case _:
            return bool(found == value)


def _states(found: Requirements, short: str) -> bool:
    """Tell whether the claim's requirement on the key of this one is this one."""
    raw = requirement(short)
    entry = Entry(
        key=raw["key"],
        operator=Operator(raw["operator"]),
        values=tuple(raw.get("values", ())),
        min_values=raw.get("minValues"),
    )
    (wanted,) = Requirements.of([entry])
    return found.get(wanted.key) == wanted


def _pods(claim: PlannedNodeClaim, names: Names) -> list[str]:
    return sorted(names.get(uid, uid) for uid in claim.pod_uids)


_CLAIM: Mapping[str, Callable[[PlannedNodeClaim, Names], Any]] = {
    "type": lambda claim, _: claim.cheapest.instance_type,
    "zone": lambda claim, _: claim.cheapest.zone,
    "capacityType": lambda claim, _: claim.cheapest.capacity_type,
    "price": lambda claim, _: claim.cheapest.price_nanos_per_hour / 10**9,
    "pods": _pods,
    "pool": lambda claim, _: claim.nodepool,
    "types": lambda claim, _: list(claim.instance_types),
    "labels": lambda claim, _: dict(claim.labels),
    "annotations": lambda claim, _: dict(claim.annotations),
    "requirements": lambda claim, _: [str(one) for one in claim.requirements],
    "requests": lambda claim, _: claim.requests.to_quantities(),
}
"""What can be said of a node to buy, and where it stands in the plan."""


def _shown(claim: PlannedNodeClaim, names: Names) -> str:
    fields = ("pool", "type", "zone", "capacityType", "pods")
    return ", ".join(f"{field} {_CLAIM[field](claim, names)}" for field in fields)


def _existing(expected: Mapping[str, Any], found: Mapping[str, list[str]]) -> Iterator[str]:
    shown = {
        node: len(pods) if isinstance(expected.get(node), int) else pods
        for node, pods in found.items()
    }
    wanted = {
        node: pods if isinstance(pods, int) else sorted(pods) for node, pods in expected.items()
    }
    yield from _same("existing", wanted, shown)


def _unplaced(expected: Mapping[str, Any], plan: Plan, names: Names) -> Iterator[str]:
    found: dict[str, UnplacedPods] = {
        names.get(uid, uid): group for group in plan.unplaced for uid in group.pod_uids
    }
    for name in sorted(found.keys() - expected.keys()):
        yield f"unplaced: {name}: {_explained(found[name].reason)}"
    for name, wanted in expected.items():
        if name not in found:
            yield f"unplaced: {name} has a place"
            continue
        reason = found[name].reason
        if isinstance(wanted, str):
            if wanted not in _explained(reason):
                yield f"unplaced: {name}: {wanted!r} is not in {_explained(reason)!r}"
        else:
            yield from (f"unplaced: {name}: {one}" for one in _reason(wanted, reason))


def _explained(reason: Unplaceable) -> str:
    return " ".join([reason.message, *(f"{rule}" for rule, _ in reason.existing)])


def _reason(wanted: Mapping[str, Any], reason: Unplaceable) -> Iterator[str]:
    checked(wanted, _REASON)
    if wanted.get("message", "") not in reason.message:
        yield f"message is {reason.message!r}"
    if reason.deferred != wanted.get("deferred", reason.deferred):
        yield f"deferred is {reason.deferred}"
    existing = {str(rule): count for rule, count in reason.existing}
    yield from _same("existing", wanted.get("existing", existing), existing)
    by_pool = {one.target: one for one in reason.rejections}
    if "pools" in wanted:
        yield from _texts("pool", wanted["pools"], {k: _said(v) for k, v in by_pool.items()})
    for pool, text in wanted.get("suggestions", {}).items():
        suggestion = by_pool[pool].suggestion
        if text not in suggestion or (not text and suggestion):
            yield f"suggestion of {pool} is {suggestion!r}"


def _said(one: Rejection) -> str:
    return f"{one.rule}: {one.message}"


def _overlays(expected: Mapping[str, str], found: Mapping[str, str]) -> Iterator[str]:
    """Yield overlays that are not as expected; an empty text stands for one in force."""
    yield from _texts("overlay", expected, found)
    for name, text in expected.items():
        if not text and found.get(name):
            yield f"overlay {name}: {found[name]!r}"


def _texts(kind: str, expected: Mapping[str, str], found: Mapping[str, str]) -> Iterator[str]:
    for name in sorted(expected.keys() | found.keys()):
        if name not in found:
            yield f"{kind} {name}: nothing is said"
        elif name not in expected:
            yield f"{kind} {name}: {found[name]!r} is said"
        elif expected[name] not in found[name]:
            yield f"{kind} {name}: {expected[name]!r} is not in {found[name]!r}"


def _same(what: str, expected: object, found: object) -> Iterator[str]:
    if expected != found:
        yield f"{what}: {found}, expected {expected}"
