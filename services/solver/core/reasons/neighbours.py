"""What other pods mean for one that has no place, in words: whose rule, about whom, how many.

Apart from the reasons because nodes and pools say the same of it.
"""

from collections.abc import Iterable

from libs.domain.pod import PodShape
from libs.domain.reason import Rule
from libs.domain.requirement import Operator, Requirement
from libs.domain.selector import LabelSelector
from libs.domain.topology import PodAffinityTerm
from services.solver.core.domains import members
from services.solver.core.reasons.case import Case, Part
from services.solver.core.topology.rules import AffinityRule, Keeper, SpreadRule
from services.solver.core.topology.tally import Tally

_DOMAINS_SHOWN = 6
_LABELS_SHOWN = 3
_KEEPERS_SHOWN = 2
_OF_A_REVISION = frozenset(
    {"controller-revision-hash", "pod-template-generation", "pod-template-hash"}
)
"""Labels by which nobody knows a pod."""


def about_others(case: Case, part: Part, position: int | None = None) -> str:
    """Return what a part of the constraints looks at, to be put after its rule; may be empty.

    Args:
        case: whose constraints they are.
        part: the one that refuses.
        position: of the standing bin that it refuses; None for a node that is yet to be bought.
    """
    if part.ask is case.ask:
        return "; each of its rules about other pods would allow it, not all of them together"
    rules = case.problem.topology.rules(part.ask)
    match part.rule:
        case Rule.TOPOLOGY_SPREAD:
            return _spread(case, part, rules.spread[0])
        case Rule.POD_AFFINITY:
            return f"; {_affinity(case, part.ask.affinity[0], rules.affinity[0])}"
        case Rule.POD_ANTI_AFFINITY if part.ask.anti_affinity:
            return f"; {_own(case, part.ask.anti_affinity[0], rules.apart[0][0])}"
        case Rule.POD_ANTI_AFFINITY:
            return _kept_away(case, keepers(case, position))
    return ""


def selected(selector: LabelSelector) -> str:
    """Return what a selector selects by, as command lines spell it where they can."""
    return ",".join(map(_label, selector.requirements))


def keepers(case: Case, position: int | None = None) -> list[Keeper]:
    """Return who keeps a pod off a standing bin, or else out of any domain, as things are.

    No pod is kept off a host that is yet to be made.
    """
    found = case.problem.topology.keepers(case.ask)
    return [one for one in found if _is_there(case, one.tally, position)]


def _is_there(case: Case, tally: Tally, position: int | None) -> bool:
    if position is None:
        return not tally.on_hosts and bool(tally.counts)
    topology = case.problem.topology
    if tally.on_hosts:
        return position in tally.counts
    return int(topology.ground.domain_of(tally.key)[position]) in tally.counts


def _spread(case: Case, part: Part, rule: SpreadRule) -> str:
    """Return pods per domain, maxSkew and minDomains; not of hosts, of which there are thousands.

    Domains without a node are told apart, since kube-scheduler itself does not count them.
    """
    tally, constraint = rule.tally, rule.constraint
    topology = case.problem.topology
    if tally.on_hosts:
        new = constraint.min_domains is None and topology.can_have_new_host(part.ask, rule)
        return f"; a new node counts, too; maxSkew {constraint.max_skew}" if new else ""
    real, paper = topology.eligible(part.ask, tally)
    counts = _per_domain(case, tally, (one for one in members(real | paper) if one))
    few = "" if constraint.min_domains is None else f", minDomains {constraint.min_domains}"
    there = f"pods per domain: {counts}" if counts else "there is no domain"
    bought = _first(topology.ground.domains.value(tally.key, one) for one in members(paper))
    told = f"; no node yet, but one can be bought: {bought}" if bought else ""
    return f"; {there}{told}; maxSkew {constraint.max_skew}{few}"


def _affinity(case: Case, terms: tuple[PodAffinityTerm, ...], rule: AffinityRule) -> str:
    wanted = " that are also ".join(dict.fromkeys(map(_pods_of, terms)))
    if not any(tally.total for tally in rule.tallies):
        wait = any(tally.shapes for tally in rule.tallies)
        none = "none of which has a place" if wait else "and there are none"
        return f"it has to be near {wanted}, {none}"
    there = _where(case, rule.tallies[0]) if len(rule.tallies) == 1 else ""
    return f"it has to be near {wanted}{there}"


def _own(case: Case, term: PodAffinityTerm, tally: Tally) -> str:
    return f"it has an anti-affinity to {_pods_of(term)}{_where(case, tally)}"


def _where(case: Case, tally: Tally) -> str:
    """Return where pods are that a tally counts; empty for hosts, of which there are thousands."""
    domains = [] if tally.on_hosts else list(tally.counts)
    return f"; pods per domain: {_per_domain(case, tally, domains)}" if domains else ""


def _kept_away(case: Case, found: list[Keeper]) -> str:
    # Keepers come by the numbers of their shapes, which say nothing.
    said = sorted(_keeper(case, one) for one in found)[:_KEEPERS_SHOWN]
    if len(found) > _KEEPERS_SHOWN:
        said.append(f"so have others, by {len(found) - _KEEPERS_SHOWN} more terms")
    return "".join(f"; {one}" for one in said)


def _keeper(case: Case, keeper: Keeper) -> str:
    if keeper.term in case.ask.shape.anti_affinity:
        return _own(case, keeper.term, keeper.tally)
    names = sorted(set(map(_named, keeper.owners)))
    others = f" and {_others(len(names) - 1)}" if len(names) > 1 else ""
    has = f"{names[0]}{others} have an anti-affinity to it, as to all {_pods_of(keeper.term)}"
    return f"{has}{_where(case, keeper.tally)}"


def _others(count: int) -> str:
    return "1 other" if count == 1 else f"{count} others"


def _named(shape: PodShape) -> str:
    labels = [(key, value) for key, value in shape.labels if key not in _OF_A_REVISION]
    shown = ",".join(f"{key}={value}" for key, value in sorted(labels)[:_LABELS_SHOWN])
    return f"pods {f'with {shown}' if shown else 'without labels'} in {shape.namespace}"


def _pods_of(term: PodAffinityTerm) -> str:
    if term.selector is None:
        return "pods of no selector"
    labels = selected(term.selector)
    return f"pods {f'with {labels} ' if labels else ''}in {_namespaces(term)}"


def _namespaces(term: PodAffinityTerm) -> str:
    found = list(term.namespaces)
    if term.namespace_selector is not None:
        labels = selected(term.namespace_selector)
        found.append(f"namespaces with {labels}" if labels else "any namespace")
    return " or ".join(found) or "no namespace"


def _label(one: Requirement) -> str:
    """Return what is asked of a label, as command lines spell it where they can."""
    if one.operator is Operator.IN and len(one.values) == 1:
        return f"{one.key}={next(iter(one.values))}"
    return str(one)


def _per_domain(case: Case, tally: Tally, numbers: Iterable[int]) -> str:
    value = case.problem.topology.ground.domains.value
    counts = tally.counts
    return _first(f"{value(tally.key, one)} {counts.get(one, 0)}" for one in numbers)


def _first(told: Iterable[str]) -> str:
    found = sorted(told)
    shown = ", ".join(found[:_DOMAINS_SHOWN])
    hidden = len(found) - _DOMAINS_SHOWN
    return f"{shown} and {hidden} more" if hidden > 0 else shown
