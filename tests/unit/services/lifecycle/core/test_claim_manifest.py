import pytest

from libs.domain.plan import LaunchOption, PlannedNodeClaim
from libs.domain.requirement import Entry, Operator
from libs.domain.requirements import Requirements
from libs.domain.resources import Resources
from services.lifecycle.core.claim_manifest import claim_name, manifest
from tests.unit.services.lifecycle.core.objects import a_pool

WELL_KNOWN = frozenset({"node.kubernetes.io/instance-type", "topology.kubernetes.io/zone"})


def _planned(*entries: Entry) -> PlannedNodeClaim:
    return PlannedNodeClaim(
        index=3,
        nodepool="default",
        nodepool_uid="uid-default",
        nodepool_hash="42",
        requirements=Requirements.of(entries),
        requests=Resources({"cpu": 1500}),
        instance_types=("m-2x", "m-4x"),
        cheapest=LaunchOption(
            instance_type="m-2x", zone="a", capacity_type="spot", price_nanos_per_hour=1
        ),
        pod_uids=("p",),
        labels=(("extra", "label"),),
        annotations=(("extra", "annotation"),),
    )


def _entry(key: str, *values: str, operator: Operator = Operator.IN) -> Entry:
    return Entry(key=key, operator=operator, values=values)


@pytest.mark.parametrize(
    "pool",
    [
        pytest.param("default", id="short"),
        pytest.param("p" * 63, id="as long as a label"),
        pytest.param("a" * 51 + ".-b" + "c" * 100, id="cut at a separator"),
    ],
)
def test_a_name_is_stable_legal_and_says_its_pool(pool: str) -> None:
    name = claim_name("plan", 1, pool)

    assert name == claim_name("plan", 1, pool)
    assert len(name) <= 63
    assert name.startswith(pool[:40])
    assert ".-" not in name[40:]


def test_names_differ_by_plan_and_index() -> None:
    names = {claim_name(plan, index, "default") for plan in ("a", "b") for index in (0, 1)}

    assert len(names) == 4


def test_the_template_and_the_plan_make_the_claim() -> None:
    template = {
        "metadata": {"labels": {"team": "a"}, "annotations": {"note": "b"}},
        "spec": {
            "requirements": [],
            "taints": [{"key": "t", "effect": "NoSchedule"}],
            "startupTaints": [{"key": "s", "effect": "NoExecute"}],
            "expireAfter": "48h",
            "terminationGracePeriod": "5m",
            "nodeClassRef": {"group": "karpenter.kwok.sh", "kind": "KWOKNodeClass", "name": "big"},
        },
    }

    found = manifest("plan", _planned(), a_pool(spec={"template": template}), WELL_KNOWN)

    metadata, spec = found["metadata"], found["spec"]
    assert metadata["labels"] == {
        "team": "a",
        "extra": "label",
        "karpenter.sh/nodepool": "default",
        "karpenter.kwok.sh/kwoknodeclass": "big",
    }
    assert metadata["annotations"] == {
        "note": "b",
        "extra": "annotation",
        "karpenter.sh/nodeclaim-min-values-relaxed": "false",
        "karpenter.sh/nodepool-hash": "42",
        "karpenter.sh/nodepool-hash-version": "v3",
        "joiner.io/plan": "plan/3",
    }
    assert metadata["ownerReferences"][0]["uid"] == "uid-default"
    assert spec["resources"] == {"requests": {"cpu": "1500m"}}
    assert spec["expireAfter"] == "48h"
    assert spec["startupTaints"] == [{"key": "s", "effect": "NoExecute"}]


def test_instance_types_are_listed_with_their_min_values() -> None:
    types = Entry(key="node.kubernetes.io/instance-type", operator=Operator.EXISTS, min_values=2)

    spec = manifest("plan", _planned(types), a_pool(), WELL_KNOWN)["spec"]

    assert spec["requirements"] == [
        {
            "key": "node.kubernetes.io/instance-type",
            "operator": "In",
            "values": ["m-2x", "m-4x"],
            "minValues": 2,
        }
    ]


@pytest.mark.parametrize(
    ("entry", "label"),
    [
        pytest.param(_entry("team", "b", "a"), {"team": "a"}, id="one of a list"),
        pytest.param(_entry("team", operator=Operator.EXISTS), {"team": "0"}, id="any"),
        pytest.param(_entry("team", operator=Operator.DOES_NOT_EXIST), {}, id="none"),
        pytest.param(_entry("topology.kubernetes.io/zone", "a"), {}, id="the provider's own"),
    ],
)
def test_requirements_of_users_keys_become_labels(entry: Entry, label: dict[str, str]) -> None:
    labels = manifest("plan", _planned(entry), a_pool(), WELL_KNOWN)["metadata"]["labels"]

    assert {key: labels[key] for key in labels if key in ("team", entry.key)} == label


def test_hostname_is_nobodys_requirement() -> None:
    planned = _planned(_entry("kubernetes.io/hostname", "n1"))

    spec = manifest("plan", planned, a_pool(), WELL_KNOWN)["spec"]

    assert [one["key"] for one in spec["requirements"]] == ["node.kubernetes.io/instance-type"]
