"""Label keys: syntax, restrictions, aliases, hints."""

import pytest

from libs.domain import labels


@pytest.mark.parametrize(
    ("key", "legal"),
    [
        ("app", True), ("a", True), ("9", True), ("a.b_c-D", True), ("example.com/app", True),
        ("x.y.z/App", True), ("a" * 63, True), ("a" * 64, False), (f"{'a' * 253}/b", True),
        (f"{'a' * 254}/b", False), ("", False), ("/", False), ("a/", False), ("/a", False),
        ("a/b/c", False), ("Example.com/a", False), ("-a", False), ("a-", False), ("a b", False),
        ("a\n", False), ("é", False), ("a..b/c", False), ("a.-b/c", False), ("\u0661", False),
    ],
)  # fmt: skip
def test_qualified_names(key: str, legal: bool) -> None:
    assert (labels.qualified_name_problem(key) is None) is legal


@pytest.mark.parametrize(
    ("value", "legal"),
    [
        ("", True), ("a", True), ("A.b_c-9", True), ("a" * 63, True), ("a" * 64, False),
        ("-a", False), ("a-", False), ("a/b", False), ("a b", False), ("a\n", False), ("ä", False),
    ],
)  # fmt: skip
def test_label_values(value: str, legal: bool) -> None:
    assert (labels.label_value_problem(value) is None) is legal


@pytest.mark.parametrize(
    ("key", "restricted"),
    [
        pytest.param("kubernetes.io/hostname", True, id="hostname"),
        pytest.param("karpenter.sh/initialized", True, id="Karpenter's domain"),
        pytest.param("sub.karpenter.sh/x", True, id="its subdomain"),
        pytest.param("mykarpenter.sh/x", False, id="no subdomain without a dot"),
        pytest.param("karpenter.sh", False, id="a name without a domain"),
        pytest.param("karpenter.sh/capacity-type", False, id="a well-known key"),
        pytest.param("kubernetes.io/arch", False, id="Kubernetes' own"),
        pytest.param("cloud.example/x", True, id="the provider's domain"),
        pytest.param("cloud.example/known", False, id="a key that the provider knows"),
    ],
)
def test_restricted_keys(key: str, restricted: bool) -> None:
    known = labels.WELL_KNOWN | {"cloud.example/known"}

    assert labels.is_restricted(key, ("cloud.example",), well_known=known) is restricted


def test_deprecated_labels_are_renamed_and_the_current_key_wins() -> None:
    renamed = labels.canonical_labels(
        {"beta.kubernetes.io/os": "old", "kubernetes.io/os": "new", "beta.kubernetes.io/arch": "x"}
    )

    assert renamed == {"kubernetes.io/os": "new", "kubernetes.io/arch": "x"}


@pytest.mark.parametrize(
    ("key", "meant"),
    [
        pytest.param("zone", "topology.kubernetes.io/zone", id="a well-known name without prefix"),
        pytest.param("example.com/arch", "kubernetes.io/arch", id="the same name"),
        pytest.param("team", "example.com/team", id="the name of a key in use"),
        pytest.param("example.com/taem", "example.com/team", id="letters that changed places"),
        pytest.param(
            "topology.kubernetes.io/zones", "topology.kubernetes.io/zone", id="a letter too many"
        ),
        pytest.param("pool", None, id="the end of a name is no name"),
        pytest.param("e", None, id="a letter says nothing"),
        pytest.param("nothing-alike", None, id="nothing alike"),
        pytest.param("", None, id="an empty key"),
        pytest.param("example.com/", None, id="an empty name"),
    ],
)
def test_a_typo_gets_a_hint(key: str, meant: str | None) -> None:
    assert labels.hint(key, labels.WELL_KNOWN, ("example.com/team",)) == meant
