"""Builds our kustomizations without kubectl, so that any machine can check them.

Knows only what our files use (resources, components, JSON patches with a target, images) and
refuses the rest. A test compares it with `kubectl kustomize` where there is one.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jsonpatch
import yaml

Object = dict[str, Any]

_KNOWN = {"apiVersion", "kind", "resources", "components", "patches", "images"}


def build(folder: Path) -> list[Object]:
    """Return the objects of a kustomization, in the order of its files.

    Raises:
        ValueError: the kustomization uses what this does not know, or makes an object twice.
    """
    objects = _extend([], folder)
    keys = [key(one) for one in objects]
    twice = sorted({one for one in keys if keys.count(one) > 1})
    if twice:
        raise ValueError(f"{folder} makes {twice[0]} twice")
    return objects


def key(obj: Object) -> tuple[str, str, str]:
    """Return kind, namespace and name."""
    return obj["kind"], obj["metadata"].get("namespace", ""), obj["metadata"]["name"]


def documents(file: Path) -> list[Object]:
    """Return the objects of one YAML file."""
    return [one for one in yaml.safe_load_all(file.read_text()) if one is not None]


def _extend(objects: list[Object], folder: Path) -> list[Object]:
    kustomization = yaml.safe_load((folder / "kustomization.yaml").read_text())
    unknown = sorted(set(kustomization) - _KNOWN)
    if unknown:
        raise ValueError(f"{folder}: {unknown[0]} is not known here")
    for name in kustomization.get("resources", ()):
        path = folder / name
        objects = objects + (build(path) if path.is_dir() else documents(path))
    for name in kustomization.get("components", ()):
        objects = _extend(objects, folder / name)
    for patch in kustomization.get("patches", ()):
        objects = _patched(objects, patch, folder)
    for image in kustomization.get("images", ()):
        for obj in objects:
            _set_image(obj, image)
    return objects


def _patched(objects: list[Object], patch: Mapping[str, Any], folder: Path) -> list[Object]:
    if set(patch) != {"path", "target"} or not set(patch["target"]) <= {"kind", "name"}:
        raise ValueError(f"{folder}: only patches with a path and a target's kind and name")
    target = patch["target"].items()
    wanted = [
        one for one in objects if target <= {"kind": key(one)[0], "name": key(one)[2]}.items()
    ]
    if not wanted:
        raise ValueError(f"{folder}: {patch['path']} changes nothing")
    operations = yaml.safe_load((folder / patch["path"]).read_text())
    return [jsonpatch.apply_patch(one, operations) if one in wanted else one for one in objects]


def _set_image(obj: Object, image: Mapping[str, str]) -> None:
    template = obj.get("spec", {}).get("template", {}) if obj["kind"] == "Deployment" else {}
    for container in template.get("spec", {}).get("containers", ()):
        if container["image"].partition(":")[0] == image["name"]:
            name = image.get("newName", image["name"])
            container["image"] = f"{name}:{image['newTag']}"
