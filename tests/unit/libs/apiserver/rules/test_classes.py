"""Classes that only Kubernetes may make, and what names the controllers of others."""

import pytest

from libs.apiserver.rules import ingresses, priorities


@pytest.mark.parametrize(
    ("name", "value", "refused"),
    [
        ("system-node-critical", 2_000_001_000, []),
        ("system-node-critical", 5, ["metadata.name"]),
        ("system-x", 5, ["metadata.name"]),
        ("high", 2_000_001_000, ["value"]),
        ("high", 5, []),
    ],
)
def test_priority_classes(name: str, value: int, refused: list[str]) -> None:
    """Names that start with `system-` are those of Kubernetes, with their values."""
    obj = {"metadata": {"name": name}, "value": value}
    assert [found.field for found in priorities.validate(obj)] == refused


@pytest.mark.parametrize(
    ("controller", "words"),
    [
        ("acme.io/foo", []),
        ("acme.io/foo/bar", []),
        ("", ["Required value"]),
        ("/foo", ["must be a domain-prefixed path"]),
        ("acme.io/", ["must be a domain-prefixed path"]),
        ("acme.io/a b", ["Invalid path"]),
        ("Acme.io/foo", ["RFC 1123 subdomain"]),
    ],
)
def test_controllers_of_ingress_classes(controller: str, words: list[str]) -> None:
    """A controller is a domain and a path."""
    found = ingresses.validate_class({"spec": {"controller": controller}})
    assert len(found) == len(words)
    assert all(word in str(one) for one, word in zip(found, words, strict=True))
