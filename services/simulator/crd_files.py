"""Reads our CRDs from `deploy/crds`, as they are or as the KWOK chart has them."""

import json
from functools import cache
from pathlib import Path
from typing import Any

import jsonpatch
import yaml

DEPLOYED = Path(__file__).resolve().parents[2] / "deploy" / "crds"


def read_crds(folder: Path = DEPLOYED, *, overlay: str = "") -> dict[str, dict[str, Any]]:
    """Return the CRD objects of a folder by kind.

    Args:
        folder: holds one CRD per file, named `<group>_<plural>.yaml`.
        overlay: a folder below it whose `<plural>.patch.yaml` files (RFC 6902) are applied.
    """
    return json.loads(_read(folder, overlay))  # type: ignore[no-any-return]  # written below


@cache
def _read(folder: Path, overlay: str) -> str:
    """Return the objects as JSON: parsing YAML takes time, and callers may change theirs."""
    crds = {}
    for file in sorted(folder.glob("*_*.yaml")):
        crd = yaml.safe_load(file.read_text())
        names = crd["spec"]["names"]
        patch = folder / overlay / f"{names['plural']}.patch.yaml"
        if overlay and patch.exists():
            crd = jsonpatch.apply_patch(crd, yaml.safe_load(patch.read_text()))
        crds[names["kind"]] = crd
    return json.dumps(crds)
