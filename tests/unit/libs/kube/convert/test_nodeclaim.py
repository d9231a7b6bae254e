from datetime import timedelta

from libs.domain.nodeclaim import ClaimCommand, ConditionType
from libs.kube.convert.nodeclaim import nodeclaim
from libs.kube.objects.decoding import from_document
from libs.kube.objects.karpenter import NodeClaim
from tests.unit.libs.kube.manifests import a_nodeclaim


def test_a_claim_has_its_pool_its_class_and_its_times() -> None:
    document = a_nodeclaim(
        requirements=[{"key": "a", "operator": "In", "values": ["1"], "minValues": 1}],
        resources={"requests": {"cpu": "1"}},
        expireAfter="Never",
        terminationGracePeriod="5m",
        status={
            "providerID": "p",
            "nodeName": "n",
            "conditions": [{"type": "Launched", "status": "True"}],
        },
    )

    found, problems = nodeclaim(from_document(document, NodeClaim))

    assert problems == ()
    assert found.nodepool == "default"
    assert found.node_class.key == "karpenter.kwok.sh/KWOKNodeClass/default"
    assert (found.provider_id, found.node_name) == ("p", "n")
    assert found.requests.get("cpu") == 1000
    assert found.expire_after is None
    assert found.termination_grace_period == timedelta(minutes=5)
    assert found.is_true(ConditionType.LAUNCHED)


def test_a_claim_expires_by_default() -> None:
    found, _ = nodeclaim(from_document(a_nodeclaim(), NodeClaim))

    assert found.expire_after == timedelta(hours=720)


def test_a_claim_under_a_command_names_it() -> None:
    annotations = {"joiner.io/command": "id=c1;replacements=a,b"}

    found, _ = nodeclaim(from_document(a_nodeclaim(meta={"annotations": annotations}), NodeClaim))

    assert found.command == ClaimCommand(id="c1", replacements=("a", "b"))


def test_a_half_legible_claim_is_kept_with_what_could_be_read() -> None:
    document = a_nodeclaim(
        requirements=[{"key": "a", "operator": "Like"}],
        expireAfter="soon",
        meta={"annotations": {"joiner.io/command": "?"}, "labels": {"a": "1"}},
    )

    found, problems = nodeclaim(from_document(document, NodeClaim))

    assert found.requirements.allows({"a": "1"})
    assert not found.requirements.allows({"a": "2"})
    assert [one.field for one in problems] == [
        "spec.requirements[0].operator",
        "spec.expireAfter",
        "metadata.annotations.joiner.io/command",
    ]
