import json
from pathlib import Path
from typing import Any

import pytest

from tests.unit.cli.command import (
    CLASS,
    NODE,
    OFFERING,
    POD,
    POOL,
    TYPE,
    joiner,
    with_members,
    written,
)

TEMPLATE = {"metadata": {"labels": {"app": "web"}}, "spec": POD["spec"]}
KWOK_CLASS = {
    "apiVersion": "karpenter.kwok.sh/v1alpha1",
    "kind": "KWOKNodeClass",
    "metadata": {"name": "default"},
}


def _workload(kind: str, api: str = "apps/v1", **spec: Any) -> dict[str, Any]:
    metadata = {"name": "web", "namespace": "shop"}
    spec = {"template": TEMPLATE, **spec}
    return {"apiVersion": api, "kind": kind, "metadata": metadata, "spec": spec}


def _pods(path: Path) -> tuple[int, dict[str, int]]:
    done = joiner("plan", "-f", path, "--format", "json")
    return done.code, {name: int(count) for name, count in json.loads(done.out)["pods"].items()}


def _counts(*, on_existing: int = 0, on_new: int = 0, unplaced: int = 0) -> dict[str, int]:
    waiting = on_existing + on_new + unplaced
    return {
        "waiting": waiting,
        "onExisting": on_existing,
        "onNew": on_new,
        "unplaced": unplaced,
    }


@pytest.mark.parametrize(
    ("objects", "code", "counts"),
    [
        pytest.param([], 0, _counts(), id="nothing"),
        pytest.param([NODE], 0, _counts(), id="no pods"),
        pytest.param([POD], 0, _counts(on_new=1), id="a pod"),
        pytest.param([POD, NODE], 0, _counts(on_existing=1), id="a node with room"),
        pytest.param([POD, POOL], 0, _counts(on_new=1), id="a pool"),
        pytest.param([POD, POOL, KWOK_CLASS], 0, _counts(on_new=1), id="a pool and its class"),
        pytest.param([_workload("Deployment", replicas=3)], 0, _counts(on_new=3), id="Deployment"),
        pytest.param([_workload("StatefulSet")], 0, _counts(on_new=1), id="StatefulSet"),
        pytest.param([_workload("Job", "batch/v1", parallelism=2)], 0, _counts(on_new=2), id="Job"),
        pytest.param([_workload("DaemonSet")], 0, _counts(), id="DaemonSet alone"),
        pytest.param(
            [with_members(POD, spec__nodeSelector={"team": "x"})],
            3,
            _counts(unplaced=1),
            id="label that nothing has",
        ),
        pytest.param(
            [
                with_members(
                    POD,
                    spec__volumes=[{"name": "v", "persistentVolumeClaim": {"claimName": "gone"}}],
                )
            ],
            3,
            _counts(unplaced=1),
            id="claim that is not there",
        ),
        pytest.param(
            [POD, with_members(POOL, spec__limits={"cpu": "0"})],
            3,
            _counts(unplaced=1),
            id="limits",
        ),
        pytest.param(
            [
                with_members(POD, metadata__uid="1", spec__schedulingGates=[{"name": "g"}]),
                with_members(
                    POD,
                    metadata__name="leaving",
                    metadata__uid="2",
                    metadata__deletionTimestamp="2026-01-01T00:00:00Z",
                ),
                with_members(
                    POD, metadata__name="done", metadata__uid="3", status={"phase": "Succeeded"}
                ),
                with_members(
                    POD, metadata__name="orphan", metadata__uid="4", spec__nodeName="gone"
                ),
            ],
            0,
            _counts(),
            id="pods that wait for nothing to be bought",
        ),
    ],
)
def test_every_waiting_pod_is_counted(
    tmp_path: Path, objects: list[dict[str, Any]], code: int, counts: dict[str, int]
) -> None:
    assert _pods(written(tmp_path, *objects)) == (code, counts)


