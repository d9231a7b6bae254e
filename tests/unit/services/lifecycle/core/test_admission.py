"""The premise table: each predicate's no; what says yes to all is admitted."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from libs.domain.budget import parse
from libs.domain.nodepool import DisruptionReason, NodePool
from libs.domain.plan import Candidate, LaunchOption, PlannedNodeClaim
from libs.domain.requirements import ANYTHING
from libs.domain.resources import Resources
from libs.kube.convert.nodepool import nodepool
from services.lifecycle.core import admission
from services.lifecycle.core.admission import (
    CreatePremise,
    DisruptPremise,
    EvictPremise,
    NominatePremise,
    PoolBudget,
)
from tests.unit.services.lifecycle.core.objects import NOW, a_claim, a_pool, at


def _pool(*, limits: Resources | None = None, **override: Any) -> NodePool:
    return replace(nodepool(a_pool()), limits=limits or Resources(), **override)


def _create(**override: Any) -> CreatePremise:
    pool = _pool()
    planned = PlannedNodeClaim(
        index=0,
        nodepool="default",
        nodepool_uid=pool.uid,
        nodepool_hash=pool.hash,
        requirements=ANYTHING,
        requests=Resources({"cpu": 1000}),
        instance_types=("m",),
        cheapest=LaunchOption(
            instance_type="m", zone="a", capacity_type="spot", price_nanos_per_hour=1
        ),
        pod_uids=("p",),
    )
    return replace(CreatePremise(planned=planned, pool=pool, waiting=("p",)), **override)


@pytest.mark.parametrize(
    ("premise", "why"),
    [
        pytest.param(_create(), None, id="all hold"),
        pytest.param(_create(waiting=None), None, id="a replacement waits for nobody"),
        pytest.param(_create(pool=None), "does not exist", id="no pool"),
        pytest.param(_create(pool=_pool(uid="other")), "made anew", id="another pool"),
        pytest.param(
            _create(pool=_pool(ready=False, problems=("no class",))), "no class", id="not ready"
        ),
        pytest.param(_create(pool=_pool(hash="1")), "has changed", id="another template"),
        pytest.param(_create(waiting=()), "still waits", id="nobody waits"),
        pytest.param(
            _create(pool=_pool(limits=Resources({"nodes": 2})), usage=Resources({"nodes": 2})),
            "would use 3 of nodes",
            id="too many nodes",
        ),
        pytest.param(
            _create(pool=_pool(limits=Resources({"cpu": 3000})), usage=Resources({"cpu": 2000})),
            None,
            id="just below the limit",
        ),
    ],
)
def test_creating_a_claim(premise: CreatePremise, why: str | None) -> None:
    _assert_refusal(admission.refusal_to_create(premise), why)


@pytest.mark.parametrize(
    ("premise", "why"),
    [
        pytest.param(NominatePremise(target="n"), None, id="it stays"),
        pytest.param(NominatePremise(target="n", command_id="c"), 'command "c"', id="disrupted"),
        pytest.param(NominatePremise(target="n", leaving=True), "is leaving", id="leaving"),
    ],
)
def test_nominating(premise: NominatePremise, why: str | None) -> None:
    _assert_refusal(admission.refusal_to_nominate(premise), why)


def _budget(nodes: str = "1", *, total: int = 10, disrupting: int = 0) -> PoolBudget:
    pool = _pool()
    limited = replace(pool, disruption=replace(pool.disruption, budgets=(parse(nodes),)))
    return PoolBudget(pool=limited, nodes=total, disrupting=disrupting)


def _disrupt(**override: Any) -> DisruptPremise:
    candidate = Candidate(
        nodeclaim="c1", nodeclaim_uid="uid-c1", node="n1", nodepool="default", pod_uids=("a", "b")
    )
    premise = DisruptPremise(
        candidate=candidate,
        claim=a_claim("c1"),
        bound=frozenset({"a"}),
        budget=_budget(),
        reason=DisruptionReason.EMPTY,
        now=NOW,
    )
    return replace(premise, **override)


@pytest.mark.parametrize(
    ("premise", "why"),
    [
        pytest.param(_disrupt(), None, id="all hold, one pod fewer"),
        pytest.param(_disrupt(claim=None), "not the one", id="claim gone"),
        pytest.param(_disrupt(claim=a_claim("other")), "not the one", id="another claim"),
        pytest.param(
            _disrupt(claim=a_claim("c1", deletionTimestamp=at())), "being deleted", id="deleting"
        ),
        pytest.param(_disrupt(command_id="x"), 'command "x"', id="under another command"),
        pytest.param(
            _disrupt(nominated_until=NOW + timedelta(seconds=1)), "nominated until", id="nominated"
        ),
        pytest.param(_disrupt(nominated_until=NOW), None, id="no longer nominated"),
        pytest.param(_disrupt(bound=frozenset({"a", "new"})), '"new"', id="a new pod"),
        pytest.param(_disrupt(protected=("default/p",)), "default/p", id="a protected pod"),
        pytest.param(_disrupt(budget=_budget("0")), "allows 0", id="budget of nothing"),
        pytest.param(_disrupt(budget=_budget(disrupting=1)), "allows 0", id="budget used up"),
        pytest.param(_disrupt(budget=_budget("15%")), None, id="a percentage, rounded up"),
        pytest.param(_disrupt(budget=_budget("15%"), taken=2), None, id="two of ten"),
        pytest.param(_disrupt(budget=_budget("15%"), taken=3), "allows 2", id="three of ten"),
        pytest.param(
            _disrupt(budget=PoolBudget(pool=None, nodes=0, disrupting=0)),
            "does not exist",
            id="no pool",
        ),
    ],
)
def test_disrupting_a_node(premise: DisruptPremise, why: str | None) -> None:
    _assert_refusal(admission.refusal_to_disrupt(premise), why)


@pytest.mark.parametrize(
    ("live", "why"),
    [
        pytest.param("a", None, id="the same pod"),
        pytest.param(None, None, id="not known here: the API server decides"),
        pytest.param("b", "another pod", id="another pod"),
    ],
)
def test_evicting_a_pod(live: str | None, why: str | None) -> None:
    _assert_refusal(admission.refusal_to_evict(EvictPremise(uid="a", live_uid=live)), why)


def test_live_claims_that_a_decision_did_not_know_are_named() -> None:
    live = (a_claim("own"), a_claim("known"), a_claim("other"))

    assert admission.unknown_claims(live, ["uid-known"], {"own"}) == ("other",)


def _assert_refusal(found: str | None, why: str | None) -> None:
    if why is None:
        assert found is None
    else:
        assert found is not None
        assert why in found
