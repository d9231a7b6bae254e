import json
import shutil
import subprocess
from pathlib import Path

import kubernetes_validate
import pytest
import yaml

from libs.apiserver.crd.admission import compile_crd
from libs.apiserver.crd.structural import schema_errors
from services.simulator.core.api.messages import Request
from tests.unit.deploy.kustomize import Object, build, documents, key
from tests.unit.deploy.manifests import DEPLOY, ROOT, everything, kustomizations, of_kind
from tests.unit.services.simulator.cluster import Cluster

FOLDERS = [pytest.param(one, id=str(one.relative_to(DEPLOY))) for one in kustomizations()]

OLDEST, NEWEST = "1.32", "1.37"
"""Kubernetes versions whose schemas the manifests have to fit."""

WITHOUT_SCHEMA = {"cert-manager.io/v1", "apiextensions.k8s.io/v1"}
"""Of the first there is none here; definitions are judged by our own engine below."""


@pytest.mark.parametrize("folder", FOLDERS)
def test_every_kustomization_builds(folder: Path) -> None:
    assert build(folder)


@pytest.mark.parametrize("folder", FOLDERS)
def test_kubectl_builds_the_same(folder: Path) -> None:
    if shutil.which("kubectl") is None:
        pytest.skip("no kubectl on this machine: kustomizations were built by our own builder only")

    answer = subprocess.run(
        ["kubectl", "kustomize", str(folder)], capture_output=True, text=True, check=True
    )

    theirs = {key(one): one for one in yaml.safe_load_all(answer.stdout)}
    assert {key(one): one for one in build(folder)} == theirs


@pytest.mark.parametrize("version", [OLDEST, NEWEST])
def test_every_object_fits_the_schema_of_its_kind(version: str) -> None:
    checked = [one for one in everything() if one["apiVersion"] not in WITHOUT_SCHEMA]

    for obj in checked:
        kubernetes_validate.validate(obj, version, strict=True)

    assert len(checked) > 30


@pytest.mark.parametrize(
    "crd", of_kind("CustomResourceDefinition").values(), ids=lambda one: one["metadata"]["name"]
)
def test_every_definition_is_structural_and_its_rules_compile(crd: Object) -> None:
    assert schema_errors(crd) == []
    assert compile_crd(crd)


def test_an_api_server_accepts_the_first_pool_once_the_overlay_is_applied() -> None:
    cluster = Cluster()
    for crd in of_kind("CustomResourceDefinition").values():
        _create(cluster, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", crd)

    for obj in documents(DEPLOY / "overlays" / "kwok" / "nodepool.yaml"):
        plural = {"KWOKNodeClass": "kwoknodeclasses", "NodePool": "nodepools"}[obj["kind"]]
        _create(cluster, f"/apis/{obj['apiVersion']}/{plural}", obj)


def test_the_builder_refuses_what_it_does_not_know(tmp_path: Path) -> None:
    (tmp_path / "kustomization.yaml").write_text("namePrefix: other-\n")

    with pytest.raises(ValueError, match="namePrefix"):
        build(tmp_path)


@pytest.mark.parametrize(
    "file",
    [
        pytest.param(file, id=str(file.relative_to(ROOT)))
        for pattern in ("deploy/**/*.yaml", ".github/**/*.yml", "*.yaml", "*.yml")
        for file in sorted(ROOT.glob(pattern))
    ],
)
def test_every_yaml_file_is_yaml_without_tabs(file: Path) -> None:
    assert documents(file)
    assert "\t" not in file.read_text()


def _create(cluster: Cluster, path: str, obj: Object) -> None:
    answer = cluster.server.handle(
        Request(
            method="POST",
            path=path,
            query={},
            headers={"content-type": "application/json"},
            body=json.dumps(obj).encode(),
        )
    )
    assert answer.status == 201, answer.body
