from datetime import timedelta

from libs.cluster.claims import planned_claim
from libs.domain.errors import InvalidRequest
from libs.domain.plan import LaunchOption, PlannedNodeClaim
from libs.domain.requirement import Entry, Operator
from libs.domain.requirements import Requirements
from libs.domain.resources import Resources
from libs.kube.objects.decoding import BrokenObject
from tests.unit.libs.cluster.clusters import NOW, a_state, an_object_of, claim, reasons, taken
from tests.unit.libs.kube.manifests import a_nodeclaim, a_nodepool


def _planned() -> PlannedNodeClaim:
    return PlannedNodeClaim(
        index=0,
        nodepool="default",
        nodepool_uid="uid-default",
        nodepool_hash="1",
        requirements=Requirements.of([Entry(key="zone", operator=Operator.IN, values=("a",))]),
        requests=Resources({"cpu": 1000}),
        instance_types=("m5.large",),
        cheapest=LaunchOption(
            instance_type="m5.large", zone="a", capacity_type="spot", price_nanos_per_hour=1
        ),
        pod_uids=("p",),
        labels=(("team", "a"),),
    )


def test_a_created_claim_counts_before_the_watch_shows_it() -> None:
    taint = {"key": "t", "effect": "NoSchedule"}
    state = a_state(a_nodepool(template={"taints": [taint], "expireAfter": "Never"}))
    pool = taken(state).nodepools["default"]

    state.claim_in_flight(planned_claim(_planned(), pool, name="x1", uid="u", now=NOW))

    found = claim(taken(state), "x1")
    assert (found.uid, found.nodepool, found.provider_id) == ("u", "default", "")
    assert dict(found.labels) == {"karpenter.sh/nodepool": "default", "team": "a"}
    assert [str(one) for one in found.taints] == ["t:NoSchedule"]
    assert (found.expire_after, found.created_at) == (None, NOW)
    assert state.claims_in_flight() == ("x1",)


def test_the_claim_that_the_watch_shows_takes_its_place() -> None:
    state = a_state(a_nodepool())
    pool = taken(state).nodepools["default"]
    state.claim_in_flight(planned_claim(_planned(), pool, name="x1", uid="u", now=NOW))
    state.upsert(an_object_of(a_nodeclaim("x1", status={"providerID": "p"})))

    assert claim(taken(state), "x1").provider_id == "p"
    assert state.claims_in_flight() == ()


def test_a_claim_that_the_watch_showed_first_is_not_counted_twice() -> None:
    state = a_state(a_nodepool(), a_nodeclaim("x1", status={"providerID": "p"}))
    pool = taken(state).nodepools["default"]

    state.claim_in_flight(planned_claim(_planned(), pool, name="x1", uid="u", now=NOW))

    assert state.claims_in_flight() == ()
    assert claim(taken(state), "x1").provider_id == "p"


def test_a_claim_that_went_before_the_watch_showed_it_is_forgotten() -> None:
    state = a_state(a_nodepool())
    pool = taken(state).nodepools["default"]
    for name in ("x1", "x2"):
        state.claim_in_flight(planned_claim(_planned(), pool, name=name, uid=name, now=NOW))
    state.remove("NodeClaim", "", "x1")
    state.forget_in_flight("x2")

    assert dict(taken(state).nodeclaims) == {}


def test_a_half_legible_claim_counts_and_is_reported() -> None:
    state = a_state(a_nodeclaim("x1", expireAfter="soon"))

    snapshot = taken(state)

    assert list(snapshot.nodeclaims) == ["x1"]
    assert reasons(snapshot)["NodeClaim//x1"][0] == "spec.expireAfter"


def test_a_claim_that_can_no_longer_be_decoded_keeps_its_last_state() -> None:
    state = a_state(a_nodeclaim("x1"), a_nodepool())
    for kind, name in (("NodeClaim", "x1"), ("NodePool", "default")):
        state.refuse(
            BrokenObject(
                kind=kind, namespace="", name=name, error=InvalidRequest("no", field="spec")
            )
        )

    snapshot = taken(state)

    assert (list(snapshot.nodeclaims), list(snapshot.nodepools)) == (["x1"], [])
    assert set(reasons(snapshot)) == {"NodeClaim//x1", "NodePool//default"}


def test_an_object_that_can_be_decoded_again_is_no_longer_set_aside() -> None:
    state = a_state(a_nodepool("a"))
    for name in ("a", "b"):
        state.refuse(
            BrokenObject(kind="NodePool", namespace="", name=name, error=InvalidRequest("no"))
        )
    state.upsert(an_object_of(a_nodepool("a")))
    state.remove("NodePool", "", "b")

    assert reasons(taken(state)) == {}


def test_the_first_sight_of_a_problem_is_remembered() -> None:
    state = a_state(a_nodeclaim("x1", expireAfter="soon"))
    taken(state)

    again = taken(state, NOW + timedelta(minutes=1))
    state.upsert(an_object_of(a_nodeclaim("x1")))
    taken(state, NOW + timedelta(minutes=2))
    state.upsert(an_object_of(a_nodeclaim("x1", expireAfter="soon")))
    anew = taken(state, NOW + timedelta(minutes=3))

    assert again.set_aside["NodeClaim//x1"].since == NOW
    assert anew.set_aside["NodeClaim//x1"].since == NOW + timedelta(minutes=3)
