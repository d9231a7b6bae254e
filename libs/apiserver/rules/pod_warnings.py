"""What the API server warns of in pods and pod templates: valid, but hardly meant.

Source: Kubernetes API reference, PodSpec; wordings as recorded from kube-apiserver 1.36.
"""

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType

from libs.apiserver import names
from libs.apiserver.checks import Stored
from libs.domain import quantity_text

_DEPRECATED_LABELS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "beta.kubernetes.io/os": ("v1.14", "kubernetes.io/os"),
        "beta.kubernetes.io/arch": ("v1.14", "kubernetes.io/arch"),
        "failure-domain.beta.kubernetes.io/zone": ("v1.17", "topology.kubernetes.io/zone"),
        "failure-domain.beta.kubernetes.io/region": ("v1.17", "topology.kubernetes.io/region"),
        "beta.kubernetes.io/instance-type": ("v1.17", "node.kubernetes.io/instance-type"),
    }
)
OLD_VOLUMES: Mapping[str, str] = MappingProxyType(
    {
        "photonPersistentDisk": "deprecated in v1.11, non-functional in v1.16+",
        "gitRepo": "deprecated in v1.11, and disabled by default in v1.33+",
        "scaleIO": "deprecated in v1.16, non-functional in v1.22+",
        "flocker": "deprecated in v1.22, non-functional in v1.25+",
        "storageos": "deprecated in v1.22, non-functional in v1.25+",
        "quobyte": "deprecated in v1.22, non-functional in v1.25+",
        "glusterfs": "deprecated in v1.25, non-functional in v1.26+",
        "cephfs": "deprecated in v1.28, non-functional in v1.31+",
        "rbd": "deprecated in v1.28, non-functional in v1.31+",
    }
)
_NO_MATCH = "a null labelSelector results in matching no pod"
_NEGATIVE = "must be >= 0; negative values are invalid and will be treated as 1"
_REQUIRED, _PREFERRED = (
    "requiredDuringSchedulingIgnoredDuringExecution",
    "preferredDuringSchedulingIgnoredDuringExecution",
)
_IN_BYTES = ("memory", "ephemeral-storage")


def warnings(spec: Stored, at: str) -> Iterator[str]:
    """Yield what is odd about a pod spec.

    Args:
        spec: with its defaults.
        at: its path.
    """
    yield from _of_labels(spec, at)
    for index, volume in enumerate(spec.get("volumes") or ()):
        for source in volume:
            if source in OLD_VOLUMES:
                yield f"{at}.volumes[{index}].{source}: {OLD_VOLUMES[source]}"
        for projection in (volume.get("projected") or {}).get("sources") or ():
            if not projection:
                yield f'volume "{volume.get("name", "")}" (Projected) has no sources provided'
    yield from _repeated(spec.get("hostAliases") or (), f"{at}.hostAliases", "ip")
    secrets = spec.get("imagePullSecrets") or ()
    yield from _repeated(secrets, f"{at}.imagePullSecrets", "name")
    for index, secret in enumerate(secrets):
        if not secret.get("name"):
            yield f'{at}.imagePullSecrets[{index}].name: invalid empty name ""'
    yield from _fractions(spec.get("overhead") or {}, f"{at}.overhead")
    yield from _of_containers(spec, at)
    if spec.get("terminationGracePeriodSeconds", 0) < 0:
        yield f"{at}.terminationGracePeriodSeconds: {_NEGATIVE}"
    yield from _of_pod_affinity(spec.get("affinity") or {}, f"{at}.affinity")


def _of_labels(spec: Stored, at: str) -> Iterator[str]:
    for key in spec.get("nodeSelector") or ():
        if key in _DEPRECATED_LABELS:
            yield f"{at}.nodeSelector[{key}]: {_deprecation(key)}"
    yield from _of_node_affinity((spec.get("affinity") or {}).get("nodeAffinity") or {}, at)
    for index, constraint in enumerate(spec.get("topologySpreadConstraints") or ()):
        where, key = f"{at}.topologySpreadConstraints[{index}]", constraint.get("topologyKey", "")
        if key in _DEPRECATED_LABELS:
            yield f"{where}.topologyKey: {key} is {_deprecation(key)}"
        if "labelSelector" not in constraint:
            yield f"{where}.labelSelector: {_NO_MATCH}"


def _deprecation(key: str) -> str:
    since, instead = _DEPRECATED_LABELS[key]
    return f'deprecated since {since}; use "{instead}" instead'


def _of_node_affinity(affinity: Stored, at: str) -> Iterator[str]:
    where = f"{at}.affinity.nodeAffinity"
    required = (affinity.get(_REQUIRED) or {}).get("nodeSelectorTerms") or ()
    terms = [
        (term, f"{where}.{_REQUIRED}.nodeSelectorTerms[{index}]")
        for index, term in enumerate(required)
    ]
    terms += [
        (one.get("preference") or {}, f"{where}.{_PREFERRED}[{index}].preference")
        for index, one in enumerate(affinity.get(_PREFERRED) or ())
    ]
    for term, place in terms:
        for index, entry in enumerate(term.get("matchExpressions") or ()):
            here = f"{place}.matchExpressions[{index}]"
            yield from _of_key(entry, here)
            if place.endswith(".preference"):
                yield from _odd_values(entry.get("values") or (), here)


