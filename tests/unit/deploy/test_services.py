"""What must hold of every service's manifests."""

import importlib
import re
from typing import Any

import pytest
from google.protobuf import descriptor_pool

from libs.runtime.authorization import parse_table
from libs.runtime.runtime_settings import RuntimeSettings
from libs.runtime.settings import load
from tests.unit.deploy.kustomize import Object, documents
from tests.unit.deploy.manifests import (
    DEPLOY,
    ROOT,
    SERVICES,
    container,
    environment,
    of_kind,
    pod,
)

GRPC_PORT = 9000

CONTRACTS = ("disruption", "lifecycle", "provider", "snapshot", "solver", "watcher")

ELECTED = ("watcher", "disruption", "lifecycle")


@pytest.fixture(autouse=True, scope="module")
def contracts() -> None:
    for area in CONTRACTS:
        importlib.import_module(f"joiner.{area}.v1.{area}_pb2")


@pytest.mark.parametrize("service", SERVICES)
def test_the_argument_picks_a_package_that_can_be_run(service: str) -> None:
    (argument,) = container(service)["args"]

    assert argument == f"services.{service.replace('-', '_')}"
    assert (ROOT / argument.replace(".", "/")).is_dir()


@pytest.mark.parametrize("service", SERVICES)
def test_a_pod_may_do_nothing_on_its_node(service: str) -> None:
    security = container(service)["securityContext"]

    assert pod(service)["securityContext"]["runAsNonRoot"] is True
    assert security == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }


@pytest.mark.parametrize("service", SERVICES)
def test_a_pod_stops_within_its_grace_period(service: str) -> None:
    settings, _ = _settings(service)

    assert pod(service)["terminationGracePeriodSeconds"] > settings.grace_period.total_seconds()


@pytest.mark.parametrize("service", SERVICES)
def test_a_pod_gets_no_variables_of_other_services(service: str) -> None:
    assert pod(service)["enableServiceLinks"] is False


@pytest.mark.parametrize("service", SERVICES)
def test_probes_ask_the_probe_listener(service: str) -> None:
    settings, _ = _settings(service)
    ports = {one["name"]: one["containerPort"] for one in container(service)["ports"]}
    live, ready = container(service)["livenessProbe"], container(service)["readinessProbe"]

    assert settings.probe_listen == f"0.0.0.0:{ports['probe']}"
    assert settings.listen == f"0.0.0.0:{ports['grpc']}"
    assert live["httpGet"] == {"path": "/healthz", "port": "probe"}
    assert ready["httpGet"] == {"path": "/readyz", "port": "probe"}


@pytest.mark.parametrize("service", SERVICES)
def test_memory_is_bounded_and_computing_is_not(service: str) -> None:
    resources = container(service)["resources"]

    assert set(resources["requests"]) == {"cpu", "memory"}
    assert set(resources["limits"]) == {"memory"}


@pytest.mark.parametrize("service", SERVICES)
def test_settings_are_ones_that_the_service_has(service: str) -> None:
    settings, own = _settings(service)

    assert settings.tls_dir is not None
    assert own is not None


@pytest.mark.parametrize("service", ["solver", "disruption"])
def test_the_home_cluster_is_taken_from_whom_the_watchers_certificate_names(service: str) -> None:
    _, own = _settings(service)

    assert own.watcher_identity == of_kind("Certificate")["joiner-watcher"]["spec"]["dnsNames"][0]


@pytest.mark.parametrize("service", ELECTED)
def test_candidates_compete_for_the_lease_that_their_role_names(service: str) -> None:
    _, own = _settings(service)
    (variable,) = [
        one for one in container(service)["env"] if one["name"] == "JOINER_CFG_LEASE_NAMESPACE"
    ]

    assert own.lease_name == f"joiner-{service}"
    assert variable["valueFrom"] == {"fieldRef": {"fieldPath": "metadata.namespace"}}


@pytest.mark.parametrize("service", SERVICES)
def test_addresses_in_settings_are_those_of_our_services(service: str) -> None:
    named = re.findall(r"(joiner-[a-z-]+):(\d+)", " ".join(environment(service).values()))

    assert {(name, int(port)) for name, port in named} <= {
        (name, one["spec"]["ports"][0]["port"]) for name, one in of_kind("Service").items()
    }


@pytest.mark.parametrize("service", SERVICES)
def test_the_certificate_begins_with_the_identity_and_covers_every_name(service: str) -> None:
    secrets = [one["secret"]["secretName"] for one in pod(service)["volumes"] if "secret" in one]
    certificate = of_kind("Certificate")[f"joiner-{service}"]["spec"]
    names = {
        name
        for name, one in of_kind("Service").items()
        if one["spec"]["selector"] == {"app.kubernetes.io/name": f"joiner-{service}"}
    }

    assert secrets == [certificate["secretName"]]
    assert certificate["dnsNames"][0] == f"joiner-{service}"
    assert set(certificate["dnsNames"]) == names


@pytest.mark.parametrize("service", ["solver", "disruption"])
def test_snapshots_are_pushed_to_every_replica_ready_or_not(service: str) -> None:
    sinks = of_kind("Service")[f"joiner-{service}-sinks"]["spec"]

    assert sinks["clusterIP"] == "None"
    assert sinks["publishNotReadyAddresses"] is True


def test_the_leading_lifecycle_can_be_found_among_its_replicas() -> None:
    assert of_kind("Service")["joiner-lifecycle"]["spec"]["clusterIP"] == "None"


@pytest.mark.parametrize("name", of_kind("Service"))
def test_a_service_selects_pods_and_its_port_exists(name: str) -> None:
    spec = of_kind("Service")[name]["spec"]
    chosen = [
        one
        for one in of_kind("Deployment").values()
        if spec["selector"].items() <= one["spec"]["template"]["metadata"]["labels"].items()
    ]

    assert len(chosen) == 1
    assert [one["port"] for one in spec["ports"]] == [GRPC_PORT]


