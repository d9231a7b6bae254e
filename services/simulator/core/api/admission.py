"""Admission plug-ins: what changes or refuses objects between decoding and storing.

Each is a function named as Kubernetes names the plug-in; a server runs the ones it is given. `NamespaceLifecycle` is not
here: it is always on and part of the store.

Source: Kubernetes documentation, "Admission Control in Kubernetes".
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

Object = dict[str, Any]

NO_PLUGINS: frozenset[str] = frozenset()
ALL_PLUGINS: frozenset[str] = frozenset()
