"""What namespaces are given, how cluster roles are added up, what quotas count."""

from typing import Any

import pytest

from services.simulator.core.api.access.rbac import CLUSTER_ROLES
from services.simulator.core.client import Client
from services.simulator.core.controllers.accounts import NO_AUTHORITY, account_controller
from services.simulator.core.controllers.quotas import QuotaController
from services.simulator.core.controllers.role_aggregation import role_aggregation_controller
from tests.unit.services.simulator.cluster import START, Cluster, a_pod


@pytest.mark.parametrize(("authority", "shown"), [("", NO_AUTHORITY), ("PEM", "PEM")])
def test_a_namespace_has_an_account_and_whom_to_trust(authority: str, shown: str) -> None:
    api = Cluster().server.direct
    controller = account_controller(Client(api), authority)
    controller.step(START)
    api.create("namespaces", {"metadata": {"name": "n"}})
    controller.step(START)
    api.delete("serviceaccounts", "default", "n")
    trusted = api.get("configmaps", "kube-root-ca.crt", "n")
    api.update("configmaps", {**trusted, "data": {"ca.crt": "forged"}})
    controller.step(START)

    assert api.find("serviceaccounts", "default", "n") is not None
    assert api.get("configmaps", "kube-root-ca.crt", "n")["data"] == {"ca.crt": shown}
    assert api.find("serviceaccounts", "default", "default") is not None


def test_a_namespace_that_goes_is_given_nothing() -> None:
    api = Cluster().server.direct
    api.create("namespaces", {"metadata": {"name": "n"}})
    api.delete("namespaces", "n")
    outcome = account_controller(Client(api)).step(START)

    assert api.find("serviceaccounts", "default", "n") is None
    assert not outcome.refusals


def a_role(name: str, *verbs: str, **more: Any) -> dict[str, Any]:
    labels = {"part": "yes"} if verbs else {}
    rules = [{"verbs": [verb], "apiGroups": [""], "resources": ["pods"]} for verb in verbs]
    return {"metadata": {"name": name, "labels": labels}, "rules": rules, **more}


def test_a_role_is_the_sum_of_those_it_selects() -> None:
    api = Cluster().server.direct
    controller = role_aggregation_controller(Client(api))
    selectors = [{"matchLabels": {"part": "yes"}}]
    api.create(CLUSTER_ROLES, a_role("sum", aggregationRule={"clusterRoleSelectors": selectors}))
    api.create(CLUSTER_ROLES, a_role("b", "list", "get"))
    api.create(CLUSTER_ROLES, a_role("a", "get"))
    controller.step(START)
    both = [rule["verbs"] for rule in api.get(CLUSTER_ROLES, "sum")["rules"]]
    api.delete(CLUSTER_ROLES, "b")
    controller.step(START)

    assert both == [["get"], ["list"]]
    assert [rule["verbs"] for rule in api.get(CLUSTER_ROLES, "sum")["rules"]] == [["get"]]


def test_a_quota_is_counted_when_it_is_new_and_when_something_goes() -> None:
    server = Cluster().server
    api, controller = server.direct, QuotaController(Client(server.direct), server.store.resources)
    api.create("pods", a_pod("p"))
    hard = {"pods": "2", "count/configmaps": "1"}
    meta = {"name": "q", "namespace": "default"}
    api.create("resourcequotas", {"metadata": meta, "spec": {"hard": hard}})
    controller.step(START)
    before = api.get("resourcequotas", "q", "default")["status"]
    api.delete("pods", "p", "default")
    controller.step(START)

    assert before == {"hard": hard, "used": {"pods": "1", "count/configmaps": "0"}}
    assert api.get("resourcequotas", "q", "default")["status"]["used"]["pods"] == "0"


def test_counting_again_changes_nothing() -> None:
    server = Cluster().server
    api, controller = server.direct, QuotaController(Client(server.direct), server.store.resources)
    meta = {"name": "q", "namespace": "default"}
    api.create("resourcequotas", {"metadata": meta, "spec": {"hard": {"pods": "1"}}})
    controller.step(START)
    revision = api.revision
    controller.step(START)

    assert api.revision == revision
