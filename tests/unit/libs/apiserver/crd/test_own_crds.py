"""The CRDs in `deploy/crds`: they compile, describe every field, and number every rule."""

from collections.abc import Iterator, Mapping
from typing import Any

import pytest
import yaml

from libs.apiserver.crd.admission import compile_crd
from libs.domain.errors import InvalidRequest
from libs.kube.crd_files import DEPLOYED, read_crds
from services.simulator.rule_ids import number_rules

KINDS = ("CapacityBuffer", "KWOKNodeClass", "NodeClaim", "NodeOverlay", "NodePool")


def fields(schema: Mapping[str, Any], path: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for name, child in schema.get("properties", {}).items():
        yield f"{path}.{name}", child
        yield from fields(child, f"{path}.{name}")
    if "items" in schema:
        yield from fields(schema["items"], f"{path}[]")


@pytest.mark.parametrize("overlay", ["", "kwok"])
def test_every_crd_compiles(overlay: str) -> None:
    crds = read_crds(overlay=overlay)

    assert tuple(sorted(crds)) == KINDS
    assert all(compile_crd(crd).versions for crd in crds.values())


@pytest.mark.parametrize("kind", KINDS)
def test_every_field_says_what_it_means(kind: str) -> None:
    (version,) = read_crds()[kind]["spec"]["versions"]

    silent = [
        path
        for path, field in fields(version["schema"]["openAPIV3Schema"], "")
        if "description" not in field and path != ".metadata"
    ]

    assert silent == []


def test_the_kustomization_lists_every_crd() -> None:
    listed = yaml.safe_load((DEPLOYED / "kustomization.yaml").read_text())["resources"]

    assert listed == sorted(file.name for file in DEPLOYED.glob("*_*.yaml"))


def test_every_rule_has_a_number_and_words_of_its_own() -> None:
    crds = read_crds(overlay="kwok")

    numbers = number_rules(crds).by_message

    assert len(numbers) == sum(str(crd).count("'rule'") for crd in crds.values())
    assert len({(kind, number) for (kind, _, _), number in numbers.items()}) == len(numbers)


def test_a_rule_where_none_is_known_is_refused() -> None:
    crd = read_crds()["KWOKNodeClass"]
    schema = crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    schema["properties"]["spec"]["x-kubernetes-validations"] = [{"rule": "true", "message": "m"}]

    with pytest.raises(InvalidRequest, match="spec: rule 0 of KWOKNodeClass"):
        number_rules({"KWOKNodeClass": crd})
