"""Every problem of a template or a pod's node selection, by its field."""

from typing import Any

import pytest

from libs.domain.labels import WELL_KNOWN
from libs.domain.validation import (
    KeyRules,
    requirement_problems,
    template_problems,
)

KWOK = KeyRules(
    well_known=WELL_KNOWN | {"karpenter.kwok.sh/instance-cpu"},
    restricted_domains=frozenset({"karpenter.kwok.sh"}),
)
CAPACITY = "karpenter.sh/capacity-type"


def row(key: Any, operator: Any, *values: Any, **more: Any) -> dict[str, Any]:
    return {"key": key, "operator": operator, "values": list(values), **more}


@pytest.mark.parametrize(
    "requirement",
    [
        row("team", "In", "a", "b", minValues=2),
        row("team", "NotIn"),
        row("team", "Exists"),
        row("cpu", "Gte", "0"),
        row("cpu", "Lt", "007"),
        row(CAPACITY, "In", "spot", "made-up"),
        row("karpenter.kwok.sh/instance-cpu", "Exists"),
        row("beta.kubernetes.io/arch", "In", "amd64"),
        {"key": "team", "operator": "DoesNotExist"},
    ],
    ids=lambda one: f"{one['key']} {one['operator']}",
)
def test_legal_requirements_have_no_problem(requirement: dict[str, Any]) -> None:
    assert requirement_problems([requirement], "r", KWOK) == ()


@pytest.mark.parametrize(
    ("requirement", "path"),
    [
        pytest.param(row("a b", "Exists"), "r[0].key", id="bad key"),
        pytest.param(row("", "Exists"), "r[0].key", id="empty key"),
        pytest.param({"operator": "Exists"}, "r[0].key", id="no key"),
        pytest.param(row(None, "Exists"), "r[0].key", id="null key"),
        pytest.param(row("kubernetes.io/hostname", "Exists"), "r[0].key", id="hostname"),
        pytest.param(row("karpenter.sh/initialized", "Exists"), "r[0].key", id="restricted"),
        pytest.param(row("karpenter.kwok.sh/other", "Exists"), "r[0].key", id="the provider's"),
        pytest.param(row("team", "Near", "a"), "r[0].operator", id="unknown operator"),
        pytest.param({"key": "team"}, "r[0].operator", id="no operator"),
        pytest.param(row("team", "In"), "r[0].values", id="In of nothing"),
        pytest.param({"key": "team", "operator": "In"}, "r[0].values", id="no values"),
        pytest.param(row("team", "In", "a b"), "r[0].values", id="bad value"),
        pytest.param(row("team", "NotIn", "-"), "r[0].values", id="bad excluded value"),
        pytest.param(row("team", "In", "a", minValues=2), "r[0].values", id="too few values"),
        pytest.param(row("cpu", "Gt"), "r[0].values", id="no bound"),
        pytest.param(row("cpu", "Gt", "1", "2"), "r[0].values", id="two bounds"),
        pytest.param(row("cpu", "Lte", "x"), "r[0].values", id="bound that is no number"),
        pytest.param(row(CAPACITY, "In", "made-up"), "r[0].values", id="unknown capacity type"),
        pytest.param(
            row(CAPACITY, "In", "spot", "made-up", minValues=2), "r[0].values", id="too few known"
        ),
        pytest.param("not a mapping", "r[0].key", id="no mapping"),
    ],
)
def test_an_illegal_requirement_is_named_by_its_field(requirement: Any, path: str) -> None:
    problems = requirement_problems([requirement], "r", KWOK)

    assert path in {problem.field for problem in problems}


def test_a_negative_bound_is_refused() -> None:
    assert requirement_problems([row("cpu", "Gte", "-1")], "r")


def test_a_template_reports_everything_at_once() -> None:
    taint = {"key": "t", "effect": "NoSchedule"}
    template = {
        "metadata": {
            "labels": {
                "karpenter.sh/nodepool": "x",
                "kubernetes.io/hostname": "x",
                "ok": "not ok",
                "number": 1,
            }
        },
        "spec": {
            "taints": [taint, {"key": "u", "value": "a b", "effect": "Sometimes"}],
            "startupTaints": [taint, {"value": "x"}, {"key": "t"}],
            "requirements": [row("karpenter.sh/nodepool", "Exists"), row("team", "In")],
        },
    }

    fields = [problem.field for problem in template_problems(template)]

    assert fields == [
        "spec.template.metadata.labels.karpenter.sh/nodepool",
        "spec.template.metadata.labels.kubernetes.io/hostname",
        "spec.template.metadata.labels.ok",
        "spec.template.metadata.labels.number",
        "spec.template.spec.taints[1].value",
        "spec.template.spec.taints[1].effect",
        "spec.template.spec.startupTaints[0]",
        "spec.template.spec.startupTaints[1].key",
        "spec.template.spec.requirements[0].key",
        "spec.template.spec.requirements[1].values",
    ]


@pytest.mark.parametrize(
    "template",
    [
        {},
        {"metadata": None, "spec": None},
        {"metadata": {"labels": ["x"]}, "spec": {"taints": {"a": 1}, "requirements": "x"}},
    ],
)
def test_what_has_another_shape_does_not_raise(template: dict[str, Any]) -> None:
    assert template_problems(template) == ()
