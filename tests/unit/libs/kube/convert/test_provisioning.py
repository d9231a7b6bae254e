"""ProvisioningRequests as gangs."""

from typing import Any

import pytest

from libs.domain.errors import InvalidRequest
from libs.kube.convert.provisioning import ATOMIC, CHECK_CAPACITY, request_as_gang
from libs.kube.objects.decoding import from_document
from libs.kube.objects.provisioning import ProvisioningRequest


def a_request(name: str = ATOMIC, counts: tuple[int, ...] = (2, 3), *done: str) -> Any:
    sets = [{"podTemplateRef": {"name": "t"}, "count": count} for count in counts]
    return from_document(
        {
            "metadata": {"name": "job", "namespace": "shop"},
            "spec": {"provisioningClassName": name, "podSets": sets},
            "status": {"conditions": [{"type": one, "status": "True"} for one in done]},
        },
        ProvisioningRequest,
    )


@pytest.mark.parametrize(
    ("request_", "members", "existing_only"),
    [
        pytest.param(a_request(), 5, False, id="open"),
        pytest.param(a_request(ATOMIC, (1,), "Accepted"), 1, False, id="accepted"),
        pytest.param(a_request(CHECK_CAPACITY), 5, True, id="a check of capacity"),
        pytest.param(a_request(CHECK_CAPACITY, (2,), "Provisioned"), 0, True, id="a granted check"),
    ],
)
def test_all_pods_of_a_request_are_a_gang(
    request_: ProvisioningRequest, members: int, existing_only: bool
) -> None:
    gang = request_as_gang(request_)

    assert gang is not None
    assert gang.key == "shop/job (ProvisioningRequest)"
    assert (gang.min_members, gang.existing_only) == (members, existing_only)


@pytest.mark.parametrize(
    "request_",
    [
        pytest.param(a_request(ATOMIC, (1,), "Provisioned"), id="granted"),
        pytest.param(a_request(ATOMIC, (1,), "Failed"), id="failed"),
        pytest.param(a_request(ATOMIC, (1,), "Provisioned", "BookingExpired"), id="expired"),
        pytest.param(a_request("queued.example.com"), id="another class"),
    ],
)
def test_what_is_over_or_not_ours_is_no_gang(request_: ProvisioningRequest) -> None:
    assert request_as_gang(request_) is None


@pytest.mark.parametrize(
    ("counts", "field"),
    [
        pytest.param((), "spec.podSets", id="no sets"),
        pytest.param((1,) * 33, "spec.podSets", id="too many sets"),
        pytest.param((1, 0), r"spec.podSets\[1\].count", id="no pods"),
        pytest.param((-1,), r"spec.podSets\[0\].count", id="less than none"),
        pytest.param((2**31 - 1,), r"spec.podSets\[0\].count", id="absurdly many"),
    ],
)
def test_a_request_that_asks_for_nonsense_is_refused_by_its_field(
    counts: tuple[int, ...], field: str
) -> None:
    with pytest.raises(InvalidRequest, match=field):
        request_as_gang(a_request(ATOMIC, counts))
