"""Label keys: which ones have a meaning, which nobody may use, how keys and values are spelt.

Apart because requirements, validation, the catalogue and every service share these constants.
Syntax is ASCII only and matches whole strings, as Kubernetes checks it.

Source: `docs/sources.md` 2.1 and 2.4-2.5; Kubernetes documentation, "Labels and Selectors".
"""

import re
from collections.abc import Iterable, Mapping
from types import MappingProxyType

from libs.domain.spelling import nearest

NODEPOOL = "karpenter.sh/nodepool"
CAPACITY_TYPE = "karpenter.sh/capacity-type"
REGISTERED = "karpenter.sh/registered"
INITIALIZED = "karpenter.sh/initialized"
DO_NOT_SYNC_TAINTS = "karpenter.sh/do-not-sync-taints"
ZONE = "topology.kubernetes.io/zone"
REGION = "topology.kubernetes.io/region"
INSTANCE_TYPE = "node.kubernetes.io/instance-type"
ARCH = "kubernetes.io/arch"
OS = "kubernetes.io/os"
WINDOWS_BUILD = "node.kubernetes.io/windows-build"
HOSTNAME = "kubernetes.io/hostname"

MIGRATED = "migrated.joiner.internal/"
"""Prefix of labels that no node has: they stand for what a kubelet leaves to CSI drivers."""

SPOT = "spot"
ON_DEMAND = "on-demand"
RESERVED = "reserved"
CAPACITY_TYPES = frozenset({SPOT, ON_DEMAND, RESERVED})

WELL_KNOWN: frozenset[str] = frozenset(
    {NODEPOOL, ZONE, REGION, INSTANCE_TYPE, ARCH, OS, CAPACITY_TYPE, WINDOWS_BUILD}
)
"""Keys that a new node has though no pool spells them out; providers add their own."""

RESTRICTED_LABELS = frozenset({HOSTNAME})
RESTRICTED_DOMAINS = frozenset({"karpenter.sh"})

ALIASES: Mapping[str, str] = MappingProxyType(
    {
        "failure-domain.beta.kubernetes.io/zone": ZONE,
        "failure-domain.beta.kubernetes.io/region": REGION,
        "beta.kubernetes.io/arch": ARCH,
        "beta.kubernetes.io/os": OS,
        "beta.kubernetes.io/instance-type": INSTANCE_TYPE,
    }
)

_NAME = re.compile(r"[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?")
_SUBDOMAIN = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
_LONGEST_NAME = 63
_LONGEST_SUBDOMAIN = 253


def canonical_key(key: str) -> str:
    """Return the key that replaced a deprecated one, or the key itself."""
    return ALIASES.get(key, key)


def canonical_labels(labels: Mapping[str, str]) -> dict[str, str]:
    """Return the labels with deprecated keys renamed; where both are there the current one wins."""
    renamed = {ALIASES[key]: value for key, value in labels.items() if key in ALIASES}
    return renamed | {key: value for key, value in labels.items() if key not in ALIASES}


def is_restricted(
    key: str,
    extra_domains: Iterable[str] = (),
    *,
    well_known: frozenset[str] = WELL_KNOWN,
) -> bool:
    """Tell whether users may not set or select this key.

    Args:
        key: a label key, aliases already resolved.
        extra_domains: domains that the provider keeps to itself, beside Karpenter's.
        well_known: keys that are allowed whatever their domain.
    """
    if key in RESTRICTED_LABELS:
        return True
    if key in well_known:
        return False
    domain, slash, _ = key.rpartition("/")
    if not slash:
        return False
    return any(
        domain == restricted or domain.endswith(f".{restricted}")
        for restricted in (*RESTRICTED_DOMAINS, *extra_domains)
    )


def qualified_name_problem(text: str) -> str | None:
    """Return what is wrong with a label key, taint key or resource name, or `None`."""
    prefix, slash, name = text.rpartition("/")
    if slash and (problem := subdomain_problem(prefix)):
        return f"prefix of {text!r}: {problem}"
    if not name:
        return f"name part of {text!r} must not be empty" if text else "must not be empty"
    if len(name) > _LONGEST_NAME:
        return f"name part of {text!r} is longer than {_LONGEST_NAME} characters"
    if not _NAME.fullmatch(name):
        return (
            f"name part of {text!r} must be letters, digits, '-', '_' or '.', "
            "beginning and ending with a letter or digit"
        )
    return None


def label_value_problem(text: str) -> str | None:
    """Return what is wrong with a label value, or `None`; the empty value is legal."""
    if len(text) > _LONGEST_NAME:
        return f"value {text!r} is longer than {_LONGEST_NAME} characters"
    if text and not _NAME.fullmatch(text):
        return (
            f"value {text!r} must be empty or letters, digits, '-', '_' or '.', "
            "beginning and ending with a letter or digit"
        )
    return None


def subdomain_problem(text: str) -> str | None:
    """Return what is wrong with a DNS subdomain (object names, key prefixes), or `None`."""
    if len(text) > _LONGEST_SUBDOMAIN:
        return f"{text!r} is longer than {_LONGEST_SUBDOMAIN} characters"
    if not _SUBDOMAIN.fullmatch(text):
        return (
            f"{text!r} must be lower case letters, digits, '-' or '.', "
            "each part beginning and ending with a letter or digit"
        )
    return None


def hint(key: str, well_known: Iterable[str], existing: Iterable[str]) -> str | None:
    """Return the key that was probably meant: a well-known one first, else one that is in use.

    A key is taken for another one if it has its name under another prefix or none, or if it is
    spelt almost like it.

    Source: `docs/sources.md` A2.6. Difference on purpose: Karpenter also guesses any key that
    contains the text or ends with its name, such as `nodepool` for `pool` and for `e`.
    """
    name = key.rpartition("/")[2]
    if not name:
        return None
    groups = sorted(well_known), sorted(existing)
    for group in groups:
        for known in group:
            if known != key and known.rpartition("/")[2] == name:
                return known
    return next((found for group in groups for found in nearest(key, group)), None)
