"""What is odd about persistent volumes, in the words of the API server."""

from typing import Any

import pytest

from libs.apiserver.rules.volume_warnings import warnings


@pytest.mark.parametrize(
    ("spec", "found"),
    [
        ({"hostPath": {"path": "/a"}}, []),
        ({"rbd": {}}, ["spec.rbd: deprecated in v1.28, non-functional in v1.31+"]),
        ({"storageos": {}}, ["spec.storageOS: deprecated in v1.22, non-functional in v1.25+"]),
        (
            {"persistentVolumeReclaimPolicy": "Recycle"},
            [
                "spec.persistentVolumeReclaimPolicy: The Recycle reclaim policy is deprecated. "
                "Instead, the recommended approach is to use dynamic provisioning."
            ],
        ),
    ],
)
def test_odd_volumes_are_warned_of(spec: dict[str, Any], found: list[str]) -> None:
    """Each source that does not work any more has its words."""
    assert warnings({"metadata": {}, "spec": spec}, None) == found


def test_old_names_are_warned_of() -> None:
    """Old annotations and old labels of nodes are named with what replaces them."""
    term = {"matchExpressions": [{"key": "beta.kubernetes.io/os", "operator": "Exists"}]}
    volume = {
        "metadata": {"annotations": {"volume.beta.kubernetes.io/storage-class": "x"}},
        "spec": {"nodeAffinity": {"required": {"nodeSelectorTerms": [term]}}},
    }

    first, second = warnings(volume, None)

    assert first.startswith("metadata.annotations[volume.beta.kubernetes.io/storage-class]: ")
    assert second.startswith(
        "spec.nodeAffinity.required.nodeSelectorTerms[0].matchExpressions[0].key: beta."
    )
