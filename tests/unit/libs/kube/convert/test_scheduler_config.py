import pytest

from libs.domain.errors import InvalidRequest
from libs.domain.topology import NodeInclusionPolicy, TopologySpread
from libs.kube.convert.scheduler_config import parse_scheduler_config

ZONE = "topology.kubernetes.io/zone"
AT = r"podTopologySpread\.defaultConstraints\[0\]"


def _config(item: str) -> str:
    return f"podTopologySpread:\n  defaultConstraints:\n    - {item}\n"


def test_constraints_are_read_in_their_order() -> None:
    both = _config(
        f"{{maxSkew: 2, topologyKey: {ZONE}, whenUnsatisfiable: DoNotSchedule, minDomains: 3, "
        "nodeTaintsPolicy: Honor}\n"
        f"    - {{maxSkew: 1, topologyKey: {ZONE}, whenUnsatisfiable: ScheduleAnyway}}"
    )

    assert parse_scheduler_config(both) == (
        TopologySpread(
            topology_key=ZONE,
            max_skew=2,
            min_domains=3,
            node_taints_policy=NodeInclusionPolicy.HONOR,
        ),
        TopologySpread(topology_key=ZONE, required=False),
    )


@pytest.mark.parametrize(
    "text",
    ["", "{}", "podTopologySpread: {}", '{"podTopologySpread": {"defaultConstraints": []}}'],
)
def test_a_document_may_hold_none(text: str) -> None:
    assert parse_scheduler_config(text) == ()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param("a: [", "not YAML", id="not YAML"),
        pytest.param("3", "is not a mapping", id="a number"),
        pytest.param("profiles: []", "^profiles: is unknown here", id="unknown"),
        pytest.param(
            "podTopologySpread: {defaultingType: List}",
            r"^podTopologySpread\.defaultingType: is unknown",
            id="unknown below",
        ),
        pytest.param(
            "podTopologySpread: {defaultConstraints: {}}",
            r"^podTopologySpread\.defaultConstraints: is not a list",
            id="no list",
        ),
        pytest.param(_config("3"), rf"^{AT}: is not a mapping", id="no constraint"),
        pytest.param(_config("{max: 1}"), rf"^{AT}\.max: is unknown", id="unknown field"),
        pytest.param(_config("{maxSkew: a}"), rf"^{AT}\.maxSkew: expected", id="type"),
        pytest.param(
            _config(f"{{maxSkew: 0, topologyKey: {ZONE}, whenUnsatisfiable: DoNotSchedule}}"),
            rf"^{AT}\.maxSkew: 0 is below 1",
            id="skew",
        ),
        pytest.param(
            _config("{maxSkew: 1, topologyKey: -a, whenUnsatisfiable: DoNotSchedule}"),
            rf"^{AT}\.topologyKey: ",
            id="key",
        ),
        pytest.param(
            _config(f"{{maxSkew: 1, topologyKey: {ZONE}}}"),
            rf"^{AT}\.whenUnsatisfiable: ",
            id="when",
        ),
        pytest.param(
            _config("{labelSelector: {}}"),
            rf"^{AT}\.labelSelector: must be left out",
            id="selector",
        ),
        pytest.param(
            _config("{matchLabelKeys: []}"),
            rf"^{AT}\.matchLabelKeys: must be left out",
            id="label keys",
        ),
        pytest.param(
            _config(
                f"&one {{maxSkew: 1, topologyKey: {ZONE}, whenUnsatisfiable: DoNotSchedule}}\n"
                "    - *one"
            ),
            r"defaultConstraints\[1\]: there is one with the same",
            id="twice",
        ),
    ],
)
def test_what_is_wrong_is_named(text: str, message: str) -> None:
    with pytest.raises(InvalidRequest, match=message):
        parse_scheduler_config(text)
