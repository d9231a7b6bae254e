from typing import Any

import pytest

from libs.domain.device import DeviceConstraint
from libs.domain.errors import InvalidRequest
from libs.domain.taint import Effect, Toleration, TolerationOperator
from libs.kube.convert.device import NOWHERE, device_claim, device_class
from libs.kube.objects.decoding import from_document
from libs.kube.objects.device import DeviceClass, ResourceClaimObjectStatus, ResourceClaimSpec

CEL = [{"cel": {"expression": "device.driver == 'd'"}}]


def _claim(*requests: dict[str, Any], **devices: Any) -> ResourceClaimSpec:
    return from_document({"devices": {"requests": list(requests), **devices}}, ResourceClaimSpec)


def _exactly(**fields: Any) -> dict[str, Any]:
    return {"name": "r", "exactly": {"deviceClassName": "c", **fields}}


def _status(selector: object, *uids: str) -> ResourceClaimObjectStatus:
    allocation = {} if selector is None else {"nodeSelector": selector}
    users = [{"resource": "pods", "name": uid, "uid": uid} for uid in uids]
    document = {"allocation": allocation, "reservedFor": users}
    return from_document(document, ResourceClaimObjectStatus)


@pytest.mark.parametrize(
    ("request_", "classes", "counts"),
    [
        pytest.param(_exactly(count=2), ["c"], [2], id="exactly"),
        pytest.param(
            {
                "name": "r",
                "firstAvailable": [
                    {"name": "a", "deviceClassName": "c"},
                    {"name": "b", "deviceClassName": "d"},
                ],
            },
            ["c", "d"],
            [1, 1],
            id="first available",
        ),
        pytest.param({"name": "r", "deviceClassName": "c"}, ["c"], [1], id="version v1beta1"),
    ],
)
def test_alternatives_of_a_request(
    request_: dict[str, Any], classes: list[str], counts: list[int]
) -> None:
    (found,) = device_claim(_claim(request_)).requests

    assert [one.device_class for one in found.alternatives] == classes
    assert [one.count for one in found.alternatives] == counts


def test_all_mode_selectors_and_admin_access_are_kept() -> None:
    asked = _exactly(allocationMode="All", selectors=CEL, adminAccess=True)

    (found,) = device_claim(_claim(asked)).requests

    (only,) = found.alternatives
    assert (only.all, only.admin_access) == (True, True)
    assert only.selectors == ("device.driver == 'd'",)


def test_shares_of_capacity_are_in_thousandths_rounded_up() -> None:
    asked = _exactly(capacity={"requests": {"cores": "1500m", "memory": "1Gi", "tiny": "1u"}})

    (found,) = device_claim(_claim(asked)).requests

    shares = {one.name: one.amount for one in found.alternatives[0].capacity}
    assert shares == {"cores": 1500, "memory": 2**30 * 1000, "tiny": 1}


def test_tolerations_of_effects_that_keep_nobody_away_are_dropped() -> None:
    asked = _exactly(
        tolerations=[
            {"key": "a", "operator": "Exists", "effect": "NoExecute"},
            {"key": "b", "operator": "Equal", "value": "x"},
            {"key": "c", "operator": "Exists", "effect": "None"},
        ]
    )

    (found,) = device_claim(_claim(asked)).requests

    assert found.alternatives[0].tolerations == (
        Toleration(key="a", operator=TolerationOperator.EXISTS, effect=Effect.NO_EXECUTE),
        Toleration(key="b", value="x"),
    )


def test_constraints_match_or_tell_apart() -> None:
    constraints = [
        {"matchAttribute": "d/numa", "requests": ["r"]},
        {"distinctAttribute": "d/nic"},
    ]

    found = device_claim(_claim(_exactly(), constraints=constraints)).constraints

    assert found == (
        DeviceConstraint(match_attribute="d/numa", requests=("r",)),
        DeviceConstraint(distinct_attribute="d/nic"),
    )


@pytest.mark.parametrize(
    ("selector", "terms"),
    [
        pytest.param(None, [""], id="everywhere"),
        pytest.param(
            {
                "nodeSelectorTerms": [
                    {"matchExpressions": [{"key": "zone", "operator": "In", "values": ["a"]}]}
                ]
            },
            ["zone In [a]"],
            id="labels",
        ),
        pytest.param(
            {
                "nodeSelectorTerms": [
                    {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n"]}]}
                ]
            },
            ["metadata.name In [n]"],
            id="one node",
        ),
        pytest.param({"nodeSelectorTerms": [{}]}, [str(NOWHERE)], id="nowhere"),
    ],
)
def test_an_allocated_claim_says_where_it_can_be_used(selector: object, terms: list[str]) -> None:
    found = device_claim(_claim(_exactly()), claim="ns/c", status=_status(selector, "u2", "u1"))

    assert [str(one) for one in found.allocated_terms] == terms
    assert found.reserved_for == ("u1", "u2")


@pytest.mark.parametrize(
    ("condition", "share", "terms"),
    [
        pytest.param({"type": "failed", "status": "True"}, "s", [str(NOWHERE)], id="failed"),
        pytest.param({"type": "failed", "status": "False"}, "s", [""], id="not failed"),
        pytest.param({"type": "ready", "status": "True"}, "s", [""], id="another condition"),
        pytest.param({"type": "failed", "status": "True"}, "t", [""], id="another share"),
    ],
)
def test_an_allocated_claim_whose_device_cannot_be_bound_is_of_no_use(
    condition: dict[str, str], share: str, terms: list[str]
) -> None:
    device = {"driver": "d", "pool": "p", "device": "a"}
    given = {**device, "shareID": share, "bindingFailureConditions": ["failed"]}
    given["bindingConditions"] = ["ready"]
    document = {
        "allocation": {"devices": {"results": [given]}},
        "devices": [{**device, "shareID": "s", "conditions": [condition]}],
    }
    status = from_document(document, ResourceClaimObjectStatus)

    found = device_claim(_claim(_exactly()), claim="ns/c", status=status)

    assert [str(one) for one in found.allocated_terms] == terms


def test_a_claim_without_an_allocation_is_reserved_for_nobody() -> None:
    found = device_claim(_claim(_exactly()), claim="ns/c", status=ResourceClaimObjectStatus())

    assert (found.allocated_terms, found.reserved_for) == ((), ())


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        pytest.param(_claim({"name": "r", "exactly": {}}), "no device class", id="no class"),
        pytest.param(_claim({"exactly": {"deviceClassName": "c"}}), "no name", id="no name"),
        pytest.param(_claim(_exactly(count=0)), "below 1", id="no device"),
        pytest.param(_claim(_exactly(allocationMode="Some")), "neither", id="mode"),
        pytest.param(_claim(_exactly(selectors=[{}])), "other than CEL", id="selector"),
        pytest.param(_claim(_exactly(), constraints=[{}]), "neither or both", id="constraint"),
        pytest.param(
            _claim(_exactly(tolerations=[{"operator": "Gt"}])), "neither Equal", id="toleration"
        ),
        pytest.param(
            _claim(_exactly(capacity={"requests": {"m": "-1"}})), "negative", id="capacity"
        ),
    ],
)
def test_what_is_not_understood_is_refused(spec: ResourceClaimSpec, message: str) -> None:
    with pytest.raises(InvalidRequest, match=message):
        device_claim(spec)


def test_a_class_has_its_selectors() -> None:
    given = from_document({"metadata": {"name": "gpu"}, "spec": {"selectors": CEL}}, DeviceClass)

    assert device_class(given).selectors == ("device.driver == 'd'",)
