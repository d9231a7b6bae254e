"""What was decided between two looks at the cluster, in words: nodes bought, nodes given back."""

from collections.abc import Iterable, Iterator

from cli.run.progress import Prices, price_of
from libs.domain import labels as keys
from libs.domain import quantity
from libs.domain.nodeclaim import ConditionType
from libs.kube.objects.karpenter import NodeClaim

_GIB = 2**30


def news(before: Iterable[NodeClaim], after: Iterable[NodeClaim], prices: Prices) -> Iterator[str]:
    """Yield a line for each claim that was launched or began to leave in between."""
    known = {claim.metadata.uid: claim for claim in before}
    for claim in sorted(after, key=lambda one: one.metadata.name):
        old = known.get(claim.metadata.uid)
        if _is_launched(claim) and (old is None or not _is_launched(old)):
            yield _bought(claim, prices)
        if _is_leaving(claim) and (old is None or not _is_leaving(old)):
            yield _given_back(claim, prices)


def dollars(nanos: int) -> str:
    """Return nano-dollars per hour in words."""
    return f"${nanos / 1_000_000_000:.2f}/h"


def _bought(claim: NodeClaim, prices: Prices) -> str:
    labels, asked = claim.metadata.labels, claim.spec.resources.requests
    cpu = quantity.millicores(asked.get("cpu", 0)) / 1000
    memory = quantity.units(asked.get("memory", 0)) / _GIB
    return (
        f"bought {claim.metadata.name}: {labels.get(keys.INSTANCE_TYPE)} "
        f"{labels.get(keys.CAPACITY_TYPE)} in {labels.get(keys.ZONE)}, "
        f"{dollars(price_of(claim, prices))}, for {asked.get('pods', 0)} pods that ask for "
        f"{cpu:.1f} CPU and {memory:.0f} GiB"
    )


def _given_back(claim: NodeClaim, prices: Prices) -> str:
    reasons = (
        one.reason
        for one in claim.status.conditions
        if one.type == ConditionType.DISRUPTION_REASON and one.status == "True"
    )
    return (
        f"gave back {claim.metadata.name} ({next(reasons, 'deleted')}): "
        f"{claim.metadata.labels.get(keys.INSTANCE_TYPE)}, {dollars(price_of(claim, prices))} saved"
    )


def _is_launched(claim: NodeClaim) -> bool:
    return keys.INSTANCE_TYPE in claim.metadata.labels


def _is_leaving(claim: NodeClaim) -> bool:
    return claim.metadata.deletion_timestamp is not None
