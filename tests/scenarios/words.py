"""The words of the short form: label keys, requirements, taints, tolerations as one text each."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import yaml

KEYS = {
    "zone": "topology.kubernetes.io/zone",
    "region": "topology.kubernetes.io/region",
    "arch": "kubernetes.io/arch",
    "os": "kubernetes.io/os",
    "type": "node.kubernetes.io/instance-type",
    "capacity-type": "karpenter.sh/capacity-type",
    "hostname": "kubernetes.io/hostname",
    "pool": "karpenter.sh/nodepool",
}
"""Short names of label keys, understood wherever the short form wants a key."""


def documents(path: Path) -> list[Any]:
    """Return the documents of a YAML file."""
    return list(yaml.load_all(path.read_text(), Loader=yaml.CSafeLoader))


def checked(short: Mapping[str, Any], known: Iterable[str]) -> None:
    """Refuse fields that the short form does not have."""
    unknown = sorted(short.keys() - set(known))
    assert not unknown, f"{short.get('name', 'this')}: no such field: {', '.join(unknown)}"


def canonical(key: str) -> str:
    """Return the label key that a short name stands for."""
    return KEYS.get(key, key)


def requirement(short: str | Mapping[str, Any]) -> dict[str, Any]:
    """Return `key Operator value… [minValues n]` as an entry of a node selector."""
    if not isinstance(short, str):
        return dict(short)
    text, _, least = short.partition(" minValues ")
    key, operator, *values = text.split()
    found: dict[str, Any] = {"key": canonical(key), "operator": operator}
    if values:
        found["values"] = values
    if least:
        found["minValues"] = int(least)
    return found


def taint(short: str | Mapping[str, Any]) -> dict[str, Any]:
    """Return `key[=value]:Effect` as a taint."""
    if not isinstance(short, str):
        return dict(short)
    head, _, effect = short.rpartition(":")
    key, _, value = head.partition("=")
    return {"key": key, "value": value, "effect": effect}


def toleration(short: str | Mapping[str, Any]) -> dict[str, Any]:
    """Return `key[=value][:Effect]` as a toleration; without a value it is of any."""
    if not isinstance(short, str):
        return dict(short)
    head, _, effect = short.partition(":")
    key, equal, value = head.partition("=")
    found: dict[str, Any] = {"key": key, "operator": "Exists"}
    if equal:
        found |= {"operator": "Equal", "value": value}
    if effect:
        found["effect"] = effect
    return found


def merged(base: Mapping[str, Any], more: Mapping[str, Any]) -> dict[str, Any]:
    """Return the union of two documents; mappings are merged, all else of `more` wins."""
    found = dict(base)
    for key, value in more.items():
        old = found.get(key)
        both = isinstance(old, Mapping) and isinstance(value, Mapping)
        found[key] = merged(old, value) if both and isinstance(old, Mapping) else value
    return found