def deprecated_labels(term: Stored, at: str) -> Iterator[str]:
    """Yield the labels of nodes by old names that a term asks for."""
    for index, entry in enumerate(term.get("matchExpressions") or ()):
        yield from _of_key(entry, f"{at}.matchExpressions[{index}]")


def _of_key(entry: Stored, at: str) -> Iterator[str]:
    key = entry.get("key", "")
    if key in _DEPRECATED_LABELS:
        yield f"{at}.key: {key} is {_deprecation(key)}"


def _odd_values(values: Sequence[str], at: str) -> Iterator[str]:
    for index, value in enumerate(values):
        for why in names.label_value(value):
            yield f"{at}.values[{index}]: {value} is invalid, {why}"


def _repeated(entries: Sequence[Stored], at: str, name: str) -> Iterator[str]:
    seen: set[str] = set()
    for index, entry in enumerate(entries):
        value = entry.get(name, "")
        if value in seen:
            yield f'{at}[{index}].{name}: duplicate {name} "{value}"'
        seen.add(value)


def _fractions(quantities: Mapping[str, str], at: str) -> Iterator[str]:
    for name in _IN_BYTES:
        text = quantities.get(name, "0")
        number = quantity_text.value(text)
        if number != number.to_integral_value():
            yield (f'{at}[{name}]: fractional byte value "{text}" is invalid, must be an integer')


def _of_containers(spec: Stored, at: str) -> Iterator[str]:
    found = [
        (container, f"{at}.{kind}[{index}]")
        for kind in ("initContainers", "containers", "ephemeralContainers")
        for index, container in enumerate(spec.get(kind) or ())
    ]
    for container, where in found:
        for side in ("limits", "requests"):
            quantities = (container.get("resources") or {}).get(side) or {}
            yield from _fractions(quantities, f"{where}.resources.{side}")
        yield from _hidden_variables(container, where)
    ports = [
        (port, f"{where}.ports[{index}]")
        for container, where in found
        for index, port in enumerate(container.get("ports") or ())
    ]
    yield from _clashing_ports(ports)
    named: dict[str, str] = {}
    for port, where in ports:
        if name := port.get("name"):
            if name in named:
                other = named[name]
                yield (
                    f'{where}: duplicate port name "{name}" with {other}, services and probes '
                    f"that select ports by name will use {other}"
                )
            named.setdefault(name, where)


def _hidden_variables(container: Stored, at: str) -> Iterator[str]:
    seen: set[str] = set()
    for index, variable in enumerate(container.get("env") or ()):
        name = variable.get("name", "")
        extends = f"$({name})" in variable.get("value", "") and "valueFrom" not in variable
        if name in seen and (not extends or variable.get("value") == f"$({name})"):
            yield (
                f'{at}.env[{index}]: hides previous definition of "{name}", '
                "which may be dropped when using apply"
            )
        seen.add(name)


def _clashing_ports(ports: Sequence[tuple[Stored, str]]) -> Iterator[str]:
    for index, (port, where) in enumerate(ports):
        for other, place in ports[:index]:
            if any(port.get(name) != other.get(name) for name in ("containerPort", "protocol")):
                continue
            hosts = port.get("hostPort", 0), other.get("hostPort", 0)
            addresses = port.get("hostIP", ""), other.get("hostIP", "")
            if hosts[0] == hosts[1] and addresses[0] == addresses[1]:
                yield f"{where}: duplicate port definition with {place}"
            elif 0 in hosts:
                yield f"{where}: overlapping port definition with {place}"
            elif hosts[0] == hosts[1] and "" in addresses:
                yield f"{where}: dangerously ambiguous port definition with {place}"


def _of_pod_affinity(affinity: Stored, at: str) -> Iterator[str]:
    for kind in ("podAffinity", "podAntiAffinity"):
        part = affinity.get(kind) or {}
        terms = [
            (term, f"{at}.{kind}.{_REQUIRED}[{index}]")
            for index, term in enumerate(part.get(_REQUIRED) or ())
        ]
        terms += [
            (one.get("podAffinityTerm") or {}, f"{at}.{kind}.{_PREFERRED}[{index}].podAffinityTerm")
            for index, one in enumerate(part.get(_PREFERRED) or ())
        ]
        for term, where in terms:
            if "labelSelector" not in term:
                yield f"{where}.labelSelector: {_NO_MATCH}"


def of_name(meta: Stored, use: str) -> Iterator[str]:
    """Yield a name that is none for a host, although hosts will have it; `use` says which."""
    if explained := names.label(meta.get("name", "")):
        yield (
            f"metadata.name: this is used in {use}, which can result in surprising behavior; "
            f"a DNS label is recommended: [{' '.join(explained)}]"
        )
