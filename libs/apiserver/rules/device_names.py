"""The formats of names around devices: attributes, capacities, pools.

Source: Kubernetes API reference, ResourceSlice QualifiedName; wordings as recorded from
kube-apiserver 1.36.
"""

import re
from collections.abc import Iterator

from libs.apiserver import names
from libs.apiserver.checks import formed
from libs.apiserver.field_errors import FieldError, required, too_long, wrong
from libs.apiserver.rules.volumes import csi_driver_name

_LONGEST_ID, _LONGEST_POOL = 32, 253
_IDENTIFIER = "[A-Za-z_][A-Za-z0-9_]*"
_IDENTIFIER_WORDS = (
    "a valid C identifier must start with alphabetic character or '_', followed by a string of "
    "alphanumeric characters or '_' (e.g. 'my_name',  or 'MY_NAME',  or 'MyName', regex used for "
    f"validation is '{_IDENTIFIER}')"
)


def qualified(name: str, at: str) -> Iterator[FieldError]:
    """Yield what is wrong with the name of an attribute, with or without a domain."""
    parts = name.split("/")
    if len(parts) == 1:
        yield from _identifier(parts[0], at)
    elif len(parts) == 2:
        if not parts[0]:
            yield wrong(at, "", "the domain must not be empty")
        else:
            yield from csi_driver_name(parts[0], at)
        if not parts[1]:
            yield wrong(at, "", "the name must not be empty")
        else:
            yield from _identifier(parts[1], at)


def fully_qualified(name: str, at: str) -> Iterator[FieldError]:
    """Yield what is wrong with the name of an attribute that needs its domain."""
    yield from qualified(name, at)
    if "/" not in name:
        why = "a fully qualified name must be a domain and a name separated by a slash"
        yield wrong(at, name, why)


def _identifier(name: str, at: str) -> Iterator[FieldError]:
    if len(name) > _LONGEST_ID:
        yield too_long(at, _LONGEST_ID)
    if not re.fullmatch(_IDENTIFIER, name):
        yield wrong(at, name, _IDENTIFIER_WORDS)


def pool_name(name: str, at: str) -> Iterator[FieldError]:
    """Yield what is wrong with the name of a pool."""
    if not name:
        yield required(at)
        return
    if len(name) > _LONGEST_POOL:
        yield too_long(at, _LONGEST_POOL)
    for part in name.split("/"):
        yield from formed(part, at, names.subdomain)
