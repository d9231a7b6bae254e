"""Reads our CRDs from `deploy/crds`, as they are or as the KWOK chart has them."""

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

import jsonpatch
import yaml

from libs.apiserver.crd.admission import CompiledCrd, compile_crd

DEPLOYED = Path(__file__).resolve().parents[2] / "deploy" / "crds"
_IN_THE_IMAGE = Path("/usr/share/joiner/crds")

_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # PyYAML may be built without libyaml


def read_crds(folder: Path = DEPLOYED, *, overlay: str = "") -> dict[str, dict[str, Any]]:
    """Return the CRD objects of a folder by kind.

    Args:
        folder: holds one CRD per file, named `<group>_<plural>.yaml`.
        overlay: a folder below it whose `<plural>.patch.yaml` files (RFC 6902) are applied.
    """
    return json.loads(_read(folder, overlay))  # type: ignore[no-any-return]  # written below


@cache
def known_crds() -> Mapping[tuple[str, str], CompiledCrd]:
    """Return our CRDs by group and kind, ready to judge; none where they were not installed."""
    folder = DEPLOYED if DEPLOYED.is_dir() else _IN_THE_IMAGE
    compiled = (compile_crd(crd) for crd in read_crds(folder).values())
    return MappingProxyType({(one.group, one.kind): one for one in compiled})


@cache
def _read(folder: Path, overlay: str) -> str:
    """Return the objects as JSON: parsing YAML takes time, and callers may change theirs."""
    crds = {}
    for file in sorted(folder.glob("*_*.yaml")):
        crd = yaml.load(file.read_text(), Loader=_LOADER)
        names = crd["spec"]["names"]
        patch = folder / overlay / f"{names['plural']}.patch.yaml"
        if overlay and patch.exists():
            crd = jsonpatch.apply_patch(crd, yaml.safe_load(patch.read_text()))
        crds[names["kind"]] = crd
    return json.dumps(crds)
