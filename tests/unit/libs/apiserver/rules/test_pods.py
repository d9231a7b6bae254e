from typing import Any

import pytest

from libs.apiserver.rules import pod_warnings, pods, podspec
from libs.apiserver.types import codec


def pod(**spec: Any) -> dict[str, Any]:
    """Return a pod with defaults, of one container `c` unless told."""
    sent = {
        "metadata": {"name": "p"},
        "spec": {"containers": [{"name": "c", "image": "x"}], **spec},
    }
    decoded: dict[str, Any] = codec.decode("core/v1.Pod", sent, codec.Decoding())
    podspec.default_pod(decoded["spec"])
    return decoded


def container(**fields: Any) -> list[dict[str, Any]]:
    return [{"name": "c", "image": "x", **fields}]


@pytest.mark.parametrize(
    ("spec", "field", "message"),
    [
        pytest.param(
            {"containers": container(ports=[{"containerPort": 80, "name": "UPPER"}])},
            "spec.containers[0].ports[0].name",
            'Invalid value: "UPPER": must contain only alpha-numeric characters (a-z, 0-9), and '
            "hyphens (-)",
            id="port name",
        ),
        pytest.param(
            {"containers": container(readinessProbe={})},
            "spec.containers[0].readinessProbe",
            "Required value: must specify a handler type",
            id="probe without handler",
        ),
        pytest.param(
            {
                "containers": container(
                    livenessProbe={"exec": {"command": ["a"]}, "successThreshold": 2}
                )
            },
            "spec.containers[0].livenessProbe.successThreshold",
            "Invalid value: 2: must be 1",
            id="liveness needs one success",
        ),
        pytest.param(
            {"containers": container(volumeMounts=[{"name": "v", "mountPath": "/v"}])},
            "spec.containers[0].volumeMounts[0].name",
            'Not found: "v"',
            id="mount of no volume",
        ),
        pytest.param(
            {"volumes": [{"name": "v", "hostPath": {"path": "/a/../b"}}]},
            "spec.volumes[0].hostPath.path",
            "Invalid value: \"/a/../b\": must not contain '..'",
            id="path that leaves its directory",
        ),
        pytest.param(
            {"dnsPolicy": "None"},
            "spec.dnsConfig",
            "Required value: must provide `dnsConfig` when `dnsPolicy` is None",
            id="no dns without servers",
        ),
        pytest.param(
            {"hostAliases": [{"ip": "01.2.3.4"}]},
            "spec.hostAliases[0].ip",
            'Invalid value: "01.2.3.4": must not have leading 0s',
            id="address of an old form",
        ),
        pytest.param(
            {"securityContext": {"runAsUser": -1}},
            "spec.securityContext.runAsUser",
            "Invalid value: -1: must be between 0 and 2147483647, inclusive",
            id="user out of range",
        ),
        pytest.param(
            {
                "resources": {"requests": {"cpu": "1"}},
                "containers": container(resources={"requests": {"cpu": "2"}}),
            },
            "spec.resources.requests[cpu]",
            'Invalid value: "1": must be greater than or equal to aggregate container requests '
            "of 2",
            id="containers ask for more than their pod",
        ),
        pytest.param(
            {"initContainers": container(readinessProbe={"exec": {"command": ["a"]}})},
            "spec.initContainers[0].readinessProbe",
            "Forbidden: may not be set for init containers without restartPolicy=Always",
            id="probe of an initial container",
        ),
    ],
)
def test_a_pod_is_refused(spec: dict[str, Any], field: str, message: str) -> None:
    found = {(one.field, one.message) for one in pods.validate_pod(pod(**spec))}

    assert (field, message) in found


def test_a_plain_pod_is_fine() -> None:
    assert pods.validate_pod(pod()) == []


@pytest.mark.parametrize(
    ("image", "policy"),
    [
        ("x", "Always"),
        ("x:latest", "Always"),
        ("host.example:5000/x", "Always"),
        ("x:v1", "IfNotPresent"),
        ("x@sha256:" + "a" * 64, "IfNotPresent"),
        ("Bad Name!", "IfNotPresent"),
    ],
)
def test_the_tag_decides_when_an_image_is_pulled(image: str, policy: str) -> None:
    assert podspec.pull_policy(image) == policy


def test_requests_of_a_pod_follow_from_its_containers_and_then_its_limits() -> None:
    found = pod(
        resources={"limits": {"cpu": "3", "memory": "1Gi"}},
        containers=container(resources={"requests": {"cpu": "1"}}),
        initContainers=[{"name": "i", "image": "x", "resources": {"requests": {"cpu": "2"}}}],
    )

    assert found["spec"]["resources"]["requests"] == {"cpu": "2", "memory": "1Gi"}


def test_odd_but_valid_fields_are_warned_of() -> None:
    spec = pod(
        nodeSelector={"beta.kubernetes.io/os": "linux"},
        terminationGracePeriodSeconds=-1,
        containers=container(env=[{"name": "A", "value": "1"}, {"name": "A", "value": "2"}]),
    )["spec"]

    assert list(pod_warnings.warnings(spec, "spec")) == [
        'spec.nodeSelector[beta.kubernetes.io/os]: deprecated since v1.14; use "kubernetes.io/os" '
        "instead",
        'spec.containers[0].env[1]: hides previous definition of "A", which may be dropped when '
        "using apply",
        "spec.terminationGracePeriodSeconds: must be >= 0; negative values are invalid and will be "
        "treated as 1",
    ]
