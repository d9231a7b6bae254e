"""What a dump never keeps, and what it must."""

from typing import Any

import pytest

from libs.kube.dump.redaction import Keeping, redacted

SECRET = "geheim"  # what must not be found again
LONG = SECRET + "x" * 1024

CONTAINER: dict[str, Any] = {
    "name": "main",
    "image": "web:1",
    "command": ["run", SECRET],
    "args": [SECRET],
    "env": [{"name": "PASSWORD", "value": SECRET}],
    "envFrom": [{"secretRef": {"name": "kept-nowhere"}}],
    "resources": {"requests": {"cpu": "1"}},
    "ports": [{"containerPort": 80}],
    "livenessProbe": {"exec": {"command": [SECRET]}, "periodSeconds": 5},
    "readinessProbe": {"httpGet": {"port": 80, "httpHeaders": [{"name": "A", "value": SECRET}]}},
    "lifecycle": {"preStop": {"exec": {"command": ["sh", SECRET]}}},
}
POD_SPEC: dict[str, Any] = {
    "containers": [CONTAINER],
    "initContainers": [{**CONTAINER, "name": "first", "restartPolicy": "Always"}],
    "nodeSelector": {"disk": "ssd"},
    "tolerations": [{"operator": "Exists"}],
}
METADATA: dict[str, Any] = {
    "name": "web",
    "uid": "u",
    "annotations": {
        "kubectl.kubernetes.io/last-applied-configuration": SECRET,
        "karpenter.sh/do-not-disrupt": "true",
        "long": LONG,
    },
    "managedFields": [{"manager": SECRET}],
}
TEMPLATE = {"metadata": {**METADATA, "name": ""}, "spec": POD_SPEC}


def an_object(kind: str, **members: Any) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": kind, "metadata": METADATA, **members}


ALL = [
    pytest.param(an_object("Secret", type="Opaque", data={"a": SECRET}), id="secret"),
    pytest.param(an_object("Secret", stringData={"a": SECRET}), id="secret in the making"),
    pytest.param(an_object("ConfigMap", data={"a": SECRET}), id="config map"),
    pytest.param(an_object("Pod", spec=POD_SPEC), id="pod"),
    pytest.param(
        an_object(
            "Pod",
            spec=POD_SPEC,
            status={
                "containerStatuses": [
                    {"name": "main", "lastState": {"terminated": {"message": SECRET}}},
                    {"name": "other", "state": {"waiting": {"message": SECRET}}},
                ]
            },
        ),
        id="last words of a container",
    ),
    pytest.param(an_object("Deployment", spec={"template": TEMPLATE}), id="deployment"),
    pytest.param(
        an_object("CronJob", spec={"jobTemplate": {"spec": {"template": TEMPLATE}}}), id="cron job"
    ),
    pytest.param(an_object("PodTemplate", template=TEMPLATE), id="pod template"),
    pytest.param(
        an_object("ControllerRevision", data={"spec": {"template": TEMPLATE}}), id="revision"
    ),
    pytest.param(an_object("EC2NodeClass", spec={"userData": SECRET}), id="user data"),
]


@pytest.mark.parametrize("document", ALL)
def test_no_secret_is_kept(document: dict[str, Any]) -> None:
    assert SECRET not in repr(redacted(document))


@pytest.mark.parametrize("document", ALL)
def test_doing_it_twice_is_doing_it_once(document: dict[str, Any]) -> None:
    once = redacted(document)

    assert redacted(once) == once


@pytest.mark.parametrize("document", ALL)
def test_what_is_given_stays_as_it_is(document: dict[str, Any]) -> None:
    before = repr(document)

    redacted(document)

    assert repr(document) == before


def test_what_decides_where_a_pod_may_run_is_kept() -> None:
    found = redacted(an_object("Pod", spec=POD_SPEC, status={"phase": "Running"}))

    assert found["metadata"]["annotations"] == {"karpenter.sh/do-not-disrupt": "true"}
    assert found["status"] == {"phase": "Running"}
    spec = found["spec"]
    assert (spec["nodeSelector"], spec["tolerations"]) == (
        {"disk": "ssd"},
        [{"operator": "Exists"}],
    )
    (sidecar,) = spec["initContainers"]
    assert sidecar["restartPolicy"] == "Always"
    (container,) = spec["containers"]
    assert container["resources"] == {"requests": {"cpu": "1"}}
    assert container["ports"] == [{"containerPort": 80}]
    assert container["livenessProbe"]["periodSeconds"] == 5


def test_more_is_kept_where_that_is_wanted_but_never_data_of_secrets() -> None:
    whole = Keeping(managed_fields=True, containers=True)

    assert redacted(an_object("Pod", spec=POD_SPEC), whole) == an_object("Pod", spec=POD_SPEC)
    assert "data" in redacted(an_object("ConfigMap", data={"a": "b"}), whole)
    assert "data" not in redacted(an_object("Secret", data={"a": "b"}), whole)


def test_managed_fields_may_be_kept_alone() -> None:
    found = redacted(an_object("Pod", spec=POD_SPEC), Keeping(managed_fields=True))

    assert found["metadata"]["managedFields"] == METADATA["managedFields"]
    assert "env" not in found["spec"]["containers"][0]