@pytest.mark.parametrize("name", of_kind("Service"))
def test_variables_of_a_service_cannot_be_taken_for_settings(name: str) -> None:
    assert not name.startswith("joiner-cfg")


@pytest.mark.parametrize("service", [one for one in SERVICES if one != "provider-kwok"])
def test_a_drain_takes_one_replica_at_a_time(service: str) -> None:
    budget = of_kind("PodDisruptionBudget")[f"joiner-{service}"]["spec"]

    assert of_kind("Deployment")[f"joiner-{service}"]["spec"]["replicas"] == 2
    assert budget["maxUnavailable"] == 1


class TestRights:
    def test_only_the_solver_holds_no_token(self) -> None:
        without = [one for one in SERVICES if not pod(one)["automountServiceAccountToken"]]

        assert without == ["solver"]
        assert _rules("solver") == []

    def test_the_watcher_only_reads_but_for_its_lease(self) -> None:
        assert _writes(_rules("watcher")) == {("leases", "create"), ("leases", "update")}

    def test_disruption_knows_its_lease_only(self) -> None:
        assert {name for rule in _rules("disruption") for name in rule["resources"]} == {"leases"}

    def test_the_provider_writes_its_nodes_only(self) -> None:
        assert _writes(_rules("provider-kwok")) == {
            ("nodes", "create"),
            ("nodes", "delete"),
        }

    def test_nobody_may_do_everything(self) -> None:
        rules = [rule for service in SERVICES for rule in _rules(service)]

        assert not any(
            "*" in (*one["apiGroups"], *one["resources"], *one["verbs"]) for one in rules
        )

    @pytest.mark.parametrize("service", ELECTED)
    def test_a_candidate_may_take_its_own_lease_only(self, service: str) -> None:
        named = [one for one in _rules(service) if "update" in one["verbs"]]

        leases = [one for one in named if one["resources"] == ["leases"]]
        assert [one["resourceNames"] for one in leases] == [[f"joiner-{service}"]]

    @pytest.mark.parametrize("service", [one for one in SERVICES if one != "solver"])
    def test_every_right_is_of_a_kind_that_exists(self, service: str) -> None:
        kinds = {
            (crd["spec"]["group"], crd["spec"]["names"]["plural"])
            for file in (DEPLOY / "crds").glob("*_*.yaml")
            for crd in documents(file)
        }
        own = {
            (group, name.partition("/")[0])
            for rule in _rules(service)
            for group in rule["apiGroups"]
            for name in rule["resources"]
            if group.startswith(("karpenter", "autoscaling.x"))
        }

        assert own <= kinds


class TestAuthorization:
    def test_every_method_exists(self) -> None:
        pool = descriptor_pool.Default()

        for methods in _table().rows.values():
            for one in methods:
                _, service, method = one.split("/")
                if service.startswith("joiner."):
                    found: Any = pool.FindServiceByName(service)
                    assert method == "*" or method in found.methods_by_name, one

    def test_every_identity_is_a_service_of_ours_or_the_reader(self) -> None:
        identities = {f"joiner-{service}" for service in SERVICES}

        assert set(_table().rows) - {"*", "joiner-reader"} <= identities

    @pytest.mark.parametrize(
        ("identity", "method", "permitted"),
        [
            ("joiner-watcher", "/joiner.lifecycle.v1.LifecycleService/ApplyPlan", True),
            ("joiner-watcher", "/joiner.lifecycle.v1.LifecycleService/ExecuteCommand", False),
            ("joiner-disruption", "/joiner.lifecycle.v1.LifecycleService/ExecuteCommand", True),
            ("joiner-disruption", "/joiner.provider.v1.CloudProviderService/Delete", False),
            ("joiner-lifecycle", "/joiner.provider.v1.CloudProviderService/Delete", True),
            ("joiner-reader", "/joiner.solver.v1.SolverService/Explain", True),
            ("joiner-reader", "/joiner.lifecycle.v1.LifecycleService/Evict", False),
            ("joiner-reader", "/joiner.snapshot.v1.SnapshotSinkService/PushSnapshots", False),
            ("stranger", "/joiner.solver.v1.SolverService/Solve", False),
            ("stranger", "/grpc.health.v1.Health/Check", True),
        ],
    )
    def test_who_may_call_what(self, identity: str, method: str, permitted: bool) -> None:
        assert _table().permits(identity, method) is permitted


def _table() -> Any:
    return parse_table(of_kind("ConfigMap")["joiner-authorization"]["data"]["table.yaml"])


def _settings(service: str) -> tuple[RuntimeSettings, Any]:
    package = f"services.{service.replace('-', '_')}"
    try:
        own = importlib.import_module(f"{package}.config").Settings
    except ModuleNotFoundError as error:
        pytest.skip(f"{package} has no settings yet: {error}")
    return load(environment(service), RuntimeSettings, own)


def _rules(service: str) -> list[Object]:
    subject = {
        "kind": "ServiceAccount",
        "name": f"joiner-{service}",
        "namespace": "joiner-system",
    }
    return [
        rule
        for kind in ("Role", "ClusterRole")
        for binding in of_kind(f"{kind}Binding").values()
        if subject in binding["subjects"]
        for rule in of_kind(kind)[binding["roleRef"]["name"]]["rules"]
    ]


def _writes(rules: list[Object]) -> set[tuple[str, str]]:
    return {
        (name, verb)
        for rule in rules
        for name in rule["resources"]
        for verb in rule["verbs"]
        if verb not in ("get", "list", "watch")
    }
