"""What we ask real API servers: sequences of requests, written short in the YAML files here.

A file is a list of questions. `title` and `area` say what it is about. Its steps come in three
forms:

- `create`: a base object (`bases.yaml`), created once for each entry of `with`, changed as the
  entry says: `spec.replicas: -1` sets the member at that path, `-spec.replicas` takes it away,
  numbers are positions in lists. The n-th object has the name of the base and n.
- `change`: a base object, created as it is and then patched by each entry of `with`, which is a
  merge patch.
- `steps`: requests as they are sent. `object` (a base) with `with` makes a body;
  `${0.metadata.uid}` is what the answer to step 0 holds there; `at: pod` is the path of that base's
  collection, `at: pod/a` one below it.
"""

import copy
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

Object = dict[str, Any]

_FOLDER = Path(__file__).parent
_PATCH = "application/merge-patch+json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One sequence of requests."""

    id: str
    title: str
    area: str
    managed_fields: bool
    steps: tuple[Object, ...]


def questions() -> Iterator[Question]:
    """Yield every question, file by file."""
    bases = yaml.safe_load((_FOLDER / "bases.yaml").read_text())
    for path in sorted(_FOLDER.glob("*.yaml")):
        if path.stem == "bases":
            continue
        for number, entry in enumerate(yaml.safe_load(path.read_text())):
            yield Question(
                id=f"{path.stem}-{number:02}",
                title=entry["title"],
                area=entry["area"],
                managed_fields=entry.get("managedFields", False),
                steps=tuple(_steps(entry, bases)),
            )


def changed(base: Object, changes: Object) -> Object:
    """Return a copy of an object with members set or taken away by their paths."""
    result = copy.deepcopy(base)
    for path, value in changes.items():
        *above, last = path.removeprefix("-").split(".")
        place: Any = result
        for name in above:
            place = place[int(name)] if isinstance(place, list) else place.setdefault(name, {})
        key: Any = int(last) if isinstance(place, list) else last
        if path.startswith("-"):
            del place[key]
        elif isinstance(place, list) and key == len(place):
            place.append(value)
        else:
            place[key] = value
    return result


def _steps(entry: Object, bases: Object) -> Iterator[Object]:
    if name := entry.get("create"):
        base = bases[name]
        for number, changes in enumerate(entry["with"]):
            body = changed(base["object"], changes or {})
            if "metadata.name" not in (changes or {}) and "name" in body.get("metadata", {}):
                body["metadata"]["name"] += str(number)
            yield {"method": "POST", "path": base["path"], "body": body}
    if name := entry.get("change"):
        base = bases[name]
        path = f"{base['path']}/{base['object']['metadata']['name']}"
        yield {"method": "POST", "path": base["path"], "body": base["object"]}
        for patch in entry["with"]:
            yield {"method": "PATCH", "path": path, "body": patch, "contentType": _PATCH}
    for step in entry.get("steps", ()):
        yield _step(dict(step), bases)


def _step(step: Object, bases: Object) -> Object:
    base = bases[step.pop("object")] if "object" in step else None
    if base is not None:
        step.setdefault("path", base["path"])
        step["body"] = changed(base["object"], step.pop("with", {}))
    if place := step.pop("at", ""):
        collection, _, below = place.partition("/")
        path = bases[collection]["path"]
        step["path"] = f"{path}/{below}" if below else path
    return step
