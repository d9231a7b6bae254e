"""The cluster's default spread constraints, as Karpenter's `scheduler-config` document has them.

Apart from `topology` because this is written by an operator, not by the API server: everything that
is unknown or makes no sense there is refused.

Source: `docs/sources.md` D9.
"""

from typing import Any

import yaml

from libs.domain.errors import InvalidRequest
from libs.domain.topology import TopologySpread
from libs.kube.convert import topology
from libs.kube.objects.decoding import from_document
from libs.kube.objects.pod import TopologySpreadConstraint

_POD_SPREAD = "podTopologySpread"
_CONSTRAINTS = "defaultConstraints"
_ITEM_FIELDS = frozenset(TopologySpreadConstraint.__struct_encode_fields__)
_DEDUCED = ("labelSelector", "matchLabelKeys")


def parse_scheduler_config(text: str) -> tuple[TopologySpread, ...]:
    """Return the default constraints of a YAML or JSON document, without selectors; () for none.

    Raises:
        InvalidRequest: not YAML, an unknown field, or a constraint that Kubernetes would refuse;
            with the path of the field.
    """
    try:
        document = yaml.safe_load(text)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise InvalidRequest(f"not YAML: {str(error).splitlines()[0]}") from None
    if document is None:
        return ()
    pod_spread = _mapping(document, "", {_POD_SPREAD}).get(_POD_SPREAD)
    if pod_spread is None:
        return ()
    path = f"{_POD_SPREAD}.{_CONSTRAINTS}"
    listed = _mapping(pod_spread, _POD_SPREAD, {_CONSTRAINTS}).get(_CONSTRAINTS)
    if listed is None:
        return ()
    if not isinstance(listed, list):
        raise InvalidRequest("is not a list", field=path)
    found: dict[tuple[str, bool], TopologySpread] = {}
    for index, item in enumerate(listed):
        one = _constraint(item, f"{path}[{index}]")
        key = one.topology_key, one.required
        if key in found:
            raise InvalidRequest(
                "there is one with the same topologyKey and whenUnsatisfiable already",
                field=f"{path}[{index}]",
            )
        found[key] = one
    return tuple(found.values())


def _constraint(item: object, path: str) -> TopologySpread:
    given = _mapping(item, path, _ITEM_FIELDS)
    for name in _DEDUCED:
        if given.get(name) is not None:
            raise InvalidRequest(
                "must be left out: which pods count is deduced for each pod", field=f"{path}.{name}"
            )
    try:
        constraint = from_document(given, TopologySpreadConstraint)
    except InvalidRequest as error:
        raise error.under(path) from None
    return topology.topology_spread(constraint, {}, path)


def _mapping(given: object, path: str, known: set[str] | frozenset[str]) -> dict[str, Any]:
    if not isinstance(given, dict):
        raise InvalidRequest("is not a mapping", field=path)
    for name in given:
        if name not in known:
            field = f"{path}.{name}" if path else str(name)
            listed = ", ".join(sorted(known))
            raise InvalidRequest(f"is unknown here; known are {listed}", field=field)
    return given
