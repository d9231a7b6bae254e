import json
from typing import Any

import pytest

from libs.catalogues import aws, file, kwok, named
from libs.domain import labels as keys
from libs.domain.capacity import InstanceType
from libs.domain.errors import InvalidRequest


def _values(kind: InstanceType, key: str) -> frozenset[str]:
    found = kind.requirements.get(key)
    assert found is not None
    return found.values


@pytest.mark.parametrize(
    ("name", "on_demand", "spot", "pods"),
    [
        pytest.param("c-1x-amd64-linux", 27_147_484, 19_003_239, 16, id="c-1x"),
        pytest.param("m-1x-arm64-windows", 33_589_935, 23_512_954, 16, id="m-1x"),
        pytest.param("s-8x-amd64-linux", 234_359_738, 164_051_817, 128, id="s-8x"),
        pytest.param("m-256x-amd64-linux", 8_599_023_256, 6_019_316_279, 1024, id="m-256x"),
    ],
)
def test_kwok_types_have_the_prices_and_pods_of_the_reference(
    name: str, on_demand: int, spot: int, pods: int
) -> None:
    kind = {item.name: item for item in kwok.instance_types()}[name]

    prices = {str(one.capacity_type): one.price_nanos_per_hour for one in kind.offerings}

    assert prices == {"on-demand": on_demand, "spot": spot}
    assert kind.capacity.get("pods") == pods


def test_kwok_catalogue_has_144_types_of_8_offerings() -> None:
    types = kwok.instance_types()

    assert len(types) == 144
    assert {len(kind.offerings) for kind in types} == {8}
    assert _values(types[0], kwok.INSTANCE_FAMILY) == {"c"}


def test_aws_catalogue_has_every_type_with_labels_that_users_select() -> None:
    types = {kind.name: kind for kind in aws.instance_types()}

    gpu = types["g4dn.12xlarge"]

    assert len(types) == 1235
    assert _values(gpu, "karpenter.k8s.aws/instance-gpu-name") == {"t4"}
    assert _values(gpu, "karpenter.k8s.aws/instance-generation") == {"4"}
    assert gpu.capacity.get("nvidia.com/gpu") == 4
    assert not _values(types["m5.large"], "karpenter.k8s.aws/instance-gpu-name")
    assert types["m5.large"].capacity.get("pods") == 29
    assert types["m5.large"].overhead.get("cpu") == 70
    assert "us-east-1f" in _values(types["m5.large"], keys.ZONE)


def _document(**changes: Any) -> bytes:
    offering: dict[str, Any] = {
        "Price": 0.5,
        "Available": False,
        "Requirements": [
            {"key": keys.ZONE, "operator": "In", "values": ["z1"]},
            {"key": keys.CAPACITY_TYPE, "operator": "In", "values": ["spot"]},
        ],
    }
    entry: dict[str, Any] = {
        "name": "big.2xlarge",
        "architecture": "amd64",
        "operatingSystems": ["linux"],
        "resources": {"cpu": "8", "memory": "32Gi"},
        "offerings": [offering],
    }
    return json.dumps([entry | changes]).encode()


def test_file_types_get_default_pods_and_the_size_of_their_name() -> None:
    (kind,) = file.parse(_document())

    assert kind.capacity.get("pods") == 110
    assert _values(kind, kwok.INSTANCE_SIZE) == {"2xlarge"}
    assert kind.offerings[0].price_nanos_per_hour == 500_000_000
    assert kind.offerings[0].available


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        pytest.param({"name": ""}, "[0].name: a text is needed", id="no name"),
        pytest.param(
            {"offerings": [{"Price": -1, "Requirements": []}]},
            "[0].offerings[0].Requirements: one value of topology.kubernetes.io/zone is needed",
            id="no zone",
        ),
        pytest.param(
            {"offerings": [json.loads(_document())[0]["offerings"][0] | {"Price": -1}]},
            "[0].offerings[0].Price: -1 is not a price",
            id="negative price",
        ),
        pytest.param(
            {"offerings": [json.loads(_document())[0]["offerings"][0] | {"Price": "cheap"}]},
            "[0].offerings[0].Price: 'cheap' is not a number",
            id="price is text",
        ),
        pytest.param({"resources": {"cpu": "many"}}, "[0].resources.cpu", id="bad quantity"),
        pytest.param({"resources": {"cpu": "-1"}}, "[0].resources.cpu", id="negative quantity"),
    ],
)
def test_a_broken_file_is_refused_with_the_field_path(
    changes: dict[str, Any], message: str
) -> None:
    with pytest.raises(InvalidRequest) as caught:
        file.parse(_document(**changes))

    assert str(caught.value).startswith(message)


def test_an_unknown_name_says_what_there_is() -> None:
    with pytest.raises(InvalidRequest, match="neither kwok nor aws nor a file"):
        named("azure")