@pytest.mark.parametrize(
    ("obj", "message"),
    [
        pytest.param(
            with_members(POD, spec__containers=[{"resources": {"requests": {"cpu": "-1"}}}]),
            'Pod "shop/web": spec.containers[0].resources.requests.cpu: ',
            id="negative request",
        ),
        pytest.param(
            with_members(POD, spec__tolerations=[{"key": "a", "operator": "Maybe"}]),
            "Pod \"shop/web\": spec.tolerations[0].operator: unknown operator 'Maybe'",
            id="unknown operator",
        ),
        pytest.param(
            with_members(POD, spec="x"),
            'Pod "shop/web": spec: expected `object`, got `string`',
            id="wrong type",
        ),
        pytest.param(
            with_members(POD, metadata={}), "Pod number 2: metadata.name: has no name", id="no name"
        ),
        pytest.param(with_members(POD, kind=None), 'object "web": kind: is missing', id="no kind"),
        pytest.param(
            with_members(_workload("Deployment"), spec__template__spec__priority="high"),
            'Deployment "shop/web": spec.template.spec.priority: expected',
            id="template",
        ),
        pytest.param(
            with_members(POOL, spec__template__spec={}),
            'NodePool "pool": spec.template.spec.nodeClassRef: names no node class',
            id="pool without a class",
        ),
        pytest.param(
            with_members(POOL, spec__template__spec={"nodeClassRef": CLASS, "expireAfter": "1y"}),
            "NodePool \"pool\": spec.template.spec.expireAfter: '1y' is not a duration",
            id="duration",
        ),
        pytest.param(
            with_members(POOL, spec__disruption={"budgets": [{"nodes": "200%"}]}),
            "NodePool \"pool\": spec.disruption.budgets[0].nodes: '200%' is neither",
            id="budget",
        ),
        pytest.param(
            with_members(POOL, spec__weight=-1),
            'NodePool "pool": spec.weight: -1 is negative',
            id="weight",
        ),
        pytest.param(
            with_members(NODE, status__allocatable={"cpu": "-1"}),
            'Node "n1": status.allocatable.cpu: ',
            id="node",
        ),
    ],
)
def test_bad_objects_are_named_with_file_and_field_and_the_rest_is_planned(
    tmp_path: Path, obj: dict[str, Any], message: str
) -> None:
    path = written(tmp_path, POD if obj["kind"] != "Pod" else NODE, obj)

    done = joiner("plan", "-f", path)

    assert done.code == 2
    assert "nodes, " in done.out
    [line] = [one for one in done.err.splitlines() if one.startswith("joiner: ")]
    assert line.startswith(f"joiner: {path}: ")
    assert message in line
    assert line.endswith("; it does not count")


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        pytest.param("[", ": not JSON: ", id="not JSON"),
        pytest.param("[" * 100_000, ": not JSON: ", id="nested"),
        pytest.param({}, ": a catalogue is a JSON array", id="no array"),
        pytest.param([TYPE, TYPE], '[1].name: instance type "small" comes twice', id="twice"),
        pytest.param(
            [with_members(TYPE, offerings=[])], "[0].offerings: a list of offerings", id="none"
        ),
        pytest.param(
            [with_members(TYPE, offerings=[with_members(OFFERING, Price=-1)])],
            "[0].offerings[0].Price: -1 is not a price",
            id="negative price",
        ),
        pytest.param(
            [
                with_members(
                    TYPE,
                    offerings=[with_members(OFFERING, Requirements=OFFERING["Requirements"][:1])],
                )
            ],
            "[0].offerings[0].Requirements: one value of topology.kubernetes.io/zone",
            id="no zone",
        ),
    ],
)
def test_bad_catalogues_end_with_their_file_and_field(
    tmp_path: Path, entries: object, message: str
) -> None:
    text = entries if isinstance(entries, str) else json.dumps(entries)
    catalogue = written(tmp_path, text, name="types.json")

    done = joiner("plan", "-f", written(tmp_path, POD), "--catalogue", catalogue)

    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"joiner: {catalogue}{message}")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        pytest.param(
            ["--catalogue", "azure"], "is neither kwok nor aws nor a file", id="catalogue"
        ),
        pytest.param(["--now", "yesterday"], "is not an RFC 3339 instant", id="instant"),
        pytest.param(["--now", "2026-01-01T00:00:00"], "has no offset", id="offset"),
        pytest.param(["--now", "0001-01-01T00:00:00+14:00"], "beyond all calendars", id="year 0"),
        pytest.param(["--format", "xml"], "--format", id="format"),
    ],
)
def test_bad_options_are_refused(tmp_path: Path, options: list[str], message: str) -> None:
    done = joiner("plan", "-f", written(tmp_path, POD), *options)

    assert (done.code, done.out) == (2, "")
    assert message in done.err


