"""Validation of what only holds data: ConfigMaps, Secrets, revisions of controllers.

Source: Kubernetes API reference, ConfigMap, Secret, ControllerRevision; wordings as recorded from
kube-apiserver 1.36.
"""

import base64
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

from libs.apiserver import names
from libs.apiserver.checks import formed, not_negative
from libs.apiserver.field_errors import FieldError, required, too_long, wrong
from libs.apiserver.metadata import IMMUTABLE
from libs.apiserver.types.json_text import problem_of

Object = dict[str, Any]
Stored = Mapping[str, Any]
_LARGEST = 1024 * 1024
_ACCOUNT = "kubernetes.io/service-account.name"
_NEEDED: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "kubernetes.io/tls": ("tls.crt", "tls.key"),
        "kubernetes.io/ssh-auth": ("ssh-privatekey",),
        "kubernetes.io/dockercfg": (".dockercfg",),
        "kubernetes.io/dockerconfigjson": (".dockerconfigjson",),
    }
)
"""Keys that a type of Secret must have."""

_IN_JSON = (".dockercfg", ".dockerconfigjson")


def validate_config_map(obj: Object) -> list[FieldError]:
    """Return what is wrong with a ConfigMap."""
    texts, binary = obj.get("data") or {}, obj.get("binaryData") or {}
    found: list[FieldError] = []
    for key in texts:
        found += formed(key, f"data[{key}]", names.config_key)
        if key in binary:
            why = "duplicate of key present in binaryData"
            found.append(wrong(f"data[{key}]", key, why))
    for key in binary:
        found += formed(key, f"binaryData[{key}]", names.config_key)
    size = sum(len(text.encode()) for text in texts.values()) + _size(binary)
    return [*found, *([too_long("", _LARGEST)] if size > _LARGEST else [])]


def _size(encoded: Mapping[str, str]) -> int:
    return sum(len(base64.b64decode(text)) for text in encoded.values())


def validate_secret(obj: Object) -> list[FieldError]:
    """Return what is wrong with a Secret."""
    data = obj.get("data") or {}
    found = [error for key in data for error in formed(key, f"data[{key}]", names.config_key)]
    if _size(data) > _LARGEST:
        found.append(too_long("data", _LARGEST))
    kind = obj.get("type", "")
    annotations = obj["metadata"].get("annotations") or {}
    if kind == "kubernetes.io/service-account-token" and not annotations.get(_ACCOUNT):
        found.append(required(f"metadata.annotations[{_ACCOUNT}]"))
    if kind == "kubernetes.io/basic-auth" and not {"username", "password"} & set(data):
        found += [required("data[username]"), required("data[password]")]
    for key in _NEEDED.get(kind, ()):
        if key not in data or (key == "ssh-privatekey" and not data[key]):
            found.append(required(f"data[{key}]"))
        elif key in _IN_JSON:
            found += _validate_json(data[key], f"data[{key}]")
    return found


def secret_warnings(obj: Object, _old: Mapping[str, Any] | None) -> list[str]:
    """Return what is odd about the certificate of a Secret."""
    data = obj.get("data") or {}
    if obj.get("type") != "kubernetes.io/tls" or not {"tls.crt", "tls.key"} <= set(data):
        return []
    if b"-----BEGIN" in base64.b64decode(data["tls.crt"]):
        return []
    return ["tls: failed to find any PEM data in certificate input"]


def _validate_json(encoded: str, at: str) -> Iterator[FieldError]:
    if why := problem_of(base64.b64decode(encoded)):
        yield wrong(at, "<secret contents redacted>", why)


def fixed_revision(new: Object, old: Stored) -> list[FieldError]:
    """Refuse other content of a ControllerRevision."""
    return [] if new.get("data") == old.get("data") else [wrong("data", new["data"], IMMUTABLE)]


def validate_revision(obj: Object) -> list[FieldError]:
    """Return what is wrong with a ControllerRevision."""
    found = list(not_negative(obj, "", "revision"))
    data = obj.get("data")
    if data is None:
        found.append(required("data", "data is mandatory"))
    elif not isinstance(data, dict):
        found.append(required("data", "data must be a valid JSON object"))
    return found
