"""Which pods count for default constraints, and which pods get them."""

from typing import Any

import pytest

from libs.cluster.state import StateOptions
from libs.domain.topology import TopologySpread
from tests.unit.libs.cluster.clusters import a_state, shape_of, taken
from tests.unit.libs.kube.manifests import Document, metadata

ZONE = "topology.kubernetes.io/zone"
SPREAD = TopologySpread(topology_key=ZONE)
OPTIONS = StateOptions(offline=True, default_spread=(SPREAD,))
LABELS = {"app": "web", "tier": "front", "hash": "1"}


def _pod(owner: str = "", labels: Document = LABELS, **spec: Any) -> Document:
    owners = []
    if owner:
        kind, version = owner, "v1" if owner == "ReplicationController" else "apps/v1"
        owners = [
            {"apiVersion": version, "kind": kind, "name": "web", "uid": "u", "controller": True}
        ]
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": metadata("pod", "shop", labels=labels, ownerReferences=owners),
        "spec": {"containers": [{"name": "main"}], **spec},
    }


def _service(selector: Document | None, name: str = "web", namespace: str = "shop") -> Document:
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": metadata(name, namespace),
        "spec": {"selector": selector},
    }


def _controller(kind: str, selector: Document) -> Document:
    version = "v1" if kind == "ReplicationController" else "apps/v1"
    return {
        "apiVersion": version,
        "kind": kind,
        "metadata": metadata("web", "shop"),
        "spec": {"selector": selector},
    }


def _spread(*documents: Document, options: StateOptions = OPTIONS) -> tuple[TopologySpread, ...]:
    return shape_of(taken(a_state(*documents, options=options)), "pod").topology_spread


def _selectors(*documents: Document) -> list[str]:
    return [str(one.selector) for one in _spread(*documents)]


@pytest.mark.parametrize(
    ("selectors", "found"),
    [
        pytest.param([{"app": "web"}], ["app In [web]"], id="one that matches"),
        pytest.param(
            [{"app": "web"}, {"tier": "front"}], ["app In [web], tier In [front]"], id="two"
        ),
        pytest.param([{"app": "web"}, {"app": "db"}], ["app In [web]"], id="one of two"),
        pytest.param([{"app": "web"}, {}], ["app In [web]"], id="one that selects all besides"),
        pytest.param([{}], [], id="one that selects all"),
        pytest.param([None], [], id="one without selector"),
        pytest.param([{"app": "db"}], [], id="one of other pods"),
        pytest.param([], [], id="none"),
    ],
)
def test_services_that_select_the_pod_say_which_pods_count(
    selectors: list[Document | None], found: list[str]
) -> None:
    services = [_service(one, f"s{number}") for number, one in enumerate(selectors)]

    assert _selectors(_pod(), *services) == found


def test_services_of_other_namespaces_say_nothing() -> None:
    assert _selectors(_pod(), _service({"app": "web"}, namespace="other")) == []


@pytest.mark.parametrize("kind", ["ReplicaSet", "StatefulSet", "Deployment"])
def test_the_controller_says_it_too_with_expressions(kind: str) -> None:
    expression = {"key": "hash", "operator": "In", "values": ["1"]}
    selector = {"matchLabels": {"tier": "front"}, "matchExpressions": [expression]}

    alone = _selectors(_pod(kind), _controller(kind, selector))
    both = _selectors(_pod(kind), _controller(kind, selector), _service({"app": "web"}))

    assert alone == ["hash In [1], tier In [front]"]
    assert both == ["app In [web], hash In [1], tier In [front]"]


def test_a_replication_controller_says_it_with_labels() -> None:
    controller = _controller("ReplicationController", {"app": "web"})

    assert _selectors(_pod("ReplicationController"), controller) == ["app In [web]"]


def test_owners_that_are_gone_or_of_other_kinds_say_nothing() -> None:
    job = _controller("ReplicaSet", {"matchLabels": {"app": "web"}})

    assert _selectors(_pod("ReplicaSet")) == []
    assert _selectors(_pod("DaemonSet"), job) == []


def test_an_illegible_controller_leaves_the_services() -> None:
    broken = _controller("ReplicaSet", {"matchExpressions": [{"key": "a", "operator": "Near"}]})

    assert _selectors(_pod("ReplicaSet"), broken, _service({"app": "web"})) == ["app In [web]"]


def test_a_service_and_a_controller_that_contradict_each_other_select_nobody() -> None:
    other = _controller("ReplicaSet", {"matchLabels": {"app": "db"}})

    (found,) = _spread(_pod("ReplicaSet"), other, _service({"app": "web"}))

    assert found.selector is not None
    assert not found.selector.matches(LABELS)


def test_a_pod_with_constraints_of_its_own_keeps_them() -> None:
    own = {"maxSkew": 3, "topologyKey": "rack", "whenUnsatisfiable": "ScheduleAnyway"}

    (found,) = _spread(_pod(topologySpreadConstraints=[own]), _service({"app": "web"}))

    assert found.topology_key == "rack"


def test_without_defaults_services_do_not_matter() -> None:
    assert _spread(_pod(), _service({"app": "web"}), options=StateOptions(offline=True)) == ()


def test_the_labels_that_count_are_carried_with_the_shape() -> None:
    snapshot = taken(a_state(_pod(), _service({"app": "web"}), options=OPTIONS))

    assert dict(shape_of(snapshot, "pod").labels) == {"app": "web"}


def test_what_selects_a_pod_may_come_and_go() -> None:
    state = a_state(_pod(), options=OPTIONS)
    before = shape_of(taken(state), "pod")

    from_service = a_state(_pod(), _service({"app": "web"}), options=OPTIONS)
    during = shape_of(taken(from_service), "pod").topology_spread
    from_service.remove("Service", "shop", "web")

    assert before.topology_spread == ()
    assert len(during) == 1
    assert shape_of(taken(from_service), "pod").topology_spread == ()