@pytest.mark.parametrize(
    ("objects", "note"),
    [
        pytest.param([], 'no NodePool in the input: one named "default"', id="assumed pool"),
        pytest.param(
            [_workload("Deployment", replicas=2)],
            'Deployment "shop/web" has no pods in the input: 2 pending assumed',
            id="assumed replicas",
        ),
        pytest.param([POD, POD], 'Pod "shop/web" is there twice; the later one counts', id="twice"),
        pytest.param(
            [{"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}}],
            "1 of v1 Secret left out: planning does not read that kind",
            id="foreign kind",
        ),
        pytest.param(
            [with_members(POD, spec__schedulingGates=[{"name": "g"}])],
            'not planned for: 1 pod with scheduling gate "g"',
            id="gates",
        ),
        pytest.param(
            [
                with_members(POD, spec__schedulingGates=[{"name": "a"}, {"name": "b"}]),
            ],
            'not planned for: 1 pod with scheduling gates "a", "b"',
            id="several gates",
        ),
        pytest.param(
            [with_members(POD, metadata__labels={"scheduling.x-k8s.io/pod-group": "job"})],
            'PodGroup "shop/job" is not in the input: its 1 pod may be placed in part',
            id="a group that is only a label",
        ),
        pytest.param(
            [with_members(POD, spec__workloadRef={"name": "job", "podGroup": "workers"})],
            'Workload "shop/job" is not looked at, Kubernetes 1.36 has PodGroups: '
            "its 1 pod may be placed in part",
            id="a group of a Workload",
        ),
        pytest.param(
            [
                {
                    "apiVersion": "scheduling.x-k8s.io/v1alpha1",
                    "kind": "PodGroup",
                    "metadata": {"name": "job", "namespace": "shop"},
                    "spec": {"minMember": 2, "minResources": {"cpu": "4"}},
                }
            ],
            'not looked at: spec.minResources of PodGroup "shop/job"; what pods request counts',
            id="a field of a group that nothing is planned by",
        ),
        pytest.param(
            [with_members(POD, spec__nodeName="gone")],
            'Pod "shop/web" set aside: spec.nodeName: node "gone" does not exist',
            id="orphan",
        ),
        pytest.param(
            [
                with_members(
                    POOL,
                    spec__disruption={
                        "budgets": [
                            {"nodes": "0", "schedule": "0 0 * * sat-sun", "duration": "24h"}
                        ]
                    },
                )
            ],
            'NodePool "pool": spec.disruption.budgets[0]: ',
            id="schedule that never was one",
        ),
    ],
)
def test_what_is_assumed_or_left_out_is_said(
    tmp_path: Path, objects: list[dict[str, Any]], note: str
) -> None:
    done = joiner("plan", "-f", written(tmp_path, *objects))

    assert done.code == 0
    assert note in done.err


def test_a_pod_whose_group_is_not_there_is_not_planned_for(tmp_path: Path) -> None:
    waiting = with_members(POD, spec__schedulingGroup={"podGroupName": "job"})

    done = joiner("plan", "-f", written(tmp_path, waiting))

    assert done.code == 3
    assert 'podgroup "shop/job" is not there, and kube-scheduler waits for it' in done.out


def test_a_group_that_is_only_a_label_because_it_was_refused_is_told_of_as_such(
    tmp_path: Path,
) -> None:
    pod = with_members(POD, metadata__labels={"scheduling.x-k8s.io/pod-group": "job"})
    group = {
        "apiVersion": "scheduling.x-k8s.io/v1alpha1",
        "kind": "PodGroup",
        "metadata": {"name": "job", "namespace": "shop"},
        "spec": {"minMember": "two"},
    }

    done = joiner("plan", "-f", written(tmp_path, pod, group))

    assert done.code == 2
    assert 'PodGroup "shop/job" is refused: its 1 pod may be placed in part' in done.err


def test_a_file_without_objects_is_named(tmp_path: Path) -> None:
    done = joiner("plan", "-f", written(tmp_path, ""))

    assert done.code == 0
    assert "in.json holds no objects" in done.err
    assert done.out.startswith("no pod waits for a node\n")


def test_pods_without_a_place_are_named_with_what_would_help(tmp_path: Path) -> None:
    big = with_members(POD, spec__containers=[{"resources": {"requests": {"cpu": "300"}}}])

    done = joiner("plan", "-f", written(tmp_path, big))

    assert done.code == 3
    assert "1 pod without a place: shop/web\n" in done.out
    assert "may help: lower the request of cpu" in done.out
    assert "joiner explain pod shop/web tries which change gives it a place" in done.out


def test_purchases_are_listed_with_their_price(tmp_path: Path) -> None:
    catalogue = written(tmp_path, json.dumps([TYPE]), name="types.json")

    done = joiner("plan", "-f", written(tmp_path, POD), "--catalogue", catalogue)

    assert "1 pod waits: 0 on existing nodes, 1 on new nodes, 0 without a place\n" in done.out
    assert "small" in done.out
    assert "1 node, 0.5000 $/h; no plan costs less than 0.5000 $/h: 1.00 times that\n" in done.out


def test_a_pool_whose_class_is_not_among_those_given_cannot_be_used(tmp_path: Path) -> None:
    pool = with_members(POOL, spec__template__spec__nodeClassRef__name="other")

    done = joiner("plan", "-f", written(tmp_path, POD, pool, KWOK_CLASS))

    assert done.code == 3
    assert 'KWOKNodeClass "other" (karpenter.kwok.sh) does not exist' in done.out


def test_several_files_make_one_cluster(tmp_path: Path) -> None:
    pods, nodes = written(tmp_path, POD), written(tmp_path, NODE, name="nodes.json")

    done = joiner("plan", "-f", pods, "-f", nodes, "--format", "json")

    (nomination,) = json.loads(done.out)["plan"]["nominations"]
    assert nomination == {"node": "n1", "podUids": ["web-uid"]}
