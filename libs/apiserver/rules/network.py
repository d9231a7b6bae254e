"""Validation of a pod's names and its part in the network: DNS, host names, the host's network.

Source: Kubernetes API reference, PodSpec "Hostname and Name resolution", "Hosts namespaces";
wordings as recorded from kube-apiserver 1.36.
"""

from collections.abc import Iterator, Sequence

from libs.apiserver import names
from libs.apiserver.checks import Stored, formed, formed_if_present, ip_address
from libs.apiserver.field_errors import FieldError, not_allowed, required, too_long, wrong

_MOST_SERVERS, _MOST_SEARCHES, _LONGEST_SEARCH = 3, 32, 2048
_LONGEST_HOSTNAME = 64
_ALONE = "when `hostUsers` is false"


def validate_dns(spec: Stored, at: str) -> Iterator[FieldError]:
    """Yield what is wrong with how a pod looks up names."""
    config, where = spec.get("dnsConfig"), f"{at}.dnsConfig"
    if spec.get("dnsPolicy") == "None":
        if config is None:
            yield required(where, "must provide `dnsConfig` when `dnsPolicy` is None")
            return
        if not config.get("nameservers"):
            why = "must provide at least one DNS nameserver when `dnsPolicy` is None"
            yield required(f"{where}.nameservers", why)
            return
    if config is None:
        return
    servers = config.get("nameservers") or ()
    if len(servers) > _MOST_SERVERS:
        why = f"must not have more than {_MOST_SERVERS} nameservers"
        yield wrong(f"{where}.nameservers", servers, why)
    for index, server in enumerate(servers):
        yield from ip_address(server, f"{where}.nameservers[{index}]")
    yield from _validate_searches(config.get("searches") or (), f"{where}.searches")
    for index, option in enumerate(config.get("options") or ()):
        if not option.get("name"):
            yield required(f"{where}.options[{index}]", "must not be empty")


def _validate_searches(searches: Sequence[str], at: str) -> Iterator[FieldError]:
    if len(searches) > _MOST_SEARCHES:
        yield wrong(at, searches, f"must not have more than {_MOST_SEARCHES} search paths")
    if len(" ".join(searches)) > _LONGEST_SEARCH:
        why = f"must not have more than {_LONGEST_SEARCH} characters (including spaces) in the"
        yield wrong(at, searches, f"{why} search list")
    for index, search in enumerate(searches):
        if search != ".":
            yield from formed(search.removesuffix("."), f"{at}[{index}]", names.search_domain)


def validate_host_names(spec: Stored, at: str) -> Iterator[FieldError]:
    """Yield what is wrong with the names that a pod has and knows."""
    for name in ("hostname", "subdomain"):
        yield from formed_if_present(spec, at, name, names.label)
    for index, alias in enumerate(spec.get("hostAliases") or ()):
        where = f"{at}.hostAliases[{index}]"
        yield from ip_address(alias.get("ip", ""), f"{where}.ip")
        for number, host in enumerate(alias.get("hostnames") or ()):
            yield from formed(host, f"{where}.hostnames[{number}]", names.subdomain)
    yield from _validate_override(spec, f"{at}.hostnameOverride")


def _validate_override(spec: Stored, at: str) -> Iterator[FieldError]:
    name = spec.get("hostnameOverride")
    if name is None:
        return
    for switch in ("setHostnameAsFQDN", "hostNetwork"):
        if spec.get(switch):
            yield not_allowed(at, f"may not be specified when {switch} is true")
    if len(name) > _LONGEST_HOSTNAME:
        yield too_long(at, _LONGEST_HOSTNAME)
    yield from formed(name, at, names.subdomain)


def validate_host_network(spec: Stored, at: str, *, of_pod: bool) -> Iterator[FieldError]:
    """Yield the ports that differ on the host although the network is the host's."""
    if not spec.get("hostNetwork"):
        return
    for index, container in enumerate(spec.get("containers") or ()):
        for number, port in enumerate(container.get("ports") or ()):
            outer, inner = port.get("hostPort", 0), port.get("containerPort", 0)
            if (of_pod or outer) and outer != inner:
                where = f"{at}.containers[{index}].ports[{number}].hostPort"
                why = "must match `containerPort` when `hostNetwork` is true"
                yield wrong(where, outer, why)


def validate_host_users(spec: Stored, at: str) -> Iterator[FieldError]:
    """Yield what a pod with users of its own may not share with the host."""
    if spec.get("hostUsers", True):
        return
    for name, shown in (
        ("hostNetwork", "hostNetwork"),
        ("hostPID", "HostPID"),
        ("hostIPC", "HostIPC"),
    ):
        if spec.get(name):
            yield not_allowed(f"{at}.{shown}", _ALONE)
    for kind in ("initContainers", "containers", "ephemeralContainers"):
        for index, container in enumerate(spec.get(kind) or ()):
            if container.get("volumeDevices"):
                yield not_allowed(f"{at}.{kind}[{index}].volumeDevices", _ALONE)
