"""Claims of pods: by name, or made from a template for one pod."""

from copy import deepcopy
from typing import Any

import pytest

from tests.unit.libs.cluster.clusters import reasons, shape_of, snapshot_of
from tests.unit.libs.kube.manifests import WAITING, Document, a_node, a_pod, an_object

GROUP = "resource.k8s.io/v1"
ALLOCATION = {
    "devices": {"results": [{"driver": "d", "pool": "p", "device": "gpu-0", "request": "r"}]},
    "nodeSelector": {
        "nodeSelectorTerms": [
            {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n"]}]}
        ]
    },
}


def _spec(device_class: str = "gpu") -> Document:
    return {"devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": device_class}}]}}


def _claim(name: str, *, owner: str = "", allocated: bool = False, going: bool = False) -> Document:
    status: Document = {}
    if allocated:
        users = [{"resource": "pods", "name": "a", "uid": "uid-a"}]
        status = {"allocation": deepcopy(ALLOCATION), "reservedFor": users}
    made = an_object(GROUP, "ResourceClaim", name, "default", spec=_spec("own"), status=status)
    if owner:
        reference = {"apiVersion": "v1", "kind": "Pod", "name": "a", "uid": owner}
        made["metadata"]["ownerReferences"] = [{**reference, "controller": True}]
    if going:
        made["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    return made


TEMPLATE = an_object(
    GROUP, "ResourceClaimTemplate", "t", "default", spec={"spec": _spec("of-template")}
)


def _with_template(statuses: list[Document] | None = None, **spec: Any) -> Document:
    claims = [{"name": "gpu", "resourceClaimTemplateName": "t"}]
    return a_pod(
        "a",
        resourceClaims=claims,
        status={**WAITING, "resourceClaimStatuses": statuses or []},
        **spec,
    )


MADE = [{"name": "gpu", "resourceClaimName": "a-gpu"}]


@pytest.mark.parametrize(
    ("documents", "device_class"),
    [
        pytest.param([_with_template()], "of-template", id="claim not made yet"),
        pytest.param([_with_template(MADE)], "of-template", id="claim not seen yet"),
        pytest.param(
            [_with_template(MADE), _claim("a-gpu", owner="uid-a")], "own", id="claim made"
        ),
        pytest.param(
            [
                a_node("n"),
                _with_template(MADE, nodeName="n"),
                _claim("a-gpu", owner="uid-a", allocated=True),
            ],
            "own",
            id="pod runs with its claim",
        ),
    ],
)
def test_a_claim_for_one_pod_counts_as_its_template(
    documents: list[Document], device_class: str
) -> None:
    (found,) = shape_of(snapshot_of(TEMPLATE, *documents), "a").device_claims

    assert (found.claim, found.allocated_terms, found.reserved_for) == ("", (), ())
    assert found.requests[0].alternatives[0].device_class == device_class


def test_a_claim_that_waits_with_its_pod_stays_where_it_was_allocated() -> None:
    claim = _claim("a-gpu", owner="uid-a", allocated=True)

    (found,) = shape_of(snapshot_of(TEMPLATE, _with_template(MADE), claim), "a").device_claims

    assert found.claim == "default/a-gpu"
    assert [str(one) for one in found.allocated_terms] == ["metadata.name In [n]"]
    assert found.reserved_for == ("uid-a",)


def test_a_pod_may_turn_out_to_need_no_claim() -> None:
    snapshot = snapshot_of(TEMPLATE, _with_template([{"name": "gpu"}]))

    assert shape_of(snapshot, "a").device_claims == ()


@pytest.mark.parametrize(
    ("documents", "message"),
    [
        pytest.param(
            [_with_template(MADE), _claim("a-gpu", owner="uid-b")], "not made for", id="of another"
        ),
        pytest.param([_with_template(MADE), _claim("a-gpu")], "not made for", id="of nobody"),
        pytest.param(
            [
                a_pod("a", resourceClaims=[{"name": "gpu", "resourceClaimName": "c"}]),
                _claim("c", going=True),
            ],
            "being deleted",
            id="going",
        ),
        pytest.param(
            [_with_template(MADE), _claim("a-gpu", owner="uid-a", going=True)],
            "being deleted",
            id="its own, but going",
        ),
    ],
)
def test_a_pod_waits_while_its_claim_is_not_usable(documents: list[Document], message: str) -> None:
    snapshot = snapshot_of(TEMPLATE, *documents)

    assert message in reasons(snapshot)["Pod/default/a"][1]


def test_what_claims_hold_is_known_with_those_who_could_give_it_back() -> None:
    pool = {"name": "p", "generation": 1, "resourceSliceCount": 1}
    spec = {"driver": "d", "pool": pool, "nodeName": "n", "devices": [{"name": "gpu-0"}]}
    slices = an_object(GROUP, "ResourceSlice", "s", spec=spec)

    snapshot = snapshot_of(slices, _claim("c", allocated=True))

    (hold,) = snapshot.device_pools["d/p"].holds
    assert (hold.device, hold.claim, hold.reserved_for) == ("gpu-0", "default/c", ("uid-a",))


def test_a_claim_and_a_class_that_are_illegible_stop_only_themselves() -> None:
    broken = _claim("c", allocated=True)
    broken["status"]["allocation"]["devices"]["results"][0]["consumedCapacity"] = {"m": "x"}
    strange = an_object(GROUP, "DeviceClass", "odd", spec={"selectors": [{}]})

    snapshot = snapshot_of(broken, strange, an_object(GROUP, "DeviceClass", "gpu"))

    assert sorted(reasons(snapshot)) == ["DeviceClass//odd", "ResourceClaim/default/c"]
    assert list(snapshot.device_classes) == ["gpu"]


def test_of_classes_with_one_resource_the_newest_counts_then_the_first_by_name() -> None:
    def _class(name: str, day: int) -> Document:
        made = an_object(GROUP, "DeviceClass", name, spec={"extendedResourceName": "e.com/gpu"})
        made["metadata"]["creationTimestamp"] = f"2026-01-0{day}T00:00:00Z"
        return made

    snapshot = snapshot_of(_class("old", 1), _class("b", 2), _class("a", 2))

    found = {name: one.extended_resource for name, one in snapshot.device_classes.items()}
    assert found == {"a": "e.com/gpu", "b": "", "old": ""}


def test_of_daemons_it_is_known_whether_they_have_claims() -> None:
    template = {"spec": {"resourceClaims": [{"name": "gpu", "resourceClaimTemplateName": "t"}]}}
    daemons = [
        an_object("apps/v1", "DaemonSet", name, "default", spec={"template": one})
        for name, one in (("claiming", template), ("plain", {}))
    ]

    snapshot = snapshot_of(*daemons)

    claims = {
        one.name: len(snapshot.shapes[one.shape].device_claims)
        for one in snapshot.daemonsets.values()
    }
    assert claims == {"claiming": 1, "plain": 0}
